// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/files/import/head_internal.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

#include "lib/ground/base/now.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/tasks.h"

enum {
	FLAGS_MIN = 4,
	FLAGS_MAX = 8,
	HEAD_MAX = 256,
	COMM_MAX = TASK_COMM_LEN - 1,
	PACKAGE_MAX = 64,
	COMM_WIDTH = 16,
	COMM_SHORT = 8,
	OLD_NEED_RESCHED = 2
};

/* The ring buffer keeps 59 bits of a time. */
static const uint64_t COUNT_MAX = (UINT64_C(1) << 59) - 1;

/* The rest of a line. */
struct scan {
	const char *at, *end;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static void blanks(struct scan *scan)
{
	while (scan->at < scan->end && text_is_blank(*scan->at))
		scan->at++;
}

static bool accept(struct scan *scan, const char *text)
{
	size_t len = strlen(text);

	if ((size_t)(scan->end - scan->at) < len || memcmp(scan->at, text, len))
		return false;
	scan->at += len;
	return true;
}

static bool number(struct scan *scan, uint64_t max, uint64_t *ret)
{
	uint64_t value = 0;
	const char *start = scan->at;

	for (; scan->at < scan->end && is_digit(*scan->at); scan->at++)
		if (__builtin_mul_overflow(value, UINT64_C(10), &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*scan->at - '0'), &value))
			return false;
	if (scan->at == start || value > max)
		return false;
	*ret = value;
	return true;
}

static uint8_t irqs_flag(char c)
{
	switch (c) {
	case 'D':
		return EVENT_IRQS_OFF | EVENT_BH_OFF;
	case 'b':
		return EVENT_BH_OFF;
	case 'd':
		return EVENT_IRQS_OFF;
	case 'X':
		return EVENT_NEED_RESCHED_LAZY;
	}
	return 0;
}

static uint8_t resched_flag(char c)
{
	switch (c) {
	case 'N':
		return EVENT_NEED_RESCHED | EVENT_PREEMPT_RESCHED;
	case 'n':
		return EVENT_NEED_RESCHED;
	case 'p':
		return EVENT_PREEMPT_RESCHED;
	case 'B':
		return EVENT_NEED_RESCHED | EVENT_NEED_RESCHED_LAZY | EVENT_PREEMPT_RESCHED;
	case 'b':
		return EVENT_NEED_RESCHED | EVENT_NEED_RESCHED_LAZY;
	case 'L':
		return EVENT_NEED_RESCHED_LAZY | EVENT_PREEMPT_RESCHED;
	case 'l':
		return EVENT_NEED_RESCHED_LAZY;
	}
	return 0;
}

static uint8_t irq_flag(char c)
{
	switch (c) {
	case 'Z':
		return EVENT_NMI | EVENT_HARDIRQ;
	case 'z':
		return EVENT_NMI;
	case 'H':
		return EVENT_HARDIRQ | EVENT_SOFTIRQ;
	case 'h':
		return EVENT_HARDIRQ;
	case 's':
		return EVENT_SOFTIRQ;
	}
	return 0;
}

static uint8_t depth(char c)
{
	return (uint8_t)(is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 0);
}

/*
 * Reads flags such as "d.h2.": four columns before 5.16, five since; with PREEMPT_RT before 6.12, seven, or six on
 * older kernels.
 */
static bool flags(struct scan *scan, struct head *head)
{
	static const char known[] = ".dDbBXNnpLlHhsZz0123456789abcdef";
	const char *at = scan->at;
	size_t len = 0;
	bool lazy;

	while (at + len < scan->end && at[len] && strchr(known, at[len]))
		len++;
	if (len < FLAGS_MIN || len > FLAGS_MAX || is_digit(*at))
		return false;
	lazy = len >= 6;
	head->flags = irqs_flag(at[0]) | resched_flag(at[1]) | irq_flag(at[2 + lazy]);
	if (lazy && at[2] == 'L')
		head->flags |= EVENT_NEED_RESCHED_LAZY;
	head->has_x = at[0] == 'X';
	head->nr_flags = (unsigned)len;
	head->preempt_count = depth(at[3 + lazy]);
	if (lazy)
		head->lazy_count = depth(at[5]);
	head->has_lazy = lazy;
	if (len == 5 || len == 7)
		head->preempt_count |= (uint8_t)(depth(at[len - 1]) << 4);
	scan->at += len;
	head->has_flags = true;
	return true;
}

