// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/files/import/unknown_lines.h"

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

/* "0)" and behind it a bar or what ends a call, which a list of numbered steps has not; or "us |  ". */
static bool is_graph(const char *line, size_t len)
{
	const char *at = line, *end = line + len;

	while (at < end && *at == ' ')
		at++;
	at += digits(at, end);
	if (at > line && at < end && *at == ')' && isdigit((unsigned char)at[-1]))
		return memchr(at, '|', (size_t)(end - at)) || memchr("{};/", end[-1], 4);
	return memmem(line, len, " us |  ", 7) || memmem(line, len, " us  |  ", 8);
}

/* "    1d.h2.   12us : " of latency-format. */
static bool is_latency(const char *line, size_t len)
{
	const char *us = memmem(line, len, "us", 2);
	size_t left = us ? (size_t)(line + len - us) : 0;

	return left >= 4 && us > line && isdigit((unsigned char)us[-1]) &&
	       (!memcmp(us + 2, ": ", 2) || (left > 4 && !memcmp(us + 3, ": ", 2))) &&
	       memchr(line, '-', (size_t)(us - line));
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

/* trace_mmiotrace.c: "R 4 1.000123 1 0xfebf0000 0x1 0x0 0", "MAP 1.000100 1 0x...". */
static bool is_mmio(const char *line, size_t len)
{
	static const char *const words[] = { "MAP ", "UNMAP ", "R ", "W ", "PCIDEV ", "VERSION 2007", "MARK " };
	const char *hex = memmem(line, len, " 0x", 3);

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (begins(line, len, words[i]))
			return i > 3 || hex;
	return false;
}

/* uftrace replay: "   1.234 us [ 12345] |   a();", and a comment with its columns. */
static bool is_uftrace(const char *line, size_t len)
{
	const char *end = line + len, *at = memchr(line, '[', len);

	if (begins(line, len, "# DURATION ") && memmem(line, len, "TID", 3))
		return true;
	if (!at)
		return false;
	at++;
	while (at < end && *at == ' ')
		at++;
	at += digits(at, end);
	return end - at > 3 && isdigit((unsigned char)at[-1]) && !memcmp(at, "] | ", 4);
}

/* "openat(AT_FDCWD, "/etc/passwd", O_RDONLY) = 3", behind a PID or a time. */
static bool is_strace(const char *line, size_t len)
{
	const char *end = line + len, *open = memchr(line, '(', len), *at = memmem(line, len, ") = ", 4);

	if (!at)
		at = memmem(line, len, ")   ", 4);
	if (!open || !at || at < open || open == line || !(isalnum((unsigned char)open[-1]) || open[-1] == '_'))
		return false;
	for (at++; at < end && (*at == ' ' || *at == '='); at++)
		;
	return at < end && at[-1] == ' ' && (isdigit((unsigned char)*at) || *at == '-' || *at == '?');
}

enum unknown_lines_kind unknown_lines_kind_of(const char *line, size_t len)
{
	const char *end = line + len, *event = behind_time(line, end), *at = event ? cpu(line, event) : NULL;
	const char *dash = at ? memchr(line, '-', (size_t)(at - line)) : NULL;

	if (memmem(line, len, "[LOST ", 6) || memmem(line, len, " EVENTS DROPPED]", 16))
		return UNKNOWN_LINES_LOST;
	if (at)
		return dash ? UNKNOWN_LINES_EVENT : is_blank(line, at) ? UNKNOWN_LINES_NO_TASK : UNKNOWN_LINES_PERF;
	if (memmem(line, len, "ms (+", 5) && memmem(line, len, "): ", 3))
		return UNKNOWN_LINES_VERBOSE;
	if (begins(line, len, " => "))
		return UNKNOWN_LINES_STACK;
	if (is_uftrace(line, len))
		return UNKNOWN_LINES_UFTRACE;
	if (is_mmio(line, len))
		return UNKNOWN_LINES_MMIO;
	if (is_strace(line, len))
		return UNKNOWN_LINES_STRACE;
	if (is_graph(line, len))
		return UNKNOWN_LINES_GRAPH;
	if (is_latency(line, len))
		return UNKNOWN_LINES_EVENT;
	if (!event || !memmem(event, (size_t)(end - event), ": ", 2))
		return UNKNOWN_LINES_OTHER;
	return is_time(line, event) ? UNKNOWN_LINES_NO_TASK : UNKNOWN_LINES_PERF;
}

const char *unknown_lines_name(enum unknown_lines_kind kind)
{
	static const char *const names[UNKNOWN_LINES_KINDS] = {
		[UNKNOWN_LINES_OTHER] = "of other text",
		[UNKNOWN_LINES_EVENT] = "like an event",
		[UNKNOWN_LINES_GRAPH] = "like the function graph",
		[UNKNOWN_LINES_STACK] = "of a stack that no event precedes",
		[UNKNOWN_LINES_DEEP] = "of a program's stack behind its eighth caller, or without an address",
		[UNKNOWN_LINES_PERF] = "like those of perf script",
		[UNKNOWN_LINES_NO_TASK] = "like an event without its task",
		[UNKNOWN_LINES_VERBOSE] = "like those of the option verbose",
		[UNKNOWN_LINES_LOST] = "of lost events",
		[UNKNOWN_LINES_MMIO] = "like those of the tracer mmiotrace",
		[UNKNOWN_LINES_UFTRACE] = "like those of uftrace",
		[UNKNOWN_LINES_STRACE] = "like those of strace",
		[UNKNOWN_LINES_LONG] = "of an event that is longer than any of a kernel",
	};

	return names[kind];
}

const char *unknown_lines_advice(enum unknown_lines_kind kind)
{
	static const char *const advice[UNKNOWN_LINES_KINDS] = {
		[UNKNOWN_LINES_PERF] =
			"of the text of perf script, only the kernel's trace events are imported, as perf script "
			"-F comm,tid,cpu,time,event,trace prints them: COMM TID [CPU] TIME: SYSTEM:EVENT: TEXT",
		[UNKNOWN_LINES_NO_TASK] =
			"an event needs its task and its CPU in front of it, TASK-PID [CPU] FLAGS TIME: EVENT, "
			"as the kernel prints with the option context-info and trace-cmd report by default",
		[UNKNOWN_LINES_VERBOSE] = "an event of the option verbose is TASK PID CPU FLAGS DEPTH NUMBER [TIME] "
					  "TIMEms (+TIMEms): EVENT, on one line",
		[UNKNOWN_LINES_GRAPH] = "a line of the function graph needs its CPU, \" 0)\", or the header '# tracer: "
					"function_graph' above it",
		[UNKNOWN_LINES_LOST] =
			"lost events are kept in front of the next event of their CPU, which the text does not have",
		[UNKNOWN_LINES_MMIO] = "the text of mmiotrace has neither tasks nor events, so it cannot be imported: "
				       "'weft record -p mmiotrace' makes a file that 'weft report' prints so",
		[UNKNOWN_LINES_UFTRACE] =
			"uftrace traces the functions of programs, and its text has no CPU: 'uftrace dump --chrome' "
			"makes a file for Perfetto, and 'weft record -p function_graph' records the kernel's functions",
		[UNKNOWN_LINES_STRACE] = "the text of strace has no CPU, and no times by default: 'weft record --for "
					 "syscalls -- COMMAND' and 'weft syscalls --trace' show the same calls",
		[UNKNOWN_LINES_EVENT] = "an event is TASK-PID [CPU] FLAGS TIME: EVENT, on one line",
	};

	return advice[kind];
}

static void add(struct unknown_lines *told, enum unknown_lines_kind kind, uint64_t number, const char *line, size_t len)
{
	unsigned at = told->nr_shown;

	told->counts[kind]++;
	if (at == UNKNOWN_LINES_SHOWN && kind == UNKNOWN_LINES_OTHER)
		return;
	/* One that looks like an event takes the place of another line. */
	for (at = 0;
	     at < told->nr_shown && (kind == UNKNOWN_LINES_OTHER || told->shown[at].kind != UNKNOWN_LINES_OTHER); at++)
		;
	if (at == UNKNOWN_LINES_SHOWN)
		return;
	if (told->nr_shown < UNKNOWN_LINES_SHOWN)
		memmove(&told->shown[at + 1], &told->shown[at], (told->nr_shown++ - at) * sizeof(*told->shown));
	else
		memmove(&told->shown[at + 1], &told->shown[at], (UNKNOWN_LINES_SHOWN - 1 - at) * sizeof(*told->shown));
	told->shown[at].kind = kind;
	told->shown[at].number = number;
	told->shown[at].len = len < UNKNOWN_LINES_WIDTH ? len : UNKNOWN_LINES_WIDTH;
	memcpy(told->shown[at].text, line, told->shown[at].len);
}

void unknown_lines_add(struct unknown_lines *told, uint64_t number, const char *line, size_t len)
{
	add(told, unknown_lines_kind_of(line, len), number, line, len);
}

void unknown_lines_add_as(struct unknown_lines *told, enum unknown_lines_kind kind, uint64_t number, const char *line,
			  size_t len)
{
	add(told, kind, number, line, len);
}

uint64_t unknown_lines_count(const struct unknown_lines *told)
{
	uint64_t count = 0;

	for (unsigned i = 0; i < UNKNOWN_LINES_KINDS; i++)
		count += told->counts[i];
	return count;
}

uint64_t unknown_lines_events(const struct unknown_lines *told)
{
	return unknown_lines_count(told) - told->counts[UNKNOWN_LINES_OTHER] - told->counts[UNKNOWN_LINES_DEEP] -
	       told->counts[UNKNOWN_LINES_MMIO] - told->counts[UNKNOWN_LINES_UFTRACE] -
	       told->counts[UNKNOWN_LINES_STRACE];
}
