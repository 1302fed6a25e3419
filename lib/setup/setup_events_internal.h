/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_SETUP_SETUP_EVENTS_INTERNAL_H
#define WEFT_SETUP_SETUP_EVENTS_INTERNAL_H

#include "lib/setup/setup.h"

/*
 * Sets up the events of an instance with their filters and triggers. This is the last step of setup_apply(), which
 * alone calls it. Filters and triggers are set before an event is enabled. If the kernel refuses an event of a whole
 * system, the result is a warning.
 */
int must_check setup_events(const struct setup_context *context, const struct setup_instance *wanted,
			    struct instance *instance, struct event_set *events, struct fail *fail);

/*
 * Before a trigger or function command is set: journals what its action changes besides its own file. `action` is the
 * trigger, or what is behind the name of the function. -EOPNOTSUPP: what it does would be lost with the recording.
 */
int must_check setup_remember_action(const struct setup_context *context, struct instance *instance, const char *action,
				     struct fail *fail);

#endif
