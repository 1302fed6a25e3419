// SPDX-License-Identifier: GPL-2.0-only
/*
 * work N FILE: the load to be recorded. Two processes hand a byte to and fro N times: two wakeups, two switches and four system
 * calls each time. Writes the monotonic clock at its end and the CPU time it took itself, in seconds, to FILE.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
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

static double cpu(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

int main(int argc, char **argv)
{
	int there[2], back[2];
	struct timespec ts;
	FILE *file;
	long n;

	if (argc != 3 || pipe(there) || pipe(back))
		return 2;
	n = strtol(argv[1], NULL, 10);
	if (!fork()) {
		play(there[0], back[1], n, 0);
		_exit(0);
	}
	play(back[0], there[1], n, 1);
	wait(NULL);
	file = fopen(argv[2], "w");
	if (!file)
		return 1;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	fprintf(file, "%.6f %.6f\n", (double)ts.tv_sec + (double)ts.tv_nsec / 1e9,
		cpu(RUSAGE_SELF) + cpu(RUSAGE_CHILDREN));
	return fclose(file) != 0;
}
