// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/tally/tally_calls_internal.h"

#include <stdio.h>
#include <string.h>

#include "lib/ground/base/cleanup.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/uapi/names.h"

/* The kernel's tables end before these: calls that only arm has, and calls of x32. */
enum { OWN_CALLS = 0xf0000 };

/* On which machines a call is defined by another name. */
enum who { ALL, WIDE, NARROW, OTHER_WIDE, I386, S390, POWER };

struct defined {
	enum who who;
	const char *name, *as;
};

/*
 * Calls whose SYSCALL_DEFINE has a name other than the one in unistd.h: from the tables *.tbl in scripts/ and below
 * arch/ of kernel 7.3.
 */
static const struct defined table[] = {
	{ ALL, "stat", "newstat" },
	{ ALL, "lstat", "newlstat" },
	{ ALL, "fstat", "newfstat" },
	{ ALL, "fstatat", "newfstatat" },
	{ ALL, "uname", "newuname" },
	{ ALL, "umount2", "umount" },
	{ ALL, "_llseek", "llseek" },
	{ ALL, "_newselect", "select" },
	{ ALL, "ugetrlimit", "getrlimit" },
	{ WIDE, "sendfile", "sendfile64" },
	{ OTHER_WIDE, "fadvise64", "fadvise64_64" },
	{ NARROW, "timer_settime", "timer_settime32" },
	{ NARROW, "timer_gettime", "timer_gettime32" },
	{ NARROW, "clock_settime", "clock_settime32" },
	{ NARROW, "clock_gettime", "clock_gettime32" },
	{ NARROW, "clock_adjtime", "clock_adjtime32" },
	{ NARROW, "timerfd_settime", "timerfd_settime32" },
	{ NARROW, "timerfd_gettime", "timerfd_gettime32" },
	{ NARROW, "timer_settime64", "timer_settime" },
	{ NARROW, "timer_gettime64", "timer_gettime" },
	{ NARROW, "clock_settime64", "clock_settime" },
	{ NARROW, "clock_gettime64", "clock_gettime" },
	{ NARROW, "clock_adjtime64", "clock_adjtime" },
	{ NARROW, "timerfd_settime64", "timerfd_settime" },
	{ NARROW, "timerfd_gettime64", "timerfd_gettime" },
	{ I386, "umount", "oldumount" },
	{ I386, "select", "old_select" },
	{ I386, "mmap", "old_mmap" },
	{ I386, "mmap2", "mmap_pgoff" },
	{ I386, "readdir", "old_readdir" },
	{ I386, "getrlimit", "old_getrlimit" },
	{ I386, "time", "time32" },
	{ I386, "stime", "stime32" },
	{ I386, "utime", "utime32" },
	{ I386, "oldstat", "stat" },
	{ I386, "oldfstat", "fstat" },
	{ I386, "oldlstat", "lstat" },
	{ I386, "olduname", "uname" },
	{ I386, "oldolduname", "olduname" },
	{ I386, "pread64", "ia32_pread64" },
	{ I386, "pwrite64", "ia32_pwrite64" },
	{ I386, "truncate64", "ia32_truncate64" },
	{ I386, "ftruncate64", "ia32_ftruncate64" },
	{ I386, "readahead", "ia32_readahead" },
	{ I386, "fadvise64", "ia32_fadvise64" },
	{ I386, "fadvise64_64", "ia32_fadvise64_64" },
	{ I386, "sync_file_range", "ia32_sync_file_range" },
	{ I386, "fallocate", "ia32_fallocate" },
	{ S390, "umount", "oldumount" },
	{ S390, "mmap", "old_mmap" },
	{ S390, "ipc", "s390_ipc" },
	{ S390, "personality", "s390_personality" },
	{ POWER, "personality", "ppc64_personality" },
};

/* Calls of 32-bit kernels that take 16-bit IDs; the name with "32" is that of the call with whole IDs. */
static const char *const id_calls[] = {
	"lchown",    "setuid",    "getuid",    "setgid",    "getgid", "geteuid",  "getegid",
	"setreuid",  "setregid",  "getgroups", "setgroups", "fchown", "setfsuid", "setfsgid",
	"setresuid", "getresuid", "setresgid", "getresgid", "chown",
};

