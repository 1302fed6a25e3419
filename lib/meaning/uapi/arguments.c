// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/uapi/arguments.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/out.h"

/* A name of arguments of system calls. */
struct argument_name {
	uint64_t value;
	const char *text;
};

/*
 * How a set of names is printed: the bits of `mask` are one number out of `numbers`, all others are flags. A set
 * without names is one of permissions, which are printed in octal.
 */
struct argument_set {
	uint64_t mask;
	const struct argument_name *numbers, *flags; /* end with a text of NULL; may be NULL */
};

/* `calls` and `arguments` are words with blanks around each; no calls stands for any call. */
struct argument_rule {
	const char *calls, *arguments;
	const struct argument_set *set;
	/* The set of the machines whose flags are those of asm-generic; NULL: the same on all machines. */
	const struct argument_set *generic;
};

#define NAMES(...) ((const struct argument_name[]){ __VA_ARGS__, { 0, NULL } })

static const struct argument_set open_flags = {
	3,
	NAMES({ 0, "O_RDONLY" }, { 1, "O_WRONLY" }, { 2, "O_RDWR" }),
	NAMES({ 0100, "O_CREAT" }, { 0200, "O_EXCL" }, { 0400, "O_NOCTTY" }, { 01000, "O_TRUNC" },
	      { 02000, "O_APPEND" }, { 04000, "O_NONBLOCK" }, { 04010000, "O_SYNC" }, { 010000, "O_DSYNC" },
	      { 020000, "FASYNC" }, { 01000000, "O_NOATIME" }, { 02000000, "O_CLOEXEC" }, { 010000000, "O_PATH" }),
};
/* asm-generic/fcntl.h; arm, aarch64 and ppc have others. */
static const struct argument_set open_flags_generic = {
	3,
	NAMES({ 0, "O_RDONLY" }, { 1, "O_WRONLY" }, { 2, "O_RDWR" }),
	NAMES({ 0100, "O_CREAT" }, { 0200, "O_EXCL" }, { 0400, "O_NOCTTY" }, { 01000, "O_TRUNC" },
	      { 02000, "O_APPEND" }, { 04000, "O_NONBLOCK" }, { 04010000, "O_SYNC" }, { 010000, "O_DSYNC" },
	      { 020000, "FASYNC" }, { 01000000, "O_NOATIME" }, { 02000000, "O_CLOEXEC" }, { 010000000, "O_PATH" },
	      { 040000, "O_DIRECT" }, { 0100000, "O_LARGEFILE" }, { 020200000, "O_TMPFILE" },
	      { 0200000, "O_DIRECTORY" }, { 0400000, "O_NOFOLLOW" }),
};
static const struct argument_set descriptor_flags = { 0, NULL,
						      NAMES({ 04000, "O_NONBLOCK" }, { 02000000, "O_CLOEXEC" }) };
static const struct argument_set at_flags = {
	0,
	NULL,
	NAMES({ 0x100, "AT_SYMLINK_NOFOLLOW" }, { 0x400, "AT_SYMLINK_FOLLOW" }, { 0x800, "AT_NO_AUTOMOUNT" },
	      { 0x1000, "AT_EMPTY_PATH" }, { 0x2000, "AT_STATX_FORCE_SYNC" }, { 0x4000, "AT_STATX_DONT_SYNC" }),
};
static const struct argument_set unlink_flags = { 0, NULL, NAMES({ 0x200, "AT_REMOVEDIR" }) };
static const struct argument_set access_flags = {
	0, NULL, NAMES({ 0x100, "AT_SYMLINK_NOFOLLOW" }, { 0x200, "AT_EACCESS" }, { 0x1000, "AT_EMPTY_PATH" })
};
static const struct argument_set access_modes = { 0, NULL,
						  NAMES({ 0, "F_OK" }, { 4, "R_OK" }, { 2, "W_OK" }, { 1, "X_OK" }) };
static const struct argument_set protections = { 0, NULL,
						 NAMES({ 0, "PROT_NONE" }, { 1, "PROT_READ" }, { 2, "PROT_WRITE" },
						       { 4, "PROT_EXEC" }, { 0x01000000, "PROT_GROWSDOWN" }) };
