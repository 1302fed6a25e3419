/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_TRACECMD_WAKEUPS_INTERNAL_H
#define WEFT_FORMATS_TRACECMD_WAKEUPS_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/tracecmd/wakeups.h"

struct event;
struct out;

/*
 * Takes the next event, in order, with the time that is shown: true with the latency if it is a switch to a task whose
 * wakeup was seen.
 */
bool wakeups_see(struct tracecmd_wakeups *wakeups, const struct event *event, uint64_t ts, uint64_t *ret_latency);

/* Prints averages and extremes; nothing without a latency. Only the first call prints. */
void wakeups_end(struct tracecmd_wakeups *wakeups, struct out *out);

#endif
