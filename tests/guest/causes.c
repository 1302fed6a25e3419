// SPDX-License-Identifier: GPL-2.0-only
/*
 * causes DIRECTORY N: makes tasks wait for CPU 0, one after the other, N times for each of four reasons that are known.
 * Each is in a control group of its own in the directory of version 2, NAME.service; "NAME NS" says how long it was:
 *	neighbour-K	while a task of hog-K.service has the CPU
 *	own-K		while a task of the same group has it
 *	quota-K		as the quota of the group is used up, by its cpu.stat
 *	irq-K		while one interrupt of the timer handles many timers that expire together
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { HOLD_MS = 30, QUOTA_US = 2000, PERIOD_US = 20000, QUOTA_RUN_MS = 8, TIMERS = 10000, AHEAD_NS = 100000000 };

static const char *top;

static void die(const char *what)
{
	perror(what);
	_exit(1);
}

static void put(const char *group, const char *file, const char *text)
{
	char path[400];
	int fd;

	snprintf(path, sizeof(path), "%s/%s/%s", top, group, file);
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		die(path);
	close(fd);
}

static void make(const char *group)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/%s", top, group);
	if (mkdir(path, 0755))
		die(path);
}

static int64_t now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

static void tell(const char *group, int64_t ns)
{
	printf("%.*s %lld\n", (int)strcspn(group, "."), group, (long long)ns);
	fflush(stdout);
}

static void run_ms(clockid_t clock, int ms)
{
	int64_t end = now(clock) + ms * INT64_C(1000000);

	while (now(clock) < end)
		;
}

/* A child in this group, on CPU 0; of SCHED_FIFO if the priority is not 0. Returns 0 in the child. */
static pid_t spawn(const char *group, int priority)
{
	struct sched_param param = { .sched_priority = priority };
	cpu_set_t first;
	pid_t pid = fork();

	if (pid)
		return pid;
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	if (sched_setaffinity(0, sizeof(first), &first) || (priority && sched_setscheduler(0, SCHED_FIFO, &param)))
		die("sched");
	/* Its waits from here on are those of the group. */
	put(group, "cgroup.procs", "0");
	return 0;
}

/* The victim waits in read(), is woken by the hog, of the higher priority, and can run when the hog has ended. */
static void hold(const char *victims, const char *hogs)
{
	int ready[2], go[2];
	char c;

	if (pipe(ready) || pipe(go))
		die("pipe");
	if (!spawn(victims, 10))
		_exit(write(ready[1], "", 1) != 1 || read(go[0], &c, 1) != 1);
	if (!spawn(hogs, 20)) {
		int64_t begin;

		if (read(ready[0], &c, 1) != 1)
			_exit(1);
		/* The victim has the CPU until it sleeps. */
		usleep(5000);
		if (write(go[1], "", 1) != 1)
			_exit(1);
		begin = now(CLOCK_MONOTONIC);
		run_ms(CLOCK_MONOTONIC, HOLD_MS);
		tell(victims, now(CLOCK_MONOTONIC) - begin);
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
	close(ready[0]);
	close(ready[1]);
	close(go[0]);
	close(go[1]);
}

static int64_t stopped_ns(const char *group)
{
	long long us = 0;
	char line[400];
	FILE *file;

	snprintf(line, sizeof(line), "%s/%s/cpu.stat", top, group);
	file = fopen(line, "r");
	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "throttled_usec %lld", &us);
	if (file)
		fclose(file);
	return us * 1000;
}

static void stop_by_quota(const char *group)
{
	char text[40];

	snprintf(text, sizeof(text), "%d %d", QUOTA_US, PERIOD_US);
	put(group, "cpu.max", text);
	if (!spawn(group, 0)) {
		run_ms(CLOCK_PROCESS_CPUTIME_ID, QUOTA_RUN_MS);
		_exit(0);
	}
	wait(NULL);
	tell(group, stopped_ns(group));
}

static void arm(const int *timers, struct timespec at)
{
	/* Behind the one of the victim, which expires first, and in the same interrupt. */
	struct itimerspec later = { .it_value = { at.tv_sec, at.tv_nsec + 1 } };

	for (int i = 0; i < TIMERS; i++)
		if (timerfd_settime(timers[i], TFD_TIMER_ABSTIME, &later, NULL))
			die("timerfd_settime");
}

static void interrupt(const char *group)
{
	struct rlimit many = { TIMERS + 100, TIMERS + 100 };
	int64_t at, ahead = AHEAD_NS;
	struct timespec then;
	int watch;

	if (!spawn(group, 10)) {
		int *timers = calloc(TIMERS, sizeof(*timers));

		setrlimit(RLIMIT_NOFILE, &many);
		/* A descriptor that is watched takes longer. */
		watch = epoll_create1(0);
		for (int i = 0; timers && i < TIMERS; i++)
			if ((timers[i] = timerfd_create(CLOCK_MONOTONIC, 0)) < 0 ||
			    epoll_ctl(watch, EPOLL_CTL_ADD, timers[i], &(struct epoll_event){ .events = EPOLLIN }))
				die("timerfd_create");
		do {
			at = now(CLOCK_MONOTONIC) + ahead;
			then = (struct timespec){ at / 1000000000, at % 1000000000 };
			arm(timers, then);
			ahead *= 2;
		} while (now(CLOCK_MONOTONIC) > at - AHEAD_NS / 4);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &then, NULL);
		tell(group, now(CLOCK_MONOTONIC) - at);
		_exit(0);
	}
	wait(NULL);
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;
	char group[40], other[40];

	if (!n)
		return 2;
	top = argv[1];
	for (int i = 0; i < n; i++) {
		snprintf(group, sizeof(group), "neighbour-%d.service", i);
		snprintf(other, sizeof(other), "hog-%d.service", i);
		make(group);
		make(other);
		hold(group, other);
		snprintf(group, sizeof(group), "own-%d.service", i);
		make(group);
		hold(group, group);
		snprintf(group, sizeof(group), "quota-%d.service", i);
		make(group);
		stop_by_quota(group);
		snprintf(group, sizeof(group), "irq-%d.service", i);
		make(group);
		interrupt(group);
	}
	return 0;
}
