/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_DIFF_BY_H
#define WEFT_CMD_OPTIONS_DIFF_BY_H

#include "lib/analysis/analysis.h"
#include "lib/analysis/block.h"
#include "lib/analysis/latency.h"
#include "lib/analysis/power.h"
#include "lib/analysis/syscalls.h"

#include <argp.h>

/* The options of analyses whose rows can be chosen. */
union diff_by_options {
	struct syscalls_options syscalls;
	struct row_options rows;
	struct block_options block;
	struct latency_options latency;
	struct power_options power;
};

/*
 * Returns the options of the analysis `of` for the value `by` of --by. If the analysis has no such rows, that is a
 * usage error.
 */
const void *diff_by(const char *of, const char *by, union diff_by_options *into, struct argp_state *state);

#endif
