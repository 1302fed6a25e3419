/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_MEASURE_HIST_TABLE_H
#define WEFT_KERNEL_MEASURE_HIST_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct fail;
struct hist_text;
struct json;
struct out;

/* A histogram, of the kernel or counted from a file, as a table for people or as one line of JSON. */
struct hist_title {
	const char *what; /* "sched:sched_switch", "sched:sched_waking..sched:sched_switch" */
	const char *unit; /* of the field `lat`: "us", "ns"; NULL: no latency */
	uint64_t time_ns; /* for how long the histogram was kept */
};

struct hist_shape {
	unsigned width;       /* of the terminal; 0: no limit */
	bool blocks;          /* bars of block characters, precise to an eighth of a column; else of "#" */
	uint64_t top;         /* rows that are shown, the first ones */
	const char *for_more; /* the options that show the other rows; borrowed */
};

int must_check hist_table_text(const struct hist_text *hist, const struct hist_title *title,
			       const struct hist_shape *shape, struct out *out, struct fail *fail);
/* Adds the members of a histogram to an object. */
void hist_table_json(const struct hist_text *hist, const struct hist_title *title, const struct hist_shape *shape,
		     struct json *json);

#endif