/* Reads "12.345678:", or "12345:" from a clock that does not count ns. */
static bool seconds(struct scan *scan, struct head *head)
{
	uint64_t whole, part;
	const char *start;

	if (!number(scan, COUNT_MAX, &whole))
		return false;
	if (accept(scan, ":")) {
		head->ts = whole;
		return true;
	}
	if (whole >= INT64_MAX / NS_PER_S || !accept(scan, "."))
		return false;
	start = scan->at;
	if (!number(scan, 999999999, &part) || scan->at - start < 6 || scan->at - start > 9 || !accept(scan, ":"))
		return false;
	for (ptrdiff_t digits = scan->at - 1 - start; digits < 9; digits++)
		part *= 10;
	head->ts = whole * NS_PER_S + part;
	head->has_unit = true;
	return true;
}

bool head_flags(const char **at, const char *end, struct head *head)
{
	struct scan scan = { *at, end };

	if (!flags(&scan, head))
		return false;
	*at = scan.at;
	return true;
}

/* Reads "-62   ", and how wide the column of the PID is. */
static bool pid(struct scan *scan, struct head *head)
{
	const char *start = scan->at;
	uint64_t value;

	if (!accept(scan, "-") || !number(scan, INT_MAX, &value))
		return false;
	head->pid = (int32_t)value;
	blanks(scan);
	/* The dash is not in the column, nor is the blank behind it. */
	head->pid_width = (unsigned)(scan->at - start) - 2;
	return true;
}

/* Reads " (  123)" or " (-------)". Some newer kernels leave out the first blank. */
static bool tgid(struct scan *scan, struct head *head)
{
	uint64_t value = 0;
	const char *start = scan->at;

	if (head->has_tgid || !accept(scan, "("))
		return true;
	blanks(scan);
	if (scan->at < scan->end && *scan->at == '-')
		while (accept(scan, "-"))
			;
	else if (!number(scan, INT_MAX, &value))
		return false;
	head->tgid = (int32_t)value;
	head->has_tgid = true;
	head->tgid_width = (unsigned)(scan->at - start) - 1;
	return accept(scan, ")");
}

/* Reads "-62      [001] d.h2.     2.921018: " from the dash on. */
static bool plain_rest(struct scan *scan, struct head *head)
{
	uint64_t cpu;

	if (!pid(scan, head) || !tgid(scan, head))
		return false;
	blanks(scan);
	if (!accept(scan, "[") || !number(scan, HEAD_CPU_MAX - 1, &cpu) || !accept(scan, "]"))
		return false;
	head->cpu = (uint32_t)cpu;
	blanks(scan);
	head->tgid_late = !head->has_tgid;
	if (!tgid(scan, head))
		return false;
	head->tgid_late &= head->has_tgid;
	blanks(scan);
	if (flags(scan, head))
		blanks(scan);
	return seconds(scan, head) && (accept(scan, " ") || scan->at == scan->end);
}

/* Reads the micro sign of 2.6-rt and what mails made of it: up to six bytes that are not ASCII, mostly with the "s". */
static bool micro(struct scan *scan)
{
	const char *start = scan->at;

	while (scan->at < scan->end && scan->at - start < 6 && (unsigned char)*scan->at >= 0x80)
		scan->at++;
	if (scan->at == start)
		return false;
	accept(scan, "s");
	return true;
}

