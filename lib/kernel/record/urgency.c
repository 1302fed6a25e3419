// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/urgency.h"

#include <errno.h>
#include <linux/sched.h>
#include <sched.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The first version of the kernel's struct sched_attr; glibc before 2.41 has none, and none of its newer ones fails. */
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

void urgency_raise(int steps)
{
	struct attributes attributes = { .size = sizeof(attributes), .policy = SCHED_OTHER };
	int nice;

	errno = 0;
	nice = getpriority(PRIO_PROCESS, 0);
	/* Another policy was chosen by who runs weft; with the flag, this was done before. */
	if (errno || sched_getscheduler(0) != SCHED_OTHER)
		return;
	attributes.flags = SCHED_FLAG_RESET_ON_FORK;
	attributes.nice = nice - steps < PRIO_MIN ? PRIO_MIN : nice - steps;
	(void)!syscall(SYS_sched_setattr, 0, &attributes, 0);
}
