/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FILES_REWRITE_CUT_H
#define WEFT_FILES_REWRITE_CUT_H

#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct excerpt;
struct fail;
struct reader;
struct recast_options;
struct trace;

/* How the events of a trace are divided among files. */
enum cut_by { CUT_NOT, CUT_TIME, CUT_SIZE, CUT_COUNT, CUT_CPU, CUT_EVENT };

/* CUT_WORD: bytes of a part's word with its NUL */
enum { CUT_PARTS_MAX = 10000, CUT_WORD = 80 };

struct cut_options {
	enum cut_by by;
	uint64_t step;        /* for CUT_TIME ns, for CUT_SIZE bytes of pages, for CUT_COUNT events */
	uint64_t limit;       /* of all events */
	const char *selected; /* what the reader leaves out: query_put_choice() */
	const struct recast_options *as;
	/* Writes a part when it is complete, to the file of its word; with CUT_NOT the only one, whose word is "". */
	int (*write)(void *arg, const char *word, struct excerpt *excerpt, struct fail *fail);
	void *arg;
};

/*
 * Divides the events of a reader of the trace, which has its buffers and was not started. Returns -EBADMSG if the trace
 * is damaged; what can be read was written.
 */
int must_check cut(const struct cut_options *options, struct trace *trace, struct reader *reader, uint64_t *ret_events,
		   struct fail *fail);

#endif
