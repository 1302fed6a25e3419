/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_EVENT_TYPES_H
#define WEFT_MEANING_EVENT_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct fail;
struct out;
struct trace;

/*
 * The traced kernel's type information in the file (the setting "weft/types" of weft-dat(5)): the parameters of
 * functions and the values of enumerators. Each line is a list of words:
 *	f FUNCTION PARAMETER...         *NAME pointer, iNAME signed, uNAME unsigned, eINDEX:NAME enum,
 *	                                sSIZE:KIND:NAME other, ?NAME unknown
 *	e INDEX NAME=VALUE...           the enum that parameters refer to
 *	v NAME VALUE                    an enumerator that formats name
 * Lines may come in any order; other lines are ignored. Immutable once built; it borrows the text.
 */
struct types;

enum { TYPES_LINES_MAX = 1 << 20 };

int must_check types_new(struct trace *trace, struct types **ret, struct fail *fail);
int must_check types_of_text(const char *text, size_t len, struct types **ret, struct fail *fail);
void types_free(struct types *types);

/* The value of an enumerator; false when it is not known. */
bool types_value(const struct types *types, const char *name, size_t len, uint64_t *ret);

/* The arguments of a call as its registers held them, in this machine's byte order. */
struct call_args {
	uint64_t values[16];
	unsigned nr;
	uint8_t long_size;
	bool enumerators; /* print the name of an enum's value: 7.1 and later */
};

/*
 * Prints "(NAME=VALUE, ...)" as print_function_args() of kernel/trace/trace_output.c does; "()" for an unknown
 * function.
 */
void types_print_args(const struct types *types, const char *function, size_t len, const struct call_args *args,
		      struct out *out);

#endif
