// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ground/base/sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"

#if defined(__x86_64__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#endif

#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#endif

enum { NOBODY = 65534 };

/*
 * Makes a removed, empty directory the root of all paths, because the filter cannot see paths: stat() of them would
 * tell what exists. Where that is not permitted, the other limits still hold.
 */
static void leave_paths(void)
{
	/* In memory it takes a twentieth of the time. */
	char in_memory[] = "/dev/shm/weft-XXXXXX", in_tmp[] = "/tmp/weft-XXXXXX";
	const char *path = mkdtemp(in_memory) ?: mkdtemp(in_tmp);
	cleanup_fd int dir = path ? open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;

	if (dir < 0)
		return;
	(void)!rmdir(path);
	if (!fchdir(dir))
		(void)!chroot(".");
}

/*
 * Closes the descriptors that the caller of the program left open. They have survived execve(), so they lack
 * FD_CLOEXEC; weft opens each of its own with it.
 */
static void close_strangers(void)
{
	DIR *list = opendir("/proc/self/fd");
	struct dirent *entry;

	while (list && (entry = readdir(list))) {
		int fd = (int)strtol(entry->d_name, NULL, 10), flags = fd > STDERR_FILENO ? fcntl(fd, F_GETFD) : -1;

		if (flags >= 0 && !(flags & FD_CLOEXEC))
			close(fd);
	}
	if (list)
		closedir(list);
}

/*
 * 0 when the user was changed, or when the IDs are not mapped in this user namespace: then root here is not the
 * machine's root either.
 */
static int become(uid_t uid, gid_t gid, struct fail *fail)
{
	if (geteuid())
		return 0;
	if (!uid)
		uid = gid = NOBODY;
	if (!gid)
		gid = NOBODY;
	leave_paths();
	/* The groups go first: after the change of user it is not permitted. Some namespaces never permit it. */
	if ((setgroups(0, NULL) && errno != EPERM) || setresgid(gid, gid, gid) || setresuid(uid, uid, uid)) {
		if (errno == EINVAL)
			return 0;
		return fail_set(fail, -errno,
				"cannot drop root's privileges to become user %u: %s; --no-sandbox keeps them", uid,
				strerror(errno));
	}
	return 0;
}

#ifdef OUR_ARCH

/* System calls that are allowed with any arguments. */
static const uint16_t harmless[] = {
	SYS_read,
	SYS_pread64,
	SYS_readv,
	SYS_preadv,
	SYS_write,
	SYS_pwrite64,
	SYS_writev,
	SYS_lseek,
	SYS_fstat,
	SYS_newfstatat,
	SYS_statx,
	SYS_close,
	SYS_dup,
	SYS_dup3,
	SYS_fadvise64,
	SYS_readahead,
	SYS_ppoll,
	SYS_munmap,
	SYS_mremap,
	SYS_brk,
	SYS_madvise,
	SYS_futex,
	SYS_set_robust_list,
	SYS_rseq,
	SYS_set_tid_address,
	SYS_rt_sigprocmask,
	SYS_rt_sigaction,
	SYS_rt_sigreturn,
	SYS_sigaltstack,
	SYS_sched_yield,
	SYS_sched_getaffinity,
	SYS_nanosleep,
	SYS_clock_nanosleep,
	SYS_clock_gettime,
	SYS_clock_getres,
	SYS_gettimeofday,
	SYS_getpid,
	SYS_gettid,
	SYS_getuid,
	SYS_geteuid,
	SYS_exit,
	SYS_exit_group,
	SYS_getrandom,
	SYS_restart_syscall,
	SYS_sysinfo,
	SYS_getrusage,
	SYS_copy_file_range,
	/* For a socket that was open before: the process that keeps its privileges passes files through it. */
	SYS_recvmsg,
#ifdef SYS_poll
	SYS_poll,
	SYS_time,
#endif
};

/* What fcntl() may do: it sends no signal, as F_SETOWN and F_SETSIG would make it, and takes no lease. */
static const uint16_t commands[] = {
	F_DUPFD,  F_DUPFD_CLOEXEC, F_GETFD,     F_SETFD,      F_GETFL,     F_SETLK,
	F_SETLKW, F_GETLK,         F_OFD_SETLK, F_OFD_SETLKW, F_OFD_GETLK,
};

enum { COMMANDS = sizeof(commands) / sizeof(*commands) };
enum { HARMLESS = sizeof(harmless) / sizeof(*harmless), FILTER_MAX = 2 * HARMLESS + 2 * COMMANDS + 60 };

struct filter {
	struct sock_filter code[FILTER_MAX];
	unsigned short len;
};

static void put(struct filter *filter, uint16_t code, uint32_t k, uint8_t yes, uint8_t no)
{
	filter->code[filter->len++] = (struct sock_filter){ .code = code, .jt = yes, .jf = no, .k = k };
}

static void put_return(struct filter *filter, uint32_t action)
{
	put(filter, BPF_RET | BPF_K, action, 0, 0);
}

