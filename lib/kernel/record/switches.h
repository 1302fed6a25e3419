/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_SWITCHES_H
#define WEFT_KERNEL_RECORD_SWITCHES_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/ground/base/cleanup.h"

struct buf;
struct fail;
struct instance;
struct late;

/*
 * Holds tracing_on of several instances open. Turning tracing on or off then takes one write for each, so that almost
 * nothing of weft itself is traced. The process of a command gets copies of the descriptors (workload.h).
 *
 * With a max-latency tracer, tracing_max_latency is also held open, and tracing_thresh if it is not 0. Both are raised
 * before tracing is turned off, so that the tracer keeps the longest latency that it has found: a latency found while
 * tracing is being turned off (trace.c, update_max_tr_single()) would replace it and has no events any more; and if a
 * trigger turned tracing off, the tracer still looks for longer latencies. Invariant: the values of an instance that is
 * not private are journaled before the files are opened here. An instance cannot be removed before switches_release().
 */
struct switches {
	struct one_switch *items;
	size_t nr;
	struct armed *armed;
	size_t nr_armed;
	int *kept;
	size_t nr_kept;
	int marker;
	bool has_marker;
};

int must_check switches_add(struct switches *switches, struct instance *instance, bool keeps_worst, struct fail *fail);

/*
 * Has the text appended to the file each time after tracing was turned on (lib/kernel/setup/late.h), and `stop`, if it
 * is not NULL, before tracing is turned off. The file is also held open.
 */
int must_check switches_arm(struct switches *switches, struct instance *instance, const char *name, const char *text,
			    const char *stop, struct fail *fail);

/* Has all that is kept for later armed so. */
int must_check switches_arm_late(struct switches *switches, const struct late *late, struct fail *fail);

/*
 * Holds the file open until its last user has closed it, also in the command and in what that starts: free_buffer,
 * whose last close frees the buffer. switches_drop_kept() closes it here.
 */
int must_check switches_keep(struct switches *switches, struct instance *instance, const char *name, struct fail *fail);
void switches_drop_kept(struct switches *switches);

/*
 * Gives the command the trace_marker of this instance, which stays when the command does: its environment has the
 * descriptor as WEFT_MARKER_FD (include/weft/mark.h), so that a command without privileges can write marks. Without the
 * file nothing is given.
 */
void switches_mark(struct switches *switches, const struct instance *instance);

/* Turns tracing on or off in all instances, even after an error. Returns the first error. */
int must_check switches_turn(struct switches *switches, bool on, struct fail *fail);

/* Appends the value that a limit had before it was raised; nothing if it was not raised. */
enum switches_limit { SWITCHES_MAX_LATENCY, SWITCHES_THRESH };
int must_check switches_limit(const struct switches *switches, size_t index, enum switches_limit limit,
			      struct buf *into, struct fail *fail);

/*
 * Sends the descriptors through a socket (SOCK_SEQPACKET) to another process, in several messages if there are many;
 * *ret_last is true for the last one. switches_receive() returns false if the other end is closed. The receiver owns
 * the descriptors; they are closed when it executes a program.
 */
int must_check switches_send(const struct switches *switches, int socket, struct fail *fail);
bool must_check switches_receive(struct switches *switches, int socket, bool *ret_last);

/* All zero is empty. */
void switches_release(struct switches *switches);

#endif
