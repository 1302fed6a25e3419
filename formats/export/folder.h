/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_FOLDER_H
#define WEFT_FORMATS_EXPORT_FOLDER_H

#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/out.h"

/*
 * The output of an exporter that makes a directory instead of a file (export_ops::folder): pieces of files, each
 * preceded by the name of its file. The exporter must not open files; the process that reads the pieces makes the files
 * (cmd/export.c), and appends to each in this order. A name is one word, or two with a slash between them, as
 * folder_word() makes them.
 */
struct folder_piece {
	uint32_t magic;
	uint32_t name_len; /* the name follows, without a NUL, */
	uint64_t len;      /* then so many bytes of the file */
};

enum { FOLDER_MAGIC = 0x64666577, FOLDER_NAME_MAX = 200, FOLDER_WORD_MAX = 80 };

/* A piece of `len` bytes, which the caller appends to the out. */
void folder_piece(struct out *out, const char *name, size_t len);

/* Makes a word of an untrusted name: letters, digits, "-", "_" and ".", but no "." at the beginning. Never empty. */
void folder_word(const char *name, char into[FOLDER_WORD_MAX]);

#endif
