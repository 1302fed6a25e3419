/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_PROBE_TYPES_H
#define WEFT_PROBE_TYPES_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct fail;
struct names;

/*
 * The little of a kernel's type information that a file keeps, as the lines of "weft/types" (weft-dat(5), lib/event/types.h): the
 * parameters of the functions that were traced with their arguments, and the values of the enumerators that formats only name.
 */

/* A set of names; what is in it is copied. */
int must_check names_new(struct names **ret, struct fail *fail);
void names_free(struct names *names);
int must_check names_add(struct names *names, const char *name, size_t len, struct fail *fail);
size_t names_count(const struct names *names);

/* Names of a format's print fmt that may be those of enumerators: neither calls, nor fields, nor in a text. */
int must_check names_add_format(struct names *names, const char *format, size_t len, struct fail *fail);

/* Functions may be NULL: those of all. Adds to buf; -EBADMSG for what is no type information. */
int must_check types_lines(const void *btf, size_t len, const struct names *functions, const struct names *enumerators,
			   struct buf *buf, struct fail *fail);

#endif
