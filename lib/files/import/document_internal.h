/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FILES_IMPORT_DOCUMENT_INTERNAL_H
#define WEFT_FILES_IMPORT_DOCUMENT_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct fail;

/*
 * Reads the lines of a text in the form in which it came: UTF-8, UTF-16 with its mark, the compressed text of "atrace
 * -z", and the strings of JSON and JavaScript into which Perfetto (systemTraceEvents) and systrace (linuxPerfData) put
 * it. Lines are at most DOCUMENT_LINE_MAX bytes long; what is longer is cut, because no event of a kernel is.
 */
enum { DOCUMENT_LINE_MAX = 1 << 16 };

struct document_ends {
	/* Returns how many bytes of the document it wrote to `to`, 0 at the end, or -errno with a text. */
	int (*read)(void *arg, uint8_t *to, size_t size, struct fail *fail);
	/* Takes a line without its newline, of the caller until it returns. Returns 0, or -errno with a text. */
	int (*line)(void *arg, char *line, size_t len, struct fail *fail);
	void *arg;
};

int must_check document_read(const struct document_ends *ends, struct fail *fail);

#endif
