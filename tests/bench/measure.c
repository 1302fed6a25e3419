// SPDX-License-Identifier: GPL-2.0-only
/*
 * measure COMMAND...: runs it with its output thrown away and prints one line on standard output:
 * STATUS WALL CPU END RSS, being the exit status, seconds of wall time, seconds of CPU time (user and system, of it and of
 * all that it waited for), the monotonic clock in seconds when it had ended, and its peak memory in KB.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static double seconds(struct timeval tv)
{
	return (double)tv.tv_sec + (double)tv.tv_usec / 1e6;
}

static void run(char **argv)
{
	int null = open("/dev/null", O_RDWR);
	const char *log = getenv("MEASURE_LOG");
	int err = log ? open(log, O_WRONLY | O_CREAT | O_TRUNC, 0644) : null;

	dup2(null, 0);
	dup2(null, 1);
	dup2(err < 0 ? null : err, 2);
	execvp(argv[0], argv);
	_exit(127);
}

int main(int argc, char **argv)
{
	struct rusage usage;
	double start, end;
	int status;
	pid_t pid;

	if (argc < 2)
		return 2;
	start = now();
	pid = fork();
	if (!pid)
		run(argv + 1);
	if (pid < 0 || wait4(pid, &status, 0, &usage) < 0)
		return 1;
	end = now();
	printf("%d %.6f %.6f %.6f %ld\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), end - start,
	       seconds(usage.ru_utime) + seconds(usage.ru_stime), end, usage.ru_maxrss);
	return 0;
}
