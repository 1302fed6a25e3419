/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_SWITCHES_H
#define WEFT_RECORD_SWITCHES_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct fail;
struct instance;

/*
 * tracing_on of one instance, or of several, held open: to turn tracing is one write for each, and nothing of weft stands
 * around it in what is traced. A command gets copies of the descriptors (workload.h).
 * With a max-latency tracer tracing_max_latency is held, too, and tracing_thresh where it is not 0. Both are raised before tracing goes
 * off, so that what the tracer has found stays: one found while tracing goes off (trace.c, update_max_tr_single()) has no events of its own any more; and where a trigger
 * stopped tracing the tracer goes on to look for longer ones.
 * Invariant: what an instance that is not ours has in these files was journaled before they are held here.
 * An instance cannot be removed before switches_release().
 */
struct switches {
	struct one_switch *items;
	size_t nr;
};

int must_check switches_add(struct switches *switches, struct instance *instance, bool keeps_worst, struct fail *fail);

/* All of them, whatever one says; the first error. */
int must_check switches_turn(struct switches *switches, bool on, struct fail *fail);

/* Appends what was in a limit of one before it was raised; nothing where it was not. */
enum switches_limit { SWITCHES_MAX_LATENCY, SWITCHES_THRESH };
int must_check switches_limit(const struct switches *switches, size_t index, enum switches_limit limit,
			      struct buf *into, struct fail *fail);

/*
 * Through a socket (SOCK_SEQPACKET) to another process: several messages where there are many, *ret_last with the last. False:
 * there is nobody at the other end. What was received is the receiver's, and is closed when it executes something.
 */
int must_check switches_send(const struct switches *switches, int socket, struct fail *fail);
bool must_check switches_receive(struct switches *switches, int socket, bool *ret_last);

/* All zero is an empty one. */
void switches_release(struct switches *switches);

#endif
