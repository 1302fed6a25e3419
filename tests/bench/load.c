// SPDX-License-Identifier: GPL-2.0-only
/*
 * load pipe N FILE: two processes pass a byte back and forth N times. Each time makes two wakeups, two switches and
 * four system calls.
 * load calls N RATE FILE: two processes make N system calls each, at RATE calls a second each (0: as fast as they can).
 * load numbers N RATE FILE: the same, each on a CPU of its own, and its nth call is lseek(-1, n, 77 + CPU), which
 * fails.
 * They write to FILE the monotonic clock at their end and the CPU time that they used, in seconds.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void play(int in, int out, long n, int first)
{
	char byte = 0;

	for (long i = 0; i < n; i++) {
		if (first && write(out, &byte, 1) != 1)
			_exit(1);
		if (read(in, &byte, 1) != 1)
			_exit(1);
		if (!first && write(out, &byte, 1) != 1)
			_exit(1);
	}
}

static int play_pipe(long n)
{
	int there[2], back[2];

	if (pipe(there) || pipe(back))
		return 2;
	if (!fork()) {
		play(there[0], back[1], n, 0);
		_exit(0);
	}
	play(back[0], there[1], n, 1);
	wait(NULL);
	return 0;
}

enum { NOWHERE = 77 };

/* The calls come in bursts, one burst each millisecond. `cpu` -1: they have no numbers. */
static void call(long n, long rate, int cpu)
{
	struct timespec next;

	clock_gettime(CLOCK_MONOTONIC, &next);
	for (long done = 0, burst; done < n; done += burst) {
		burst = rate ? rate / 1000 : n;
		if (burst > n - done)
			burst = n - done;
		for (long i = 0; i < burst; i++) {
			if (cpu < 0)
				syscall(SYS_getppid);
			else
				syscall(SYS_lseek, -1, done + i + 1, NOWHERE + cpu);
		}
		next.tv_nsec += 1000000;
		if (next.tv_nsec >= 1000000000) {
			next.tv_sec++;
			next.tv_nsec -= 1000000000;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
}

static void stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		_exit(1);
}

static int make_calls(long n, long rate, int numbers)
{
	for (int i = 0; i < 2; i++) {
		if (!fork()) {
			if (numbers)
				stay_on(i);
			call(n, rate, numbers ? i : -1);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		continue;
	return 0;
}

static double cpu(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

int main(int argc, char **argv)
{
	struct timespec ts;
	FILE *file;
	int status = 2;

	if (argc == 4 && !strcmp(argv[1], "pipe"))
		status = play_pipe(strtol(argv[2], NULL, 10));
	else if (argc == 5 && !strcmp(argv[1], "calls"))
		status = make_calls(strtol(argv[2], NULL, 10), strtol(argv[3], NULL, 10), 0);
	else if (argc == 5 && !strcmp(argv[1], "numbers"))
		status = make_calls(strtol(argv[2], NULL, 10), strtol(argv[3], NULL, 10), 1);
	if (status)
		return status;
	file = fopen(argv[argc - 1], "w");
	if (!file)
		return 1;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	fprintf(file, "%.6f %.6f\n", (double)ts.tv_sec + (double)ts.tv_nsec / 1e9,
		cpu(RUSAGE_SELF) + cpu(RUSAGE_CHILDREN));
	return fclose(file) != 0;
}
