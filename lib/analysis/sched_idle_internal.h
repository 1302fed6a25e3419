/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANALYSIS_SCHED_IDLE_INTERNAL_H
#define WEFT_ANALYSIS_SCHED_IDLE_INTERNAL_H

#include "lib/base/cleanup.h"

#include <stdbool.h>

struct event;
struct findings;
struct pass;

/*
 * Which CPUs were idle while which tasks waited for another one, and whether the recording shows that the task may run
 * there. A wait counts when it has ended and is known throughout. A CPU is idle if it has no task and is in no
 * interrupt.
 */
struct sched_idle;

/* Returns NULL when memory runs out. */
struct sched_idle *sched_idle_new(struct pass *pass);
void sched_idle_free(struct sched_idle *idle);
void sched_idle_see(struct sched_idle *idle, const struct event *event);
/* Call it after the last event. False when memory ran out. */
bool sched_idle_put(const struct sched_idle *idle, struct findings *findings);

#endif
