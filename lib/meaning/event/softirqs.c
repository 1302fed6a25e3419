// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/event/softirqs.h"

#include <stddef.h>

const char *softirq_name(uint64_t vec)
{
	static const char *const names[SOFTIRQS] = { "HI",       "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
						     "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU" };

	return vec < SOFTIRQS ? names[vec] : NULL;
}
