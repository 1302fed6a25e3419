/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_SETUP_EVENT_ENABLE_H
#define WEFT_SETUP_EVENT_ENABLE_H

#include "lib/base/cleanup.h"
#include "lib/tracefs/event_select.h"

#include <stdbool.h>

struct fail;
struct instance;

/*
 * Enables or disables the events of a set. If the set contains a whole system, one write does it for the system. When
 * the kernel refuses an event, the other events are still done; the error names the first refused event and the number
 * of refusals.
 */
int must_check event_set_enable(const struct event_set *set, struct instance *instance, bool on, struct fail *fail);

/*
 * Sets the kernel's filter on each event of the set (option -f). An error contains the kernel's message and its caret.
 */
int must_check event_set_filter(const struct event_set *set, struct instance *instance, const char *filter,
				struct fail *fail);
/*
 * Sets the filter on those events of the set that have its fields, as the kernel does for a whole system. The other
 * events keep their filter; *ret_left receives them, for event_set_release(). It is an error if no event has the
 * fields.
 */
int must_check event_set_filter_fitting(const struct event_set *set, struct instance *instance, const char *filter,
					struct event_set *ret_left, struct fail *fail);
int must_check event_set_trigger(const struct event_set *set, struct instance *instance, const char *trigger,
				 struct fail *fail);

#endif
