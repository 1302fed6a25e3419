/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TESTS_UNIT_DIFFED_H
#define WEFT_TESTS_UNIT_DIFFED_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/answers/frame/analysis.h"
#include "lib/answers/stats/diff.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/out.h"
#include "tests/unit/loom.h"

/* Pseudo-random numbers, the same for each seed; diffed_part() is from 0 to 1. */
uint64_t diffed_random(uint64_t *state);
double diffed_part(uint64_t *state);

/* A duration near `base`, from a distribution with a heavy tail: one of a few hundred takes ten times as long. */
double diffed_duration(uint64_t *state, double base);

/* Adds a call that makes no others to a loom's script: CPU 0, PID 7. */
void diffed_call(struct buf *script, unsigned func, int depth, uint64_t start, uint64_t end);

/* Adds the loom's trace, from time 1000 on, as a run of the old or the new side. Releases the loom. */
bool diffed_add(struct diff *diff, bool is_new, struct loom *loom, const struct analysis_ops *ops, const void *options);
/* With DIFF_PER_EVENT: counts the events of this name. */
bool diffed_add_counted(struct diff *diff, bool is_new, struct loom *loom, const struct analysis_ops *ops,
			const char *event);

/*
 * Compares the added runs, with a condition or NULL, and writes CSV as a string into `csv`. Frees the diff. Returns the
 * value of diff_finish().
 */
int diffed_finish(struct diff *diff, const char *condition, struct out *csv);

/* The number of CSV lines with this verdict: ",+,". */
unsigned diffed_count(const struct out *csv, const char *verdict);

#endif
