/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_TRACECMD_WAKEUPS_H
#define WEFT_FORMATS_TRACECMD_WAKEUPS_H

#include <stdbool.h>
#include <stdint.h>

/* The wakeup latencies of trace-cmd report -w: from sched_wakeup to the sched_switch of the same task. */
struct tracecmd_wakeups;

struct tracecmd_wakeups *wakeups_new(void);
void wakeups_free(struct tracecmd_wakeups *wakeups);

#endif