static void load(struct filter *filter, size_t offset)
{
	put(filter, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static uint32_t refused(int err)
{
	return SECCOMP_RET_ERRNO | (uint32_t)err;
}

/*
 * Adds a check of one argument of a call: one action when a bit of `mask` is set, the other when none is. Both
 * supported architectures are little-endian.
 */
static void put_masked(struct filter *filter, int call, unsigned argument, uint32_t mask, uint32_t with,
		       uint32_t without)
{
	size_t low = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0;

	put(filter, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 4);
	load(filter, offsetof(struct seccomp_data, args) + 8 * argument + low);
	put(filter, BPF_JMP | BPF_JSET | BPF_K, mask, 0, 1);
	put_return(filter, with);
	put_return(filter, without);
}

/* fcntl(): the commands above, and F_SETFL with flags that send no signal. */
static void put_fcntl(struct filter *filter)
{
	put(filter, BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, 2 * COMMANDS + 6);
	load(filter, offsetof(struct seccomp_data, args) + 8);
	for (size_t i = 0; i < COMMANDS; i++) {
		put(filter, BPF_JMP | BPF_JEQ | BPF_K, commands[i], 0, 1);
		put_return(filter, SECCOMP_RET_ALLOW);
	}
	put(filter, BPF_JMP | BPF_JEQ | BPF_K, F_SETFL, 0, 3);
	load(filter, offsetof(struct seccomp_data, args) + 16);
	put(filter, BPF_JMP | BPF_JSET | BPF_K, O_ASYNC, 1, 0);
	put_return(filter, SECCOMP_RET_ALLOW);
	put_return(filter, refused(EPERM));
}

/* A signal for a thread of this process, as abort() sends it. */
static void put_tgkill(struct filter *filter)
{
	put(filter, BPF_JMP | BPF_JEQ | BPF_K, SYS_tgkill, 0, 4);
	load(filter, offsetof(struct seccomp_data, args));
	put(filter, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)getpid(), 0, 1);
	put_return(filter, SECCOMP_RET_ALLOW);
	put_return(filter, refused(EPERM));
}

static void put_filter(struct filter *filter)
{
	load(filter, offsetof(struct seccomp_data, arch));
	put(filter, BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCH, 1, 0);
	put_return(filter, refused(EPERM));
	load(filter, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < HARMLESS; i++) {
		put(filter, BPF_JMP | BPF_JEQ | BPF_K, harmless[i], 0, 1);
		put_return(filter, SECCOMP_RET_ALLOW);
	}
	put_fcntl(filter);
	put_tgkill(filter);
	/* No memory becomes executable. */
	put_masked(filter, SYS_mmap, 2, PROT_EXEC, refused(EPERM), SECCOMP_RET_ALLOW);
	put_masked(filter, SYS_mprotect, 2, PROT_EXEC, refused(EPERM), SECCOMP_RET_ALLOW);
	/* A thread chooses its own CPUs, not the CPUs of another task. */
	put_masked(filter, SYS_sched_setaffinity, 0, UINT32_MAX, refused(EPERM), SECCOMP_RET_ALLOW);
	/*
	 * Threads are allowed, processes are not. The filter cannot see the flags of clone3(); when it is refused, the
	 * C library uses clone().
	 */
	put_masked(filter, SYS_clone, 0, CLONE_THREAD, SECCOMP_RET_ALLOW, refused(EPERM));
	put(filter, BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1);
	put_return(filter, refused(ENOSYS));
	/*
	 * Allowed ioctls ask whether a file is a terminal and how wide it is. TIOCSTI, which types into a terminal, is
	 * not among them.
	 */
	put(filter, BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 4);
	load(filter, offsetof(struct seccomp_data, args) + 8);
	put(filter, BPF_JMP | BPF_JEQ | BPF_K, TCGETS, 1, 0);
	put(filter, BPF_JMP | BPF_JEQ | BPF_K, TIOCGWINSZ, 0, 1);
	put_return(filter, SECCOMP_RET_ALLOW);
	put_return(filter, refused(EPERM));
}

static int install(struct fail *fail)
{
	struct filter filter = { .len = 0 };
	struct sock_fprog program;

	put_filter(&filter);
	program = (struct sock_fprog){ .len = filter.len, .filter = filter.code };
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return fail_set(fail, -errno, "cannot enter the sandbox: %s; --no-sandbox reads without it",
				strerror(errno));
	/* Kernels without seccomp filters return EINVAL. */
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) && errno != EINVAL)
		return fail_set(fail, -errno, "cannot enter the sandbox: %s; --no-sandbox reads without it",
				strerror(errno));
	return 0;
}

#else

static int install(struct fail *fail)
{
	(void)fail;
	return 0;
}

#endif

int sandbox_enter(uid_t uid, gid_t gid, struct fail *fail)
{
#ifdef SANITIZED
	const bool stays = true;
#else
	const bool stays = false;
#endif
	int err;

	if (!stays)
		close_strangers();
	err = stays ? 0 : become(uid, gid, fail);

	return stays || err ? err : install(fail);
}
