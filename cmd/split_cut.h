/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_SPLIT_CUT_H
#define WEFT_CMD_SPLIT_CUT_H

#include "cmd/options/form_options.h"

#include <stdint.h>

struct query;
struct fail;
struct trace;

/* How weft split divides the events of a trace among files. */
enum cut_by { CUT_NOT, CUT_TIME, CUT_SIZE, CUT_COUNT, CUT_CPU, CUT_EVENT };

struct cut_job {
	const struct form *form;
	const struct query *query;
	enum cut_by by;
	uint64_t step; /* for CUT_TIME ns, for CUT_SIZE bytes of pages, for CUT_COUNT events */
	/* Results: */
	uint64_t parts, events;
};

/* Returns -EBADMSG if the trace is damaged; what can be read was written. */
int must_check cut(struct cut_job *job, struct trace *trace, struct fail *fail);

#endif
