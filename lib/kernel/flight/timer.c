// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/flight/timer_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/timerfd.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/now.h"

int timer_new(int *ret, struct fail *fail)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	if (fd < 0)
		return fail_set(fail, -errno, "cannot make a timer: %s", strerror(errno));
	*ret = fd;
	return 0;
}

int timer_start(int fd, uint64_t period_ns, struct fail *fail)
{
	const struct timespec period = { (time_t)(period_ns / NS_PER_S), (long)(period_ns % NS_PER_S) };
	const struct itimerspec time = { .it_value = period, .it_interval = period };

	if (timerfd_settime(fd, 0, &time, NULL))
		return fail_set(fail, -errno, "cannot set a timer: %s", strerror(errno));
	return 0;
}
