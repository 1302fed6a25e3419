// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options/choice.h"

#include "cmd/command.h"
#include "cmd/options/decode.h"
#include "cmd/options/option_value.h"
#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/base/near.h"
#include "lib/base/text.h"
#include "lib/event/context.h"
#include "lib/event/event.h"
#include "lib/reader/reader.h"
#include "lib/reader/unmet.h"
#include "lib/trace/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	KEY_SINCE = 0x500,
	KEY_UNTIL,
	KEY_AROUND,
	KEY_BEFORE,
	KEY_AFTER,
	KEY_CPU,
	KEY_PID,
	KEY_COMM,
	KEY_NO_SELF,
	KEY_LIMIT,
	KEY_TAIL,
	KEY_LONGER,
};

static const struct argp_option time_options[] = {
	{ "since", KEY_SINCE, "TIME", 0,
	  "Begin at TIME, in seconds as the trace prints them, +1ms from the first event of the file, -2s from its "
	  "last one, @EVENT or @mark:TEXT at an event or a marker (@EVENT#2-50ms: 50 ms before the second), or the "
	  "date and time",
	  0 },
	{ "until", KEY_UNTIL, "TIME", 0, "End at TIME, inclusive", 0 },
	{ "around", KEY_AROUND, "MARK", 0,
	  "Only the time before and after a marker: its text or a part of it (#2: the second such), 'trigger' for the "
	  "trigger of a file of weft flight, or a time as for --since",
	  0 },
	{ "before", KEY_BEFORE, "TIME", 0, "With --around: begin TIME before it (default 5s)", 0 },
	{ "after", KEY_AFTER, "TIME", 0, "With --around: end TIME after it (default 0)", 0 },
	{ 0 },
};

static const struct argp_option part_options[] = {
	{ "instance", 'B', "NAME", 0, "Only the buffer of this instance; '' is the top one", 0 },
	{ "cpu", KEY_CPU, "CPULIST", 0, "Only what happened on these CPUs, such as 0-3,7", 0 },
	{ "pid", KEY_PID, "PID", 0, "Only what these tasks did; a list with commas, repeatable", 0 },
	{ "comm", KEY_COMM, "NAME", 0, "Only what tasks did under this name, a glob; repeatable", 0 },
	{ 0 },
};

static const struct argp_option event_options[] = {
	{ "event", 'e', "EVENT", 0,
	  "Only EVENT: system:event, system or event, with globs; several with commas, repeatable", 0 },
	{ "filter", 'f', "FILTER", 0,
	  "Only events that match FILTER, in the kernel's filter language; 'EVENT: FILTER' is for that event, FILTER "
	  "alone for all events that have its fields; repeatable: one match is enough",
	  0 },
	{ "invert", 'v', NULL, 0, "Invert the filters that follow: leave out the events that match", 0 },
	{ 0 },
};

static const struct argp_option more_options[] = {
	{ "longer", KEY_LONGER, "TIME", 0,
	  "Only what lasted longer than TIME, and the callers of such functions; the same as -f 'duration > TIME'", 0 },
	{ "no-hardirq", 'I', NULL, 0,
	  "Only what happened outside hard interrupts: leave out their events; with -S outside all interrupts", 0 },
	{ "no-softirq", 'S', NULL, 0, "Only what happened outside softirqs: leave out their events", 0 },
	{ "no-self", KEY_NO_SELF, NULL, 0, "Leave out weft's own tasks, but keep interrupts that ran on top of them",
	  0 },
	{ 0 },
};

static const struct argp_option count_options[] = {
	{ "limit", KEY_LIMIT, "N", 0, "End after N events", 0 },
	{ "tail", KEY_TAIL, "N", 0, "Only the last N events", 0 },
	{ 0 },
};

