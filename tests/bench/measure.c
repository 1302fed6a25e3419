// SPDX-License-Identifier: GPL-2.0-only
/*
 * measure [--first-event] COMMAND...: runs a command, discards its output and prints one line on standard output:
 * STATUS WALL CPU END RSS READ. These are the exit status, seconds of wall time, seconds of CPU time (user and system,
 * with all processes that the command waited for), the monotonic clock in seconds at its end, its peak memory in KB,
 * and the bytes that it read by system calls. With --first-event WALL is the time until the first line of output that
 * is an event; the rest of the output is not read.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static void run(char **argv, int out)
{
	int null = open("/dev/null", O_RDWR);
	const char *log = getenv("MEASURE_LOG");
	int err = log ? open(log, O_WRONLY | O_CREAT | O_TRUNC, 0644) : null;

	dup2(null, 0);
	dup2(out < 0 ? null : out, 1);
	dup2(err < 0 ? null : err, 2);
	execvp(argv[0], argv);
	_exit(127);
}

/* Header lines: the kernel's begin with '#', trace-cmd's says cpus=. */
static double wait_for_event(int in)
{
	FILE *file = fdopen(in, "r");
	char line[4096];
	double at;

	do
		if (!file || !fgets(line, sizeof(line), file))
			return -1;
	while (*line == '#' || *line == '\n' || !strncmp(line, "cpus=", 5) || !strncmp(line, "version", 7));
	at = now();
	fclose(file);
	return at;
}

/* Reads the counters of a process that has ended and is not yet reaped. */
static unsigned long long bytes_read(pid_t pid)
{
	unsigned long long bytes = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/io", pid);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (fscanf(file, "rchar: %llu", &bytes) != 1)
		bytes = 0;
	fclose(file);
	return bytes;
}

int main(int argc, char **argv)
{
	int first = argc > 1 && !strcmp(argv[1], "--first-event"), ends[2] = { -1, -1 }, status;
	unsigned long long bytes;
	struct rusage usage;
	double start, event = 0, end;
	siginfo_t info;
	pid_t pid;

	if (argc < 2 + first || (first && pipe2(ends, O_CLOEXEC)))
		return 2;
	start = now();
	pid = fork();
	if (!pid)
		run(argv + 1 + first, ends[1]);
	if (first) {
		close(ends[1]);
		event = wait_for_event(ends[0]);
		kill(pid, SIGKILL);
	}
	if (pid < 0 || waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT))
		return 1;
	end = now();
	bytes = bytes_read(pid);
	if (wait4(pid, &status, 0, &usage) < 0)
		return 1;
	status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	printf("%d %.6f %.6f %.6f %ld %llu\n", first ? event < 0 : status, (first ? event : end) - start,
	       seconds(usage.ru_utime) + seconds(usage.ru_stime), end, usage.ru_maxrss, bytes);
	return 0;
}
