// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/timeline/calls_without_caller.h"

#include <stdlib.h>

#include "lib/ground/base/vec.h"

void calls_without_caller_release(struct calls_without_caller *uncalled)
{
	free(uncalled->calls);
	free(uncalled->ended);
}

bool calls_without_caller_add(struct calls_without_caller *uncalled, const struct calls_without_caller_call *call)
{
	struct calls_without_caller_call *room = vec_push(uncalled->calls, uncalled->nr);

	if (room)
		*room = *call;
	return room;
}

bool calls_without_caller_note(struct calls_without_caller *uncalled, int32_t depth, uint64_t start, uint64_t end)
{
	struct calls_without_caller_ended *last;

	while (uncalled->nr_ended && uncalled->ended[uncalled->nr_ended - 1].depth > depth)
		uncalled->nr_ended--;
	last = uncalled->nr_ended ? &uncalled->ended[uncalled->nr_ended - 1] : NULL;
	if (last && last->depth == depth) {
		last->start = start < last->start ? start : last->start;
		last->end = end;
		return true;
	}
	if (uncalled->nr_ended == uncalled->size_ended) {
		size_t size = uncalled->size_ended ? uncalled->size_ended * 2 : 16;
		struct calls_without_caller_ended *ended = reallocarray(uncalled->ended, size, sizeof(*ended));

		if (!ended)
			return false;
		uncalled->ended = ended;
		uncalled->size_ended = size;
	}
	uncalled->ended[uncalled->nr_ended++] =
		(struct calls_without_caller_ended){ .start = start, .end = end, .depth = depth };
	return true;
}

uint64_t calls_without_caller_from(const struct calls_without_caller *uncalled, int32_t depth, uint64_t start,
				   uint64_t least)
{
	uint64_t inner = UINT64_MAX;
	size_t i = uncalled->nr_ended;

	for (; i && uncalled->ended[i - 1].depth > depth; i--) {
		inner = uncalled->ended[i - 1].start;
		if (inner <= start && start < uncalled->ended[i - 1].end)
			start = inner ? inner - 1 : 0;
	}
	if (i && uncalled->ended[i - 1].end > least)
		least = uncalled->ended[i - 1].end;
	if (start >= least)
		return start;
	return least < inner ? least : 0;
}

/*
 * Whether `inner`, the call that ended first, lies in `outer`. The start of the outer one may be late by the time in
 * which it slept.
 */
static bool lies_in(const struct calls_without_caller_call *inner, const struct calls_without_caller_call *outer)
{
	return inner->depth > outer->depth && inner->rettime > outer->calltime;
}

/*
 * Links the calls to lists of calls inside each other; returns the first of the outermost. From the last one back, a
 * call comes after the calls that contain it.
 */
static uint32_t link_calls(struct calls_without_caller *uncalled, uint32_t *open)
{
	uint32_t first = 0;
	size_t nr = 0;

	for (size_t i = uncalled->nr; i-- > 0;) {
		struct calls_without_caller_call *call = &uncalled->calls[i];
		uint32_t *list = &first;

		while (nr && !lies_in(call, &uncalled->calls[open[nr - 1]]))
			nr--;
		if (nr)
			list = &uncalled->calls[open[nr - 1]].child;
		call->next = *list;
		*list = (uint32_t)i + 1;
		open[nr++] = (uint32_t)i;
	}
	return first;
}

void calls_without_caller_put(struct calls_without_caller *uncalled, const struct calls_without_caller_calls *calls)
{
	uint32_t open[CALLS_WITHOUT_CALLER_MAX], at = link_calls(uncalled, open);
	size_t nr = 0;

	while (at || nr) {
		const struct calls_without_caller_call *call = &uncalled->calls[(at ? at : open[nr - 1]) - 1];

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
	uncalled->nr = 0;
}
