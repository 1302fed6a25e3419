/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PAGES_STREAM_LIVE_SOURCE_H
#define WEFT_PAGES_STREAM_LIVE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/pages/ring/page.h"

struct fail;
struct source;

/*
 * The pages of ring buffers that are still being written. The owner of the source takes pages out of the kernel with
 * live_source_take(), again and again; the merge then hands out the records whose order is certain.
 *
 * Order. A round reads every CPU. When a CPU was found empty, its later records happened after this round began, that
 * is, after the latest event of the round before. So the time of that latest event is the bound: no older record can
 * come. This needs no clock of weft's own, only that the trace clock agrees among CPUs to less than the time between
 * two rounds. A record that nothing follows on its CPU also waits for the bound, even when all other CPUs are ahead:
 * the text of a function's entry depends on the record that follows it. With a round every T, an event is handed out at
 * most 2 T after it happened. Several buffers that form one stream have a source each and share their times: then a
 * round covers all of them, and the bounds of a silent buffer move with the events of the others.
 *
 * Losses. At most `queue_max` bytes of each CPU are kept here; the rest stays in the kernel, which overwrites the
 * oldest events and says so in the next page. Where that page had no room for the number, the source asks the feed for
 * it (kernel/trace/ring_buffer.c: ring_buffer_read_page()), so that the sum of all gaps equals the kernel's count.
 */
struct live_feed {
	/* Reads one sub-buffer of that CPU, also a partly filled one: 1, 0 when there is none now, -errno. */
	int (*read)(void *arg, size_t cpu_index, void *into, struct fail *fail);
	/*
	 * Events of that CPU that were overwritten since the source was made: `overrun` of per_cpu/cpuN/stats. `taken`
	 * is what live_source_taken() returns at that moment. May be NULL.
	 */
	int (*overrun)(void *arg, size_t cpu_index, uint64_t taken, uint64_t *ret, struct fail *fail);
	void *arg;
};

/* Raw times of the records taken from all sources that share them; zero at first. The owner of the sources owns it. */
struct live_times {
	uint64_t latest;             /* of all records */
	uint64_t round, older_round; /* the latest record's time at the end of the last two rounds */
};

struct live_source_options {
	struct live_feed feed;
	struct page_shape shape; /* the shape of the kernel's sub-buffers */
	const uint32_t *cpus;    /* copied; ascending */
	size_t nr_cpus;
	size_t queue_max; /* bytes of pages for each CPU; at least one page is kept */
	/* memory for this many full queues is allocated at the start, so that a burst allocates none; may be 0 */
	size_t busy_cpus;
	struct live_times *times; /* shared with other sources, borrowed; NULL: this source has its own */
	/* Gets each page that was taken, with room for the count of lost events, and the count in it. May be NULL. */
	void (*taken)(void *arg, size_t cpu_index, const void *page, size_t len);
	void *taken_arg;
};

int must_check live_source_new(const struct live_source_options *options, struct source **ret, struct fail *fail);

/*
 * Takes as many pages from the kernel as there is room for: 1, or 0 when none was taken. `round`: this call ends a
 * round and moves the bounds; such calls must come at even intervals, other calls may come in between. *ret_full (may
 * be NULL): some CPU may have more pages, for which there was no room. When sources share their times, a round takes
 * pages from each of them and then ends with live_times_round().
 */
int must_check live_source_take(struct source *source, bool round, bool *ret_full, struct fail *fail);
void live_times_round(struct live_times *times);

/*
 * Tells the source that the kernel writes no more events: a CPU that is found empty from here on has ended. The caller
 * must still take the remaining pages.
 */
void live_source_end(struct source *source);

/* The number of events in the pages taken from this CPU. */
uint64_t live_source_taken(const struct source *source, size_t cpu_index);
/*
 * The number of lost events reported so far for this CPU, as far as it is known, including the pages that still wait
 * here.
 */
uint64_t live_source_lost(const struct source *source, size_t cpu_index);

#endif
