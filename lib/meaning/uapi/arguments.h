/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_UAPI_ARGUMENTS_H
#define WEFT_MEANING_UAPI_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

struct out;

/*
 * Prints arguments of system calls by the names that programs use: AT_FDCWD, O_RDONLY|O_CLOEXEC, SEEK_SET. The numbers
 * are those of most machines. On machines with numbers of their own (mips, alpha, parisc, sparc) nothing is named, and
 * flags that differ among the others stay numbers.
 */

/* Whether some values of the argument have names. */
bool argument_known(const char *machine, const char *call, const char *name);

/* How the values of an argument are called, for who asks often; NULL: they have no names. */
struct argument_set;
const struct argument_set *argument_set_of(const char *machine, const char *call, const char *name);
/* Prints the names and returns true, if the value has some. */
bool argument_set_put(const struct argument_set *set, uint64_t value, struct out *out);

/*
 * Prints the names and returns true, if the argument `name` of the call `call` ("openat") is known and the value has a
 * name.
 */
bool argument_put(const char *machine, const char *call, const char *name, uint64_t value, struct out *out);

/* "SIGSEGV"; NULL: the signal has no name, or its number is one of that machine alone. */
const char *signal_name(const char *machine, uint64_t number);

#endif
