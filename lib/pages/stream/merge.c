// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/pages/stream/merge.h"

#include <stdlib.h>

#include "lib/ground/base/apart.h"
#include "lib/ground/base/fail.h"

/* The branch predictor cannot predict which of the two is earlier, so there is no branch unless the times are equal. */
static inline size_t earlier_child(const struct merge_slot *heap, size_t child)
{
	uint64_t left = heap[child].ts, right = heap[child + 1].ts;

	if (__builtin_expect(left == right, 0))
		return child + (heap[child + 1].cursor < heap[child].cursor);
	return child + (right < left);
}

static inline void sift_down(struct merge *merge, size_t at)
{
	struct merge_slot *heap = merge->heap, moving = heap[at];
	size_t len = merge->len, child;

	while ((child = 2 * at + 1) < len) {
		if (child + 1 < len)
			child = earlier_child(heap, child);
		if (!merge_before(heap[child], moving))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = moving;
}

static void sift_up(struct merge *merge, size_t at)
{
	struct merge_slot *heap = merge->heap, moving = heap[at];

	for (; at && merge_before(moving, heap[(at - 1) / 2]); at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = moving;
}

static inline void heap_add(struct merge *merge, struct cursor *cursor)
{
	merge->heap[merge->len++] = (struct merge_slot){ .ts = cursor->head.ts, .cursor = cursor };
}

/* Restores the heap after its top has moved. */
static inline void heap_settle_top(struct merge *merge)
{
	merge->top_moved = false;
	merge->heap[0].ts = merge->heap[0].cursor->head.ts;
	sift_down(merge, 0);
}

bool merge_masked(const uint64_t *mask, size_t words, uint32_t cpu)
{
	return mask && (cpu / 64 >= words || !(mask[cpu / 64] >> cpu % 64 & 1));
}

int merge_new(struct source *source, const uint64_t *mask, size_t mask_words, struct merge **ret, struct fail *fail)
{
	struct merge *merge = apart_calloc(1, sizeof(*merge));

	if (!merge) {
		source_free(source);
		return fail_memory(fail);
	}
	merge->source = source;
	merge->retired.tail = &merge->retired.first;
	merge->horizon = UINT64_MAX;
	merge->plain = !source->ops->bound;
	merge->only = -1;
	merge->cursors = apart_calloc(source->nr_cpus + 1, sizeof(*merge->cursors));
	merge->heap = apart_calloc(source->nr_cpus + 1, sizeof(*merge->heap));
	if (!merge->cursors || !merge->heap) {
		merge_free(merge);
		return fail_memory(fail);
	}
	for (size_t i = 0; i < source->nr_cpus; i++)
		if (!merge_masked(mask, mask_words, source->cpus[i]))
			cursor_init(&merge->cursors[merge->nr_cursors++], source, i, &merge->retired);
	*ret = merge;
	return 0;
}

void merge_free(struct merge *merge)
{
	if (!merge)
		return;
	for (size_t i = 0; merge->cursors && i < merge->nr_cursors; i++)
		cursor_release(&merge->cursors[i]);
	merge_release(merge, merge_retired(merge));
	source_free(merge->source);
	apart_free(merge->cursors);
	apart_free(merge->heap);
	apart_free(merge);
}

int merge_restart(struct merge *merge, uint64_t ts, struct fail *fail)
{
	struct source *source = merge->source;
	int r;

	for (size_t i = 0; i < merge->nr_cursors; i++) {
		struct cursor *cursor = &merge->cursors[i];
		size_t cpu_index = cursor->cpu_index;

		cursor_release(cursor);
		cursor_init(cursor, source, cpu_index, &merge->retired);
	}
	merge_release(merge, merge_retired(merge));
	merge->len = 0;
	merge->next_ts = 0;
	merge->horizon = UINT64_MAX;
	merge->started = merge->top_moved = false;
	r = source->ops->restart(source, ts, fail);
	return r || !ts ? r : merge_seek(merge, ts, fail);
}

void merge_only(struct merge *merge, int64_t cpu)
{
	merge->only = cpu;
}

static bool is_read(const struct merge *merge, const struct cursor *cursor)
{
	return merge->only < 0 || merge->source->cpus[cursor->cpu_index] == (uint64_t)merge->only;
}

bool merge_has_remains(const struct merge *merge)
{
	for (size_t i = 0; i < merge->nr_cursors; i++)
		if (merge->cursors[i].remains)
			return true;
	return false;
}

int merge_seek(struct merge *merge, uint64_t ts, struct fail *fail)
{
	struct source *source = merge->source;

	if (!source->ops->seek)
		return 0;
	for (size_t i = 0; i < merge->nr_cursors; i++) {
		int r = is_read(merge, &merge->cursors[i]) ?
				source->ops->seek(source, merge->cursors[i].cpu_index, ts, fail) :
				0;

		if (r < 0)
			return r;
	}
	return 0;
}

/* Lowers the horizon to the source's bound for this CPU. */
static void lower_horizon(struct merge *merge, const struct cursor *cursor)
{
	uint64_t bound;

	if (!cursor->dry)
		return;
	bound = merge->source->ops->bound(merge->source, cursor->cpu_index, false);
	if (bound < merge->horizon)
		merge->horizon = bound;
}

/* Damage in the first page of a CPU is kept for merge_start_damage(). */
static void merge_start(struct merge *merge)
{
	merge->started = true;
	for (size_t i = 0; i < merge->nr_cursors; i++) {
		struct cursor *cursor = &merge->cursors[i];
		struct fail fail = FAIL_INIT;
		int r = is_read(merge, cursor) ? cursor_next(cursor, &fail) : 0;

		if (r > 0)
			heap_add(merge, cursor);
		else if (r < 0 && !merge->start_fail.text[0])
			merge->start_fail = fail;
		lower_horizon(merge, cursor);
	}
	for (size_t i = merge->len / 2; i-- > 0;)
		sift_down(merge, i);
}

/* Makes the heap valid again after its top has moved. */
static void merge_order(struct merge *merge)
{
	struct cursor *top = merge->heap[0].cursor;

	merge->top_moved = false;
	if (!top->live) {
		lower_horizon(merge, top);
		merge->heap[0] = merge->heap[--merge->len];
	}
	if (merge->len)
		heap_settle_top(merge);
}

/* For a live source: no older record can come, and the record that follows on this CPU is there or was waited for. */
static bool is_settled(const struct merge *merge, const struct cursor *cursor)
{
	const struct source *source = merge->source;

	return cursor->head.ts <= merge->horizon &&
	       (cursor_followed(cursor) || cursor->head.ts <= source->ops->bound(source, cursor->cpu_index, true));
}

/* The heap knows only the first record; the second one is one of its two children. */
static inline uint64_t behind_top(const struct merge *merge)
{
	uint64_t ts = merge->heap[1].ts;

	return merge->len > 2 && merge->heap[2].ts < ts ? merge->heap[2].ts : ts;
}

/* The time at which another CPU's record comes next. */
static uint64_t next_time(const struct merge *merge)
{
	/* With a live source, each record has to be checked. */
	if (!merge->plain)
		return 0;
	return merge->len > 1 ? behind_top(merge) : UINT64_MAX;
}

__attribute__((noinline)) static struct cursor *merge_top_otherwise(struct merge *merge)
{
	if (!merge->started)
		merge_start(merge);
	if (merge->top_moved)
		merge_order(merge);
	merge->next_ts = next_time(merge);
	if (!merge->len || (!merge->plain && !is_settled(merge, merge->heap[0].cursor)))
		return NULL;
	return merge->heap[0].cursor;
}

struct cursor *merge_settle_many(struct merge *merge)
{
	heap_settle_top(merge);
	merge->next_ts = next_time(merge);
	return merge->heap[0].cursor;
}

struct cursor *merge_top_slowly(struct merge *merge)
{
	if (__builtin_expect(merge->plain && merge->top_moved && merge->heap[0].cursor->live, 1))
		return merge_settle(merge);
	return merge_top_otherwise(merge);
}

bool merge_due(struct merge *merge, uint64_t *ret)
{
	const struct cursor *top = merge_top(merge);

	*ret = merge->horizon;
	if (merge->len && (top || merge->heap[0].cursor->head.ts < *ret))
		*ret = merge->heap[0].cursor->head.ts;
	return top;
}

void merge_resume(struct merge *merge)
{
	if (merge->plain)
		return;
	if (merge->top_moved)
		merge_order(merge);
	merge->horizon = UINT64_MAX;
	for (size_t i = 0; merge->started && i < merge->nr_cursors; i++) {
		struct cursor *cursor = &merge->cursors[i];
		struct fail fail = FAIL_INIT;
		int r;

		if (!cursor->dry)
			continue;
		cursor->dry = false;
		r = cursor_next(cursor, &fail);
		if (r > 0) {
			heap_add(merge, cursor);
			sift_up(merge, merge->len - 1);
		} else if (r < 0 && !merge->start_fail.text[0]) {
			merge->start_fail = fail;
		}
		lower_horizon(merge, cursor);
	}
}

const char *merge_start_damage(const struct merge *merge)
{
	return merge->start_fail.text[0] ? merge->start_fail.text : NULL;
}

struct block *merge_retired(struct merge *merge)
{
	struct block *chain = merge->retired.first;

	merge->retired = (struct chain){ .tail = &merge->retired.first };
	return chain;
}

void merge_release(struct merge *merge, struct block *chain)
{
	while (chain) {
		struct block *next = chain->next;

		source_release(merge->source, chain);
		chain = next;
	}
}
