/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_SETUP_EVENT_ENABLE_H
#define WEFT_KERNEL_SETUP_EVENT_ENABLE_H

#include <stdbool.h>

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/tracefs/event_select.h"

struct fail;
struct instance;
struct late;

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
/* How many events of the set have a filter. */
size_t event_set_filtered(const struct event_set *set, const struct instance *instance);
/* Sets a trigger on each event of the set, at once or, if `late` is not NULL, later (late.h). */
int must_check event_set_trigger(const struct event_set *set, struct instance *instance, const char *trigger,
				 struct late *late, struct fail *fail);

#endif
