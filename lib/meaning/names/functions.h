/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_NAMES_FUNCTIONS_H
#define WEFT_MEANING_NAMES_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct buf;
struct fail;
struct map;
struct page_shape;
struct trace;

/*
 * Functions of programs and libraries, from the setting "weft/functions" of the recording. Its lines are
 * "f INODE BUILD-ID PATH" for a file, and "START SIZE NAME" for each of its functions, ascending: hexadecimal places in
 * the file. Lines that are not in order are skipped. Immutable once built; it borrows the text.
 */
struct functions;

#define SETTING_FUNCTIONS "weft/functions"

struct function {
	const char *name; /* without a NUL */
	uint32_t name_len;
	uint32_t id;     /* another one for each function: from 0 to less than FUNCTIONS_MAX */
	uint64_t offset; /* of the address, in the function */
};

enum { FUNCTIONS_MAX = 1 << 21 };

int must_check functions_of_text(const char *text, size_t len, struct functions **ret, struct fail *fail);
void functions_free(struct functions *functions);

/*
 * The function to which an address in the map belongs. False: none is known. For a return address ask for the byte
 * before it: a call may be the last instruction of its function.
 */
bool functions_find(const struct functions *functions, const struct map *map, uint64_t address, struct function *ret);

/* The name of a function by its id; NULL: there is no such function. */
const char *functions_name(const struct functions *functions, uint32_t id, uint32_t *ret_len);

/*
 * The lines of weft/functions that a trace may need: the functions of every value in its pages, at any byte, that may
 * be an address of a program. Invariant: for a value in the pages, and for the byte before it, the subset gives the
 * same function as the complete text.
 */
struct functions_subset;

/* Borrows the text. */
int must_check functions_subset_new(const char *text, size_t len, struct functions_subset **ret, struct fail *fail);
void functions_subset_free(struct functions_subset *subset);

/* Adds the maps of a process, as proc(5) has them. Call it before the pages. It borrows the text. */
int must_check functions_subset_maps(struct functions_subset *subset, const char *text, size_t len, struct fail *fail);

/* Adds `len` bytes of whole pages. Without memory functions_subset_take() fails. */
void functions_subset_pages(struct functions_subset *subset, const struct page_shape *shape, const uint8_t *data,
			    size_t len);

int must_check functions_subset_take(struct functions_subset *subset, struct buf *ret, struct fail *fail);

#endif
