// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options/choice.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/options/decode.h"
#include "cmd/options/option_value.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/clock/day.h"
#include "lib/meaning/clock/face.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/own_formats.h"
#include "lib/meaning/reader/empty_reason.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/timeline/timeline.h"
#include "lib/pages/trace/trace.h"

static void take_pids(const struct option_row *row, void *query, char *list, struct argp_state *state)
{
	struct fail fail = FAIL_INIT;

	option_taken(row->name, query_add_pids(query, list, &fail), &fail, state);
}

/* The name of the option is the word of the part. */
static void take_who(const struct option_row *row, void *query, char *word, struct argp_state *state)
{
	struct fail fail = FAIL_INIT;

	for (enum who_part part = 0; part < WHO_PARTS; part++)
		if (!strcmp(row->name, who_part_word(part)))
			option_taken(row->name, query_add_who(query, part, word, &fail), &fail, state);
}

static void take_word(const struct option_row *row, void *words, char *word, struct argp_state *state)
{
	struct fail fail = FAIL_INIT;

	option_taken(row->name, query_add_word(words, word, &fail), &fail, state);
}

void choice_take_filter(const struct option_row *row, void *query, char *filter, struct argp_state *state)
{
	struct fail fail = FAIL_INIT;

	(void)row;
	option_taken("filter", query_add_filter(query, filter, &fail), &fail, state);
}

static void take_longer(const struct option_row *row, void *query, char *time, struct argp_state *state)
{
	struct fail fail = FAIL_INIT;

	option_taken(row->name, query_add_longer(query, option_time(row->name, time, state), &fail), &fail, state);
}

/* The C library knows one zone at a time, so it becomes this one for a moment. */
int choice_read_zone(const char *name, struct zone **ret, struct fail *fail)
{
	cleanup_free char *path = NULL, *before = NULL;
	const char *was = getenv("TZ");
	int r;

	if (was && !(before = strdup(was)))
		return fail_memory(fail);
	if (asprintf(&path, "/usr/share/zoneinfo/%s", name) < 0) {
		path = NULL;
		return fail_memory(fail);
	}
	if (access(path, R_OK))
		return fail_set(fail, -ENOENT, "there is no time zone '%s'; Europe/Berlin is one, UTC and +01:00 too",
				name);
	if (setenv("TZ", path, 1))
		return fail_memory(fail);
	tzset();
	r = zone_new(name, ret, fail);
	if (before ? setenv("TZ", before, 1) : unsetenv("TZ"))
		r = fail_memory(fail);
	tzset();
	return r;
}

/* A zone that a time names is read. */
static void read_zone(struct query *query, const char *text, struct argp_state *state)
{
	struct zone **added, *zone = NULL;
	struct fail fail = FAIL_INIT;
	char name[ZONE_LABEL];
	int r;

	if (!day_time_zone_name(text, name) || zones_find(&query->zones, name))
		return;
	r = choice_read_zone(name, &zone, &fail);
	/* What is no zone is a part of the text of a marker, or makes the time none. */
	if (r == -ENOENT && !strchr(name, '/'))
		return;
	option_taken("since", r, &fail, state);
	added = vec_push(query->zones.at, query->zones.nr);
	if (added)
		*added = zone;
}

static void take_moment(const struct option_row *row, void *member, char *text, struct argp_state *state)
{
	(void)row;
	*(const char **)member = text;
	read_zone(state->input, text, state);
}

const char *choice_take_file(struct query *query, char *arg, struct argp_state *state)
{
	char *at = strrchr(arg, '@');
	struct fail fail = FAIL_INIT;
	bool found;

	if (!at || at == arg || !at[1] || !access(arg, F_OK))
		return arg;
	*at = '\0';
	found = !access(arg, F_OK) || !strcmp(arg, "-");
	if (!found || query_check_time("@", at + 1, &fail)) {
		*at = '@';
		return arg;
	}
	if (query->around)
		argp_error(state, "%s@%s and --around are both a moment", arg, at + 1);
	query->around = at + 1;
	query->moment = true;
	read_zone(query, query->around, state);
	return arg;
}

