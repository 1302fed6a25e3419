// SPDX-License-Identifier: GPL-2.0-only
/*
 * instants NAME: calls getsid(0), which a trace shows, and prints what the clocks said: "NAME BEFORE AFTER MONO BOOT",
 * CLOCK_REALTIME before and after the call, then CLOCK_MONOTONIC and CLOCK_BOOTTIME, in ns.
 */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static long long now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

int main(int argc, char **argv)
{
	long long before = now(CLOCK_REALTIME), after;

	getsid(0);
	after = now(CLOCK_REALTIME);
	printf("%s %lld %lld %lld %lld\n", argc > 1 ? argv[1] : "", before, after, now(CLOCK_MONOTONIC),
	       now(CLOCK_BOOTTIME));
	return 0;
}
