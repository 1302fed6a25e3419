// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/files/rewrite/recent.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lib/files/rewrite/excerpt.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/u64_map.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"

enum { BLOCK = 1 << 20 };

/* Some events, one behind the other, each with its record behind it. */
struct block {
	struct block *next;
	uint64_t last; /* the time of its last event */
	size_t used, size;
	_Alignas(struct event) uint8_t bytes[];
};

struct recent {
	struct trace *trace;
	struct recent_options options;
	atomic_bool asked;
	size_t size;
	struct block *oldest, *newest;
	int64_t starved; /* events that had no memory since the last one that had */
};

int recent_new(struct trace *trace, const struct recent_options *options, struct recent **ret, struct fail *fail)
{
	struct recent *recent = calloc(1, sizeof(*recent));

	if (!recent)
		return fail_memory(fail);
	recent->trace = trace;
	recent->options = *options;
	*ret = recent;
	return 0;
}

static void drop_oldest(struct recent *recent)
{
	struct block *block = recent->oldest;

	recent->oldest = block->next;
	if (!block->next)
		recent->newest = NULL;
	recent->size -= block->size;
	free(block);
}

void recent_free(struct recent *recent)
{
	while (recent && recent->oldest)
		drop_oldest(recent);
	free(recent);
}

static size_t entry_size(uint32_t len)
{
	return (sizeof(struct event) + len + _Alignof(struct event) - 1) & ~(_Alignof(struct event) - 1);
}

static struct block *add_block(struct recent *recent, size_t least)
{
	size_t size = least > BLOCK ? least : BLOCK;
	struct block *block = malloc(sizeof(*block) + size);

	if (!block)
		return NULL;
	block->next = NULL;
	block->used = 0;
	block->size = size;
	if (recent->newest)
		recent->newest->next = block;
	else
		recent->oldest = block;
	recent->newest = block;
	recent->size += size;
	return block;
}

/* Puts a copy of an event behind the others. False without memory. */
static bool add(struct recent *recent, const struct event *event)
{
	uint32_t len = event->kind == EVENT_RECORD ? event->len : 0;
	size_t size = entry_size(len);
	struct block *block = recent->newest;
	struct event copy = *event;

	if (!block || block->size - block->used < size)
		block = add_block(recent, size);
	if (!block)
		return false;
	copy.data = NULL;
	memcpy(block->bytes + block->used, &copy, sizeof(copy));
	if (len)
		memcpy(block->bytes + block->used + sizeof(copy), event->data, len);
	block->used += size;
	block->last = event->ts;
	return true;
}

static void keep(struct recent *recent, const struct event *event)
{
	struct event gap = { .kind = EVENT_LOST, .cpu = event->cpu, .buffer = event->buffer, .ts = event->ts };

	/* What a gap at the end of all is about comes without a time. */
	if (event->kind == EVENT_LOST && !event->ts && recent->newest)
		gap.ts = recent->newest->last;
	while (recent->oldest && recent->oldest != recent->newest &&
	       (recent->size > recent->options.size ||
		(gap.ts > recent->options.span && recent->oldest->last < gap.ts - recent->options.span)))
		drop_oldest(recent);
	gap.lost = recent->starved;
	if (recent->starved && !add(recent, &gap)) {
		recent->starved++;
		return;
	}
	recent->starved = 0;
	gap.lost = event->lost;
	if (!add(recent, event->kind == EVENT_LOST ? &gap : event))
		recent->starved++;
}

void recent_see(void *arg, const struct event *event)
{
	struct recent *recent = arg;

	keep(recent, event);
	if (!atomic_load_explicit(&recent->asked, memory_order_relaxed))
		return;
	atomic_store(&recent->asked, false);
	if (recent->options.asked)
		recent->options.asked(recent->options.arg);
}

void recent_ask(struct recent *recent)
{
	atomic_store(&recent->asked, true);
}

struct writing {
	struct excerpt *excerpt;
	struct u64_map lost; /* by buffer and CPU: before its next event */
	uint64_t since;      /* older events share a block with newer ones */
	uint64_t first, last;
};

static int write_event(struct writing *writing, struct event *event, struct fail *fail)
{
	int64_t *lost = u64_map_add(&writing->lost, (uint64_t)event->buffer << 32 | event->cpu);
	int r;

	if (!lost)
		return fail_memory(fail);
	if (event->kind == EVENT_LOST) {
		*lost = *lost >= 0 && event->lost > 0 ? *lost + event->lost : event->lost;
		return 0;
	}
	if (event->ts < writing->since) {
		*lost = 0;
		return 0;
	}
	r = excerpt_add(writing->excerpt, event->type->context->buffer, event, *lost, fail);
	*lost = 0;
	if (!writing->first)
		writing->first = event->ts;
	writing->last = event->ts;
	return r;
}

static int write_block(struct writing *writing, const struct block *block, struct fail *fail)
{
	struct event event;
	int r = 0;

	for (size_t at = 0; !r && at < block->used;) {
		memcpy(&event, block->bytes + at, sizeof(event));
		event.data = block->bytes + at + sizeof(event);
		at += entry_size(event.kind == EVENT_RECORD ? event.len : 0);
		r = write_event(writing, &event, fail);
	}
	return r;
}

int recent_write(struct recent *recent, const struct recast_options *form, const struct excerpt_newer *newer, int fd,
		 uint64_t *ret_events, uint64_t *ret_span, struct fail *fail)
{
	struct writing writing = { .excerpt = NULL };
	uint64_t size;
	int r = excerpt_new(recent->trace, form, &writing.excerpt, fail);

	u64_map_init(&writing.lost, sizeof(int64_t));
	if (recent->newest && recent->newest->last > recent->options.span)
		writing.since = recent->newest->last - recent->options.span;
	for (const struct block *block = recent->oldest; !r && block; block = block->next)
		r = write_block(&writing, block, fail);
	if (!r && !excerpt_count(writing.excerpt))
		r = fail_set(fail, -ENODATA, "there are no events yet");
	if (!r)
		excerpt_newer(writing.excerpt, newer);
	if (!r)
		r = excerpt_write(writing.excerpt, fd, &size, fail);
	if (!r) {
		*ret_events = excerpt_count(writing.excerpt);
		*ret_span = writing.last - writing.first;
	}
	u64_map_release(&writing.lost);
	excerpt_free(writing.excerpt);
	return r;
}
