/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TESTS_UNIT_IMPORTED_H
#define WEFT_TESTS_UNIT_IMPORTED_H

#include "lib/files/import/import.h"

struct buf;
struct trace;

/* Bytes of a text, which may contain NUL. */
struct imported_text {
	const char *at;
	size_t len;
};

#define IMPORTED(text) ((struct imported_text){ text, sizeof(text) - 1 })

/* Imports the text. */
int imported_read(struct import *import, struct imported_text text, struct fail *fail);

/*
 * The kernel's text, imported line by line as weft import does, in memory. `formats` is a file of the same kernel, or
 * NULL. 0 and a trace that the caller frees, or -errno with a text.
 */
int imported(const char *text, struct trace *formats, struct trace **ret, struct import_counts *counts,
	     struct fail *fail);

/* Imports a text and checks that its report is `want`, apart from the header. Returns what import counted. */
struct import_counts imported_prints(const char *text, struct trace *formats, const char *want);

/* Checks that the report of what was imported is the text itself. */
struct import_counts comes_back(const char *text);

/*
 * Imports a text and returns fields of its events, as weft export --to csv --fields FIELDS prints them without the
 * line of names. The caller frees it; NULL fails the test.
 */
char *imported_fields(const char *text, const char *fields);

#endif