static const struct option_row time_options[] = {
	{ "since", 0, "TIME", 0,
	  "Begin at TIME, in seconds as the trace prints them, +1ms from the first event of the file, -2s from its "
	  "last one, @EVENT or @mark:TEXT at an event or a marker (@EVENT#2-50ms: 50 ms before the second), or a "
	  "time of day, alone (12:38:20) or behind its date",
	  0, OPTION_TEXT(struct query, since), .takes = take_moment },
	{ "until", 0, "TIME", 0, "End at TIME, inclusive", 0, OPTION_TEXT(struct query, until), .takes = take_moment },
	{ "around", 0, "MARK", 0,
	  "Only the time before and after a marker: its text or a part of it (#2: the second such), 'trigger' for the "
	  "trigger of a file of weft flight, or a time as for --since. FILE@TIME instead of FILE "
	  "is the same, with 100ms before and after",
	  0, OPTION_TEXT(struct query, around), .takes = take_moment },
	{ "before", 0, "TIME", 0, "With --around: begin TIME before it (default 5s)", 0,
	  OPTION_TIME_OR_0(struct query, before_ns) },
	{ "after", 0, "TIME", 0, "With --around: end TIME after it (default 0)", 0,
	  OPTION_TIME_OR_0(struct query, after_ns) },
	{ 0 },
};

static const struct option_row part_options[] = {
	{ "instance", 'B', "NAME", 0, "Only the buffer of this instance; '' is the top one", 0,
	  OPTION_TEXT(struct query, instance) },
	{ 0 },
};

static const struct option_row task_options[] = {
	{ "cpu", 0, "CPULIST", 0, "Only what happened on these CPUs, such as 0-3,7", 0, OPTION_CPUS(struct query, cpus),
	  OPTION_GIVEN(struct query, some_cpus) },
	{ "pid", 0, "PID", 0, "Only what these tasks did; a list with commas, repeatable", 0, OPTION_TAKE(take_pids) },
	{ "thread", 0, "PID", 0, "The same as --pid", 0, OPTION_TAKE(take_pids) },
	{ "comm", 0, "NAME", 0, "Only what tasks did under this name, a glob; repeatable", 0,
	  OPTION_CALL(struct query, comms, take_word) },
	{ "process", 0, "PROCESS", 0,
	  "Only what the threads of this process did: its PID, or a glob for the name of its program; repeatable", 0,
	  OPTION_TAKE(take_who) },
	{ "unit", 0, "UNIT", 0,
	  "Only what this service of systemd did, or another unit; a glob, '.service' may be left out; repeatable", 0,
	  OPTION_TAKE(take_who) },
	{ "container", 0, "CONTAINER", 0,
	  "Only what this container did: its ID or the beginning of it, or a glob; repeatable", 0,
	  OPTION_TAKE(take_who) },
	{ "pod", 0, "POD", 0, "Only what this pod of Kubernetes did: a glob for its UID; repeatable", 0,
	  OPTION_TAKE(take_who) },
	{ "cgroup", 0, "PATH", 0,
	  "Only what tasks of this control group did: /a/b with the groups below, or a glob for the path; repeatable",
	  0, OPTION_TAKE(take_who) },
	{ "mark", 0, "NAME", 0, "Only what tasks did inside spans that they marked with this name, a glob; repeatable",
	  0, OPTION_CALL(struct query, marks, take_word) },
	{ "file", 0, "GLOB", 0,
	  "Only what is about a file of this name, in a recording of record --files: what tasks did inside system "
	  "calls with a descriptor of it or with its name, events that have its inode, and requests of disks and of "
	  "io_uring for it; a glob, repeatable",
	  0, OPTION_CALL(struct query, files, take_word) },
	{ 0 },
};

