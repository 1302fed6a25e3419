// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/files/import/sorter_internal.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/vec.h"
#include "lib/pages/trace/input.h"

/* The arena grows up to its largest size; it begins with room for any item. */
enum { ARENA = 16 << 20, ARENA_FIRST = 1 << 18, BUFFER = SORTER_ITEM_MAX + 4096 };

/* A part of the items that is sorted. */
struct run {
	uint64_t at, end; /* what is not in the buffer yet, in the temporary file */
	uint8_t *buffer;  /* NULL: the run lies in the arena */
	size_t used, len; /* bytes of the buffer */
	size_t next;      /* number of the next item, of the run in the arena */
};

struct sorter {
	const struct temporaries *temporaries;
	int fd;
	uint64_t written;
	uint8_t *arena;
	size_t size, used;
	struct sorter_item **items;
	size_t nr_items;
	struct run *runs;
	size_t nr_runs;
	size_t *heap; /* numbers of runs that have an item, the first one at 0 */
	size_t nr_heap;
};

int sorter_new(const struct temporaries *temporaries, struct sorter **ret, struct fail *fail)
{
	struct sorter *sorter = calloc(1, sizeof(*sorter));

	if (!sorter)
		return fail_memory(fail);
	sorter->fd = -1;
	sorter->temporaries = temporaries;
	*ret = sorter;
	return 0;
}

void sorter_free(struct sorter *sorter)
{
	if (!sorter)
		return;
	for (size_t i = 0; i < sorter->nr_runs; i++)
		free(sorter->runs[i].buffer);
	input_temporary_back(sorter->temporaries, sorter->fd);
	free(sorter->runs);
	free(sorter->heap);
	free(sorter->items);
	free(sorter->arena);
	free(sorter);
}

static size_t size_of(const struct sorter_item *item)
{
	return (sizeof(*item) + item->len + 7) / 8 * 8;
}

static int by_cpu_and_time(const struct sorter_item *a, const struct sorter_item *b)
{
	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	return a->time < b->time ? -1 : a->time > b->time;
}

/* Items lie in the arena in the order in which they came. */
static int compare(const void *a, const void *b)
{
	const struct sorter_item *const *left = a, *const *right = b;
	int order = by_cpu_and_time(*left, *right);

	return order ? order : *left < *right ? -1 : *left > *right;
}

static void sort(struct sorter *sorter)
{
	if (sorter->nr_items)
		qsort(sorter->items, sorter->nr_items, sizeof(struct sorter_item *), compare);
}

static int write_all(struct sorter *sorter, const void *data, size_t len, struct fail *fail)
{
	int r = io_pwrite(sorter->fd, data, len, sorter->written);

	if (r)
		return fail_set(fail, r, "cannot write to a temporary file: %s", strerror(-r));
	sorter->written += len;
	return 0;
}

/* Writes the items of the arena as a run, through a buffer. */
static int spill(struct sorter *sorter, struct fail *fail)
{
	cleanup_free uint8_t *buffer = malloc(BUFFER);
	struct run *run;
	size_t used = 0;
	int r = buffer ? 0 : fail_memory(fail);

	if (!r && sorter->fd < 0)
		r = input_temporary_from(sorter->temporaries, &sorter->fd, fail);
	run = r ? NULL : vec_push(sorter->runs, sorter->nr_runs);
	if (r || !run)
		return r ? r : fail_memory(fail);
	*run = (struct run){ .at = sorter->written };
	sort(sorter);
	for (size_t i = 0; !r && i < sorter->nr_items; i++) {
		size_t size = size_of(sorter->items[i]);

		if (used + size > BUFFER) {
			r = write_all(sorter, buffer, used, fail);
			used = 0;
		}
		memcpy(buffer + used, sorter->items[i], size);
		used += size;
	}
	if (!r)
		r = write_all(sorter, buffer, used, fail);
	run->end = sorter->written;
	sorter->used = sorter->nr_items = 0;
	return r;
}

/* Items stay where they are in the arena; it may move. */
static int grow(struct sorter *sorter, struct fail *fail)
{
	size_t size = sorter->size ? 4 * sorter->size : ARENA_FIRST;
	uint8_t *arena = malloc(size);

	if (!arena)
		return fail_memory(fail);
	if (sorter->used)
		memcpy(arena, sorter->arena, sorter->used);
	for (size_t i = 0; i < sorter->nr_items; i++)
		sorter->items[i] =
			(struct sorter_item *)(void *)(arena + ((uint8_t *)sorter->items[i] - sorter->arena));
	free(sorter->arena);
	sorter->arena = arena;
	sorter->size = size;
	return 0;
}

static int make_room(struct sorter *sorter, size_t size, struct fail *fail)
{
	if (size <= sorter->size - sorter->used)
		return 0;
	return sorter->size < ARENA ? grow(sorter, fail) : spill(sorter, fail);
}

