// SPDX-License-Identifier: GPL-2.0-only
/*
 * cutter FILE SEED: prints the first buffer of a file in slices of time that begin at events by chance, few and many
 * and all of few events, on two and three threads, and compares the text with the one that is printed in order. Then
 * the same of windows of time, of the events that have an s, or a y, in their names, of what weft export makes of them,
 * and of what histograms add up. One line: "ok N", N times with all in slices; "order", where the file cannot be read
 * in slices; or what differs, and exit status 1.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/printed.h"
#include "tests/unit/sliced.h"
#include "tests/unit/sliced_export.h"
#include "tests/unit/sliced_sums.h"

enum { RUNS = 8, ALL_MAX = 600, CUTS_MAX = 64 };

/* What is compared. */
struct texts {
	const char *events; /* NULL: all */
	const char *to;     /* an exporter; NULL: the kernel's text */
	const char *sums;   /* in its place, of all events: what is added up (tests/unit/sliced_sums.h); NULL: none */
	bool windowed;      /* of those between two times by chance */
};

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

static int cut(struct trace *trace, const struct texts *texts, const struct printed *how, const uint64_t *times,
	       size_t nr, struct buf *whole)
{
	uint64_t chosen[CUTS_MAX];
	int all = 0;

	for (unsigned run = 0; run < RUNS; run++) {
		struct sliced_cuts cuts = { .times = chosen,
					    .nr = run < 4 ? 1 : run * run,
					    .threads = 1 + run % 2,
					    .events = texts->events,
					    .to = texts->to,
					    .since = how->since,
					    .until = how->until,
					    .sums = texts->sums };
		int r;

		if (!run && nr <= ALL_MAX)
			cuts.times = times, cuts.nr = nr, cuts.threads = 1;
		for (size_t i = 0; cuts.times == chosen && i < cuts.nr; i++)
			chosen[i] = times[(size_t)rand() % nr];
		qsort(chosen, cuts.times == chosen ? cuts.nr : 0, sizeof(*chosen), compare_times);
		r = compare(trace, &cuts, whole);
		if (r < 0)
			return r;
		all += r;
	}
	return all;
}

/* A window that begins and ends at events by chance. The cuts are at the events in it, of which there is one. */
static size_t choose_window(struct printed *how, const uint64_t **times, size_t nr)
{
	size_t first = (size_t)rand() % nr, last = first + (size_t)rand() % (nr - first);

	how->since = (*times)[first];
	how->until = (*times)[last];
	*times += first;
	return last - first + 1;
}

/* The same, of these events, or of all; what has no such event is not compared. */
static int cut_events(struct trace *trace, const struct texts *texts, const uint64_t *times, size_t nr)
{
	const char *events = texts->events;
	struct printed how = { .format = "ftrace", .events = events };
	cleanup_buf struct buf whole = BUF_INIT;
	struct fail fail = FAIL_INIT;
	int r;

	if (texts->windowed)
		nr = choose_window(&how, &times, nr);
	if (texts->sums)
		r = sliced_sums_order(trace, texts->sums, &whole, &fail);
	else if (texts->to)
		r = sliced_export_order(trace, texts->to, events, &whole, &fail);
	else
		r = printed_trace(trace, &how, &whole, &fail);
	/* The file has no such event, or its clock does not count time. */
	if (((events || texts->sums) && r == -ENOENT) || (texts->sums && r == -EINVAL))
		return 0;
	if (r)
		printf("%s\n", fail.text);
	return r ? -1 : cut(trace, texts, &how, times, nr, &whole);
}

int main(int argc, char **argv)
{
	static const struct texts compared[] = {
		{ NULL, NULL, NULL, false },
		{ NULL, NULL, NULL, true },
		{ NULL, NULL, NULL, true },
		{ "*:*s*", NULL, NULL, false },
		{ "*:*s*", NULL, NULL, true },
		{ "*:*y*", NULL, NULL, false },
		{ NULL, "jsonl", NULL, false },
		{ "*:*s*", "csv", NULL, false },
		{ NULL, NULL, "hist sched:sched_switch", false },
		{ NULL, NULL, "hist irq:irq_handler_entry", false },
		{ NULL, NULL, "hist raw_syscalls:sys_enter", false },
		{ NULL, NULL, "hist ftrace:funcgraph_exit", false },
		{ NULL, NULL, "pair syscalls", false },
		{ NULL, NULL, "pair wakeups", false },
		{ NULL, NULL, "pair switches", false },
		{ NULL, NULL, "pair functions", false },
		{ NULL, NULL, "graph", false },
		{ NULL, NULL, "graph errors", false },
	};
	struct fail fail = FAIL_INIT;
	struct trace *trace = NULL;
	uint64_t *times = NULL;
	int r = -1, all = 0;
	size_t nr = 0;

	if (argc == 3) {
		srand((unsigned)strtoul(argv[2], NULL, 10));
		r = trace_open(argv[1], &trace, &fail);
	}
	if (!r)
		r = sliced_times(trace, &times, &nr, &fail);
	if (r)
		printf("%s\n", fail.text);
	for (size_t i = 0; r >= 0 && nr && i < array_size(compared); i++)
		if ((r = cut_events(trace, &compared[i], times, nr)) > 0)
			all += r;
	if (r >= 0 && all)
		printf("ok %d\n", all);
	else if (r >= 0)
		printf("order\n");
	free(times);
	trace_free(trace);
	return r < 0;
}
