// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/event/latency_facts.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/now.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/events.h"
#include "lib/pages/trace/trace.h"

enum { NAME_WIDTH = 8, NAME_VERBOSE = 16, ROUND_DOWN = 500, ROUND_UP = 499 };

/*
 * The columns of one line: " <idle>-0 1dn..3.. 271667us+: ", or with the option verbose
 * "          <idle>       0   1 9 00000002 00000003 [0363adef] 5190.340ms (+0.068ms): "
 */
struct sample {
	uint64_t pid, cpu, time; /* time in us, or in the clock's own units */
};

struct bounds {
	uint64_t low, high; /* bounds of time_start, both included */
};

static bool take_number(const char **at, const char *end, uint64_t *ret)
{
	const char *start = *at;
	uint64_t value = 0;

	for (; *at < end && isdigit((unsigned char)**at); ++*at) {
		if (value > UINT64_MAX / 10 - 1)
			return false;
		value = value * 10 + (uint64_t)(**at - '0');
	}
	*ret = value;
	return *at > start;
}

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && *at == ' ')
		at++;
	return at;
}

static bool parse_short(const char *at, const char *end, bool counts, struct sample *ret)
{
	if (!take_number(&at, end, &ret->pid))
		return false;
	at = skip_blanks(at, end);
	if (!take_number(&at, end, &ret->cpu) || at == end || *at == ' ')
		return false;
	while (at < end && *at != ' ')
		at++;
	at = skip_blanks(at, end);
	if (!take_number(&at, end, &ret->time))
		return false;
	if (counts)
		return end - at > 1 && !memcmp(at, ": ", 2);
	return end - at > 4 && !memcmp(at, "us", 2) && !memcmp(at + 3, ": ", 2);
}

static bool parse_verbose(const char *at, const char *end, bool counts, struct sample *ret)
{
	const char *start;
	uint64_t us;

	at = skip_blanks(at, end);
	if (!take_number(&at, end, &ret->pid))
		return false;
	at = skip_blanks(at, end);
	if (!take_number(&at, end, &ret->cpu))
		return false;
	/* The flags, the preempt count, the number of the line and the time since boot. */
	at = memchr(at, ']', (size_t)(end - at));
	if (!at || end - at < 2 || at[1] != ' ')
		return false;
	at += 2;
	if (!take_number(&at, end, &ret->time))
		return false;
	if (counts)
		return end - at > 2 && !memcmp(at, " (+", 3);
	start = ++at;
	if (at >= end || !take_number(&at, end, &us) || at - start != 3 || ret->time > UINT64_MAX / 1000 - 1)
		return false;
	ret->time = ret->time * 1000 + us;
	return start[-1] == '.' && end - at > 4 && !memcmp(at, "ms (+", 5);
}

/* False for lines of another kind, such as lines of a stack. */
static bool parse_line(struct text_word line, bool counts, struct sample *ret)
{
	const char *end = line.at + line.len;

	if (line.len > NAME_WIDTH && line.at[NAME_WIDTH] == '-' &&
	    parse_short(line.at + NAME_WIDTH + 1, end, counts, ret))
		return true;
	return line.len > NAME_VERBOSE && line.at[NAME_VERBOSE] == ' ' &&
	       parse_verbose(line.at + NAME_VERBOSE + 1, end, counts, ret);
}

/*
 * A task name with a newline splits its line. The columns are counted from the line before, which is shorter than the
 * column of names.
 */
static bool parse_split_line(const char *start, struct text_word line, bool counts, struct sample *ret)
{
	for (size_t back = 1; back <= NAME_VERBOSE && back <= (size_t)(line.at - start); back++) {
		struct text_word whole = { .at = line.at - back, .len = line.len + back };

		if ((whole.at == start || whole.at[-1] == '\n') && parse_line(whole, counts, ret))
			return true;
	}
	return false;
}

/* Narrows the bounds by a time that was printed for an event: false when it cannot be the time of that event. */
static bool narrow(struct bounds *bounds, uint64_t ts, uint64_t time, bool counts)
{
	uint64_t units = counts ? 1 : NS_PER_US, down = counts ? 0 : ROUND_DOWN, up = counts ? 0 : ROUND_UP;
	uint64_t low, high;

	if (time > ts / units + 1 || ts > INT64_MAX)
		return false;
	high = ts + down < time * units ? 0 : ts + down - time * units;
	low = ts < time * units + up ? 0 : ts - time * units - up;
	if (low < bounds->low)
		low = bounds->low;
	if (high > bounds->high)
		high = bounds->high;
	if (low > high)
		return false;
	*bounds = (struct bounds){ .low = low, .high = high };
	return true;
}

/* Whether an event has a line with this time column: the function graph prints only some events in this way. */
static bool has_line(const struct context *context, const struct event *event)
{
	const struct format *format = event->kind == EVENT_RECORD ? event->type->format : NULL;

	if (strcmp(context->tracer, "function_graph"))
		return event->kind == EVENT_RECORD;
	return format && (!strcmp(format->name, "kernel_stack") || !strcmp(format->name, "function"));
}