static const struct argument_set map_flags = {
	0xf,
	NAMES({ 1, "MAP_SHARED" }, { 2, "MAP_PRIVATE" }, { 3, "MAP_SHARED_VALIDATE" }),
	NAMES({ 0x10, "MAP_FIXED" }, { 0x20, "MAP_ANONYMOUS" }, { 0x800, "MAP_DENYWRITE" }, { 0x8000, "MAP_POPULATE" },
	      { 0x20000, "MAP_STACK" }, { 0x40000, "MAP_HUGETLB" }, { 0x100, "MAP_GROWSDOWN" },
	      { 0x2000, "MAP_LOCKED" }, { 0x4000, "MAP_NORESERVE" }, { 0x10000, "MAP_NONBLOCK" },
	      { 0x80000, "MAP_SYNC" }, { 0x100000, "MAP_FIXED_NOREPLACE" }),
};
static const struct argument_set whences = {
	~0ULL, NAMES({ 0, "SEEK_SET" }, { 1, "SEEK_CUR" }, { 2, "SEEK_END" }, { 3, "SEEK_DATA" }, { 4, "SEEK_HOLE" }),
	NULL
};
static const struct argument_set hows = { ~0ULL, NAMES({ 0, "SIG_BLOCK" }, { 1, "SIG_UNBLOCK" }, { 2, "SIG_SETMASK" }),
					  NULL };
static const struct argument_set file_commands = {
	~0ULL,
	NAMES({ 0, "F_DUPFD" }, { 1, "F_GETFD" }, { 2, "F_SETFD" }, { 3, "F_GETFL" }, { 4, "F_SETFL" },
	      { 1030, "F_DUPFD_CLOEXEC" }, { 1031, "F_SETPIPE_SZ" }, { 1032, "F_GETPIPE_SZ" }, { 1033, "F_ADD_SEALS" },
	      { 5, "F_GETLK" }, { 6, "F_SETLK" }, { 7, "F_SETLKW" }, { 8, "F_SETOWN" }, { 9, "F_GETOWN" },
	      { 10, "F_SETSIG" }, { 11, "F_GETSIG" }, { 15, "F_SETOWN_EX" }, { 16, "F_GETOWN_EX" },
	      { 36, "F_OFD_GETLK" }, { 37, "F_OFD_SETLK" }, { 38, "F_OFD_SETLKW" }, { 1024, "F_SETLEASE" },
	      { 1025, "F_GETLEASE" }, { 1026, "F_NOTIFY" }, { 1034, "F_GET_SEALS" }, { 1035, "F_GET_RW_HINT" },
	      { 1036, "F_SET_RW_HINT" }),
	NULL,
};
static const struct argument_set futex_operations = {
	0x7f,
	NAMES({ 0, "FUTEX_WAIT" }, { 1, "FUTEX_WAKE" }, { 3, "FUTEX_REQUEUE" }, { 4, "FUTEX_CMP_REQUEUE" },
	      { 5, "FUTEX_WAKE_OP" }, { 6, "FUTEX_LOCK_PI" }, { 7, "FUTEX_UNLOCK_PI" }, { 8, "FUTEX_TRYLOCK_PI" },
	      { 9, "FUTEX_WAIT_BITSET" }, { 10, "FUTEX_WAKE_BITSET" }, { 11, "FUTEX_WAIT_REQUEUE_PI" },
	      { 12, "FUTEX_CMP_REQUEUE_PI" }, { 13, "FUTEX_LOCK_PI2" }),
	NAMES({ 128, "FUTEX_PRIVATE_FLAG" }, { 256, "FUTEX_CLOCK_REALTIME" }),
};
static const struct argument_set wait_options = { 0, NULL,
						  NAMES({ 1, "WNOHANG" }, { 2, "WUNTRACED" }, { 4, "WEXITED" },
							{ 8, "WCONTINUED" }, { 0x01000000, "WNOWAIT" }) };
