// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/query/picks_internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/u64_map.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/events.h"
#include "lib/meaning/follow/calls.h"
#include "lib/meaning/follow/spans.h"
#include "lib/meaning/names/symbols.h"
#include "lib/meaning/query/duration_internal.h"

/* Two bits for each call; a step is 4096 calls. */
enum { BITS = 2, PER_BYTE = 4, MASK = 3, STEP = 1024 };

/* Addresses of the functions that begin an interrupt. */
struct section {
	uint64_t start, end;
};

struct picks {
	struct picks_wish wish;
	struct section hardirq, softirq;
	struct calls *calls;
	uint64_t nr;   /* entries so far */
	uint8_t *bits; /* two for each entry of the first reading */
	size_t size;
	/*
	 * By task: 1 + the smallest depth of a wanted call since which no enclosing call was known. Its callers began
	 * before the first event, or before a gap.
	 */
	struct u64_map inner;
	bool any, measured, starved;
};

static void find_section(const struct context *context, const char *start, const char *end, struct section *ret)
{
	if (!symbols_address(context->symbols, start, &ret->start) ||
	    !symbols_address(context->symbols, end, &ret->end))
		*ret = (struct section){ 0, 0 };
}

static bool is_in(const struct section *section, uint64_t func)
{
	return func >= section->start && func < section->end;
}

static struct picks *picks_new(const struct picks_wish *wish)
{
	struct picks *picks = calloc(1, sizeof(*picks));

	if (!picks)
		return NULL;
	picks->wish = *wish;
	u64_map_init(&picks->inner, sizeof(int32_t));
	if (wish->flags_out) {
		find_section(wish->context, "__irqentry_text_start", "__irqentry_text_end", &picks->hardirq);
		find_section(wish->context, "__softirqentry_text_start", "__softirqentry_text_end", &picks->softirq);
	}
	return picks;
}

void picks_free(struct picks *picks)
{
	if (!picks)
		return;
	calls_free(picks->calls);
	u64_map_release(&picks->inner);
	free(picks->bits);
	free(picks);
}

bool picks_measured(const struct picks *picks)
{
	return picks->measured;
}

bool picks_any(const struct picks *picks)
{
	return picks->any;
}

static unsigned bits_of(const struct picks *picks, uint64_t nr)
{
	return nr / PER_BYTE < picks->size ? picks->bits[nr / PER_BYTE] >> nr % PER_BYTE * BITS & MASK : 0;
}

static void add_bits(struct picks *picks, uint64_t nr, unsigned bits)
{
	picks->bits[nr / PER_BYTE] |= (uint8_t)(bits << nr % PER_BYTE * BITS);
}

static bool make_room(struct picks *picks, uint64_t nr)
{
	size_t size = picks->size ? picks->size * 2 : STEP;
	uint8_t *bits;

	if (nr / PER_BYTE < picks->size)
		return true;
	bits = realloc(picks->bits, size);
	if (!bits) {
		picks->starved = true;
		return false;
	}
	memset(bits + picks->size, 0, size - picks->size);
	picks->bits = bits;
	picks->size = size;
	return true;
}

/*
 * Whether the function is in an interrupt that is left out. A softirq that runs at the end of a hard interrupt is
 * called by it, but is no part of it.
 */
static bool interrupts(const struct picks *picks, const struct event *event, uint64_t func, unsigned caller)
{
	uint8_t out = picks->wish.flags_out;

	if (!out)
		return false;
	if ((event_known_flags(event) & out) || (out & EVENT_HARDIRQ && is_in(&picks->hardirq, func)) ||
	    (out & EVENT_SOFTIRQ && is_in(&picks->softirq, func)))
		return true;
	if (!(out & EVENT_SOFTIRQ) &&
	    ((event->flags & (EVENT_SOFTIRQ | EVENT_HARDIRQ)) == EVENT_SOFTIRQ || is_in(&picks->softirq, func)))
		return false;
	return caller & PICK_OUT;
}

/* The first reading: the word of a frame is the number of its entry, from 1. */
static void first_entry(struct picks *picks, const struct event *event)
{
	struct calls_frame frame, caller;
	unsigned outer = 0;

	if (!make_room(picks, picks->nr))
		return;
	if (calls_frame(picks->calls, event, 0, &frame) && !*frame.word) {
		*frame.word = picks->nr + 1;
		if (calls_frame(picks->calls, event, 1, &caller) && *caller.word)
			outer = bits_of(picks, *caller.word - 1);
		if (interrupts(picks, event, frame.func, outer))
			add_bits(picks, picks->nr, PICK_OUT);
	}
	picks->nr++;
}

/* A wanted one has wanted callers. */
static void want_callers(struct picks *picks, const struct event *event)
{
	struct calls_frame frame;

	for (size_t back = 0; calls_frame(picks->calls, event, back, &frame); back++) {
		if (!*frame.word)
			continue;
		if (bits_of(picks, *frame.word - 1) & PICK_WANTED)
			return;
		add_bits(picks, *frame.word - 1, PICK_WANTED);
	}
}