/* Calls of 32-bit kernels that take 32-bit times; the name with "_time64" is that of the call with whole times. */
static const char *const time_calls[] = {
	"adjtimex",        "sched_rr_get_interval",
	"nanosleep",       "rt_sigtimedwait",
	"futex",           "io_getevents",
	"clock_getres",    "clock_nanosleep",
	"utimes",          "mq_timedsend",
	"mq_timedreceive", "semtimedop",
	"futimesat",       "pselect6",
	"ppoll",           "utimensat",
	"recvmmsg",        "io_pgetevents",
};

/* Calls that have numbers, but no kernel that has histograms has these calls. */
static const char *const missing_calls[] = {
	"break",         "stty",           "gtty",          "ftime",
	"prof",          "lock",           "mpx",           "ulimit",
	"profil",        "idle",           "tuxcall",       "security",
	"vserver",       "afs_syscall",    "create_module", "query_module",
	"nfsservctl",    "getpmsg",        "putpmsg",       "get_kernel_syms",
	"epoll_ctl_old", "epoll_wait_old",
};

static bool is_missing(const char *name)
{
	for (size_t i = 0; i < array_size(missing_calls); i++)
		if (!strcmp(missing_calls[i], name))
			return true;
	return false;
}

static bool is_at(const struct context *context, enum who who)
{
	const char *machine = context->machine;
	bool wide = context->abi.long_size == 8;

	switch (who) {
	case WIDE:
		return wide;
	case NARROW:
		return !wide;
	case OTHER_WIDE:
		return wide && strcmp(machine, "x86_64") && strncmp(machine, "ppc", 3);
	case I386:
		return machine[0] == 'i' && strlen(machine) == 4 && !strcmp(machine + 2, "86");
	case S390:
		return !strncmp(machine, "s390", 4);
	case POWER:
		return wide && !strncmp(machine, "ppc", 3);
	default:
		return true;
	}
}

/* Whether the name is one of the list with this end; *ret_len: its length without the end. */
static bool ends(const char *name, const char *const *list, size_t nr, const char *end, size_t *ret_len)
{
	size_t len = strlen(name), end_len = strlen(end);

	if (len < end_len || strcmp(name + len - end_len, end))
		return false;
	*ret_len = len - end_len;
	for (size_t i = 0; i < nr; i++)
		if (strlen(list[i]) == *ret_len && !memcmp(list[i], name, *ret_len))
			return true;
	return false;
}

/* Prints the name that the kernel's source gives the call. */
static void define(const struct context *context, const char *name, char into[TALLY_CALL_SIZE])
{
	bool narrow = is_at(context, NARROW);
	const char *end = "";
	size_t len = strlen(name);

	for (size_t i = 0; i < array_size(table); i++) {
		if (!strcmp(table[i].name, name) && is_at(context, table[i].who)) {
			snprintf(into, TALLY_CALL_SIZE, "sys_%s", table[i].as);
			return;
		}
	}
	if (narrow && ends(name, id_calls, array_size(id_calls), "", &len))
		end = "16";
	else if (narrow && ends(name, time_calls, array_size(time_calls), "", &len))
		end = "_time32";
	else if (!narrow || (!ends(name, id_calls, array_size(id_calls), "32", &len) &&
			     !ends(name, time_calls, array_size(time_calls), "_time64", &len)))
		len = strlen(name);
	snprintf(into, TALLY_CALL_SIZE, "sys_%.*s%s", (int)len, name, end);
}

const char *tally_call_name(const struct context *context, uint64_t number, char into[TALLY_CALL_SIZE])
{
	/* The kernel's function takes an int. */
	const char *name = system_call_name(context->machine, (int32_t)number);

	if (!name || (int32_t)number >= OWN_CALLS || is_missing(name))
		return "unknown_syscall";
	define(context, name, into);
	return into;
}
