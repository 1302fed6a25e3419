// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/import/told.h"

#include <ctype.h>
#include <string.h>

enum { DECIMALS = 6 };

static size_t digits(const char *at, const char *end)
{
	size_t len = 0;

	while (at + len < end && isdigit((unsigned char)at[len]))
		len++;
	return len;
}

/* Finds "12.345678:", the time of an event. Returns what is behind it. */
static const char *behind_time(const char *at, const char *end)
{
	for (; (at = memchr(at, '.', (size_t)(end - at))); at++) {
		size_t len = digits(at + 1, end);

		if (len >= DECIMALS && at + 1 + len < end && at[1 + len] == ':')
			return at + 2 + len;
	}
	return NULL;
}

/* Finds "[001]". */
static const char *cpu(const char *at, const char *end)
{
	for (; (at = memchr(at, '[', (size_t)(end - at))); at++) {
		size_t len = digits(at + 1, end);

		if (len >= 3 && at + 1 + len < end && at[1 + len] == ']')
			return at;
	}
	return NULL;
}

/* "0)", or "us |  ". */
static bool is_graph(const char *line, size_t len)
{
	const char *at = line, *end = line + len;

	while (at < end && *at == ' ')
		at++;
	at += digits(at, end);
	if (at > line && at < end && *at == ')' && isdigit((unsigned char)at[-1]))
		return true;
	return memmem(line, len, " us |  ", 7) || memmem(line, len, " us  |  ", 8);
}

/* "    1d.h2.   12us : " of latency-format. */
static bool is_latency(const char *line, size_t len)
{
	const char *us = memmem(line, len, "us", 2);

	return us && us > line && isdigit((unsigned char)us[-1]) && line + len - us >= 4 &&
	       (!memcmp(us + 3, ": ", 2) || !memcmp(us + 2, ": ", 2)) && memchr(line, '-', (size_t)(us - line));
}

static bool is_blank(const char *at, const char *end)
{
	while (at < end && *at == ' ')
		at++;
	return at == end;
}

/* "   12.345678:" and nothing else. */
static bool is_time(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '.' || *at == ':' || isdigit((unsigned char)*at)))
		at++;
	return at == end;
}

static bool begins(const char *line, size_t len, const char *with)
{
	return len >= strlen(with) && !memcmp(line, with, strlen(with));
}

enum told_kind told_kind_of(const char *line, size_t len)
{
	const char *end = line + len, *event = behind_time(line, end), *at = event ? cpu(line, event) : NULL;
	const char *dash = at ? memchr(line, '-', (size_t)(at - line)) : NULL;

	if (memmem(line, len, "[LOST ", 6) || memmem(line, len, " EVENTS DROPPED]", 16))
		return TOLD_LOST;
	if (at)
		return dash ? TOLD_EVENT : is_blank(line, at) ? TOLD_NO_TASK : TOLD_PERF;
	if (memmem(line, len, "ms (+", 5) && memmem(line, len, "): ", 3))
		return TOLD_VERBOSE;
	if (begins(line, len, " => "))
		return TOLD_STACK;
	if (is_graph(line, len))
		return TOLD_GRAPH;
	if (is_latency(line, len))
		return TOLD_EVENT;
	if (!event || !memmem(event, (size_t)(end - event), ": ", 2))
		return TOLD_OTHER;
	return is_time(line, event) ? TOLD_NO_TASK : TOLD_PERF;
}

const char *told_name(enum told_kind kind)
{
	static const char *const names[TOLD_KINDS] = {
		[TOLD_OTHER] = "of other text",
		[TOLD_EVENT] = "like an event",
		[TOLD_GRAPH] = "like the function graph",
		[TOLD_STACK] = "of a stack that no event precedes",
		[TOLD_DEEP] = "of a program's stack behind its eighth caller, or without an address",
		[TOLD_PERF] = "like those of perf script",
		[TOLD_NO_TASK] = "like an event without its task",
		[TOLD_VERBOSE] = "like those of the option verbose",
		[TOLD_LOST] = "of lost events",
		[TOLD_LONG] = "of an event that is longer than any of a kernel",
	};

	return names[kind];
}

const char *told_advice(enum told_kind kind)
{
	static const char *const advice[TOLD_KINDS] = {
		[TOLD_PERF] = "of the text of perf script, only the kernel's trace events are imported, as perf script "
			      "-F comm,tid,cpu,time,event,trace prints them: COMM TID [CPU] TIME: SYSTEM:EVENT: TEXT",
		[TOLD_NO_TASK] =
			"an event needs its task and its CPU in front of it, TASK-PID [CPU] FLAGS TIME: EVENT, "
			"as the kernel prints with the option context-info and trace-cmd report by default",
		[TOLD_VERBOSE] = "an event of the option verbose is TASK PID CPU FLAGS DEPTH NUMBER [TIME] "
				 "TIMEms (+TIMEms): EVENT, on one line",
		[TOLD_GRAPH] = "a line of the function graph needs its CPU, \" 0)\", or the header '# tracer: "
			       "function_graph' above it",
		[TOLD_LOST] =
			"lost events are kept in front of the next event of their CPU, which the text does not have",
		[TOLD_EVENT] = "an event is TASK-PID [CPU] FLAGS TIME: EVENT, on one line",
	};

	return advice[kind];
}

static void add(struct told *told, enum told_kind kind, uint64_t number, const char *line, size_t len)
{
	unsigned at = told->nr_shown;

	told->counts[kind]++;
	if (at == TOLD_SHOWN && kind == TOLD_OTHER)
		return;
	/* One that looks like an event takes the place of another line. */
	for (at = 0; at < told->nr_shown && (kind == TOLD_OTHER || told->shown[at].kind != TOLD_OTHER); at++)
		;
	if (at == TOLD_SHOWN)
		return;
	if (told->nr_shown < TOLD_SHOWN)
		memmove(&told->shown[at + 1], &told->shown[at], (told->nr_shown++ - at) * sizeof(*told->shown));
	else
		memmove(&told->shown[at + 1], &told->shown[at], (TOLD_SHOWN - 1 - at) * sizeof(*told->shown));
	told->shown[at].kind = kind;
	told->shown[at].number = number;
	told->shown[at].len = len < TOLD_WIDTH ? len : TOLD_WIDTH;
	memcpy(told->shown[at].text, line, told->shown[at].len);
}

void told_add(struct told *told, uint64_t number, const char *line, size_t len)
{
	add(told, told_kind_of(line, len), number, line, len);
}

void told_add_as(struct told *told, enum told_kind kind, uint64_t number, const char *line, size_t len)
{
	add(told, kind, number, line, len);
}

uint64_t told_count(const struct told *told)
{
	uint64_t count = 0;

	for (unsigned i = 0; i < TOLD_KINDS; i++)
		count += told->counts[i];
	return count;
}

uint64_t told_events(const struct told *told)
{
	return told_count(told) - told->counts[TOLD_OTHER] - told->counts[TOLD_DEEP];
}
