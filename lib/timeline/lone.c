// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/timeline/lone.h"

#include "lib/base/vec.h"

#include <stdlib.h>

void lone_release(struct lone *lone)
{
	free(lone->calls);
	free(lone->ended);
}

bool lone_add(struct lone *lone, const struct lone_call *call)
{
	struct lone_call *room = vec_push(lone->calls, lone->nr);

	if (room)
		*room = *call;
	return room;
}

bool lone_note(struct lone *lone, int32_t depth, uint64_t start, uint64_t end)
{
	struct lone_ended *last;

	while (lone->nr_ended && lone->ended[lone->nr_ended - 1].depth > depth)
		lone->nr_ended--;
	last = lone->nr_ended ? &lone->ended[lone->nr_ended - 1] : NULL;
	if (last && last->depth == depth) {
		last->start = start < last->start ? start : last->start;
		last->end = end;
		return true;
	}
	if (lone->nr_ended == lone->size_ended) {
		size_t size = lone->size_ended ? lone->size_ended * 2 : 16;
		struct lone_ended *ended = reallocarray(lone->ended, size, sizeof(*ended));

		if (!ended)
			return false;
		lone->ended = ended;
		lone->size_ended = size;
	}
	lone->ended[lone->nr_ended++] = (struct lone_ended){ .start = start, .end = end, .depth = depth };
	return true;
}

uint64_t lone_from(const struct lone *lone, int32_t depth, uint64_t start, uint64_t least)
{
	uint64_t inner = UINT64_MAX;
	size_t i = lone->nr_ended;

	for (; i && lone->ended[i - 1].depth > depth; i--) {
		inner = lone->ended[i - 1].start;
		if (inner <= start && start < lone->ended[i - 1].end)
			start = inner ? inner - 1 : 0;
	}
	if (i && lone->ended[i - 1].end > least)
		least = lone->ended[i - 1].end;
	if (start >= least)
		return start;
	return least < inner ? least : 0;
}

/*
 * Whether `inner`, the call that ended first, lies in `outer`. The start of the outer one may be late by the time in
 * which it slept.
 */
static bool lies_in(const struct lone_call *inner, const struct lone_call *outer)
{
	return inner->depth > outer->depth && inner->rettime > outer->calltime;
}

/*
 * Links the calls to lists of calls inside each other; returns the first of the outermost. From the last one back, a
 * call comes after the calls that contain it.
 */
static uint32_t link_calls(struct lone *lone, uint32_t *open)
{
	uint32_t first = 0;
	size_t nr = 0;

	for (size_t i = lone->nr; i-- > 0;) {
		struct lone_call *call = &lone->calls[i];
		uint32_t *list = &first;

		while (nr && !lies_in(call, &lone->calls[open[nr - 1]]))
			nr--;
		if (nr)
			list = &lone->calls[open[nr - 1]].child;
		call->next = *list;
		*list = (uint32_t)i + 1;
		open[nr++] = (uint32_t)i;
	}
	return first;
}

void lone_put(struct lone *lone, const struct lone_calls *calls)
{
	uint32_t open[LONE_MAX], at = link_calls(lone, open);
	size_t nr = 0;

	while (at || nr) {
		const struct lone_call *call = &lone->calls[(at ? at : open[nr - 1]) - 1];

		if (at && calls->enter(calls->arg, call)) {
			open[nr++] = at;
			at = call->child;
			continue;
		}
		if (!at) {
			nr--;
			calls->leave(calls->arg, call);
		}
		at = call->next;
	}
	lone->nr = 0;
}
