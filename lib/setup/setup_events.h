/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_SETUP_SETUP_EVENTS_H
#define WEFT_SETUP_SETUP_EVENTS_H

#include "lib/setup/setup.h"

/*
 * The events of an instance, with their filters and triggers: the last step of setup_apply(), and only for it.
 * Filters and triggers are there before an event is on. What a kernel refuses of a whole system is a warning.
 */
int must_check setup_events(const struct setup_context *context, const struct setup_instance *wanted,
			    struct instance *instance, struct event_set *events, struct fail *fail);

#endif