static const struct option_row event_options[] = {
	{ "event", 'e', "EVENT", 0,
	  "Only EVENT: system:event, system or event, with globs; several with commas, repeatable", 0,
	  OPTION_CALL(struct query, events, take_word) },
	{ "filter", 'f', "FILTER", 0,
	  "Only events that match FILTER, in the kernel's filter language; 'EVENT: FILTER' is for that event, FILTER "
	  "alone for all events that have its fields; repeatable: one match is enough",
	  0, OPTION_TAKE(choice_take_filter) },
	{ "invert", 'v', NULL, 0, "Invert the filters that follow: leave out the events that match", 0,
	  OPTION_FLAG(struct query, invert) },
	{ 0 },
};

static const struct option_row more_options[] = {
	{ "longer", 0, "TIME", 0,
	  "Only what lasted longer than TIME, and the callers of such functions; the same as -f 'duration > TIME'", 0,
	  OPTION_TAKE(take_longer) },
	{ "no-hardirq", 'I', NULL, 0,
	  "Only what happened outside hard interrupts: leave out their events; with -S outside all interrupts", 0,
	  OPTION_BY_KEY },
	{ "no-softirq", 'S', NULL, 0, "Only what happened outside softirqs: leave out their events", 0, OPTION_BY_KEY },
	{ "no-self", 0, NULL, 0, "Leave out weft's own tasks, but keep interrupts that ran on top of them", 0,
	  OPTION_VALUE(struct query, self, QUERY_SELF_OUT) },
	{ 0 },
};

static const struct option_row count_options[] = {
	{ "limit", 0, "N", 0, "End after N events", 0, OPTION_NUMBER(struct query, limit) },
	{ "tail", 0, "N", 0, "Only the last N events", 0, OPTION_NUMBER(struct query, tail) },
	{ 0 },
};

static void check_around(const struct query *query, struct argp_state *state)
{
	if (query->around && (query->since || query->until))
		argp_error(state, "--around cannot be combined with --since and --until: use --before and --after");
	if (!query->around && (query->before_ns != QUERY_UNSAID || query->after_ns != QUERY_UNSAID))
		argp_error(state, "--before and --after are for --around");
}

static error_t parse_time(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	if (key != ARGP_KEY_END)
		return ARGP_ERR_UNKNOWN;
	check_around(state->input, state);
	return 0;
}

static error_t parse_more(int key, char *arg, struct argp_state *state)
{
	struct query *query = state->input;

	(void)arg;
	if (key != 'I' && key != 'S')
		return ARGP_ERR_UNKNOWN;
	query->flags_out |= key == 'I' ? EVENT_HARDIRQ : EVENT_SOFTIRQ;
	return 0;
}

const struct options choice_count_options = {
	.rows = count_options,
};

const struct options choice_events_options = {
	.rows = event_options,
};

const struct options choice_time_options = {
	.rows = time_options,
	.parser = parse_time,
};

static const struct options_child task_children[] = {
	{ &choice_time_options, 0, 0, NULL },
	{ 0 },
};

const struct options choice_task_options = {
	.rows = task_options,
	.children = task_children,
};

static const struct options_child part_children[] = {
	{ &choice_task_options, 0, 0, NULL },
	{ 0 },
};

const struct options choice_part_options = {
	.rows = part_options,
	.children = part_children,
};

static const struct options choice_more_options = {
	.rows = more_options,
	.parser = parse_more,
};

static const struct options_child children[] = {
	{ &choice_events_options, 0, 0, NULL },
	{ &choice_more_options, 0, 0, NULL },
	{ &choice_count_options, 0, 0, NULL },
	{ &choice_part_options, 0, 0, NULL },
	{ 0 },
};

const struct options choice_options = {
	.children = children,
};

void choice_take_face(const struct option_row *row, void *face, char *name, struct argp_state *state)
{
	(void)row;
	if (!face_named(name, face))
		argp_error(state, "--time: unknown '%s'; use trace, wall, utc or relative", name);
}

void choice_take_live_face(const struct option_row *row, void *face, char *name, struct argp_state *state)
{
	enum face_kind *kind = face;

	(void)row;
	if (!face_named(name, kind) || *kind == FACE_RELATIVE)
		argp_error(state, "--time: unknown '%s'; use trace, wall or utc", name);
}

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

