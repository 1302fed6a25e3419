/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_SWITCHES_H
#define WEFT_RECORD_SWITCHES_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>

struct fail;
struct instance;

/*
 * tracing_on of one instance, or of several, held open: to turn tracing is one write for each, and nothing of weft stands
 * around it in what is traced. A command gets copies of the descriptors (workload.h).
 * Invariant: an instance that is not ours has its tracing_on journaled before it is held here.
 * An instance cannot be removed before switches_release().
 */
struct switches {
	int *fds;
	size_t nr;
};

int must_check switches_add(struct switches *switches, struct instance *instance, struct fail *fail);

/* All of them, whatever one says; the first error. */
int must_check switches_turn(const struct switches *switches, bool on, struct fail *fail);

/*
 * Through a socket (SOCK_SEQPACKET) to another process: several messages where there are many, *ret_last with the last. False:
 * there is nobody at the other end. What was received is the receiver's, and is closed when it executes something.
 */
int must_check switches_send(const struct switches *switches, int socket, struct fail *fail);
bool must_check switches_receive(struct switches *switches, int socket, bool *ret_last);

/* All zero is an empty one. */
void switches_release(struct switches *switches);

#endif
