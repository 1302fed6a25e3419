/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_STATS_DIFF_MACHINES_H
#define WEFT_ANSWERS_STATS_DIFF_MACHINES_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/text.h"

struct diff;
struct fail;
struct findings;

/*
 * The machines of two lakes, made of histograms. A machine is to them what a run is to several files a side: it has one
 * figure of each row, however many recordings it has. At most DIFF_RUNS_MAX a side are compared, those whose names have
 * the smallest hashes: the same ones each time, whatever their figures are, so the test holds.
 */
struct diff_machines;

/* A bucket of what a key of a machine has. */
struct diff_bucket {
	struct text_word host, kind, key, detail; /* .len of 0: there is none */
	uint64_t middle, count, sum;
};

int must_check diff_machines_new(struct diff_machines **ret, struct fail *fail);
void diff_machines_free(struct diff_machines *machines);

/* The rows of a lake, in any order. False: memory ran out. */
bool must_check diff_machines_bucket(struct diff_machines *machines, bool is_new, const struct diff_bucket *bucket);
/* A recording of the machine, which lasted so long. */
bool must_check diff_machines_recording(struct diff_machines *machines, bool is_new, struct text_word host,
					struct text_word release, uint64_t ns);

/* After all rows: what diff_finish() takes. -ENODATA: a side has no machine. */
int must_check diff_machines_end(const struct diff_machines *machines, struct diff **ret, struct fail *fail);
/* Says how many there are, and how many were compared. */
void diff_machines_tell(const struct diff_machines *machines, struct findings *findings);

#endif
