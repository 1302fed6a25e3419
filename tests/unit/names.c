// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/uapi/names.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include "lib/ground/base/cleanup.h"
#include "tests/unit/test.h"

/* Numbers from the C library headers of each architecture (asm/unistd.h of Debian's linux-libc-dev). */
TEST(names_of_system_calls_are_those_of_the_traced_machine)
{
	static const struct {
		const char *machine;
		int64_t number;
		const char *name;
	} calls[] = {
		{ "x86_64", 0, "read" },
		{ "x86_64", 257, "openat" },
		{ "x86_64", 334, "rseq" },
		{ "x86_64", 424, "pidfd_send_signal" },
		{ "i686", 5, "open" },
		{ "i386", 295, "openat" },
		{ "i686", 403, "clock_gettime64" },
		{ "aarch64", 56, "openat" },
		{ "aarch64", 63, "read" },
		{ "loongarch64", 221, "execve" },
		{ "riscv64", 56, "openat" },
		{ "riscv64", 258, "riscv_hwprobe" },
		{ "armv7l", 5, "open" },
		{ "armv7l", 322, "openat" },
		{ "armv8l", 405, "clock_adjtime64" },
		{ "s390x", 5, "open" },
		{ "s390x", 288, "openat" },
		{ "s390x", 222, "readahead" },
		{ "ppc64le", 286, "openat" },
		{ "ppc64", 3, "read" },
		{ "ppc", 286, "openat" },
		{ "sparc64", 284, "openat" },
		{ "parisc64", 275, "openat" },
		{ "alpha", 450, "openat" },
		{ "m68k", 288, "openat" },
		{ "sh4", 295, "openat" },
		{ "s390", 221, "fcntl64" },
		{ "loongarch64", 437, "openat2" },
		{ "arc", 244, "cacheflush" },
		{ "aarch64", 38, "renameat" },
		{ "x86_64", 472, "fchroot" },
		{ "riscv64", 472, "fchroot" },
		{ "alpha", 582, "fchroot" },
	};

	for (size_t i = 0; i < array_size(calls); i++)
		CHECK_STR(system_call_name(calls[i].machine, calls[i].number), calls[i].name);
}

TEST(names_tell_the_ways_to_call_apart_where_numbers_do)
{
	CHECK_STR(system_call_name("x86_64", 0x40000000 + 257), "openat");
	CHECK(system_call_number("x86_64", "openat") == 257 && system_call_number("aarch64", "openat") == 56);
	CHECK(system_call_number("x86_64", "open_at") == -1 && system_call_number("vax", "openat") == -1);
	CHECK_STR(system_call_name("x86_64", 0x40000000 + 520), "execve");
	CHECK_STR(system_call_name("mips64", 4288), "openat");
	CHECK_STR(system_call_name("mips64", 5247), "openat");
	CHECK_STR(system_call_name("mips64", 6251), "openat");
	CHECK_STR(system_call_name("mips64", 5450), "set_mempolicy_home_node");
	CHECK_STR(system_call_name("mips", 4003), "read");
	CHECK_STR(system_call_name("armv7l", 0xf0005), "set_tls");
	CHECK(!system_call_name("armv7l", 0xf0000) && !system_call_name("armv7l", 0xf0007));
	CHECK(!system_call_name("aarch64", 0xf0005));
}

TEST(names_are_not_guessed)
{
	CHECK(!system_call_name("x86_64", -1));
	CHECK(!system_call_name("x86_64", 400));
	CHECK(!system_call_name("x86_64", INT64_MAX));
	CHECK(!system_call_name("x86_64", INT64_MIN));
	CHECK(!system_call_name("mips64", 3));
	CHECK(!system_call_name("loongarch64", 38) && !system_call_name("s390x", 221));
	CHECK(!system_call_name("vax", 5));
	CHECK(!system_call_name("", 5));
	CHECK(!error_name("x86_64", 0));
	CHECK(!error_name("x86_64", -5));
	CHECK(!error_name("x86_64", 41));
}

TEST(names_of_errors_are_those_of_the_traced_machine)
{
	CHECK_STR(error_name("x86_64", 2), "ENOENT");
	CHECK_STR(error_name("x86_64", 11), "EAGAIN");
	CHECK_STR(error_name("s390x", 110), "ETIMEDOUT");
	CHECK_STR(error_name("mips64", 145), "ETIMEDOUT");
	CHECK_STR(error_name("alpha", 60), "ETIMEDOUT");
	CHECK_STR(error_name("sparc64", 60), "ETIMEDOUT");
	CHECK_STR(error_name("parisc", 238), "ETIMEDOUT");
	CHECK_STR(error_name("", 110), "ETIMEDOUT");
	CHECK_STR(error_name("x86_64", 512), "ERESTARTSYS");
	CHECK_STR(error_name("mips64", 517), "EPROBE_DEFER");
	CHECK_STR(error_name("x86_64", 524), "ENOTSUPP");
	CHECK(!error_name("x86_64", 511) && !error_name("x86_64", 520) && !error_name("x86_64", 532));
}

/* The C library of this machine has its own tables. */
TEST(names_agree_with_this_machine)
{
	struct utsname name;
	const char *machine;

	if (!CHECK(!uname(&name)))
		return;
	/* A 32-bit program on a 64-bit kernel uses the other table of system calls. */
	machine = sizeof(long) == 4 && !strcmp(name.machine, "x86_64")  ? "i686" :
		  sizeof(long) == 4 && !strcmp(name.machine, "aarch64") ? "armv7l" :
									  name.machine;
	if (!system_call_name(machine, SYS_getpid))
		return;
	CHECK_STR(system_call_name(machine, SYS_getpid), "getpid");
	CHECK_STR(system_call_name(machine, SYS_openat), "openat");
	CHECK_STR(system_call_name(machine, SYS_execve), "execve");
	CHECK_STR(error_name(machine, ETIMEDOUT), "ETIMEDOUT");
	CHECK_STR(error_name(machine, ENOSYS), "ENOSYS");
}
