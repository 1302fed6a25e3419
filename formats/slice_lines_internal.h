/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_SLICE_LINES_INTERNAL_H
#define WEFT_FORMATS_SLICE_LINES_INTERNAL_H

#include "lib/base/cleanup.h"
#include "lib/base/out.h"

#include <stdint.h>

struct block;
struct fail;
struct reader;
struct render_port;
struct sliced_lines;

/* Private to formats/slices.c: what a thread of slices has for texts that no sink makes (struct sliced_lines). */
struct slice_lines {
	const struct sliced_lines *ops;
	struct reader *reader;  /* borrowed */
	void *maker;            /* of sliced_lines::create() */
	struct out out;         /* the maker's */
	struct block **retired; /* for each buffer */
};

/* `arg` is that of create(). */
int must_check slice_lines_init(struct slice_lines *lines, const struct sliced_lines *ops, void *arg,
				struct reader *reader, struct fail *fail);
void slice_lines_release(struct slice_lines *lines);

/* All that the reader has now; slice_lines_pass(): without lines. *ret_printed: the number of events. */
int must_check slice_lines_run(struct slice_lines *lines, const struct render_port *port, uint64_t *ret_printed,
			       struct fail *fail);
int must_check slice_lines_pass(struct slice_lines *lines, struct fail *fail);

#endif
