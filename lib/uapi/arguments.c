// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the kernel's include/uapi/asm-generic and include/uapi/linux: fcntl.h, mman-common.h, mman.h, signal.h, fs.h,
 * futex.h, wait.h, eventpoll.h, time.h, net.h.
 */
#include "lib/uapi/arguments.h"

#include "lib/base/cleanup.h"
#include "lib/base/out.h"

#include <string.h>

struct name {
	uint64_t value;
	const char *text;
};

/* How a set of names is printed: the bits of `mask` are one number out of `numbers`, all others are flags. */
struct set {
	uint64_t mask;
	const struct name *numbers, *flags; /* end with a text of NULL; may be NULL */
};

/* `calls` and `arguments` are words with blanks around each. */
struct rule {
	const char *calls, *arguments;
	const struct set *set;
};

#define NAMES(...) ((const struct name[]){ __VA_ARGS__, { 0, NULL } })

static const struct set open_flags = {
	3,
	NAMES({ 0, "O_RDONLY" }, { 1, "O_WRONLY" }, { 2, "O_RDWR" }),
	NAMES({ 0100, "O_CREAT" }, { 0200, "O_EXCL" }, { 0400, "O_NOCTTY" }, { 01000, "O_TRUNC" },
	      { 02000, "O_APPEND" }, { 04000, "O_NONBLOCK" }, { 04010000, "O_SYNC" }, { 010000, "O_DSYNC" },
	      { 020000, "FASYNC" }, { 01000000, "O_NOATIME" }, { 02000000, "O_CLOEXEC" }, { 010000000, "O_PATH" }),
};
/* asm-generic/fcntl.h; arm, aarch64 and ppc have others. */
static const struct set open_flags_generic = {
	3,
	NAMES({ 0, "O_RDONLY" }, { 1, "O_WRONLY" }, { 2, "O_RDWR" }),
	NAMES({ 0100, "O_CREAT" }, { 0200, "O_EXCL" }, { 0400, "O_NOCTTY" }, { 01000, "O_TRUNC" },
	      { 02000, "O_APPEND" }, { 04000, "O_NONBLOCK" }, { 04010000, "O_SYNC" }, { 010000, "O_DSYNC" },
	      { 020000, "FASYNC" }, { 01000000, "O_NOATIME" }, { 02000000, "O_CLOEXEC" }, { 010000000, "O_PATH" },
	      { 040000, "O_DIRECT" }, { 0100000, "O_LARGEFILE" }, { 020200000, "O_TMPFILE" },
	      { 0200000, "O_DIRECTORY" }, { 0400000, "O_NOFOLLOW" }),
};
static const struct set descriptor_flags = { 0, NULL, NAMES({ 04000, "O_NONBLOCK" }, { 02000000, "O_CLOEXEC" }) };
static const struct set at_flags = {
	0,
	NULL,
	NAMES({ 0x100, "AT_SYMLINK_NOFOLLOW" }, { 0x400, "AT_SYMLINK_FOLLOW" }, { 0x800, "AT_NO_AUTOMOUNT" },
	      { 0x1000, "AT_EMPTY_PATH" }, { 0x2000, "AT_STATX_FORCE_SYNC" }, { 0x4000, "AT_STATX_DONT_SYNC" }),
};
static const struct set unlink_flags = { 0, NULL, NAMES({ 0x200, "AT_REMOVEDIR" }) };
static const struct set access_flags = {
	0, NULL, NAMES({ 0x100, "AT_SYMLINK_NOFOLLOW" }, { 0x200, "AT_EACCESS" }, { 0x1000, "AT_EMPTY_PATH" })
};
static const struct set access_modes = { 0, NULL, NAMES({ 0, "F_OK" }, { 4, "R_OK" }, { 2, "W_OK" }, { 1, "X_OK" }) };
static const struct set protections = { 0, NULL,
					NAMES({ 0, "PROT_NONE" }, { 1, "PROT_READ" }, { 2, "PROT_WRITE" },
					      { 4, "PROT_EXEC" }, { 0x01000000, "PROT_GROWSDOWN" }) };