static const struct argument_set epoll_operations = {
	~0ULL, NAMES({ 1, "EPOLL_CTL_ADD" }, { 2, "EPOLL_CTL_DEL" }, { 3, "EPOLL_CTL_MOD" }), NULL
};
static const struct argument_set clocks = {
	~0ULL,
	NAMES({ 0, "CLOCK_REALTIME" }, { 1, "CLOCK_MONOTONIC" }, { 2, "CLOCK_PROCESS_CPUTIME_ID" },
	      { 3, "CLOCK_THREAD_CPUTIME_ID" }, { 4, "CLOCK_MONOTONIC_RAW" }, { 7, "CLOCK_BOOTTIME" },
	      { 5, "CLOCK_REALTIME_COARSE" }, { 6, "CLOCK_MONOTONIC_COARSE" }, { 8, "CLOCK_REALTIME_ALARM" },
	      { 9, "CLOCK_BOOTTIME_ALARM" }, { 11, "CLOCK_TAI" }),
	NULL,
};
static const struct argument_set families = {
	~0ULL,
	NAMES({ 1, "AF_UNIX" }, { 2, "AF_INET" }, { 10, "AF_INET6" }, { 16, "AF_NETLINK" }, { 17, "AF_PACKET" },
	      { 29, "AF_CAN" }, { 31, "AF_BLUETOOTH" }, { 38, "AF_ALG" }, { 40, "AF_VSOCK" }, { 44, "AF_XDP" }),
	NULL
};
static const struct argument_set socket_types = {
	0xf,
	NAMES({ 1, "SOCK_STREAM" }, { 2, "SOCK_DGRAM" }, { 3, "SOCK_RAW" }, { 5, "SOCK_SEQPACKET" }),
	NAMES({ 04000, "SOCK_NONBLOCK" }, { 02000000, "SOCK_CLOEXEC" }),
};
static const struct argument_set clone_flags = {
	0xff,
	NAMES({ 17, "SIGCHLD" }),
	NAMES({ 0x100, "CLONE_VM" }, { 0x200, "CLONE_FS" }, { 0x400, "CLONE_FILES" }, { 0x800, "CLONE_SIGHAND" },
	      { 0x1000, "CLONE_PIDFD" }, { 0x4000, "CLONE_VFORK" }, { 0x10000, "CLONE_THREAD" },
	      { 0x20000, "CLONE_NEWNS" }, { 0x40000, "CLONE_SYSVSEM" }, { 0x80000, "CLONE_SETTLS" },
	      { 0x100000, "CLONE_PARENT_SETTID" }, { 0x200000, "CLONE_CHILD_CLEARTID" },
	      { 0x1000000, "CLONE_CHILD_SETTID" }, { 0x2000, "CLONE_PTRACE" }, { 0x8000, "CLONE_PARENT" },
	      { 0x800000, "CLONE_UNTRACED" }, { 0x2000000, "CLONE_NEWCGROUP" }, { 0x4000000, "CLONE_NEWUTS" },
	      { 0x8000000, "CLONE_NEWIPC" }, { 0x10000000, "CLONE_NEWUSER" }, { 0x20000000, "CLONE_NEWPID" },
	      { 0x40000000, "CLONE_NEWNET" }, { 0x80000000, "CLONE_IO" }),
};
/* The low byte, the signal at the end of clone(), is CLONE_NEWTIME here. */
static const struct argument_set namespaces = {
	0,
	NULL,
	NAMES({ 0x80, "CLONE_NEWTIME" }, { 0x200, "CLONE_FS" }, { 0x400, "CLONE_FILES" }, { 0x20000, "CLONE_NEWNS" },
	      { 0x2000000, "CLONE_NEWCGROUP" }, { 0x4000000, "CLONE_NEWUTS" }, { 0x8000000, "CLONE_NEWIPC" },
	      { 0x10000000, "CLONE_NEWUSER" }, { 0x20000000, "CLONE_NEWPID" }, { 0x40000000, "CLONE_NEWNET" }),
};
static const struct argument_set signals = {
	~0ULL,
	NAMES({ 1, "SIGHUP" }, { 2, "SIGINT" }, { 3, "SIGQUIT" }, { 4, "SIGILL" }, { 5, "SIGTRAP" }, { 6, "SIGABRT" },
	      { 7, "SIGBUS" }, { 8, "SIGFPE" }, { 9, "SIGKILL" }, { 10, "SIGUSR1" }, { 11, "SIGSEGV" },
	      { 12, "SIGUSR2" }, { 13, "SIGPIPE" }, { 14, "SIGALRM" }, { 15, "SIGTERM" }, { 16, "SIGSTKFLT" },
	      { 17, "SIGCHLD" }, { 18, "SIGCONT" }, { 19, "SIGSTOP" }, { 20, "SIGTSTP" }, { 21, "SIGTTIN" },
	      { 22, "SIGTTOU" }, { 23, "SIGURG" }, { 24, "SIGXCPU" }, { 25, "SIGXFSZ" }, { 26, "SIGVTALRM" },
	      { 27, "SIGPROF" }, { 28, "SIGWINCH" }, { 29, "SIGIO" }, { 30, "SIGPWR" }, { 31, "SIGSYS" }),
	NULL,
};
static const struct argument_set advices = {
	~0ULL,
	NAMES({ 0, "MADV_NORMAL" }, { 1, "MADV_RANDOM" }, { 2, "MADV_SEQUENTIAL" }, { 3, "MADV_WILLNEED" },
	      { 4, "MADV_DONTNEED" }, { 8, "MADV_FREE" }, { 9, "MADV_REMOVE" }, { 10, "MADV_DONTFORK" },
	      { 11, "MADV_DOFORK" }, { 12, "MADV_MERGEABLE" }, { 13, "MADV_UNMERGEABLE" }, { 14, "MADV_HUGEPAGE" },
	      { 15, "MADV_NOHUGEPAGE" }, { 16, "MADV_DONTDUMP" }, { 17, "MADV_DODUMP" }, { 18, "MADV_WIPEONFORK" },
	      { 19, "MADV_KEEPONFORK" }, { 20, "MADV_COLD" }, { 21, "MADV_PAGEOUT" }, { 22, "MADV_POPULATE_READ" },
	      { 23, "MADV_POPULATE_WRITE" }, { 24, "MADV_DONTNEED_LOCKED" }, { 25, "MADV_COLLAPSE" },
	      { 100, "MADV_HWPOISON" }, { 101, "MADV_SOFT_OFFLINE" }),
	NULL
};
static const struct argument_set file_advices = { ~0ULL,
						  NAMES({ 0, "POSIX_FADV_NORMAL" }, { 1, "POSIX_FADV_RANDOM" },
							{ 2, "POSIX_FADV_SEQUENTIAL" }, { 3, "POSIX_FADV_WILLNEED" }),
						  NULL };
