/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEASURE_HIST_INTERNAL_H
#define WEFT_MEASURE_HIST_INTERNAL_H

#include "lib/measure/hist.h"

/*
 * The time from one event to another; private to hist.h. The first event stores its time under a key. The second event
 * makes a synthetic event with the difference if its key is the same, and the histogram counts the synthetic event
 * (histogram.rst, "onmatch"). The synthetic event is called weft_latency_PID and has the field `lat`.
 */
struct hist_event {
	char system[HIST_NAME_SIZE], event[HIST_NAME_SIZE];
};

int must_check hist_set_latency(struct instance *instance, struct instance *top, struct undo *undo,
				const struct hist_wanted *wanted, struct hist *ret, struct fail *fail);

/*
 * Functions of hist.c: find one event by its name; set a trigger, journaled; set a histogram of one event; check
 * whether the kernel has histograms.
 */
int must_check hist_find_event(const struct instance *instance, const char *pattern, struct hist_event *ret,
			       struct fail *fail);
int must_check hist_set_trigger(struct instance *instance, struct undo *undo, const struct hist_event *event,
				const char *trigger, struct fail *fail);
int must_check hist_set_of(struct instance *instance, struct undo *undo, const struct hist_event *event,
			   const char *keys, const struct hist_wanted *wanted, struct hist *ret, struct fail *fail);
int must_check hist_check_kernel(const struct instance *instance, const struct hist_event *event, struct fail *fail);
bool hist_add_keys(struct buf *buf, const struct instance *instance, const char *keys);
bool hist_add_sort(struct buf *buf, const char *keys, const char *sort);

#endif