int choice_buffers(const struct query *query, const struct decode *decode, enum query_gives gives, struct trace *trace,
		   struct reader *reader, struct fail *fail)
{
	const struct query_manner manner = { .prepare = decode ? decode_prepare : NULL, .arg = decode, .gives = gives };
	int r = query_add(query, &manner, trace, reader, fail);

	return r ? r : refuse_text_only(trace, query->instance, fail);
}

bool choice_unknown(const struct query *query, const struct reader *reader, struct buf *into)
{
	char count[TEXT_HUMAN];
	unsigned told = 0;
	bool ok = true;

	for (size_t i = 0; ok && reader->nr_buffers && i < query->nr_who; i++) {
		enum who_part part = query->who[i].part;
		const char *event, *word = who_part_word(part);
		uint64_t tasks;

		if (told & 1u << part || !who_leaves_out(reader->buffers[0].context, part, &tasks, &event))
			continue;
		told |= 1u << part;
		if (event)
			ok = buf_addf(into,
				      "wanted and not recorded: -e %s (the %s of %s%snew task%s, left out by "
				      "--%s)\n",
				      event, word, tasks ? text_count(count, tasks) : "", tasks ? " " : "",
				      tasks == 1 ? "" : "s", word);
		else
			ok = buf_addf(into,
				      "the %s of %s new task%s is not known, for events are lost or do not tell it: "
				      "--%s leaves them out\n",
				      word, text_count(count, tasks), text_plural(tasks), word);
	}
	return ok;
}

void choice_tell_unknown(const struct query *query, const struct reader *reader)
{
	cleanup_buf struct buf text = BUF_INIT;
	const char *rest;
	struct text_word line;
	size_t len;

	if (!choice_unknown(query, reader, &text))
		return;
	rest = text.data;
	len = text.len;
	while (text_next_line(&rest, &len, &line))
		command_warn("note: %.*s", (int)line.len, line.at);
}

static const char *time_text(const struct empty_reason *reason, uint64_t ts, char into[TEXT_HUMAN])
{
	if (reason->timed)
		return text_stamp(into, ts);
	snprintf(into, TEXT_HUMAN, "%" PRIu64, ts);
	return into;
}

static void tell_choice(const struct query *query, const struct empty_reason *reason, enum empty_reason_choice choice)
{
	char hint[3 * NEAR_NAME_SIZE];

	near_hint(&reason->near, hint, sizeof(hint));
	if (choice == EMPTY_REASON_WHO && reason->thread)
		snprintf(hint, sizeof(hint), "a thread has this name: --comm instead of --process chooses it");
	switch (choice) {
	case EMPTY_REASON_EVENT:
		command_warn("none is a %s%s", query->events.at[0], query->events.nr > 1 ? " or of another -e" : "");
		break;
	case EMPTY_REASON_COMM:
		command_warn("none is of a task called '%s'%s%s%s", query->comms.at[0],
			     query->comms.nr > 1 ? " or as another --comm" : "", *hint ? "; " : "", hint);
		break;
	case EMPTY_REASON_FILTER:
		command_warn("none meets the filter '%s'%s", query->filters.at[0],
			     query->filters.nr > 1 ? " or another -f" : "");
		break;
	case EMPTY_REASON_PID:
		command_warn("none is of the task %" PRId32 "%s", query->pids[0],
			     query->nr_pids > 1 ? " or of another --pid" : "");
		break;
	case EMPTY_REASON_WHO:
		command_warn("none is known to be of %s '%s'%s%s%s", who_part_word(query->who[0].part),
			     query->who[0].word, query->nr_who > 1 ? ", or of another one that was asked for" : "",
			     *hint ? "; " : "", hint);
		break;
	case EMPTY_REASON_CPU:
		command_warn("none is of these CPUs");
		break;
	case EMPTY_REASON_SINCE:
		command_warn("all are before %s %s", query->around ? "the time --around" : "--since",
			     query->around ? query->around : query->since);
		break;
	case EMPTY_REASON_UNTIL:
		command_warn("all are after %s %s", query->around ? "the time --around" : "--until",
			     query->around ? query->around : query->until);
		break;
	case EMPTY_REASON_NR:
		break;
	}
}