static const struct argument_set sync_flags = { 0, NULL,
						NAMES({ 1, "MS_ASYNC" }, { 2, "MS_INVALIDATE" }, { 4, "MS_SYNC" }) };
static const struct argument_set remap_flags = {
	0, NULL, NAMES({ 1, "MREMAP_MAYMOVE" }, { 2, "MREMAP_FIXED" }, { 4, "MREMAP_DONTUNMAP" })
};
static const struct argument_set lock_flags = {
	0, NULL, NAMES({ 1, "MCL_CURRENT" }, { 2, "MCL_FUTURE" }, { 4, "MCL_ONFAULT" })
};
static const struct argument_set rename_flags = {
	0, NULL, NAMES({ 1, "RENAME_NOREPLACE" }, { 2, "RENAME_EXCHANGE" }, { 4, "RENAME_WHITEOUT" })
};
static const struct argument_set random_flags = {
	0, NULL, NAMES({ 1, "GRND_NONBLOCK" }, { 2, "GRND_RANDOM" }, { 4, "GRND_INSECURE" })
};
static const struct argument_set eventfd_flags = {
	0, NULL, NAMES({ 1, "EFD_SEMAPHORE" }, { 02000000, "EFD_CLOEXEC" }, { 04000, "EFD_NONBLOCK" })
};
static const struct argument_set timerfd_flags = { 0, NULL,
						   NAMES({ 1, "TFD_TIMER_ABSTIME" }, { 2, "TFD_TIMER_CANCEL_ON_SET" },
							 { 02000000, "TFD_CLOEXEC" }, { 04000, "TFD_NONBLOCK" }) };
static const struct argument_set timer_flags = { 0, NULL, NAMES({ 1, "TIMER_ABSTIME" }) };
static const struct argument_set watches = {
	0, NULL,
	NAMES({ 1, "IN_ACCESS" }, { 2, "IN_MODIFY" }, { 4, "IN_ATTRIB" }, { 8, "IN_CLOSE_WRITE" },
	      { 0x10, "IN_CLOSE_NOWRITE" }, { 0x20, "IN_OPEN" }, { 0x40, "IN_MOVED_FROM" }, { 0x80, "IN_MOVED_TO" },
	      { 0x100, "IN_CREATE" }, { 0x200, "IN_DELETE" }, { 0x400, "IN_DELETE_SELF" }, { 0x800, "IN_MOVE_SELF" },
	      { 0x01000000, "IN_ONLYDIR" }, { 0x02000000, "IN_DONT_FOLLOW" }, { 0x04000000, "IN_EXCL_UNLINK" },
	      { 0x10000000, "IN_MASK_CREATE" }, { 0x20000000, "IN_MASK_ADD" }, { 0x80000000, "IN_ONESHOT" })
};
static const struct argument_set shutdowns = { ~0ULL, NAMES({ 0, "SHUT_RD" }, { 1, "SHUT_WR" }, { 2, "SHUT_RDWR" }),
					       NULL };
static const struct argument_set levels = { ~0ULL,
					    NAMES({ 1, "SOL_SOCKET" }, { 6, "SOL_TCP" }, { 0, "SOL_IP" },
						  { 17, "SOL_UDP" }, { 41, "SOL_IPV6" }, { 270, "SOL_NETLINK" },
						  { 263, "SOL_PACKET" }),
					    NULL };