/* Finds the event of a line: the next one of its task and CPU; 2 when its time cannot be the line's. */
static int find_event(const struct context *context, struct events *events, const struct sample *sample,
		      struct bounds *bounds, struct fail *fail)
{
	bool counts = context->unit == CLOCK_UNIT_COUNT;
	struct event event;
	int r;

	while ((r = events_next(events, &event, fail)) > 0)
		if (has_line(context, &event) && event.cpu == sample->cpu && event.pid >= 0 &&
		    (uint64_t)event.pid == sample->pid)
			return narrow(bounds, event.ts, sample->time, counts) ? 1 : 2;
	return r;
}

static int read_lines(const struct context *context, struct events *events, const char *text, size_t len,
		      struct latency_facts *facts, struct fail *fail)
{
	struct bounds bounds = { .low = 0, .high = UINT64_MAX };
	bool counts = context->unit == CLOCK_UNIT_COUNT;
	const char *start = text;
	struct text_word line;
	struct sample sample;
	int r = 1;

	while (text_next_line(&text, &len, &line)) {
		latency_head_take(&facts->head, line.at, line.len);
		if (!parse_line(line, counts, &sample) && !parse_split_line(start, line, counts, &sample))
			continue;
		facts->lines++;
		if (r > 0)
			r = find_event(context, events, &sample, &bounds, fail);
		facts->samples += r == 1;
	}
	/* A text of other events may match some events by chance. */
	facts->time_start_known = facts->samples && facts->samples >= facts->lines / 2;
	facts->time_start = bounds.low + (bounds.high - bounds.low) / 2;
	return r < 0 ? r : 0;
}

static int read_since(struct context *context, uint64_t since, const char *text, size_t len, struct latency_facts *ret,
		      struct fail *fail)
{
	const struct events_options options = { .since = since, .until = UINT64_MAX };
	struct events *events;
	int r = events_open(context, &options, &events, fail);

	*ret = (struct latency_facts){ .samples = 0 };
	if (r < 0)
		return r;
	r = read_lines(context, events, text, len, ret, fail);
	events_free(events);
	return r;
}

int latency_facts_read(struct context *context, const char *text, size_t len, struct latency_facts *ret,
		       struct fail *fail)
{
	return read_since(context, 0, text, len, ret, fail);
}

/*
 * Parses "oldest event ts: 4712.123456", or a count. It is the time of a page, so not later than the page's first
 * event; 0: unknown.
 */
static uint64_t oldest_ts(struct trace_text stats, bool counts)
{
	static const char name[] = "oldest event ts:";
	unsigned long long seconds, us = 0;
	struct text_word line;

	while (text_next_line(&stats.text, &stats.len, &line)) {
		if (line.len < sizeof(name) || memcmp(line.at, name, sizeof(name) - 1))
			continue;
		if (sscanf(line.at + sizeof(name) - 1, " %20llu.%6llu", &seconds, &us) < 1)
			return 0;
		if (counts)
			return seconds;
		/* The kernel may have truncated or rounded it to microseconds. */
		return seconds > UINT32_MAX || !(seconds + us) ? 0 : seconds * 1000000000 + us * 1000 - 1000;
	}
	return 0;
}

/* The earliest possible time of the first event in the kernel's buffer; the sample has no events before it. */
static uint64_t sample_since(const struct context *context)
{
	bool counts = context->unit == CLOCK_UNIT_COUNT;
	uint64_t since = UINT64_MAX;

	for (size_t i = 0; i < context->nr_stats; i++) {
		char name[64];
		uint64_t oldest;

		if (!context->stats[i].entries)
			continue;
		snprintf(name, sizeof(name), "per_cpu/cpu%u/stats", context->stats[i].cpu);
		oldest = oldest_ts(trace_setting(context->trace, context->buffer, name), counts);
		since = oldest < since ? oldest : since;
	}
	return since == UINT64_MAX ? 0 : since;
}

int latency_facts_learn(struct context *context, struct fail *fail)
{
	struct trace_text sample = trace_setting(context->trace, context->buffer,
						 context->section ? "weft/section" : "weft/latency_sample");
	struct latency_facts facts;
	uint64_t since;
	int r;

	if (!sample.text || context->time_start_known)
		return 0;
	since = context->section ? 0 : sample_since(context);
	r = read_since(context, since, sample.text, sample.len, &facts, fail);
	/*
	 * If trace_pipe was read, the oldest page that the kernel reports may come after the page that this reader had
	 * begun.
	 */
	if (!r && since && facts.lines && !facts.time_start_known)
		r = read_since(context, 0, sample.text, sample.len, &facts, fail);
	if (r)
		return r;
	/* The lines of the function graph have no such times and need none. */
	if (facts.time_start_known) {
		context->time_start_known = true;
		context->time_start = facts.time_start;
	}
	context->latency_head = facts.head;
	if (facts.head.cpu_known)
		context->buffer_cpu = facts.head.cpu;
	if (facts.head.preempt_model[0])
		context->preempt_model = context->latency_head.preempt_model;
	return 0;
}
