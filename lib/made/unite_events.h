/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MADE_UNITE_EVENTS_H
#define WEFT_MADE_UNITE_EVENTS_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fail;
struct trace;
struct unite;

/* The time of the first event that `event`, as -e takes it, selects. -ENOENT: there is none. */
int must_check unite_first(struct trace *trace, const char *event, uint64_t *ret, struct fail *fail);

/*
 * Adds all events of trace number `which`, in the order of unite_trace(), to *events their number. *ret_damaged: some
 * could not be read.
 */
int must_check unite_events(struct unite *unite, size_t which, struct trace *trace, uint64_t *events, bool *ret_damaged,
			    struct fail *fail);

#endif