static const struct set map_flags = {
	0xf,
	NAMES({ 1, "MAP_SHARED" }, { 2, "MAP_PRIVATE" }, { 3, "MAP_SHARED_VALIDATE" }),
	NAMES({ 0x10, "MAP_FIXED" }, { 0x20, "MAP_ANONYMOUS" }, { 0x800, "MAP_DENYWRITE" }, { 0x8000, "MAP_POPULATE" },
	      { 0x20000, "MAP_STACK" }, { 0x40000, "MAP_HUGETLB" }, { 0x100000, "MAP_FIXED_NOREPLACE" }),
};
static const struct set whences = {
	~0ULL, NAMES({ 0, "SEEK_SET" }, { 1, "SEEK_CUR" }, { 2, "SEEK_END" }, { 3, "SEEK_DATA" }, { 4, "SEEK_HOLE" }),
	NULL
};
static const struct set hows = { ~0ULL, NAMES({ 0, "SIG_BLOCK" }, { 1, "SIG_UNBLOCK" }, { 2, "SIG_SETMASK" }), NULL };
static const struct set file_commands = {
	~0ULL,
	NAMES({ 0, "F_DUPFD" }, { 1, "F_GETFD" }, { 2, "F_SETFD" }, { 3, "F_GETFL" }, { 4, "F_SETFL" },
	      { 1030, "F_DUPFD_CLOEXEC" }, { 1031, "F_SETPIPE_SZ" }, { 1032, "F_GETPIPE_SZ" }, { 1033, "F_ADD_SEALS" }),
	NULL,
};
static const struct set futex_operations = {
	0x7f,
	NAMES({ 0, "FUTEX_WAIT" }, { 1, "FUTEX_WAKE" }, { 3, "FUTEX_REQUEUE" }, { 4, "FUTEX_CMP_REQUEUE" },
	      { 5, "FUTEX_WAKE_OP" }, { 6, "FUTEX_LOCK_PI" }, { 7, "FUTEX_UNLOCK_PI" }, { 8, "FUTEX_TRYLOCK_PI" },
	      { 9, "FUTEX_WAIT_BITSET" }, { 10, "FUTEX_WAKE_BITSET" }),
	NAMES({ 128, "FUTEX_PRIVATE_FLAG" }, { 256, "FUTEX_CLOCK_REALTIME" }),
};
static const struct set wait_options = { 0, NULL,
					 NAMES({ 1, "WNOHANG" }, { 2, "WUNTRACED" }, { 4, "WEXITED" },
					       { 8, "WCONTINUED" }, { 0x01000000, "WNOWAIT" }) };
static const struct set epoll_operations = {
	~0ULL, NAMES({ 1, "EPOLL_CTL_ADD" }, { 2, "EPOLL_CTL_DEL" }, { 3, "EPOLL_CTL_MOD" }), NULL
};
static const struct set clocks = {
	~0ULL,
	NAMES({ 0, "CLOCK_REALTIME" }, { 1, "CLOCK_MONOTONIC" }, { 2, "CLOCK_PROCESS_CPUTIME_ID" },
	      { 3, "CLOCK_THREAD_CPUTIME_ID" }, { 4, "CLOCK_MONOTONIC_RAW" }, { 7, "CLOCK_BOOTTIME" },
	      { 11, "CLOCK_TAI" }),
	NULL,
};
static const struct set families = {
	~0ULL, NAMES({ 1, "AF_UNIX" }, { 2, "AF_INET" }, { 10, "AF_INET6" }, { 16, "AF_NETLINK" }, { 17, "AF_PACKET" }),
	NULL
};
static const struct set socket_types = {
	0xf,
	NAMES({ 1, "SOCK_STREAM" }, { 2, "SOCK_DGRAM" }, { 3, "SOCK_RAW" }, { 5, "SOCK_SEQPACKET" }),
	NAMES({ 04000, "SOCK_NONBLOCK" }, { 02000000, "SOCK_CLOEXEC" }),
};
static const struct set clone_flags = {
	0xff,
	NAMES({ 17, "SIGCHLD" }),
	NAMES({ 0x100, "CLONE_VM" }, { 0x200, "CLONE_FS" }, { 0x400, "CLONE_FILES" }, { 0x800, "CLONE_SIGHAND" },
	      { 0x1000, "CLONE_PIDFD" }, { 0x4000, "CLONE_VFORK" }, { 0x10000, "CLONE_THREAD" },
	      { 0x20000, "CLONE_NEWNS" }, { 0x40000, "CLONE_SYSVSEM" }, { 0x80000, "CLONE_SETTLS" },
	      { 0x100000, "CLONE_PARENT_SETTID" }, { 0x200000, "CLONE_CHILD_CLEARTID" },
	      { 0x1000000, "CLONE_CHILD_SETTID" }),
};
static const struct set signals = {
	~0ULL,
	NAMES({ 1, "SIGHUP" }, { 2, "SIGINT" }, { 3, "SIGQUIT" }, { 4, "SIGILL" }, { 5, "SIGTRAP" }, { 6, "SIGABRT" },
	      { 7, "SIGBUS" }, { 8, "SIGFPE" }, { 9, "SIGKILL" }, { 10, "SIGUSR1" }, { 11, "SIGSEGV" },
	      { 12, "SIGUSR2" }, { 13, "SIGPIPE" }, { 14, "SIGALRM" }, { 15, "SIGTERM" }, { 17, "SIGCHLD" },
	      { 18, "SIGCONT" }, { 19, "SIGSTOP" }, { 20, "SIGTSTP" }, { 28, "SIGWINCH" }),
	NULL,
};
static const struct set directories = { ~0ULL, NAMES({ (uint32_t)-100, "AT_FDCWD" }), NULL };

