/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEMORY_IMAGE_TYPES_H
#define WEFT_MEMORY_IMAGE_TYPES_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/ground/base/cleanup.h"

struct buf;
struct fail;
struct names;

/*
 * The part of a kernel's type information that a recording stores, as the lines of "weft/types" (weft-dat(5),
 * lib/meaning/event/types.h): the parameters of functions that were traced with their arguments, and the values of
 * enumerators whose names formats use.
 */

/* A set of names. It copies the names. */
int must_check names_new(struct names **ret, struct fail *fail);
void names_free(struct names *names);
int must_check names_add(struct names *names, const char *name, size_t len, struct fail *fail);
size_t names_count(const struct names *names);

/*
 * Adds the names in the print fmt of a format that may be enumerators: names that are not functions, fields, or parts
 * of a string.
 */
int must_check names_add_format(struct names *names, const char *format, size_t len, struct fail *fail);

/*
 * The information of modules, which is asked for functions that the kernel's does not have: next() replaces what buf
 * has by that of the next one. False: there are no more, or no memory for it.
 */
struct types_modules {
	bool (*next)(void *arg, struct buf *buf);
	void *arg;
};

/*
 * Appends the lines to buf. `functions` NULL: all functions. Of functions with one name the first counts, as it does
 * for the kernel (bpf_find_btf_id()). `modules` NULL: there are none; one that is malformed adds nothing. -EBADMSG: the
 * bytes are not type information.
 */
int must_check types_lines(const void *btf, size_t len, const struct types_modules *modules,
			   const struct names *functions, const struct names *enumerators, struct buf *buf,
			   struct fail *fail);

#endif
