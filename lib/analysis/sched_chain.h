/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_ANALYSIS_SCHED_CHAIN_H
#define WEFT_ANALYSIS_SCHED_CHAIN_H

#include "lib/base/cleanup.h"

struct event;
struct findings;
struct pass;

/*
 * Who woke a task, who had woken that one, and so on, back to an interrupt: for each time that the task came to run
 * after a wakeup, the way to it; ways of the same names are one row. Every wakeup copies the way of its waker, so that
 * each knows its own.
 */
struct sched_chain;

/* `task`: a PID, or a glob for names; borrowed. NULL without memory. */
struct sched_chain *sched_chain_new(struct pass *pass, const char *task);
void sched_chain_free(struct sched_chain *chain);
void sched_chain_see(struct sched_chain *chain, const struct event *event);
void sched_chain_put(const struct sched_chain *chain, struct findings *findings);

#endif
