/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_SCHED_SCHED_IDLE_INTERNAL_H
#define WEFT_ANSWERS_SCHED_SCHED_IDLE_INTERNAL_H

#include <stdbool.h>

#include "lib/ground/base/cleanup.h"

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
/* An interval ends, and the next one goes on with the waits of the one before: analysis_ops::divide, carry. */
void sched_idle_divide(struct sched_idle *idle);
void sched_idle_carry(struct sched_idle *idle, struct sched_idle *before);
/* Call it after the last event. False when memory ran out. */
bool sched_idle_put(const struct sched_idle *idle, struct findings *findings);

#endif
