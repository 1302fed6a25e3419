/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_SETUP_BORROW_INTERNAL_H
#define WEFT_KERNEL_SETUP_BORROW_INTERNAL_H

#include <stdbool.h>

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/tracefs/event_select.h"
#include "lib/kernel/tracefs/instance.h"

struct fail;

/*
 * Makes the top instance like a new one while weft uses it, so that a recording holds only what was asked for. It
 * switches off all events, lists of tasks and of functions, the graph depth, the CPU mask, and the options that add to
 * a recording. Each setting is journaled first (undo.h). It leaves alone triggers and function probes, which act for
 * their owner; the clock; and options that change only the kernel's own text. *ret_found: a setting was on. The buffer
 * is not touched here. In a private instance it switches off only the options that the instance inherited from the top
 * instance. With `keeps`, what `weft set` has set stays.
 */
int must_check instance_borrow(struct instance *top, bool keeps, bool *ret_found, struct fail *fail);

/* Removes the filters that the events of the set already have. *ret_found: there was a filter. */
int must_check event_set_unfilter(const struct event_set *set, struct instance *instance, bool keeps, bool *ret_found,
				  struct fail *fail);

#endif
