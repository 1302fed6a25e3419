/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_UAPI_TABLES_INTERNAL_H
#define WEFT_MEANING_UAPI_TABLES_INTERNAL_H

#include <stddef.h>

/* Names by number; NULL: there is none. */
struct name_table {
	const char *const *names;
	size_t count;
};

#define NAME_TABLE(array)                                                     \
	{                                                                     \
		.names = (array), .count = sizeof(array) / sizeof((array)[0]) \
	}

/* calls_*.c */
extern const struct name_table calls_x86_64, calls_x32, calls_i386, calls_arm, calls_arm64, calls_riscv64,
	calls_riscv32, calls_loongarch64;
extern const struct name_table calls_loongarch32, calls_arc, calls_csky, calls_hexagon, calls_nios2, calls_openrisc;
extern const struct name_table calls_ppc64, calls_ppc32, calls_s390x, calls_s390, calls_mips_o32, calls_mips_n64,
	calls_mips_n32, calls_sparc64;
extern const struct name_table calls_sparc32, calls_parisc64, calls_parisc32, calls_alpha, calls_sh, calls_m68k,
	calls_microblaze, calls_xtensa;

/* errors.c */
extern const struct name_table errors_generic, errors_mips, errors_alpha, errors_sparc, errors_parisc;

/*
 * call_arguments.c: the arguments of each call as text, "int dfd,*filename,int flags,umode_t mode": a type, a blank and
 * the name; '*' and the name of a pointer.
 */
struct call_signature {
	const char *name, *arguments;
};
extern const struct call_signature call_signatures[];
extern const size_t nr_call_signatures;

#endif
