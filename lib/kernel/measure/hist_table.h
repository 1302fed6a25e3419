/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_MEASURE_HIST_TABLE_H
#define WEFT_KERNEL_MEASURE_HIST_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct fail;
struct hist_text;
struct out;

/* A histogram, of the kernel or counted from a file, as a table for people or as one line of JSON. */
struct hist_title {
	const char *what; /* "sched:sched_switch", "sched:sched_waking..sched:sched_switch" */
	const char *unit; /* of the field `lat`: "us", "ns"; NULL: no latency */
	uint64_t time_ns; /* for how long the histogram was kept */
};

struct hist_shape {
	unsigned width; /* of the terminal; 0: no limit */
	bool blocks;    /* bars of block characters, precise to an eighth of a column; else of "#" */
};

int must_check hist_table_text(const struct hist_text *hist, const struct hist_title *title,
			       const struct hist_shape *shape, struct out *out, struct fail *fail);
void hist_table_json(const struct hist_text *hist, const struct hist_title *title, struct out *out);

#endif
