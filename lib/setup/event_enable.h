/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_SETUP_EVENT_ENABLE_H
#define WEFT_SETUP_EVENT_ENABLE_H

#include "lib/base/cleanup.h"
#include "lib/tracefs/event_select.h"

#include <stdbool.h>

struct fail;
struct instance;

/*
 * Enables or disables them, whole systems at once where the set has the whole system. Where the kernel refuses one, the
 * others are done all the same and the text names the first that was refused and how many there were.
 */
int must_check event_set_enable(const struct event_set *set, struct instance *instance, bool on, struct fail *fail);

/* The -f of the kernel (an error shows the kernel's words and its caret), and a trigger as written to `trigger`. */
int must_check event_set_filter(const struct event_set *set, struct instance *instance, const char *filter,
				struct fail *fail);
/*
 * The filter where it fits, as the kernel does it for a whole system: events without one of its fields keep what they had, and are
 * *ret_left, for event_set_release(). An error when it fits none.
 */
int must_check event_set_filter_fitting(const struct event_set *set, struct instance *instance, const char *filter,
					struct event_set *ret_left, struct fail *fail);
int must_check event_set_trigger(const struct event_set *set, struct instance *instance, const char *trigger,
				 struct fail *fail);

#endif