/* Reads "-62        1d.h2.   12345us+: " from the dash on; without "us" if the clock counts something else. */
static bool latency_rest(struct scan *scan, struct head *head)
{
	static const char marks[] = " +!#*@$";
	struct scan behind;
	uint64_t cpu, time;

	if (!pid(scan, head) || !number(scan, HEAD_CPU_MAX - 1, &cpu))
		return false;
	head->cpu = (uint32_t)cpu;
	/* The CPU has three columns, of which the PID's took the blanks. */
	head->pid_width -= cpu < 10 ? 2 : cpu < 100;
	head->is_latency = true;
	if (!flags(scan, head))
		return false;
	blanks(scan);
	/* trace-cmd report -l prints the usual time here. */
	behind = *scan;
	if (seconds(&behind, head) && head->has_unit && (accept(&behind, " ") || behind.at == behind.end)) {
		*scan = behind;
		head->is_latency = false;
		head->pid_width = 0;
		return true;
	}
	if (!number(scan, COUNT_MAX, &time))
		return false;
	/* 2.6-rt has a micro sign, in Latin-1. */
	head->has_unit = accept(scan, "us") || micro(scan);
	if (head->has_unit && scan->at < scan->end && *scan->at && strchr(marks, *scan->at))
		head->mark = *scan->at++;
	if (head->has_unit && time > INT64_MAX / 1000)
		return false;
	head->ts = time * (head->has_unit ? 1000 : 1);
	/* 2.6-rt prints "<" and ">" for the end and the beginning of system calls and interrupts, and no colon. */
	return accept(scan, ": ") || (accept(scan, ":") && scan->at == scan->end) ||
	       (head->has_unit && scan->end - scan->at > 2 &&
		(!memcmp(scan->at, "< (", 3) || !memcmp(scan->at, "> ", 2)));
}

static bool hex_number(struct scan *scan, size_t min, uint64_t max, uint64_t *ret)
{
	uint64_t value = 0;
	const char *start = scan->at;

	for (; scan->at < scan->end && scan->at - start < 16; scan->at++) {
		char c = *scan->at;

		if (is_digit(c))
			value = value << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value << 4 | (uint64_t)(c - 'a' + 10);
		else
			break;
	}
	if ((size_t)(scan->at - start) < min || value > max)
		return false;
	*ret = value;
	return true;
}

/* Reads "11.483ms" as microseconds; *ret_ms tells whether there is a unit. */
static bool verbose_time(struct scan *scan, uint64_t *ret, bool *ret_ms)
{
	uint64_t part;
	const char *start;

	*ret_ms = false;
	if (!number(scan, COUNT_MAX / 1000, ret))
		return false;
	if (!accept(scan, "."))
		return true;
	start = scan->at;
	*ret_ms = true;
	if (!number(scan, 999, &part) || scan->at - start != 3 || *ret > COUNT_MAX / 1000000 || !accept(scan, "ms"))
		return false;
	*ret = *ret * 1000 + part;
	return true;
}

/*
 * Reads "       0   1 9 00000001 00000003 [04c9278d] 11.483ms (+0.001ms): " behind the task's name; clocks that do not
 * count ns have no "ms".
 */
