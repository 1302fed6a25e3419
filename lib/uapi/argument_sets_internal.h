/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_UAPI_ARGUMENT_SETS_INTERNAL_H
#define WEFT_UAPI_ARGUMENT_SETS_INTERNAL_H

#include <stdint.h>

/* The names of arguments of system calls. Only lib/uapi includes this header. */
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

/* The first rule that has the call and the argument applies. A rule without arguments ends the list. */
extern const struct argument_rule argument_rules[];

#endif
