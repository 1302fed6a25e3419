/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_STREAM_LIVE_SOURCE_H
#define WEFT_STREAM_LIVE_SOURCE_H

#include "lib/base/cleanup.h"
#include "lib/ring/page.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fail;
struct source;

/*
 * The pages of ring buffers that are being written. Whoever owns the source takes them out of the kernel with
 * live_source_take(), again and again; the merge then hands out what has become certain.
 *
 * The order. A round takes what every CPU has. When a CPU was found empty, whatever it brings later happened after this round
 * began; and the latest event of the round before had happened by then. So that one's time is the bound: nothing older
 * can come. It needs no clock of ours, only that the trace clock agrees among CPUs to less than the time between two rounds.
 * A record that nothing follows on its CPU waits as long even when all other CPUs are ahead: the text of a function's entry
 * depends on what follows. So with rounds every T an event is handed out at most 2 T after it happened.
 * Buffers that are one stream have a source each and share their times: a round is one of all of them then, and the bounds of
 * a buffer that is silent move with the events of the others.
 *
 * Losses. Of each CPU at most `queue_max` bytes are kept here; the rest stays in the kernel, which overwrites the oldest and says
 * so in the next page. Where that page had no room for the number, the feed is asked for it (kernel/trace/ring_buffer.c:
 * ring_buffer_read_page()), so that the sum of all gaps is what the kernel counts.
 */
struct live_feed {
	/* One sub-buffer of that CPU, of its own size, partly filled ones too: 1, 0 when it has none now, -errno. */
	int (*read)(void *arg, size_t cpu_index, void *into, struct fail *fail);
	/*
	 * Events of that CPU that were overwritten since the source was made: `overrun` of per_cpu/cpuN/stats. `taken` is
	 * live_source_taken() by then. May be NULL.
	 */
	int (*overrun)(void *arg, size_t cpu_index, uint64_t taken, uint64_t *ret, struct fail *fail);
	void *arg;
};

/* Raw times of what was taken from all sources that share them; zero at first. The owner of the sources owns it. */
struct live_times {
	uint64_t latest;             /* of all records */
	uint64_t round, older_round; /* the latest, at the end of the last rounds */
};

struct live_options {
	struct live_feed feed;
	struct page_shape shape; /* of the kernel's sub-buffers */
	const uint32_t *cpus;    /* copied; ascending */
	size_t nr_cpus;
	size_t queue_max; /* bytes of pages for each CPU; at least one page is kept */
	size_t busy_cpus; /* memory for so many full queues is there from the start: a burst then costs none; may be 0 */
	struct live_times *times; /* shared with other sources, borrowed; NULL: this one is alone */
};

int must_check live_source_new(const struct live_options *options, struct source **ret, struct fail *fail);

/*
 * Takes what there is and has room: 1, or 0 when that was nothing. `round`: the bounds move; these calls shall come at even
 * intervals, others may come in between. *ret_full (may be NULL): some CPU may have more, for which there was no room.
 * A round of sources that share their times takes from each, and then ends with live_times_round().
 */
int must_check live_source_take(struct source *source, bool round, bool *ret_full, struct fail *fail);
void live_times_round(struct live_times *times);

/* Nothing will be written any more: a CPU that is found empty from here on has ended. What is there must still be taken. */
void live_source_end(struct source *source);

/* Of a CPU: the events in the pages that were taken. */
uint64_t live_source_taken(const struct source *source, size_t cpu_index);
/* Of a CPU: the gaps handed out so far, as far as their size was known, those of pages still here included. */
uint64_t live_source_lost(const struct source *source, size_t cpu_index);

#endif
