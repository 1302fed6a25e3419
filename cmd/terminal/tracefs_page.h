/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_TERMINAL_TRACEFS_PAGE_H
#define WEFT_CMD_TERMINAL_TRACEFS_PAGE_H

#include <stdbool.h>

/* The table of weft-tracefs(7), which is part of the program: what the kernel's documents name, and weft's commands. */
struct tracefs_row {
	char section[64]; /* "Functions" */
	char names[1024]; /* of a file, maybe with "*": "events/" "*" "/filter"; of words: "mono, boot" */
	char text[512];   /* "weft set -l FUNCTION; ..." */
	bool of_words;    /* it is about words of the documents and no file */
};

/* Reads the next row. *at is NULL before the first one. False: there are no more. */
bool tracefs_page_next(const char **at, struct tracefs_row *row);

/* Copies the next of the row's names: *at is row->names before the first one. False: there are no more. */
bool tracefs_row_name(const char **at, char into[64]);

#endif
