// SPDX-License-Identifier: GPL-2.0-only
/*
 * cutter FILE SEED: prints the first buffer of a file in slices of time that begin at events by chance, few and many
 * and all of few events, on two and three threads, and compares the text with the one that is printed in order. One
 * line: "ok N", N times with all in slices; "order", where the file cannot be read in slices; or what differs, and exit
 * status 1.
 */
#include "lib/base/cleanup.h"
#include "lib/base/fail.h"
#include "lib/trace/trace.h"
#include "tests/unit/printed.h"
#include "tests/unit/sliced.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 8, ALL_MAX = 600, CUTS_MAX = 64 };

static int compare_times(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

/* 1: all in slices; 0: a part of the text, which is right; -1: it differs, or an error was printed. */
static int compare(struct trace *trace, const struct sliced_cuts *cuts, struct buf *whole)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct fail fail = FAIL_INIT;
	bool sliced = false;

	if (sliced_print(trace, cuts, &text, &sliced, &fail)) {
		printf("%s\n", fail.text);
		return -1;
	}
	if (text.len <= whole->len && !memcmp(buf_str(&text), buf_str(whole), text.len) &&
	    (!sliced || text.len == whole->len))
		return sliced;
	printf("differs with %zu cuts from %" PRIu64 " and %u threads\n", cuts->nr, cuts->nr ? cuts->times[0] : 0,
	       cuts->threads + 1);
	return -1;
}

static int cut(struct trace *trace, const uint64_t *times, size_t nr, struct buf *whole)
{
	uint64_t chosen[CUTS_MAX];
	int all = 0;

	for (unsigned run = 0; run < RUNS; run++) {
		struct sliced_cuts cuts = { .times = chosen, .nr = run < 4 ? 1 : run * run, .threads = 1 + run % 2 };
		int r;

		if (!run && nr <= ALL_MAX)
			cuts = (struct sliced_cuts){ .times = times, .nr = nr, .threads = 1 };
		else
			for (size_t i = 0; i < cuts.nr; i++)
				chosen[i] = times[(size_t)rand() % nr];
		qsort(chosen, cuts.times == chosen ? cuts.nr : 0, sizeof(*chosen), compare_times);
		r = compare(trace, &cuts, whole);
		if (r < 0)
			return r;
		all += r;
	}
	return all;
}

int main(int argc, char **argv)
{
	const struct printed how = { .format = "ftrace" };
	cleanup_buf struct buf whole = BUF_INIT;
	struct fail fail = FAIL_INIT;
	struct trace *trace = NULL;
	uint64_t *times = NULL;
	size_t nr = 0;
	int r = -1;

	if (argc == 3) {
		srand((unsigned)strtoul(argv[2], NULL, 10));
		r = trace_open(argv[1], &trace, &fail);
	}
	if (!r)
		r = printed_trace(trace, &how, &whole, &fail);
	if (!r)
		r = sliced_times(trace, &times, &nr, &fail);
	if (r)
		printf("%s\n", fail.text);
	else if (!nr)
		printf("order\n");
	else if ((r = cut(trace, times, nr, &whole)) > 0)
		printf("ok %d\n", r);
	else if (!r)
		printf("order\n");
	free(times);
	trace_free(trace);
	return r < 0;
}
