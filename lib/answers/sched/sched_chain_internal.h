/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_SCHED_SCHED_CHAIN_INTERNAL_H
#define WEFT_ANSWERS_SCHED_SCHED_CHAIN_INTERNAL_H

#include "lib/ground/base/cleanup.h"

struct event;
struct fail;
struct findings;
struct pass;

/*
 * Who woke a task, who had woken that waker, and so on, back to an interrupt. Each time that the task runs after a
 * wakeup, the chain of wakers is one way to it; ways with the same names are one row. Each wakeup copies the way of its
 * waker, so that every task knows its own.
 */
struct sched_chain;

/* `task` is a PID or a glob for names; it is borrowed. Returns NULL when memory runs out. */
struct sched_chain *sched_chain_new(struct pass *pass, const char *task);
void sched_chain_free(struct sched_chain *chain);
void sched_chain_see(struct sched_chain *chain, const struct event *event);
/* Returns -ENODATA if no task is meant: `fail` then says so. */
int sched_chain_check(const struct sched_chain *chain, struct fail *fail);
void sched_chain_put(const struct sched_chain *chain, struct findings *findings);

#endif