uint8_t *sorter_add(struct sorter *sorter, uint64_t time, uint32_t cpu, uint64_t what, uint32_t len, struct fail *fail)
{
	struct sorter_item new = { .time = time, .cpu = cpu, .len = len, .what = what }, *item;
	struct sorter_item **added;

	if (len > SORTER_ITEM_MAX) {
		fail_set(fail, -EFBIG, "a record of %u bytes is too large", (unsigned)len);
		return NULL;
	}
	if (make_room(sorter, size_of(&new), fail))
		return NULL;
	added = vec_push(sorter->items, sorter->nr_items);
	if (!added) {
		(void)!fail_memory(fail);
		return NULL;
	}
	item = (struct sorter_item *)(void *)(sorter->arena + sorter->used);
	/* The bytes that fill the last word are written to the file, too. */
	memset(sorter->arena + sorter->used + size_of(&new) - 8, 0, 8);
	*item = new;
	*added = item;
	sorter->used += size_of(&new);
	return item->data;
}

/* --- the runs become one order --- */

static const struct sorter_item *item_of(const struct sorter *sorter, size_t index)
{
	const struct run *run = &sorter->runs[index];

	return run->buffer ? (const struct sorter_item *)(const void *)(run->buffer + run->used) :
			     sorter->items[run->next];
}

/* Runs are in the order in which their items came. */
static bool is_before(const struct sorter *sorter, size_t a, size_t b)
{
	int order = by_cpu_and_time(item_of(sorter, a), item_of(sorter, b));

	return order ? order < 0 : a < b;
}

/* Moves the run at this place of the heap down to where it belongs. */
static void sink(struct sorter *sorter, size_t at)
{
	for (;;) {
		size_t least = at, child = 2 * at + 1, kept;

		for (size_t i = child; i < child + 2 && i < sorter->nr_heap; i++)
			if (is_before(sorter, sorter->heap[i], sorter->heap[least]))
				least = i;
		if (least == at)
			return;
		kept = sorter->heap[at];
		sorter->heap[at] = sorter->heap[least];
		sorter->heap[least] = kept;
		at = least;
	}
}

/* Fills the buffer of a run, so that it has a whole item. False: the run has no more. */
static int fill(struct sorter *sorter, struct run *run, bool *ret, struct fail *fail)
{
	size_t left = run->len - run->used, more;
	const struct sorter_item *item = (const struct sorter_item *)(const void *)(run->buffer + run->used);
	ssize_t got;

	*ret = left || run->at < run->end;
	if (left >= sizeof(*item) && left >= size_of(item))
		return 0;
	memmove(run->buffer, run->buffer + run->used, left);
	more = BUFFER - left < run->end - run->at ? BUFFER - left : (size_t)(run->end - run->at);
	got = more ? io_pread(sorter->fd, run->buffer + left, more, run->at) : 0;
	if (got != (ssize_t)more)
		return fail_set(fail, got < 0 ? (int)got : -EIO, "cannot read from a temporary file");
	run->at += more;
	run->used = 0;
	run->len = left + more;
	return 0;
}

static int begin_runs(struct sorter *sorter, struct fail *fail)
{
	struct run *last;

	sort(sorter);
	last = vec_push(sorter->runs, sorter->nr_runs);
	sorter->heap = calloc(sorter->nr_runs + 1, sizeof(*sorter->heap));
	if (!last || !sorter->heap)
		return fail_memory(fail);
	*last = (struct run){ .next = 0 };
	for (size_t i = 0; i < sorter->nr_runs; i++) {
		struct run *run = &sorter->runs[i];
		bool has = sorter->nr_items;
		int r = 0;

		if (run != last) {
			run->buffer = malloc(BUFFER);
			r = run->buffer ? fill(sorter, run, &has, fail) : fail_memory(fail);
		}
		if (r)
			return r;
		if (has)
			sorter->heap[sorter->nr_heap++] = i;
	}
	for (size_t i = sorter->nr_heap; i-- > 0;)
		sink(sorter, i);
	return 0;
}

/* Goes on to the next item of the run that is first. */
static int advance(struct sorter *sorter, struct fail *fail)
{
	struct run *run = &sorter->runs[sorter->heap[0]];
	bool has;
	int r = 0;

	if (run->buffer) {
		run->used += size_of(item_of(sorter, sorter->heap[0]));
		r = fill(sorter, run, &has, fail);
	} else {
		has = ++run->next < sorter->nr_items;
	}
	if (!r && !has)
		sorter->heap[0] = sorter->heap[--sorter->nr_heap];
	if (!r)
		sink(sorter, 0);
	return r;
}

int sorter_each(struct sorter *sorter, int (*see)(void *arg, const struct sorter_item *item, struct fail *fail),
		void *arg, struct fail *fail)
{
	int r = begin_runs(sorter, fail);

	while (!r && sorter->nr_heap) {
		r = see(arg, item_of(sorter, sorter->heap[0]), fail);
		if (!r)
			r = advance(sorter, fail);
	}
	return r;
}
