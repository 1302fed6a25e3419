// SPDX-License-Identifier: GPL-2.0-only
/*
 * holder N US: a process that holds a futex for US microseconds, N times, and one that waits for it. Prints what the
 * second one has measured itself, and its schedstat when it has ended, 0 without one: "waits PID COUNT NS", "waiter PID
 * RUN WAIT", "holder PID". Counted are waits that took at least half of the time: after a late start there is less to
 * wait for. At its end the second one runs for 300 ms, so that what a busy host takes from the guest is little beside
 * what the task ran.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RUN_MS = 300 };

static long long now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static void tell(pid_t pid)
{
	long long run = 0, wait = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
	file = fopen(path, "r");
	if (file) {
		if (fscanf(file, "%lld %lld", &run, &wait) != 2)
			run = wait = 0;
		fclose(file);
	}
	printf("waiter %d %lld %lld\n", pid, run, wait);
}

static void wait_for_it(atomic_int *word, int rounds, int us, int in, int out)
{
	long long all = 0;
	int waits = 0;
	char c;

	while (rounds-- && read(in, &c, 1) == 1) {
		long long begin = now(CLOCK_MONOTONIC), took;

		while (atomic_load(word))
			syscall(SYS_futex, word, FUTEX_WAIT, 1, NULL, NULL, 0);
		took = now(CLOCK_MONOTONIC) - begin;
		if (took >= us * 500LL) {
			waits++;
			all += took;
		}
		if (write(out, &c, 1) != 1)
			break;
	}
	while (now(CLOCK_PROCESS_CPUTIME_ID) < RUN_MS * 1000000LL)
		;
	printf("waits %d %d %lld\n", getpid(), waits, all);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 20,
	    us = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 5000, to[2], from[2];
	atomic_int *word = mmap(NULL, sizeof(*word), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	siginfo_t info;
	pid_t pid;
	char c = 0;

	if (word == MAP_FAILED || pipe(to) || pipe(from))
		return 1;
	pid = fork();
	if (!pid) {
		wait_for_it(word, rounds, us, to[0], from[1]);
		return 0;
	}
	while (rounds--) {
		atomic_store(word, 1);
		if (write(to[1], &c, 1) != 1)
			return 1;
		usleep(us);
		atomic_store(word, 0);
		syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
		if (read(from[0], &c, 1) != 1)
			return 1;
	}
	/* It stays a zombie, which has its figures. */
	waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	tell(pid);
	printf("holder %d\n", getpid());
	return 0;
}
