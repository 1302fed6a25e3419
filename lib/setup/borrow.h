/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_SETUP_BORROW_H
#define WEFT_SETUP_BORROW_H

#include "lib/base/cleanup.h"
#include "lib/tracefs/event_select.h"
#include "lib/tracefs/instance.h"

#include <stdbool.h>

struct fail;

/*
 * Makes the top instance as empty as a new one, for as long as it is borrowed: somebody's events, lists of tasks and of
 * functions, depth, CPUs and the options that add to a recording are switched off, each journaled first (undo.h), so that
 * a recording there has what was asked for and nothing else. Left alone: triggers and function probes, which act for their owner, the clock,
 * and options that only change the kernel's own text. *ret_found: something was on.
 * What the buffer held is not touched here. A private instance has such options from the top one: the same for it.
 */
int must_check instance_borrow(struct instance *top, bool *ret_found, struct fail *fail);

/* Takes somebody's filters away from those events. */
int must_check event_set_unfilter(const struct event_set *set, struct instance *instance, bool *ret_found,
				  struct fail *fail);

#endif
