// SPDX-License-Identifier: GPL-2.0-only
/*
 * Workloads of known size, for tests/bench/proof. Each takes a few tens of milliseconds; the numbers change one thing:
 *	work cpu UNITS         40 loops of so many units of arithmetic, with a read in each
 *	work sleep US          10 sleeps of so many microseconds
 *	work calls EXTRA       400 loops of a little work, with so many calls of getppid() more in each
 *	work lock US           a lock that another thread holds for so many microseconds, 10 times
 *	work files 0|1 FILE    10 files that are written, 1: with fsync()
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;

static void compute(unsigned units)
{
	for (unsigned i = 0; i < units * 1000; i++)
		sink += i;
}

static void nap(long us)
{
	const struct timespec time = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };

	nanosleep(&time, NULL);
}

static int must_open(const char *path, int flags)
{
	int fd = open(path, flags, 0600);

	if (fd < 0) {
		perror(path);
		exit(1);
	}
	return fd;
}

static void read_a_page(int fd)
{
	char page[4096];

	if (read(fd, page, sizeof(page)) != sizeof(page))
		exit(1);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static long hold_us;

static void *hold(void *unused)
{
	for (int i = 0; i < 10; i++) {
		pthread_mutex_lock(&mutex);
		pthread_barrier_wait(&barrier);
		nap(hold_us);
		pthread_mutex_unlock(&mutex);
		pthread_barrier_wait(&barrier);
	}
	return unused;
}

static void wait_for_holder(void)
{
	pthread_t thread;

	pthread_barrier_init(&barrier, NULL, 2);
	if (pthread_create(&thread, NULL, hold, NULL))
		exit(1);
	for (int i = 0; i < 10; i++) {
		pthread_barrier_wait(&barrier);
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
		pthread_barrier_wait(&barrier);
	}
	pthread_join(thread, NULL);
}

static void write_files(const char *path, long sync)
{
	for (int i = 0; i < 10; i++) {
		int fd = must_open(path, O_CREAT | O_TRUNC | O_WRONLY);

		compute(500);
		if (write(fd, "text\n", 5) != 5 || (sync && fsync(fd)))
			exit(1);
		close(fd);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	long number = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	int zero = must_open("/dev/zero", O_RDONLY);

	if (!strcmp(what, "cpu"))
		for (int i = 0; i < 40; i++) {
			read_a_page(zero);
			compute((unsigned)number);
		}
	else if (!strcmp(what, "sleep"))
		for (int i = 0; i < 10; i++)
			nap(number);
	else if (!strcmp(what, "calls"))
		for (int i = 0; i < 400; i++) {
			read_a_page(zero);
			compute(20);
			for (long j = 0; j < number; j++)
				(void)getppid();
		}
	else if (!strcmp(what, "lock")) {
		hold_us = number;
		wait_for_holder();
	} else if (!strcmp(what, "files") && argc > 3)
		write_files(argv[3], number);
	else
		return 2;
	return 0;
}
