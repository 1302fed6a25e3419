// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/pages/stream/live_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/bytes.h"
#include "lib/ground/base/fail.h"
#include "lib/pages/stream/source.h"

/* The flag in a page's commit word (lib/pages/ring/page.c), and the bytes for a count after the records. */
#define COMMIT_LOST (UINT64_C(1) << 31)
#define COMMIT_LOST_STORED (UINT64_C(1) << 30)
#define COMMIT_FLAGS (COMMIT_LOST | COMMIT_LOST_STORED)
enum {
	COUNT_SIZE = 8,
	BLOCKS_OUT = 2, /* blocks of each CPU that may be handed out and not yet released */
};

struct live_cpu {
	struct block *first, **tail; /* pages that wait for their reader, one in each block */
	size_t queued;               /* bytes of the waiting pages */
	uint64_t taken;              /* number of events in all pages taken from the kernel */
	uint64_t last;               /* time stamp of the last record taken from the kernel */
	uint64_t bound;              /* no record older than this can come any more */
	uint64_t lost;
	bool ended;     /* was found empty after writing had ended */
	bool estimated; /* a count of lost events may include events that were lost later */
};

struct live_source {
	/* must be the first member; its shape has room for a count at the end of every page */
	struct source source;
	struct live_source_options options;
	uint32_t *cpus;
	struct live_cpu *state;
	struct live_times own, *times;
	bool ended;
};

static struct live_source *live_source(struct source *source)
{
	return (struct live_source *)source;
}

static int live_next(struct source *source, size_t cpu_index, struct block **ret, struct fail *fail)
{
	struct live_source *live = live_source(source);
	struct live_cpu *cpu = &live->state[cpu_index];
	struct block *block = cpu->first;

	(void)fail;
	if (!block)
		return cpu->ended ? 0 : -EAGAIN;
	cpu->first = block->next;
	if (!cpu->first)
		cpu->tail = &cpu->first;
	cpu->queued -= block->len;
	block->next = NULL;
	*ret = block;
	return 1;
}

static uint64_t live_bound(const struct source *source, size_t cpu_index, bool alone)
{
	const struct live_source *live = (const struct live_source *)source;
	const struct live_cpu *cpu = &live->state[cpu_index];

	if (cpu->ended || (alone && cpu->first))
		return UINT64_MAX;
	return alone ? live->times->older_round : cpu->bound;
}

static void live_free(struct source *source)
{
	struct live_source *live = live_source(source);

	for (size_t i = 0; live->state && i < source->nr_cpus; i++) {
		struct block *block;

		while ((block = live->state[i].first)) {
			live->state[i].first = block->next;
			free(block->data);
			free(block);
		}
	}
	free(live->state);
	free(live->cpus);
	free(live);
}

static const struct source_ops live_ops = { .next = live_next, .bound = live_bound, .free = live_free };

/*
 * Allocates the spare blocks at the start. Memory that is first used during a rare peak of load would look like a leak.
 */
static int fill_spare(struct live_source *live, struct fail *fail)
{
	size_t size = live->options.shape.size + COUNT_SIZE;
	size_t nr = live->options.busy_cpus * (live->options.queue_max / size + BLOCKS_OUT);
	struct block *first = NULL, *block;

	while (nr && (block = source_block(&live->source, size))) {
		memset(block->data, 0, size);
		block->next = first;
		first = block;
		nr--;
	}
	while ((block = first)) {
		first = block->next;
		source_release(&live->source, block);
	}
	return nr ? fail_memory(fail) : 0;
}

int live_source_new(const struct live_source_options *options, struct source **ret, struct fail *fail)
{
	struct live_source *live = calloc(1, sizeof(*live));

	if (!live)
		return fail_memory(fail);
	live->options = *options;
	live->times = options->times ? options->times : &live->own;
	live->source = (struct source){ .ops = &live_ops, .shape = options->shape, .nr_cpus = options->nr_cpus };
	live->source.shape.size += COUNT_SIZE;
	live->state = calloc(options->nr_cpus + 1, sizeof(*live->state));
	live->cpus = calloc(options->nr_cpus + 1, sizeof(*live->cpus));
	if (!live->state || !live->cpus) {
		source_free(&live->source);
		return fail_memory(fail);
	}
	for (size_t i = 0; i < options->nr_cpus; i++) {
		live->cpus[i] = options->cpus[i];
		live->state[i].tail = &live->state[i].first;
	}
	live->source.cpus = live->cpus;
	if (fill_spare(live, fail)) {
		source_free(&live->source);
		return -ENOMEM;
	}
	*ret = &live->source;
	return 0;
}

/* The commit word of a page. Live pages come from this machine's kernel, so they have this machine's byte order. */
static uint64_t head_word(const struct live_source *live, const uint8_t *page)
{
	return live->options.shape.long_size == 8 ? load_u64(page + 8, false) : load_u32(page + 8, false);
}

static void store_word(const struct live_source *live, uint8_t *at, uint64_t value)
{
	uint32_t low = (uint32_t)value;

	if (live->options.shape.long_size == 8)
		memcpy(at, &value, sizeof(value));
	else
		memcpy(at, &low, sizeof(low));
}