static const struct argument_set message_flags = {
	0, NULL,
	NAMES({ 1, "MSG_OOB" }, { 2, "MSG_PEEK" }, { 4, "MSG_DONTROUTE" }, { 8, "MSG_CTRUNC" }, { 0x20, "MSG_TRUNC" },
	      { 0x40, "MSG_DONTWAIT" }, { 0x80, "MSG_EOR" }, { 0x100, "MSG_WAITALL" }, { 0x800, "MSG_CONFIRM" },
	      { 0x2000, "MSG_ERRQUEUE" }, { 0x4000, "MSG_NOSIGNAL" }, { 0x8000, "MSG_MORE" },
	      { 0x10000, "MSG_WAITFORONE" }, { 0x4000000, "MSG_ZEROCOPY" }, { 0x20000000, "MSG_FASTOPEN" },
	      { 0x40000000, "MSG_CMSG_CLOEXEC" })
};
static const struct argument_set process_options = {
	~0ULL,
	NAMES({ 1, "PR_SET_PDEATHSIG" }, { 2, "PR_GET_PDEATHSIG" }, { 3, "PR_GET_DUMPABLE" }, { 4, "PR_SET_DUMPABLE" },
	      { 7, "PR_GET_KEEPCAPS" }, { 8, "PR_SET_KEEPCAPS" }, { 15, "PR_SET_NAME" }, { 16, "PR_GET_NAME" },
	      { 21, "PR_GET_SECCOMP" }, { 22, "PR_SET_SECCOMP" }, { 23, "PR_CAPBSET_READ" }, { 24, "PR_CAPBSET_DROP" },
	      { 28, "PR_SET_SECUREBITS" }, { 29, "PR_SET_TIMERSLACK" }, { 30, "PR_GET_TIMERSLACK" },
	      { 35, "PR_SET_MM" }, { 36, "PR_SET_CHILD_SUBREAPER" }, { 37, "PR_GET_CHILD_SUBREAPER" },
	      { 38, "PR_SET_NO_NEW_PRIVS" }, { 39, "PR_GET_NO_NEW_PRIVS" }, { 41, "PR_SET_THP_DISABLE" },
	      { 47, "PR_CAP_AMBIENT" }, { 52, "PR_GET_SPECULATION_CTRL" }, { 53, "PR_SET_SPECULATION_CTRL" },
	      { 62, "PR_SCHED_CORE" }, { 0x53564d41, "PR_SET_VMA" }),
	NULL
};
static const struct argument_set policies = { ~0ULL,
					      NAMES({ 0, "SCHED_NORMAL" }, { 1, "SCHED_FIFO" }, { 2, "SCHED_RR" },
						    { 3, "SCHED_BATCH" }, { 5, "SCHED_IDLE" }, { 6, "SCHED_DEADLINE" }),
					      NULL };
static const struct argument_set barriers = {
	~0ULL,
	NAMES({ 0, "MEMBARRIER_CMD_QUERY" }, { 1, "MEMBARRIER_CMD_GLOBAL" }, { 2, "MEMBARRIER_CMD_GLOBAL_EXPEDITED" },
	      { 4, "MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED" }, { 8, "MEMBARRIER_CMD_PRIVATE_EXPEDITED" },
	      { 16, "MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED" }),
	NULL
};
static const struct argument_set file_locks = { 0xb, NAMES({ 1, "LOCK_SH" }, { 2, "LOCK_EX" }, { 8, "LOCK_UN" }),
						NAMES({ 4, "LOCK_NB" }) };
static const struct argument_set allocations = {
	0, NULL,
	NAMES({ 1, "FALLOC_FL_KEEP_SIZE" }, { 2, "FALLOC_FL_PUNCH_HOLE" }, { 8, "FALLOC_FL_COLLAPSE_RANGE" },
	      { 0x10, "FALLOC_FL_ZERO_RANGE" }, { 0x20, "FALLOC_FL_INSERT_RANGE" }, { 0x40, "FALLOC_FL_UNSHARE_RANGE" })
};
static const struct argument_set splice_flags = { 0, NULL,
						  NAMES({ 1, "SPLICE_F_MOVE" }, { 2, "SPLICE_F_NONBLOCK" },
							{ 4, "SPLICE_F_MORE" }, { 8, "SPLICE_F_GIFT" }) };
static const struct argument_set memfd_flags = { 0, NULL,
						 NAMES({ 1, "MFD_CLOEXEC" }, { 2, "MFD_ALLOW_SEALING" },
						       { 4, "MFD_HUGETLB" }, { 8, "MFD_NOEXEC_SEAL" },
						       { 0x10, "MFD_EXEC" }) };
