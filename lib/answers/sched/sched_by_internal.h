/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_SCHED_SCHED_BY_INTERNAL_H
#define WEFT_ANSWERS_SCHED_SCHED_BY_INTERNAL_H

#include <stdint.h>

#include "lib/meaning/follow/who.h"

struct findings;
struct pass;
struct sched_counts;

/*
 * Rows of processes, programs, units, containers, pods or control groups: the sums of their tasks. Each ns counts for
 * where its task belonged at that moment, and a wakeup, a switch or a delay for where it did when it came. What
 * is unknown has a row, so that the sums of all rows are those of all tasks.
 */
struct sched_by;

/* NULL: no memory. Follows the time that tasks spend. */
struct sched_by *sched_by_new(struct pass *pass, enum who_part part);
void sched_by_free(struct sched_by *by);

/* The counts of whom the task belongs to now; NULL without memory. */
struct sched_counts *sched_by_counts(struct sched_by *by, uint32_t task);

/* Adds the table. */
void sched_by_put(struct sched_by *by, struct findings *findings);

#endif