/*
 * Counts the events lost before a page. If the page lacks the number, it is computed from the kernel's overrun counter;
 * that counter may include later losses, so from then on every gap is computed from it and the sum stays right.
 */
static int count_gap(struct live_source *live, size_t index, const struct page *page, int64_t *ret, struct fail *fail)
{
	struct live_cpu *cpu = &live->state[index];
	uint64_t overrun;
	int err;

	*ret = page->lost;
	if (!live->options.feed.overrun || (page->lost >= 0 && !cpu->estimated))
		return 0;
	err = live->options.feed.overrun(live->options.feed.arg, index, cpu->taken, &overrun, fail);
	if (err)
		return err;
	cpu->estimated = true;
	*ret = overrun > cpu->lost ? (int64_t)(overrun - cpu->lost) : 0;
	return 0;
}

static int settle_gap(struct live_source *live, size_t index, const struct page *page, uint8_t *data, struct fail *fail)
{
	uint64_t word = head_word(live, data) & ~COMMIT_FLAGS;
	int64_t lost;
	int err = count_gap(live, index, page, &lost, fail);

	if (err || lost < 0)
		return err;
	if (lost) {
		store_word(live, data + page_head_size(&live->options.shape) + page->commit, (uint64_t)lost);
		word |= COMMIT_FLAGS;
	}
	store_word(live, data + 8, word);
	live->state[index].lost += (uint64_t)lost;
	return 0;
}

/* Reads a page that was just taken: the time of its last record and the events lost before it. */
static int look(struct live_source *live, size_t index, uint8_t *data, struct fail *fail)
{
	struct live_cpu *cpu = &live->state[index];
	struct record record;
	struct page page, walk;
	int err = page_init(&page, &live->options.shape, data, live->options.shape.size, fail);

	if (err)
		return err;
	/* Damage is reported when the page's turn comes. */
	for (walk = page; page_next(&walk, &record, NULL) > 0;)
		cpu->taken++;
	if (walk.ts > cpu->last && page.commit)
		cpu->last = walk.ts;
	if (cpu->last > live->times->latest)
		live->times->latest = cpu->last;
	return page.lost ? settle_gap(live, index, &page, data, fail) : 0;
}

/* 1: a page was taken; 0: the CPU has none now. */
static int take_page(struct live_source *live, size_t index, struct fail *fail)
{
	struct live_cpu *cpu = &live->state[index];
	size_t size = live->options.shape.size;
	struct block *block = source_block(&live->source, size + COUNT_SIZE);
	int r, err = 0;

	if (!block)
		return fail_memory(fail);
	r = live->options.feed.read(live->options.feed.arg, index, block->data, fail);
	if (r > 0) {
		memset(block->data + size, 0, COUNT_SIZE);
		block->len = size + COUNT_SIZE;
		err = look(live, index, block->data, fail);
		r = err < 0 ? err : r;
	}
	if (r <= 0) {
		source_release(&live->source, block);
		return r;
	}
	if (live->options.taken)
		live->options.taken(live->options.taken_arg, index, block->data, block->len);
	*cpu->tail = block;
	cpu->tail = &block->next;
	cpu->queued += block->len;
	return 1;
}

/* 1: the CPU was read until it was empty; 0: there was no room for everything. */
static int take_cpu(struct live_source *live, size_t index, bool *taken, struct fail *fail)
{
	struct live_cpu *cpu = &live->state[index];

	while (!cpu->first || cpu->queued < live->options.queue_max) {
		int r = take_page(live, index, fail);

		if (r <= 0)
			return r < 0 ? r : 1;
		*taken = true;
	}
	return 0;
}

int live_source_take(struct source *source, bool round, bool *ret_full, struct fail *fail)
{
	struct live_source *live = live_source(source);
	uint64_t before = live->times->round;
	bool full = false, taken = false;

	for (size_t i = 0; i < source->nr_cpus; i++) {
		struct live_cpu *cpu = &live->state[i];
		int r = take_cpu(live, i, &taken, fail);

		if (r < 0)
			return fail_in(fail, r, "CPU %u", (unsigned)live->cpus[i]);
		full |= !r;
		cpu->ended = live->ended && r;
		if (round && r && before > cpu->bound)
			cpu->bound = before;
		if (cpu->last > cpu->bound)
			cpu->bound = cpu->last;
	}
	if (round && live->times == &live->own)
		live_times_round(live->times);
	if (ret_full)
		*ret_full = full;
	return taken;
}

void live_times_round(struct live_times *times)
{
	times->older_round = times->round;
	times->round = times->latest;
}

void live_source_end(struct source *source)
{
	live_source(source)->ended = true;
}

uint64_t live_source_taken(const struct source *source, size_t cpu_index)
{
	return ((const struct live_source *)source)->state[cpu_index].taken;
}

uint64_t live_source_lost(const struct source *source, size_t cpu_index)
{
	return ((const struct live_source *)source)->state[cpu_index].lost;
}