static const struct argument_set usages = {
	~0ULL, NAMES({ 0, "RUSAGE_SELF" }, { (uint32_t)-1, "RUSAGE_CHILDREN" }, { 1, "RUSAGE_THREAD" }), NULL
};
static const struct argument_set resources = {
	~0ULL,
	NAMES({ 0, "RLIMIT_CPU" }, { 1, "RLIMIT_FSIZE" }, { 2, "RLIMIT_DATA" }, { 3, "RLIMIT_STACK" },
	      { 4, "RLIMIT_CORE" }, { 5, "RLIMIT_RSS" }, { 6, "RLIMIT_NPROC" }, { 7, "RLIMIT_NOFILE" },
	      { 8, "RLIMIT_MEMLOCK" }, { 9, "RLIMIT_AS" }, { 10, "RLIMIT_LOCKS" }, { 11, "RLIMIT_SIGPENDING" },
	      { 12, "RLIMIT_MSGQUEUE" }, { 13, "RLIMIT_NICE" }, { 14, "RLIMIT_RTPRIO" }, { 15, "RLIMIT_RTTIME" }),
	NULL
};
static const struct argument_set timers = { ~0ULL,
					    NAMES({ 0, "ITIMER_REAL" }, { 1, "ITIMER_VIRTUAL" }, { 2, "ITIMER_PROF" }),
					    NULL };
static const struct argument_set traces = {
	~0ULL,
	NAMES({ 0, "PTRACE_TRACEME" }, { 1, "PTRACE_PEEKTEXT" }, { 2, "PTRACE_PEEKDATA" }, { 3, "PTRACE_PEEKUSR" },
	      { 4, "PTRACE_POKETEXT" }, { 5, "PTRACE_POKEDATA" }, { 6, "PTRACE_POKEUSR" }, { 7, "PTRACE_CONT" },
	      { 8, "PTRACE_KILL" }, { 9, "PTRACE_SINGLESTEP" }, { 16, "PTRACE_ATTACH" }, { 17, "PTRACE_DETACH" },
	      { 24, "PTRACE_SYSCALL" }, { 0x4200, "PTRACE_SETOPTIONS" }, { 0x4201, "PTRACE_GETEVENTMSG" },
	      { 0x4202, "PTRACE_GETSIGINFO" }, { 0x4203, "PTRACE_SETSIGINFO" }, { 0x4204, "PTRACE_GETREGSET" },
	      { 0x4205, "PTRACE_SETREGSET" }, { 0x4206, "PTRACE_SEIZE" }, { 0x4207, "PTRACE_INTERRUPT" },
	      { 0x4208, "PTRACE_LISTEN" }, { 0x420e, "PTRACE_GET_SYSCALL_INFO" }),
	NULL
};
static const struct argument_set mount_flags = {
	0, NULL,
	NAMES({ 1, "MS_RDONLY" }, { 2, "MS_NOSUID" }, { 4, "MS_NODEV" }, { 8, "MS_NOEXEC" }, { 16, "MS_SYNCHRONOUS" },
	      { 32, "MS_REMOUNT" }, { 1024, "MS_NOATIME" }, { 4096, "MS_BIND" }, { 8192, "MS_MOVE" },
	      { 16384, "MS_REC" }, { 32768, "MS_SILENT" }, { 1 << 17, "MS_UNBINDABLE" }, { 1 << 18, "MS_PRIVATE" },
	      { 1 << 19, "MS_SLAVE" }, { 1 << 20, "MS_SHARED" }, { 1 << 21, "MS_RELATIME" })
};
static const struct argument_set umount_flags = {
	0, NULL, NAMES({ 1, "MNT_FORCE" }, { 2, "MNT_DETACH" }, { 4, "MNT_EXPIRE" }, { 8, "UMOUNT_NOFOLLOW" })
};
static const struct argument_set waits = { ~0ULL,
					   NAMES({ 0, "P_ALL" }, { 1, "P_PID" }, { 2, "P_PGID" }, { 3, "P_PIDFD" }),
					   NULL };
static const struct argument_set priorities = { ~0ULL,
						NAMES({ 0, "PRIO_PROCESS" }, { 1, "PRIO_PGRP" }, { 2, "PRIO_USER" }),
						NULL };
static const struct argument_set ring_flags = { 0, NULL,
						NAMES({ 1, "IORING_ENTER_GETEVENTS" }, { 2, "IORING_ENTER_SQ_WAKEUP" },
						      { 4, "IORING_ENTER_SQ_WAIT" }, { 8, "IORING_ENTER_EXT_ARG" },
						      { 16, "IORING_ENTER_REGISTERED_RING" }) };
static const struct argument_set range_flags = { 0, NULL,
						 NAMES({ 2, "CLOSE_RANGE_UNSHARE" }, { 4, "CLOSE_RANGE_CLOEXEC" }) };
static const struct argument_set io_flags = { 0, NULL,
					      NAMES({ 1, "RWF_HIPRI" }, { 2, "RWF_DSYNC" }, { 4, "RWF_SYNC" },
						    { 8, "RWF_NOWAIT" }, { 0x10, "RWF_APPEND" }) };
