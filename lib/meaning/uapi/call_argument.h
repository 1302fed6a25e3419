/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_UAPI_CALL_ARGUMENT_H
#define WEFT_MEANING_UAPI_CALL_ARGUMENT_H

#include <stdbool.h>

/* The arguments of system calls by name and type, for events that have six numbers and the number of the call only. */
enum { CALL_ARGUMENTS = 6 };

struct call_argument {
	char type[24], name[24]; /* the type in C; "" of a pointer */
	bool pointer;
};

/*
 * Returns how many arguments the call `call` ("openat") has, 0 to 6; -1: that is not known. `wide`: the machine's
 * registers have 64 bits.
 */
int call_arguments(const char *machine, bool wide, const char *call, struct call_argument ret[CALL_ARGUMENTS]);

#endif
