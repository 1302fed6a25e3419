/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_FLIGHT_WATCH_INTERNAL_H
#define WEFT_KERNEL_FLIGHT_WATCH_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct condition;
struct flight_recording;
struct fail;

/*
 * A condition that is watched: a descriptor becomes readable when it may be met. An event is watched in an instance of
 * its own, which has only this event, so that nothing has to be decoded; the journal of the recording has the instance.
 */
struct watch;
struct watch_hit;

/*
 * Begins to watch; `condition` is borrowed. `number` is from 1, and another one for each condition of the flight. An
 * event or a field that does not exist is an error. `tell` gets messages, one line each.
 */
int must_check watch_new(struct flight_recording *recording, const struct condition *condition, unsigned number,
			 void (*tell)(const char *text), struct watch **ret, struct fail *fail);
/* Looks again from now on: for an event, tracing is turned on. */
int must_check watch_start(struct watch *watch, struct fail *fail);
/* Removes what watch_new() made. NULL is allowed. */
int watch_free(struct watch *watch, struct fail *fail);

const struct condition *watch_condition(const struct watch *watch);
/* What poll() waits for: *ret_events are POLLIN or POLLPRI. */
int watch_fd(const struct watch *watch, short *ret_events);

/*
 * Call it when the descriptor is ready. 1: the condition was met; 0: it was not; -errno: it cannot be watched longer.
 */
int must_check watch_look(struct watch *watch, struct watch_hit *ret, struct fail *fail);

#endif
