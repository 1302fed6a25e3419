// SPDX-License-Identifier: GPL-2.0-only
/*
 * Linked with weft and -Wl,--wrap=slices_render,--wrap=text_end_put: says how much CPU time the stages of a report
 * in slices take: its last line on stderr is
 *
 *   START SEQUENTIAL PARALLEL END, in ns
 *
 * START and END are before and after the slices, on one thread. SEQUENTIAL is what a thread does while it has the turn
 * to write, which no other thread does then; PARALLEL is the rest. Without slices there is no such line.
 *
 * With the only argument --copy N it prints how many bytes N threads together copy in a second.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/slices.h"
#include "formats/text_end.h"

int __real_slices_render(const struct sliced *sliced, struct sink *const *sinks, uint64_t *ret_printed,
			 struct fail *fail);
int __wrap_slices_render(const struct sliced *sliced, struct sink *const *sinks, uint64_t *ret_printed,
			 struct fail *fail);
int __real_text_end_put(struct text_end *end, struct out *out, struct fail *fail);
int __wrap_text_end_put(struct text_end *end, struct out *out, struct fail *fail);

static uint64_t started, ended, sequential;

static uint64_t now(clockid_t clock)
{
	struct timespec at;

	clock_gettime(clock, &at);
	return (uint64_t)at.tv_sec * 1000000000 + (uint64_t)at.tv_nsec;
}

int __wrap_slices_render(const struct sliced *sliced, struct sink *const *sinks, uint64_t *ret_printed,
			 struct fail *fail)
{
	int r;

	started = now(CLOCK_PROCESS_CPUTIME_ID);
	sequential = 0;
	r = __real_slices_render(sliced, sinks, ret_printed, fail);
	ended = now(CLOCK_PROCESS_CPUTIME_ID);
	return r;
}

/* One thread at a time is here. */
int __wrap_text_end_put(struct text_end *end, struct out *out, struct fail *fail)
{
	uint64_t since = now(CLOCK_THREAD_CPUTIME_ID);
	int r = __real_text_end_put(end, out, fail);

	sequential += now(CLOCK_THREAD_CPUTIME_ID) - since;
	return r;
}

__attribute__((destructor)) static void tell_stages(void)
{
	if (!ended)
		return;
	fprintf(stderr, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", started, sequential,
		ended - started - sequential, now(CLOCK_PROCESS_CPUTIME_ID) - ended);
}

enum { COPIED = 64 << 20, COPIES = 16, COPIERS = 64 };

static void *copy(void *arg)
{
	char *from = calloc(2, COPIED);

	(void)arg;
	if (!from)
		exit(1);
	memset(from, 1, (size_t)2 * COPIED);
	for (int i = 0; i < COPIES; i++) {
		memcpy(from + COPIED, from, COPIED);
		__asm__ volatile("" ::: "memory");
	}
	free(from);
	return NULL;
}

__attribute__((constructor)) static void begin(int argc, char **argv)
{
	int nr = argc == 3 && !strcmp(argv[1], "--copy") ? (int)strtol(argv[2], NULL, 10) : 0;
	pthread_t threads[COPIERS];
	uint64_t since;

	if (nr < 1 || nr > COPIERS)
		return;
	since = now(CLOCK_MONOTONIC);
	for (int i = 0; i < nr; i++)
		if (pthread_create(&threads[i], NULL, copy, NULL))
			exit(1);
	for (int i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	printf("%.0f\n", (double)nr * COPIES * COPIED / (double)(now(CLOCK_MONOTONIC) - since) * 1e9);
	exit(0);
}
