/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_IMPORT_TRACERS_INTERNAL_H
#define WEFT_IMPORT_TRACERS_INTERNAL_H

#include <stdbool.h>

struct head;
struct records;

/*
 * Makes the record of a line that a tracer printed by code of its own: hwlat, osnoise, timerlat, the switches and
 * wakeups of the tracers wakeup and wakeup_rt, repeated functions (func-no-repeats), raw data of trace_marker_raw. The
 * text is head->body. Returns false for any other line, and for one that the record would not print again.
 */
bool tracers_take(const struct records *make, const struct head *head);

/* Makes the record of a function of 2.6-rt, "a (b)", also with offsets and addresses. */
bool tracers_take_old(const struct records *make, const struct head *head);

#endif