/* What the end of a call alone says of it. */
static unsigned judge(struct picks *picks, const struct event *event, const struct call *call)
{
	bool out = false, met = picks->wish.durations && call->timed &&
				durations_met(picks->wish.durations, event, call->lasted, &out);

	if (event_known_flags(event) & picks->wish.flags_out)
		out = true;
	return (met ? PICK_WANTED : 0) | (out ? PICK_OUT : 0);
}

static void first_exit(struct picks *picks, const struct event *event, const struct call *call)
{
	unsigned bits = judge(picks, event, call);

	picks->measured |= call->timed;
	if (call->entered && call->word) {
		add_bits(picks, call->word - 1, bits);
		bits = bits_of(picks, call->word - 1);
	}
	if (bits == PICK_WANTED)
		want_callers(picks, event);
}

static void first_see(struct picks *picks, struct spans *spans, const struct event *event)
{
	struct call call = { .func = 0 };
	struct span span;

	picks->any |= event->kind == EVENT_RECORD;
	if (!picks->measured && picks->wish.durations)
		picks->measured = spans_see(spans, event, &span);
	if (calls_see(picks->calls, event, &call))
		first_exit(picks, event, &call);
	else if (call.func)
		first_entry(picks, event);
}

static int first_reading(struct picks *picks, const struct events_options *window, struct fail *fail)
{
	struct events_options options = *window;
	struct events *events = NULL;
	struct spans *spans = spans_new(picks->wish.context);
	struct event event;
	int r;

	options.keep_blocks = false;
	options.tells_ends = picks->wish.durations;
	picks->calls = calls_new();
	r = spans && picks->calls ? events_open(picks->wish.context, &options, &events, fail) : fail_memory(fail);
	while (!r && (r = events_next(events, &event, fail)) > 0) {
		first_see(picks, spans, &event);
		r = picks->starved ? fail_memory(fail) : 0;
	}
	events_free(events);
	spans_free(spans);
	return !r && calls_starved(picks->calls) ? fail_memory(fail) : r;
}

int picks_find(const struct picks_wish *wish, const struct events_options *window, struct picks **ret,
	       struct fail *fail)
{
	struct picks *picks = picks_new(wish);
	int r = picks ? first_reading(picks, window, fail) : fail_memory(fail);

	if (!r) {
		calls_free(picks->calls);
		picks->calls = calls_new();
		picks->nr = 0;
		r = picks->calls ? 0 : fail_memory(fail);
	}
	if (r) {
		picks_free(picks);
		return r;
	}
	*ret = picks;
	return 0;
}

static uint64_t task_of(const struct event *event)
{
	return event->pid ? (uint32_t)event->pid : UINT64_C(1) << 32 | event->cpu;
}

/* Remembers how deep a wanted call was. */
static void note_depth(struct picks *picks, const struct event *event, int32_t depth)
{
	int32_t *inner = depth >= 0 && depth < INT32_MAX ? u64_map_add(&picks->inner, task_of(event)) : NULL;

	if (inner && (!*inner || *inner > depth + 1))
		*inner = depth + 1;
}

/* The second reading: the word of a frame is its bits, and another one. */
static unsigned second_entry(struct picks *picks, const struct event *event)
{
	unsigned bits = bits_of(picks, picks->nr++);
	struct calls_frame frame;

	if (calls_frame(picks->calls, event, 0, &frame) && !*frame.word) {
		*frame.word = bits | 1u << BITS;
		if (bits == PICK_WANTED)
			note_depth(picks, event, frame.depth);
	}
	return bits;
}

static unsigned second_exit(struct picks *picks, const struct event *event, const struct call *call)
{
	/* Also for a call whose entry is known: the duration is remembered for the sink. */
	unsigned bits = judge(picks, event, call);
	int32_t *inner;

	if (call->entered && call->word)
		return call->word & MASK;
	if (interrupts(picks, event, call->func, 0))
		bits |= PICK_OUT;
	inner = u64_map_find(&picks->inner, task_of(event));
	if (inner && call->depth >= 0 && *inner > call->depth + 1)
		bits |= PICK_WANTED;
	if (bits == PICK_WANTED)
		note_depth(picks, event, call->depth);
	return bits;
}

bool picks_see(struct picks *picks, const struct event *event, unsigned *ret)
{
	struct call call = { .func = 0 };

	if (event->kind == EVENT_LOST)
		u64_map_clear(&picks->inner);
	if (calls_see(picks->calls, event, &call)) {
		*ret = second_exit(picks, event, &call);
		return true;
	}
	if (!call.func)
		return false;
	*ret = second_entry(picks, event);
	return true;
}
