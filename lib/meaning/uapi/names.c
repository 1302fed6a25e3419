// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/uapi/names.h"

#include <stdbool.h>
#include <string.h>

#include "lib/ground/base/cleanup.h"
#include "lib/meaning/uapi/tables_internal.h"

enum { X32_BIT = 0x40000000, ARM_OWN = 0xf0000, MIPS_O32 = 4000, MIPS_N64 = 5000, MIPS_N32 = 6000, MIPS_END = 7000 };

struct machine {
	const char *name; /* the beginning of its name: "i" and a digit are i386 to i686 */
	const struct name_table *calls;
	const struct name_table *errors;
};

/* The first entry that fits is used. */
static const struct machine machines[] = {
	{ "x86_64", &calls_x86_64, &errors_generic },
	{ "i?86", &calls_i386, &errors_generic },
	{ "aarch64", &calls_arm64, &errors_generic },
	/* A 32-bit kernel. A 64-bit one has the name aarch64. */
	{ "arm", &calls_arm, &errors_generic },
	{ "riscv64", &calls_riscv64, &errors_generic },
	{ "riscv32", &calls_riscv32, &errors_generic },
	{ "loongarch64", &calls_loongarch64, &errors_generic },
	{ "loongarch", &calls_loongarch32, &errors_generic },
	{ "ppc64", &calls_ppc64, &errors_generic },
	{ "ppc", &calls_ppc32, &errors_generic },
	{ "s390x", &calls_s390x, &errors_generic },
	/* 31-bit tasks, on kernels until 6.18. */
	{ "s390", &calls_s390, &errors_generic },
	/* The number decides; see mips_name(). */
	{ "mips", NULL, &errors_mips },
	{ "sparc64", &calls_sparc64, &errors_sparc },
	{ "sparc", &calls_sparc32, &errors_sparc },
	{ "parisc64", &calls_parisc64, &errors_parisc },
	{ "parisc", &calls_parisc32, &errors_parisc },
	{ "alpha", &calls_alpha, &errors_alpha },
	{ "sh", &calls_sh, &errors_generic },
	{ "m68k", &calls_m68k, &errors_generic },
	{ "microblaze", &calls_microblaze, &errors_generic },
	{ "xtensa", &calls_xtensa, &errors_generic },
	{ "arc", &calls_arc, &errors_generic },
	{ "csky", &calls_csky, &errors_generic },
	{ "hexagon", &calls_hexagon, &errors_generic },
	{ "nios2", &calls_nios2, &errors_generic },
	{ "openrisc", &calls_openrisc, &errors_generic },
};

static bool begins(const char *text, const char *with)
{
	for (; *with; text++, with++)
		if (!*text || (*with != '?' && *with != *text))
			return false;
	return true;
}

static const struct machine *find_machine(const char *name)
{
	for (size_t i = 0; i < array_size(machines); i++)
		if (begins(name, machines[i].name))
			return &machines[i];
	return NULL;
}

static const char *name_of(const struct name_table *table, int64_t number)
{
	return number >= 0 && (uint64_t)number < table->count ? table->names[number] : NULL;
}

/* Each of the three ways to make a call has its own numbers. */
static const char *mips_name(int64_t number)
{
	if (number >= MIPS_O32 && number < MIPS_N64)
		return name_of(&calls_mips_o32, number - MIPS_O32);
	if (number >= MIPS_N64 && number < MIPS_N32)
		return name_of(&calls_mips_n64, number - MIPS_N64);
	return number >= MIPS_N32 && number < MIPS_END ? name_of(&calls_mips_n32, number - MIPS_N32) : NULL;
}

/* arch/arm/include/uapi/asm/unistd.h: calls that only arm has, far behind the others. glibc begins with set_tls. */
static const char *arm_name(int64_t number)
{
	static const char *const names[] = { NULL, "breakpoint", "cacheflush", "usr26", "usr32", "set_tls", "get_tls" };
	static const struct name_table own = NAME_TABLE(names);

	return number >= ARM_OWN ? name_of(&own, number - ARM_OWN) : name_of(&calls_arm, number);
}

const char *system_call_name(const char *machine, int64_t number)
{
	const struct machine *found = find_machine(machine);

	if (!found)
		return NULL;
	if (!found->calls)
		return mips_name(number);
	if (found->calls == &calls_arm)
		return arm_name(number);
	if (found->calls == &calls_x86_64 && number >= X32_BIT)
		return name_of(&calls_x32, number - X32_BIT);
	return name_of(found->calls, number);
}

int32_t system_call_number(const char *machine, const char *name)
{
	const struct machine *found = find_machine(machine);
	const struct name_table *table = found ? found->calls : NULL;

	for (size_t i = 0; table && i < table->count; i++)
		if (table->names[i] && table->names[i][0] == *name && !strcmp(table->names[i], name))
			return (int32_t)i;
	return -1;
}

bool system_call_restores(const char *name)
{
	return !strcmp(name, "rt_sigreturn") || !strcmp(name, "sigreturn");
}

/* include/linux/errno.h: errors that stay inside the kernel, equal on all machines. The first is 512. */
static const char *kernel_name(int64_t error)
{
	static const char *const names[] = {
		"ERESTARTSYS",
		"ERESTARTNOINTR",
		"ERESTARTNOHAND",
		"ENOIOCTLCMD",
		"ERESTART_RESTARTBLOCK",
		"EPROBE_DEFER",
		"EOPENSTALE",
		"ENOPARAM",
		NULL,
		"EBADHANDLE",
		"ENOTSYNC",
		"EBADCOOKIE",
		"ENOTSUPP",
		"ETOOSMALL",
		"ESERVERFAULT",
		"EBADTYPE",
		"EJUKEBOX",
		"EIOCBQUEUED",
		"ERECALLCONFLICT",
		"ENOGRACE",
	};
	const int64_t first = 512;

	return error >= first && error - first < (int64_t)array_size(names) ? names[error - first] : NULL;
}

const char *error_name(const char *machine, int64_t error)
{
	const struct machine *found = find_machine(machine);
	const char *name = name_of(found ? found->errors : &errors_generic, error);

	return name ? name : kernel_name(error);
}
