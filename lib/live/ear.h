/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_LIVE_EAR_H
#define WEFT_LIVE_EAR_H

#include "lib/base/cleanup.h"
#include "lib/reader/reader.h"

#include <stdbool.h>
#include <stdint.h>

struct fail;
struct instance;
struct rig;

/*
 * Hears the events of one instance beside a recording, for a caller that has a loop and a timer of its own: nothing is
 * printed, and nothing ever waits. The caller listens at even intervals T; an event is then heard at most 2 T after it
 * happened (lib/stream/live_source.h), in the order of time.
 * Use: set the instance up; ear_new(); what the caller needs of ear_reader(); turn the instance on; ear_listen() again
 * and again; turn it off; ear_free(); close the instance.
 */
struct ear;

/* Borrows the rig and the instance. */
int must_check ear_new(const struct rig *rig, struct instance *instance, struct ear **ret, struct fail *fail);
void ear_free(struct ear *ear);

/* It has one buffer. */
struct reader *ear_reader(struct ear *ear);

/* Shows the consumer what is certain by now. Events that were lost are shown as gaps, and added to *lost. */
int must_check ear_listen(struct ear *ear, const struct reader_consumer *consumer, uint64_t *lost, struct fail *fail);

/*
 * For a consumer that is shown an event: reads the names of tasks as they are now, once in a call of ear_listen(), and
 * a tenth of the time at most. False: they are older than this call, and the PID may be another task's by now.
 */
bool ear_learn_names(struct ear *ear);

#endif
