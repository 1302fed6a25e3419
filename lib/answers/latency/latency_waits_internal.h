/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_LATENCY_LATENCY_WAITS_INTERNAL_H
#define WEFT_ANSWERS_LATENCY_LATENCY_WAITS_INTERNAL_H

#include "lib/meaning/follow/who.h"

struct findings;
struct history;
struct pass;

/*
 * What processes, services, containers and their like waited for while their tasks were ready to run and had no CPU:
 * each ns of these waits, divided by what the CPU did on whose run queue the task stood. The parts of a row add up to
 * its wait, which is WAIT of `weft sched` with the same rows.
 */
struct latency_waits;

/* NULL: no memory. Follows the time that tasks spend. `history` sees every event before this does. */
struct latency_waits *latency_waits_new(struct pass *pass, struct history *history, enum who_part part);
void latency_waits_free(struct latency_waits *by);

/* After each event: follows the waits that begin, and change their queue. */
void latency_waits_see(struct latency_waits *by);

/* Adds the table; `brief`: for a summary. */
void latency_waits_put(struct latency_waits *by, bool brief, struct findings *findings);

#endif