static error_t parse_count(int key, char *arg, struct argp_state *state)
{
	struct query *query = state->input;

	switch (key) {
	case KEY_LIMIT:
		option_number("limit", arg, &query->limit, state);
		return 0;
	case KEY_TAIL:
		option_number("tail", arg, &query->tail, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static void check_around(const struct query *query, struct argp_state *state)
{
	if (query->around && (query->since || query->until))
		argp_error(state, "--around cannot be combined with --since and --until: use --before and --after");
	if (!query->around && (query->before_ns != QUERY_UNSAID || query->after_ns != QUERY_UNSAID))
		argp_error(state, "--before and --after are for --around");
}

static error_t parse_time(int key, char *arg, struct argp_state *state)
{
	struct query *query = state->input;

	switch (key) {
	case KEY_SINCE:
		query->since = arg;
		return 0;
	case KEY_UNTIL:
		query->until = arg;
		return 0;
	case KEY_AROUND:
		query->around = arg;
		return 0;
	case KEY_BEFORE:
		query->before_ns = strcmp(arg, "0") ? option_time("before", arg, state) : 0;
		return 0;
	case KEY_AFTER:
		query->after_ns = strcmp(arg, "0") ? option_time("after", arg, state) : 0;
		return 0;
	case ARGP_KEY_END:
		check_around(query, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static error_t parse_part(int key, char *arg, struct argp_state *state)
{
	struct query *query = state->input;
	struct fail fail = FAIL_INIT;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = query;
		return 0;
	case 'B':
		query->instance = arg;
		return 0;
	case KEY_CPU:
		query->some_cpus = true;
		option_taken("cpu", cpus_parse(arg, &query->cpus, &fail), &fail, state);
		return 0;
	case KEY_PID:
		option_taken("pid", query_add_pids(query, arg, &fail), &fail, state);
		return 0;
	case KEY_COMM:
		option_taken("comm", query_add_word(&query->comms, arg, &fail), &fail, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static error_t parse_events(int key, char *arg, struct argp_state *state)
{
	struct query *query = state->input;
	struct fail fail = FAIL_INIT;

	switch (key) {
	case 'e':
		option_taken("event", query_add_word(&query->events, arg, &fail), &fail, state);
		return 0;
	case 'f':
		option_taken("filter", query_add_filter(query, arg, &fail), &fail, state);
		return 0;
	case 'v':
		query->invert = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static error_t parse_more(int key, char *arg, struct argp_state *state)
{
	struct query *query = state->input;
	struct fail fail = FAIL_INIT;

	switch (key) {
	case KEY_LONGER:
		option_taken("longer", query_add_longer(query, option_time("longer", arg, state), &fail), &fail, state);
		return 0;
	case 'I':
		query->flags_out |= EVENT_HARDIRQ;
		return 0;
	case 'S':
		query->flags_out |= EVENT_SOFTIRQ;
		return 0;
	case KEY_NO_SELF:
		query->self = QUERY_SELF_OUT;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp choice_count_argp = {
	.options = count_options,
	.parser = parse_count,
};

const struct argp choice_events_argp = {
	.options = event_options,
	.parser = parse_events,
};

const struct argp choice_time_argp = {
	.options = time_options,
	.parser = parse_time,
};

static const struct argp_child part_children[] = {
	{ &choice_time_argp, 0, NULL, 0 },
	{ 0 },
};

const struct argp choice_part_argp = {
	.options = part_options,
	.parser = parse_part,
	.children = part_children,
};

static const struct argp more_argp = {
	.options = more_options,
	.parser = parse_more,
};

static const struct argp_child children[] = {
	{ &choice_events_argp, 0, NULL, 0 },
	{ &more_argp, 0, NULL, 0 },
	{ &choice_count_argp, 0, NULL, 0 },
	{ &choice_part_argp, 0, NULL, 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	for (size_t i = 0; children[i].argp; i++)
		state->child_inputs[i] = state->input;
	return 0;
}

const struct argp choice_argp = {
	.parser = parse,
	.children = children,
};

int choice_refuse_text(struct trace *trace, const char *what, struct fail *fail)
{
	return fail_set(fail, -ENODATA,
			"'%s' holds the worst case of a latency tracer as the kernel's text, and no events: %s",
			trace_path(trace), what);
}

/* -ENODATA if the buffers (of `instance`; NULL: all) have the text of a latency tracer and no pages. */
static int refuse_text_only(struct trace *trace, const char *instance, struct fail *fail)
{
	bool text = false;

	for (size_t i = 0; i < trace_buffers(trace); i++) {
		const struct trace_buffer *buffer = trace_buffer(trace, i);

		if (instance && strcmp(instance, buffer->name.text))
			continue;
		if (buffer->nr_cpus)
			return 0;
		text |= context_latency(trace, i) != NULL;
	}
	return text ? choice_refuse_text(trace, "'weft report' prints this text, 'weft latency' explains it", fail) : 0;
}

int choice_buffers(const struct query *query, const struct decode *decode, struct trace *trace, struct reader *reader,
		   struct fail *fail)
{
	const struct query_manner manner = { .prepare = decode ? decode_prepare : NULL, .arg = decode };
	int r = query_add(query, &manner, trace, reader, fail);

	return r ? r : refuse_text_only(trace, query->instance, fail);
}

static const char *time_text(const struct unmet *unmet, uint64_t ts, char into[TEXT_HUMAN])
{
	if (unmet->timed)
		return text_stamp(into, ts);
	snprintf(into, TEXT_HUMAN, "%" PRIu64, ts);
	return into;
}

static void tell_choice(const struct query *query, const struct unmet *unmet, enum unmet_choice choice)
{
	char hint[3 * NEAR_NAME_SIZE];

	near_hint(&unmet->near, hint, sizeof(hint));
	switch (choice) {
	case UNMET_EVENT:
		command_warn("none is a %s%s", query->events.at[0], query->events.nr > 1 ? " or of another -e" : "");
		break;
	case UNMET_COMM:
		command_warn("none is of a task called '%s'%s%s%s", query->comms.at[0],
			     query->comms.nr > 1 ? " or as another --comm" : "", *hint ? "; " : "", hint);
		break;
	case UNMET_FILTER:
		command_warn("none meets the filter '%s'%s", query->filters.at[0],
			     query->filters.nr > 1 ? " or another -f" : "");
		break;
	case UNMET_PID:
		command_warn("none is of the task %" PRId32 "%s", query->pids[0],
			     query->nr_pids > 1 ? " or of another --pid" : "");
		break;
	case UNMET_CPU:
		command_warn("none is of these CPUs");
		break;
	case UNMET_SINCE:
		command_warn("all are before %s %s", query->around ? "the time --around" : "--since",
			     query->around ? query->around : query->since);
		break;
	case UNMET_UNTIL:
		command_warn("all are after %s %s", query->around ? "the time --around" : "--until",
			     query->around ? query->around : query->until);
		break;
	case UNMET_NR:
		break;
	}
}

static bool is_any_unmet(const struct unmet *unmet, const bool asked[UNMET_NR])
{
	for (enum unmet_choice i = 0; i < UNMET_NR; i++)
		if (asked[i] && !unmet->matches[i])
			return true;
	return false;
}

static void tell_choices(const struct query *query, const struct unmet *unmet, const bool asked[UNMET_NR])
{
	bool none = false;

	for (enum unmet_choice i = 0; i < UNMET_NR; i++) {
		if (!asked[i] || unmet->matches[i])
			continue;
		none = true;
		tell_choice(query, unmet, i);
	}
	if (!none)
		command_warn("each criterion has matching events, but no event meets all of them");
}

void choice_tell_empty(struct trace *trace, const struct query *query, bool rows)
{
	const bool asked[UNMET_NR] = { query->events.nr,
				       query->comms.nr,
				       query->filters.nr,
				       query->nr_pids,
				       query->some_cpus,
				       query->since || query->around,
				       query->until || query->around };
	char count[TEXT_HUMAN], first[TEXT_HUMAN], last[TEXT_HUMAN];
	cleanup_buf struct buf cpus = { 0 };
	struct fail fail = FAIL_INIT;
	struct unmet unmet;

	if (!memchr(asked, true, sizeof(asked)) || unmet_count(trace, query, &unmet, &fail))
		return;
	if (!unmet.events) {
		command_warn("nothing is selected: there are no events");
		return;
	}
	if (!cpus_list(&unmet.cpus, &cpus) || (rows && (unmet.more || !is_any_unmet(&unmet, asked))))
		return;
	command_warn("0 of %s%s event%s are selected; they span %s to %s, CPUs %s", unmet.more ? "more than " : "",
		     text_count(count, unmet.events), text_plural(unmet.events), time_text(&unmet, unmet.first, first),
		     time_text(&unmet, unmet.last, last), buf_str(&cpus));
	if (!unmet.more)
		tell_choices(query, &unmet, asked);
}