static const struct argument_set arch_options = { ~0ULL,
						  NAMES({ 0x1001, "ARCH_SET_GS" }, { 0x1002, "ARCH_SET_FS" },
							{ 0x1003, "ARCH_GET_FS" }, { 0x1004, "ARCH_GET_GS" },
							{ 0x1011, "ARCH_GET_CPUID" }, { 0x1012, "ARCH_SET_CPUID" }),
						  NULL };
/* Commands for terminals and files: asm-generic/ioctls.h. */
static const struct argument_set device_commands = {
	~0ULL,
	NAMES({ 0x5401, "TCGETS" }, { 0x5402, "TCSETS" }, { 0x5403, "TCSETSW" }, { 0x5404, "TCSETSF" },
	      { 0x5409, "TCSBRK" }, { 0x540b, "TCFLSH" }, { 0x540e, "TIOCSCTTY" }, { 0x540f, "TIOCGPGRP" },
	      { 0x5410, "TIOCSPGRP" }, { 0x5413, "TIOCGWINSZ" }, { 0x5414, "TIOCSWINSZ" }, { 0x541b, "FIONREAD" },
	      { 0x5421, "FIONBIO" }, { 0x5429, "TIOCGSID" }, { 0x5450, "FIONCLEX" }, { 0x5451, "FIOCLEX" },
	      { 0x5452, "FIOASYNC" }),
	NULL,
};
static const struct argument_set permissions = { 0, NULL, NULL };
static const struct argument_set directories = { ~0ULL, NAMES({ (uint32_t)-100, "AT_FDCWD" }), NULL };

/* The first rule that has the call and the argument applies. A rule without arguments ends the list. */
static const struct argument_rule argument_rules[] = {
	{ " open openat ", " flags ", &open_flags, &open_flags_generic },
	{ " pipe2 dup3 ", " flags ", &descriptor_flags, NULL },
	{ " newfstatat fstatat64 statx linkat fchownat utimensat execveat name_to_handle_at ", " flag flags ",
	  &at_flags, NULL },
	{ " unlinkat ", " flag flags ", &unlink_flags, NULL },
	{ " faccessat2 ", " flags ", &access_flags, NULL },
	{ " access faccessat faccessat2 ", " mode ", &access_modes, NULL },
	{ " mmap mprotect mmap2 mmap_pgoff pkey_mprotect ", " prot ", &protections, NULL },
	{ " mmap mmap2 mmap_pgoff ", " flags ", &map_flags, NULL },
	{ " lseek llseek _llseek ", " whence ", &whences, NULL },
	{ " rt_sigprocmask sigprocmask ", " how ", &hows, NULL },
	{ " fcntl fcntl64 ", " cmd ", &file_commands, NULL },
	{ " futex futex_time64 ", " op ", &futex_operations, NULL },
	{ " wait4 waitid waitpid ", " options ", &wait_options, NULL },
	{ " epoll_ctl ", " op ", &epoll_operations, NULL },
	{ "", " which_clock clockid ", &clocks, NULL },
	{ " socket socketpair ", " family ", &families, NULL },
	{ " socket socketpair ", " type ", &socket_types, NULL },
	{ " clone ", " clone_flags ", &clone_flags, NULL },
	{ " kill tkill tgkill rt_sigaction rt_sigqueueinfo ", " sig ", &signals, NULL },
	{ " madvise process_madvise ", " behavior ", &advices, NULL },
	{ " fadvise64 fadvise64_64 ", " advice ", &file_advices, NULL },
	{ " msync ", " flags ", &sync_flags, NULL },
	{ " mremap ", " flags ", &remap_flags, NULL },
	{ " mlockall ", " flags ", &lock_flags, NULL },
	{ " renameat2 ", " flags ", &rename_flags, NULL },
	{ " getrandom ", " flags ", &random_flags, NULL },
	{ " eventfd2 ", " flags ", &eventfd_flags, NULL },
	{ " timerfd_create timerfd_settime ", " flags ", &timerfd_flags, NULL },
	{ " clock_nanosleep timer_settime ", " flags ", &timer_flags, NULL },
	{ " epoll_create1 inotify_init1 signalfd4 accept4 userfaultfd pidfd_open ", " flags ", &descriptor_flags,
	  NULL },
	{ " inotify_add_watch ", " mask ", &watches, NULL },
	{ " shutdown ", " how ", &shutdowns, NULL },
	{ " setsockopt getsockopt ", " level ", &levels, NULL },
	{ " sendto recvfrom sendmsg recvmsg sendmmsg recvmmsg ", " flags ", &message_flags, NULL },
	{ " prctl ", " option ", &process_options, NULL },
	{ " arch_prctl ", " option ", &arch_options, NULL },
	{ " sched_setscheduler sched_get_priority_max sched_get_priority_min ", " policy ", &policies, NULL },
	{ " membarrier ", " cmd ", &barriers, NULL },
	{ " ioctl ", " cmd ", &device_commands, NULL },
	{ " flock ", " cmd ", &file_locks, NULL },
	{ " fallocate ", " mode ", &allocations, NULL },
	{ " splice tee vmsplice ", " flags ", &splice_flags, NULL },
	{ " memfd_create ", " flags ", &memfd_flags, NULL },
	{ " unshare ", " unshare_flags ", &namespaces, NULL },
	{ " setns ", " flags nstype ", &namespaces, NULL },
	{ " getrusage ", " who ", &usages, NULL },
	{ " prlimit64 getrlimit setrlimit ", " resource ", &resources, NULL },
	{ " setitimer getitimer ", " which ", &timers, NULL },
	{ " ptrace ", " request ", &traces, NULL },
	{ " mount ", " flags ", &mount_flags, NULL },
	{ " umount umount2 ", " flags ", &umount_flags, NULL },
	{ " waitid ", " which ", &waits, NULL },
	{ " getpriority setpriority ", " which ", &priorities, NULL },
	{ " io_uring_enter ", " flags ", &ring_flags, NULL },
	{ " close_range ", " flags ", &range_flags, NULL },
	{ " preadv2 pwritev2 ", " flags ", &io_flags, NULL },
	{ " open openat creat mkdir mkdirat chmod fchmod fchmodat fchmodat2 ", " mode ", &permissions, NULL },
	{ " umask ", " mask ", &permissions, NULL },
	{ "", " dfd olddfd newdfd dirfd ", &directories, NULL },
	{ NULL, NULL, NULL, NULL },
};

