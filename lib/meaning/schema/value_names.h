/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_SCHEMA_VALUE_NAMES_H
#define WEFT_MEANING_SCHEMA_VALUE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct fail;
struct field;
struct format;
struct program_env;
struct schema_abi;

/*
 * The names that a print fmt gives to the values of one field, by __print_symbolic() or __print_flags(): reasons of
 * dropped packets, states of TCP, flags of an allocation. Borrows the format, the abi and the env. Not thread-safe.
 */
struct value_names;

/* *ret NULL: the print fmt names no values of this field. */
int must_check value_names_new(const struct schema_abi *abi, const struct program_env *env, const struct format *format,
			       const struct field *field, struct value_names **ret, struct fail *fail);
void value_names_free(struct value_names *names);

/* The text is valid until the next call, and no longer than 255 bytes. False: the value has no name. */
bool value_names_find(struct value_names *names, uint64_t value, const char **ret, size_t *ret_len);

#endif
