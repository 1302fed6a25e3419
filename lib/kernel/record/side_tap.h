/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_SIDE_TAP_H
#define WEFT_KERNEL_RECORD_SIDE_TAP_H

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/record/tap_buffer.h"
#include "lib/kernel/record/target.h"
#include "lib/kernel/setup/setup.h"

struct buf;
struct fail;
struct instance;
struct rig;
struct trace;

/*
 * A tap (tap.h) on an instance of the caller's own, which was set up beside what a rig records: its pages are taken
 * without blocking, and it has the metadata of a file as a trace without pages. The caller sets the instance up, turns
 * it on and off, and closes it after the tap. The tap must not move.
 */
struct side_tap {
	const struct rig *rig;
	struct setup_instance wanted; /* asks for nothing */
	struct target target;
	struct tap_buffer buffer;
	struct trace *trace;
};

/*
 * After an error it must be closed, too. Borrows the rig and the instance. With `tasks` the trace has the list of all
 * tasks: an event after it is in the buffer, if the instance is on already.
 */
int must_check side_tap_open(const struct rig *rig, struct instance *instance, bool tasks, struct side_tap *ret,
			     struct fail *fail);
/* Appends the present text of saved_cmdlines. */
int must_check side_tap_names(const struct side_tap *tap, struct buf *names, struct fail *fail);
/* All zero is an empty one. */
void side_tap_close(struct side_tap *tap);

#endif