static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = words; len && (at = strstr(at, word)); at += len)
		if (at > words && at[-1] == ' ' && at[len] == ' ')
			return true;
	return false;
}

static bool starts(const char *machine, const char *const *names)
{
	for (; *names; names++)
		if (!strncmp(machine, *names, strlen(*names)))
			return true;
	return false;
}

const struct argument_set *argument_set_of(const char *machine, const char *call, const char *name)
{
	static const char *const odd[] = { "mips", "alpha", "parisc", "sparc", NULL }, *const own_open[] = {
		"arm", "aarch64", "ppc", "m68k", NULL
	};

	if (!*machine || starts(machine, odd))
		return NULL;
	for (const struct argument_rule *rule = argument_rules; rule->set; rule++)
		if ((!*rule->calls || has_word(rule->calls, call)) && has_word(rule->arguments, name))
			return rule->generic && !starts(machine, own_open) ? rule->generic : rule->set;
	return NULL;
}

static const char *number_of(const struct argument_name *names, uint64_t value)
{
	for (; names->text; names++)
		if (names->value == value)
			return names->text;
	return NULL;
}

bool argument_known(const char *machine, const char *call, const char *name)
{
	return argument_set_of(machine, call, name) != NULL;
}

bool argument_set_put(const struct argument_set *set, uint64_t value, struct out *out)
{
	const char *number = NULL, *between = "";
	uint64_t left;

	/* Most arguments have 32 bits, whatever the upper half of the register contains. */
	value = (uint32_t)value;
	if (!set->numbers && !set->flags) {
		out_f(out, "%#llo", (unsigned long long)value);
		return true;
	}
	left = value & ~set->mask;
	number = set->numbers ? number_of(set->numbers, value & set->mask) : value ? NULL : number_of(set->flags, 0);
	if (number) {
		out_str(out, number);
		between = "|";
	} else if (!set->flags || (value & set->mask)) {
		return false;
	}
	for (const struct argument_name *flag = set->flags; flag && flag->text; flag++) {
		if (!flag->value || (left & flag->value) != flag->value)
			continue;
		out_f(out, "%s%s", between, flag->text);
		left &= ~flag->value;
		between = "|";
	}
	if (left)
		out_f(out, "%s0x%llx", between, (unsigned long long)left);
	else if (!*between)
		out_char(out, '0');
	return true;
}

bool argument_put(const char *machine, const char *call, const char *name, uint64_t value, struct out *out)
{
	const struct argument_set *set = argument_set_of(machine, call, name);

	return set && argument_set_put(set, value, out);
}

const char *signal_name(const char *machine, uint64_t number)
{
	/* SIGHUP to SIGABRT, SIGFPE, SIGKILL, SIGSEGV, SIGPIPE, SIGALRM and SIGTERM have one number everywhere. */
	bool shared = number < 16 && 0xeb7e >> number & 1;

	return shared || argument_known(machine, "kill", "sig") ? number_of(signals.numbers, number) : NULL;
}
