// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/plugin/foreign_internal.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What a runner may take for one item: CPU time, time in which it neither runs nor waits for a CPU, and any time. */
enum { CPU_MAX_S = 4, ASLEEP_MAX_S = 2, ANY_MAX_S = 60, TICK_NS = 50000000 };

/* What the runner has done so far, and when this was first seen. */
struct watch {
	uint32_t serial, done;
	bool works;
	struct timespec cpu, now;
	struct timespec ran, awake; /* its CPU time at the last look, and when it was last seen to run or wait for it */
};

static bool is_over(const struct timespec *from, const struct timespec *to, long seconds)
{
	return to->tv_sec - from->tv_sec > seconds ||
	       (to->tv_sec - from->tv_sec == seconds && to->tv_nsec >= from->tv_nsec);
}

/* Whether the process sleeps or is stopped: no time of a busy machine counts against it. */
static bool is_asleep(pid_t pid)
{
	char path[32], text[128] = "";
	const char *end;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	(void)!read(fd, text, sizeof(text) - 1);
	close(fd);
	/* The name of the task is in parentheses, and may have some. */
	end = strrchr(text, ')');
	return end && end[1] && strchr("STt", end[2]) && end[2];
}

/* Whether the runner has worked for too long without an answer to the next item. */
static bool is_stuck(struct foreign_memory *memory, pid_t pid, clockid_t clock, struct watch *watch)
{
	struct watch seen = { .serial = atomic_load(&memory->serial),
			      .done = atomic_load(&memory->done),
			      .works = atomic_load(&memory->turn) == FOREIGN_RUNNER };

	clock_gettime(CLOCK_MONOTONIC, &seen.now);
	if (clock_gettime(clock, &seen.cpu))
		seen.cpu = watch->cpu;
	seen.ran = seen.cpu;
	seen.awake = seen.now;
	if (!seen.works || !watch->works || seen.serial != watch->serial || seen.done != watch->done) {
		*watch = seen;
		return false;
	}
	if (seen.ran.tv_sec != watch->ran.tv_sec || seen.ran.tv_nsec != watch->ran.tv_nsec || !is_asleep(pid)) {
		watch->ran = seen.ran;
		watch->awake = seen.awake;
	}
	return is_over(&watch->cpu, &seen.cpu, CPU_MAX_S) || is_over(&watch->awake, &seen.now, ASLEEP_MAX_S) ||
	       is_over(&watch->now, &seen.now, ANY_MAX_S);
}

/* Waits until the runner has ended. */
static enum foreign_end watch_over(struct foreign_memory *memory, pid_t pid, const sigset_t *child)
{
	const struct timespec tick = { .tv_nsec = TICK_NS };
	struct watch watch = { .works = false };
	bool killed = false;
	clockid_t clock;
	int status = 0;

	if (clock_getcpuclockid(pid, &clock))
		clock = CLOCK_MONOTONIC;
	while (!waitpid(pid, &status, WNOHANG)) {
		(void)sigtimedwait(child, NULL, &tick);
		if (!killed && is_stuck(memory, pid, clock, &watch)) {
			killed = true;
			kill(pid, SIGKILL);
		}
	}
	return killed ? FOREIGN_TOO_LONG : WIFEXITED(status) ? FOREIGN_EXITED : FOREIGN_CRASHED;
}

static void close_between(int first, int last)
{
	long end = sysconf(_SC_OPEN_MAX);

	/* Kernels before 5.9 lack the call. */
	if (first > last || !syscall(SYS_close_range, first, last, 0))
		return;
	for (int fd = first; fd <= last && fd < end; fd++)
		close(fd);
}

/* The plugins have no standard files, and hold no file of weft open, such as the pipe to a pager. */
static void leave_files(int low, int high)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
		(void)!dup2(null, fd);
	if (null > STDERR_FILENO)
		close(null);
	close_between(STDERR_FILENO + 1, low - 1);
	close_between(low + 1, high - 1);
	close_between(high + 1, INT_MAX);
}

void foreign_warden(const struct foreign_options *options, struct foreign_memory *memory, int weft, int own)
{
	sigset_t child;

	leave_files(weft < own ? weft : own, weft < own ? own : weft);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	/* A signal from the terminal ends weft, and so these processes; a pager may make weft outlive it. */
	signal(SIGINT, SIG_IGN);
	for (uint32_t life = 0; life < FOREIGN_LIVES && atomic_load(&memory->turn) != FOREIGN_END; life++) {
		pid_t pid = fork();

		if (!pid) {
			close(own);
			foreign_run(options, memory, life, weft);
		}
		atomic_store(&memory->end, pid < 0 ? FOREIGN_CRASHED : watch_over(memory, pid, &child));
		atomic_store(&memory->ended, life + 1);
		if (atomic_load(&memory->turn) != FOREIGN_END)
			foreign_give(memory, FOREIGN_WEFT);
	}
	_exit(0);
}
