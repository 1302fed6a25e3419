// SPDX-License-Identifier: LGPL-2.1-or-later
/* The function graph as trace-cmd prints it: entries, exits with their durations, a call without calls in one line. */
#include "formats/tracecmd/tracecmd_internal.h"

#include "lib/ground/base/digits.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/event/events.h"

enum { FUNC, DEPTH, CALLTIME, RETTIME };
enum { INDENT = 2, DURATION_WIDTH = 7, DEPTH_MAX = 1 << 14 };

static const char *const fields[] = { "func", "depth", "calltime", "rettime", NULL };

/*
 * trace-cmd takes the next record of all CPUs for the exit of a call that called nothing: it must be of the same CPU,
 * task and function.
 */
static bool settle_entry(struct tracecmd *tracecmd, const struct tracecmd_binding *binding, struct events *events,
			 struct event *event)
{
	struct tracecmd_note *note = tracecmd_note(event);
	struct event exit;

	if (!events_peek_record(events, &exit) || exit.id != tracecmd->exit_id || exit.pid != event->pid)
		return true;
	if (place_u64(&tracecmd->exit_func, &exit) != place_u64(&binding->places[FUNC], event))
		return true;
	if (!events_follows(events))
		return true;
	note->leaf = true;
	note->value = place_u64(&tracecmd->exit_rettime, &exit) - place_u64(&tracecmd->exit_calltime, &exit);
	events_skip(events);
	return true;
}

static char overhead(uint64_t duration)
{
	return duration > 1000000000 ? '$' :
	       duration > 1000000    ? '#' :
	       duration > 100000     ? '!' :
	       duration > 10000      ? '+' :
				       ' ';
}

/* "! 657.418 us |  " */
static void put_duration(uint64_t duration, struct out *out)
{
	uint64_t us = duration / 1000;
	unsigned rest = (unsigned)(duration % 1000);
	char *start, *at;

	out_need(out, 64);
	at = out->at;
	*at++ = overhead(duration);
	*at++ = ' ';
	start = at;
	at = digits_put_u64(at, us);
	if (at - start < DURATION_WIDTH) {
		*at++ = '.';
		at = digits_put_3(at, rest);
	}
	memcpy(at, " us ", 4);
	for (ptrdiff_t len = at - start, i = len; i < DURATION_WIDTH; i++)
		at[4 + i - len] = ' ';
	at += 4 + (at - start < DURATION_WIDTH ? DURATION_WIDTH - (at - start) : 0);
	memcpy(at, "|  ", 3);
	out->at = at + 3;
}

static uint64_t put_indent(const struct tracecmd_binding *binding, const struct event *event, struct out *out)
{
	uint64_t depth = place_u64(&binding->places[DEPTH], event);
	int64_t blanks = (int32_t)(depth * INDENT);

	if (blanks > 0)
		out_fill(out, ' ', (size_t)(blanks < DEPTH_MAX ? blanks : DEPTH_MAX));
	return depth;
}

static void put_depth(const struct tracecmd *tracecmd, uint64_t depth, struct out *out)
{
	if (!tracecmd->own.depth)
		return;
	out_mem(out, " (", 2);
	out_s64(out, (int64_t)depth);
	out_char(out, ')');
}

static bool text_entry(const struct tracecmd *tracecmd, const struct tracecmd_binding *binding,
		       const struct event *event, struct out *out)
{
	const struct tracecmd_note *note = tracecmd_note_of(event);
	uint64_t func = place_u64(&binding->places[FUNC], event), depth;

	if (note->leaf)
		put_duration(note->value, out);
	else
		out_str(out, "             |  ");
	depth = put_indent(binding, event, out);
	if (!tracecmd_name(tracecmd, func, out))
		out_hex(out, func);
	if (note->leaf)
		out_mem(out, "();", 3);
	else
		out_mem(out, "() {", 4);
	put_depth(tracecmd, depth, out);
	return true;
}

static bool text_exit(const struct tracecmd *tracecmd, const struct tracecmd_binding *binding,
		      const struct event *event, struct out *out)
{
	uint64_t depth, from;

	put_duration(place_u64(&binding->places[RETTIME], event) - place_u64(&binding->places[CALLTIME], event), out);
	depth = put_indent(binding, event, out);
	out_char(out, '}');
	if (tracecmd->own.tailprint) {
		from = out_len(out);
		out_mem(out, " /* ", 4);
		if (!tracecmd_name(tracecmd, place_u64(&binding->places[FUNC], event), out)) {
			out->at = out->start + from;
			return true;
		}
		out_mem(out, " */", 3);
	}
	put_depth(tracecmd, depth, out);
	return true;
}

/* clang-format off */
const struct tracecmd_text tracecmd_graph_texts[] = {
	{ "ftrace", "funcgraph_entry", .symbols = true, .fields = fields, .text = text_entry,
	  .settle = settle_entry },
	{ "ftrace", "fgraph_retaddr_entry", .symbols = true, .fields = fields, .text = text_entry,
	  .settle = settle_entry },
	{ "ftrace", "funcgraph_exit", .symbols = true, .fields = fields, .text = text_exit },
	{ 0 },
};
/* clang-format on */