static bool is_any_unmet(const struct empty_reason *reason, const bool asked[EMPTY_REASON_NR])
{
	for (enum empty_reason_choice i = 0; i < EMPTY_REASON_NR; i++)
		if (asked[i] && !reason->matches[i])
			return true;
	return false;
}

static void tell_choices(const struct query *query, const struct empty_reason *reason,
			 const bool asked[EMPTY_REASON_NR])
{
	bool none = false;

	for (enum empty_reason_choice i = 0; i < EMPTY_REASON_NR; i++) {
		if (!asked[i] || reason->matches[i])
			continue;
		none = true;
		tell_choice(query, reason, i);
	}
	if (!none)
		command_warn("each criterion has matching events, but no event meets all of them");
}

/* Whether what record --profile samples is all that there is. */
static bool is_only_ticks(struct trace *trace, const struct query *query)
{
	bool ticks = false, others = query->instance != NULL;

	for (size_t i = 0; i < trace_buffers(trace); i++) {
		ticks |= own_buffer_is(trace_buffer(trace, i)->name.text, OWN_BUFFER_PROFILE);
		others |= query_wants(query, trace, i, false);
	}
	return ticks && !others;
}

void choice_tell_empty(struct trace *trace, const struct query *query, bool rows)
{
	const bool asked[EMPTY_REASON_NR] = { query->events.nr,
					      query->comms.nr,
					      query->filters.nr,
					      query->nr_pids,
					      query->nr_who,
					      query->some_cpus,
					      query->since || query->around,
					      query->until || query->around };
	char count[TEXT_HUMAN], first[TEXT_HUMAN], last[TEXT_HUMAN];
	cleanup_buf struct buf cpus = { 0 };
	struct fail fail = FAIL_INIT;
	struct empty_reason reason;

	if (is_only_ticks(trace, query)) {
		command_warn("the file has only samples of what CPUs did: 'weft stacks --on-cpu' shows them");
		return;
	}
	if (query->marks.nr) {
		command_warn("nothing happened inside spans called '%s'%s; 'weft marks' shows their names",
			     query->marks.at[0], query->marks.nr > 1 ? " or as another --mark" : "");
		return;
	}
	if (query->files.nr && !rows)
		command_warn("nothing is about a file called '%s'%s; 'weft syscalls --by file' shows their names",
			     query->files.at[0], query->files.nr > 1 ? " or as another --file" : "");
	if (query->files.nr)
		return;
	if (!memchr(asked, true, sizeof(asked)) || empty_reason_count(trace, query, &reason, &fail))
		return;
	if (!reason.events) {
		command_warn("nothing is selected: there are no events");
		return;
	}
	if (!cpus_list(&reason.cpus, &cpus) || (rows && (reason.more || !is_any_unmet(&reason, asked))))
		return;
	command_warn("0 of %s%s event%s are selected; they span %s to %s, CPUs %s", reason.more ? "more than " : "",
		     text_count(count, reason.events), text_plural(reason.events),
		     time_text(&reason, reason.first, first), time_text(&reason, reason.last, last), buf_str(&cpus));
	if (!reason.more)
		tell_choices(query, &reason, asked);
}

int choice_check_counters(const struct reader *reader, const char *const *counters, size_t nr, struct fail *fail)
{
	for (size_t i = 0; i < nr; i++) {
		struct near near = near_to(counters[i]);
		bool known = false;

		for (size_t k = 0; !known && k < reader->nr_buffers; k++)
			known = timeline_field_known(reader->buffers[k].context, counters[i]);
		if (known)
			continue;
		for (size_t k = 0; k < reader->nr_buffers; k++)
			timeline_fields_offer(reader->buffers[k].context, &near);
		return near_fail(
			&near, fail, -ENOENT,
			"--counter: the file knows no event with a number as its field '%s': write EVENT:FIELD",
			counters[i]);
	}
	return 0;
}
