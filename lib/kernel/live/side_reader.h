/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_LIVE_SIDE_READER_H
#define WEFT_KERNEL_LIVE_SIDE_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/meaning/reader/reader.h"

struct fail;
struct instance;
struct rig;

/*
 * Hears the events of one instance beside a recording, for a caller that has a loop and a timer of its own: nothing is
 * printed, and nothing ever waits. The caller listens at even intervals T; an event is then heard at most 2 T after it
 * happened (lib/pages/stream/live_source.h), in the order of time.
 * Use: set the instance up; side_reader_new(); what the caller needs of side_reader_reader(); turn the instance on;
 * side_reader_listen() again and again; turn it off; side_reader_free(); close the instance.
 */
struct side_reader;

/*
 * Borrows the rig and the instance. `tasks`: its context knows whom all tasks belong to. For who_follow() to miss none
 * the instance has the events of setup_want_who(), and is on already.
 */
int must_check side_reader_new(const struct rig *rig, struct instance *instance, bool tasks, struct side_reader **ret,
			       struct fail *fail);
void side_reader_free(struct side_reader *side);

/* It has one buffer. */
struct reader *side_reader_reader(struct side_reader *side);

/* Shows the consumer what is certain by now. Events that were lost are shown as gaps, and added to *lost. */
int must_check side_reader_listen(struct side_reader *side, const struct reader_consumer *consumer, uint64_t *lost,
				  struct fail *fail);

/*
 * For a consumer that is shown an event: reads the names of tasks as they are now, once in a call of
 * side_reader_listen(), and a tenth of the time at most. False: they are older than this call, and the PID may be
 * another task's by now.
 */
bool side_reader_learn_names(struct side_reader *side);

#endif