static bool verbose_rest(struct scan *scan, struct head *head)
{
	const char *start = scan->at;
	uint64_t pid, cpu, flags, depth, index, time, since, until;
	bool ms, until_ms, cycles;

	blanks(scan);
	if (scan->at == start || !number(scan, INT_MAX, &pid) || !accept(scan, " "))
		return false;
	blanks(scan);
	if (!number(scan, HEAD_CPU_MAX - 1, &cpu) || !accept(scan, " ") || !number(scan, UINT8_MAX, &flags) ||
	    !accept(scan, " ") || !hex_number(scan, 8, UINT8_MAX, &depth) || !accept(scan, " ") ||
	    !hex_number(scan, 8, UINT64_MAX, &index) || !accept(scan, " ["))
		return false;
	start = scan->at;
	if (!hex_number(scan, 8, UINT64_MAX, &time))
		return false;
	/* 2.6-rt has cycles there, in 16 digits, which microseconds do not reach. */
	cycles = scan->at - start == 16;
	if (!accept(scan, "] ") || !verbose_time(scan, &since, &ms) || !accept(scan, " (+") ||
	    !verbose_time(scan, &until, &until_ms) || !accept(scan, "):") || ms != until_ms ||
	    (!accept(scan, " ") && scan->at != scan->end) ||
	    (!(ms && cycles) && time > (ms ? INT64_MAX / 1000 : COUNT_MAX)))
		return false;
	cycles &= ms;
	/* Its bits are those of today, except that of need-resched. */
	if (cycles)
		flags = (flags & (EVENT_IRQS_OFF | EVENT_HARDIRQ | EVENT_SOFTIRQ)) |
			(flags & OLD_NEED_RESCHED ? EVENT_NEED_RESCHED : 0);
	head->pid = (int32_t)pid;
	head->cpu = (uint32_t)cpu;
	head->flags = (uint8_t)flags;
	head->preempt_count = (uint8_t)depth;
	head->has_flags = head->is_latency = true;
	head->is_verbose = !cycles;
	head->has_unit = ms;
	head->ts = (cycles ? since : time) * (ms ? 1000 : 1);
	head->since = since * (ms ? 1000 : 1);
	head->until = until * (ms ? 1000 : 1);
	return true;
}

/* systrace writes the whole name of a package, "com.android.systemui", which is longer than the kernel's. */
static bool is_package(const char *at, size_t len)
{
	if (len <= COMM_MAX || len > PACKAGE_MAX || !memchr(at, '.', len))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)at[i]) && at[i] != '.' && at[i] != '_')
			return false;
	return true;
}

/*
 * What a log put in front of a task's name, in a form that is not known, is cut off: a kernel's name has at most 15
 * bytes, right-aligned in a column of 16; the form of latency-format shows 8. Returns false if no name is left.
 */
static bool cut_comm(struct head *head)
{
	size_t width = head->is_latency && !head->is_verbose ? COMM_SHORT : COMM_WIDTH;
	const char *end = head->comm + head->comm_len, *start = head->comm;

	if (head->has_tgid && is_package(head->comm, head->comm_len))
		return true;
	if (head->comm_len <= COMM_MAX &&
	    (width == COMM_WIDTH || head->comm_len <= COMM_SHORT || !memchr(head->comm, ' ', head->comm_len)))
		return true;
	/* The column begins with a blank, or with the name where that fills it. */
	if (end[-(ptrdiff_t)width] == ' ' || (head->comm_len > width && end[-(ptrdiff_t)width - 1] == ' '))
		start = end - width;
	else
		start = memrchr(head->comm, ' ', head->comm_len) ?: end;
	while (start < end && *start == ' ')
		start++;
	head->comm = start;
	head->comm_len = (size_t)(end - start);
	return head->comm_len && head->comm_len <= COMM_MAX;
}

/* The name is right-aligned, and may have blanks itself. */
static bool verbose(struct scan scan, struct head *ret)
{
	for (const char *at = scan.at; at < scan.end && at - scan.at < HEAD_MAX; at++) {
		struct head head = { .comm = scan.at, .comm_len = (size_t)(at - scan.at) };
		struct scan rest = { at, scan.end };

		if (*at != ' ' || !verbose_rest(&rest, &head) || !cut_comm(&head))
			continue;
		head.body = rest.at;
		head.body_len = (size_t)(rest.end - rest.at);
		*ret = head;
		return true;
	}
	return false;
}

/* Skips "sched:", the system of an event of perf, if a name follows it. */
static bool perf_system(struct scan *scan)
{
	const char *colon = NULL;

	for (const char *at = scan->at; at < scan->end && (isalnum((unsigned char)*at) || strchr("_-:", *at)); at++) {
		if (*at != ':')
			continue;
		if (colon) {
			scan->at = colon + 1;
			return at > colon + 1 && (at + 1 == scan->end || at[1] == ' ');
		}
		colon = at;
	}
	return false;
}