/* The first rule with the call and the argument applies. "" stands for any call. */
static const struct rule rules[] = {
	{ " open openat ", " flags ", &open_flags },
	{ " pipe2 dup3 ", " flags ", &descriptor_flags },
	{ " newfstatat fstatat64 statx linkat fchownat utimensat execveat name_to_handle_at ", " flag flags ",
	  &at_flags },
	{ " unlinkat ", " flag flags ", &unlink_flags },
	{ " faccessat2 ", " flags ", &access_flags },
	{ " access faccessat faccessat2 ", " mode ", &access_modes },
	{ " mmap mprotect mmap2 mmap_pgoff pkey_mprotect ", " prot ", &protections },
	{ " mmap mmap2 mmap_pgoff ", " flags ", &map_flags },
	{ " lseek llseek _llseek ", " whence ", &whences },
	{ " rt_sigprocmask sigprocmask ", " how ", &hows },
	{ " fcntl fcntl64 ", " cmd ", &file_commands },
	{ " futex futex_time64 ", " op ", &futex_operations },
	{ " wait4 waitid waitpid ", " options ", &wait_options },
	{ " epoll_ctl ", " op ", &epoll_operations },
	{ "", " which_clock clockid ", &clocks },
	{ " socket socketpair ", " family ", &families },
	{ " socket socketpair ", " type ", &socket_types },
	{ " clone ", " clone_flags ", &clone_flags },
	{ " kill tkill tgkill rt_sigaction rt_sigqueueinfo ", " sig ", &signals },
	{ "", " dfd olddfd newdfd dirfd ", &directories },
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

static const struct set *set_of(const char *machine, const char *call, const char *name)
{
	static const char *const odd[] = { "mips", "alpha", "parisc", "sparc", NULL }, *const own_open[] = {
		"arm", "aarch64", "ppc", "m68k", NULL
	};

	if (!*machine || starts(machine, odd))
		return NULL;
	for (size_t i = 0; i < array_size(rules); i++)
		if ((!*rules[i].calls || has_word(rules[i].calls, call)) && has_word(rules[i].arguments, name))
			return rules[i].set == &open_flags && !starts(machine, own_open) ? &open_flags_generic :
											   rules[i].set;
	return NULL;
}

static const char *number_of(const struct name *names, uint64_t value)
{
	for (; names->text; names++)
		if (names->value == value)
			return names->text;
	return NULL;
}

bool argument_put(const char *machine, const char *call, const char *name, uint64_t value, struct out *out)
{
	const struct set *set = set_of(machine, call, name);
	const char *number = NULL, *between = "";
	uint64_t left;

	/* Most arguments have 32 bits, whatever the upper half of the register contains. */
	value = (uint32_t)value;
	if (!set)
		return false;
	left = value & ~set->mask;
	number = set->numbers ? number_of(set->numbers, value & set->mask) : value ? NULL : number_of(set->flags, 0);
	if (number) {
		out_str(out, number);
		between = "|";
	} else if (!set->flags || (value & set->mask)) {
		return false;
	}
	for (const struct name *flag = set->flags; flag && flag->text; flag++) {
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
