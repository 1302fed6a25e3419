/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_TEXT_END_H
#define WEFT_FORMATS_TEXT_END_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/escape.h"

struct fail;
struct out;

/* The end of a text: the file descriptor that it goes to, and what happens on the way. One thread at a time uses it. */
struct text_end {
	int fd;
	bool escaped; /* the output is a terminal: control characters are written as octal */
	/* limit of the text in bytes; longer text is cut after a whole line, which is a failure; 0: no limit */
	uint64_t max;
	uint64_t skip;    /* bytes at the start of the text that were written before, and are not written again */
	uint64_t written; /* bytes of text that went to fd */
	/* Private: */
	struct escape escape;
	uint64_t len; /* bytes of text so far */
	bool cut;
};

/* Writes the text and empties `out`. -EPIPE, without a message: the reader of the output is gone. */
int must_check text_end_put(struct text_end *end, struct out *out, struct fail *fail);

#endif