/* Reads "  62/63   [001] 12.345678:   sched:sched_switch: " behind the task's name; the first number is the process. */
static bool perf_rest(struct scan *scan, struct head *head)
{
	uint64_t pid, tgid = 0, cpu;

	blanks(scan);
	if (!number(scan, INT_MAX, &pid))
		return false;
	if (accept(scan, "/")) {
		tgid = pid;
		if (!number(scan, INT_MAX, &pid))
			return false;
	}
	if (!accept(scan, " "))
		return false;
	blanks(scan);
	if (!accept(scan, "[") || !number(scan, HEAD_CPU_MAX - 1, &cpu) || !accept(scan, "] "))
		return false;
	blanks(scan);
	if (!seconds(scan, head) || !head->has_unit)
		return false;
	blanks(scan);
	if (!perf_system(scan))
		return false;
	head->pid = (int32_t)pid;
	head->tgid = (int32_t)tgid;
	head->has_tgid = tgid;
	head->cpu = (uint32_t)cpu;
	head->is_perf = true;
	return true;
}

static bool digits(const char *at, const char *end)
{
	while (at < end && is_digit(*at))
		at++;
	return at == end;
}

/* The name may have blanks and digits itself. */
static bool perf(struct scan scan, struct head *ret)
{
	for (const char *at = scan.at; at < scan.end && at - scan.at < COMM_WIDTH; at++) {
		struct head head = { .comm = scan.at, .comm_len = (size_t)(at - scan.at) };
		struct scan rest = { at, scan.end };

		if (*at != ' ' || !perf_rest(&rest, &head))
			continue;
		/* ":62" stands for the name of task 62, which perf does not know. */
		if (*head.comm == ':' && digits(head.comm + 1, at)) {
			head.comm = "<...>";
			head.comm_len = 5;
		}
		head.body = rest.at;
		head.body_len = (size_t)(rest.end - rest.at);
		*ret = head;
		return true;
	}
	return false;
}

bool head_parse(const char *line, size_t len, struct head *ret)
{
	struct scan scan = { line, line + len };

	blanks(&scan);
	/* A task's name may contain a dash, too. It ends at the first dash that is followed by a valid rest. */
	for (const char *dash = scan.at; dash < scan.end && dash - scan.at < HEAD_MAX; dash++) {
		struct head head = { .comm = scan.at, .comm_len = (size_t)(dash - scan.at) };
		struct scan rest = { dash, scan.end };

		if (*dash != '-')
			continue;
		if (!plain_rest(&rest, &head)) {
			head = (struct head){ .comm = scan.at, .comm_len = (size_t)(dash - scan.at) };
			rest.at = dash;
			if (!latency_rest(&rest, &head))
				continue;
		}
		if (!cut_comm(&head))
			continue;
		head.body = rest.at;
		head.body_len = (size_t)(rest.end - rest.at);
		*ret = head;
		return true;
	}
	return (memmem(line, len, " (+", 3) && verbose(scan, ret)) || (memchr(line, '[', len) && perf(scan, ret));
}

const char *head_next(const struct head *head)
{
	const char *end = head->body + head->body_len;
	struct head next;

	if (head->is_latency || head->is_perf)
		return NULL;
	for (const char *dash = head->body + COMM_WIDTH; dash < end; dash++) {
		const char *at = dash - COMM_WIDTH;

		if (*dash != '-' || !head_parse(at, (size_t)(end - at), &next))
			continue;
		if (next.comm + next.comm_len == dash && !next.is_latency && !next.is_perf &&
		    next.has_flags == head->has_flags && next.has_tgid == head->has_tgid &&
		    next.nr_flags == head->nr_flags && next.pid_width == head->pid_width && next.ts >= head->ts)
			return at;
	}
	return NULL;
}
