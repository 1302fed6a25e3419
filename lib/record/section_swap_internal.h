/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_RECORD_SECTION_SWAP_INTERNAL_H
#define WEFT_RECORD_SECTION_SWAP_INTERNAL_H

#include "lib/base/cleanup.h"

#include <stdbool.h>

struct fail;
struct target;

/*
 * For kernels whose only latency tracers are wakeup, wakeup_rt and wakeup_dl: moves the longest section into the live
 * buffer. Another of these tracers keeps the snapshot as it is, and begins to measure even if tracing is off in its
 * instance, as long as it is on in the top instance (start_func_tracer() of kernel/trace/trace_sched_wakeup.c). The
 * first wakeup that it measures swaps the live buffer, which is empty, with the snapshot, and because tracing is off,
 * nothing is written to either (update_max_tr() of kernel/trace/trace.c).
 */

/* Whether the conditions for that are met. */
bool section_swap_can(const struct target *target, const char *tracer);

/* *ret_there: the live buffer has the events of the section, and does not change any more. */
int must_check section_swap(struct target *target, const char *tracer, bool *ret_there, struct fail *fail);

#endif
