// SPDX-License-Identifier: LGPL-2.1-or-later
#include <ctype.h>
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "lib/files/import/graph_internal.h"
#include "lib/files/import/head_internal.h"
#include "lib/files/import/import_internal.h"
#include "lib/files/import/kinds_internal.h"
#include "lib/files/import/known_internal.h"
#include "lib/files/import/names_internal.h"
#include "lib/files/import/records_internal.h"
#include "lib/files/import/syscall_internal.h"
#include "lib/files/import/unknown_lines.h"
#include "lib/files/rewrite/binder.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/bytes.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/pages/ring/page.h"

/* Reads what kernel/trace/trace_output.c prints: trace_hwlat_print(), trace_osnoise_print(), and so on. */

enum { TEXT = 512, NAME = 200 };

/* Whether the text is what this prints; nothing else is taken, so that the line comes back as it was. */
#define IS(text, ...)                                                                                           \
	({                                                                                                      \
		char again[TEXT];                                                                               \
		(size_t) snprintf(again, sizeof(again), __VA_ARGS__) < sizeof(again) && !strcmp(again, (text)); \
	})

static bool take_hwlat(const struct records *make, const char *text)
{
	unsigned long long inner, outer, seconds, nanoseconds, nmi_total = 0;
	unsigned number, count = 0, nmi_count = 0;
	char tail[TEXT] = "", nmi[64] = "";
	int end = 0;

	if (sscanf(text, "#%10u inner/outer(us): %19llu/%19llu ts:%19llu.%9llu%n", &number, &inner, &outer, &seconds,
		   &nanoseconds, &end) != 5 ||
	    !end)
		return false;
	if (sscanf(text + end, " count:%9u", &count) == 1)
		snprintf(tail, sizeof(tail), " count:%u", count);
	/* It prints no number that is 0, and a total with a count only. */
	if (strstr(text + end, " nmi-total:") &&
	    sscanf(strstr(text + end, " nmi-total:"), " nmi-total:%19llu", &nmi_total) == 1 && nmi_total)
		snprintf(nmi, sizeof(nmi), " nmi-total:%llu", nmi_total);
	if (strstr(text + end, " nmi-count:") &&
	    sscanf(strstr(text + end, " nmi-count:"), " nmi-count:%9u", &nmi_count) == 1 && nmi_count)
		snprintf(nmi + strlen(nmi), sizeof(nmi) - strlen(nmi), " nmi-count:%u", nmi_count);
	if ((nmi_total && !nmi_count) || !IS(text, "#%-5u inner/outer(us): %4llu/%-5llu ts:%llu.%09llu%s%s", number,
					     inner, outer, seconds, nanoseconds, tail, nmi))
		return false;
	/* Kernels before 5.8 have no count. */
	if (!tail[0])
		return records_numbers(make, "ftrace", "hwlat",
				       "u64 duration;u64 outer_duration;u64 nmi_total_ts;u64 tv_sec;u64 tv_nsec;"
				       "u32 nmi_count;u32 seqnum",
				       (const uint64_t[]){ inner, outer, nmi_total, seconds, nanoseconds, nmi_count,
							   number });
	return records_numbers(make, "ftrace", "hwlat",
			       "u64 duration;u64 outer_duration;u64 nmi_total_ts;u64 tv_sec;u64 tv_nsec;"
			       "u32 nmi_count;u32 seqnum;u32 count",
			       (const uint64_t[]){ inner, outer, nmi_total, seconds, nanoseconds, nmi_count, number,
						   count });
}

static bool take_osnoise(const struct records *make, const char *text)
{
	unsigned long long runtime, noise, whole, part, sample, ratio;
	unsigned hw, nmi, irq, softirq, thread;

	if (sscanf(text, "%19llu %19llu %9llu.%9llu %19llu %9u %9u %9u %9u %9u", &runtime, &noise, &whole, &part,
		   &sample, &hw, &nmi, &irq, &softirq, &thread) != 10 ||
	    !(uint32_t)runtime || noise > runtime)
		return false;
	ratio = (runtime - noise) * 10000000 / (uint32_t)runtime;
	return IS(text, "%llu %10llu %3llu.%05llu %7llu %6u %6u %6u %6u %6u", runtime, noise, ratio / 100000,
		  ratio % 100000, sample, hw, nmi, irq, softirq, thread) &&
	       records_numbers(make, "ftrace", "osnoise",
			       "u64 noise;u64 runtime;u64 max_sample;u32 hw_count;u32 nmi_count;u32 irq_count;"
			       "u32 softirq_count;u32 thread_count",
			       (const uint64_t[]){ noise, runtime, sample, hw, nmi, irq, softirq, thread });
}

static bool take_timerlat(const struct records *make, const char *text)
{
	static const char *const contexts[] = { "irq", "thread", "user-ret" };
	char name[16];
	unsigned number;
	unsigned long long latency;

	if (sscanf(text, "#%10u context %15s timer_latency %19llu ns", &number, name, &latency) != 3)
		return false;
	for (uint64_t i = 0; i < array_size(contexts); i++)
		if (!strcmp(name, contexts[i]))
			return IS(text, "#%-5u context %6s timer_latency %9llu ns", number, name, latency) &&
			       records_numbers(make, "ftrace", "timerlat", "u32 seqnum;int context;u64 timer_latency",
					       (const uint64_t[]){ number, i, latency });
	return false;
}

/* task_index_to_char(), include/linux/sched.h; '?' is any other number (trace_find_state()). */
static bool state_of(char c, uint64_t *ret)
{
	static const char states[] = "RSDTtXZPI?";
	const char *at = c ? strchr(states, c) : NULL;

	*ret = at ? (uint64_t)(at - states) : 0;
	return at;
}

/* trace_ctxwake_print(): "      0:120:R   + [000]      21:  0:R tick/0" wakes, "==>" switches. */
static bool tracers_take_switch(const struct records *make, const char *text)
{
	int prev_pid, prev_prio, next_pid, next_prio, end = 0;
	unsigned cpu;
	char prev_state, next_state, arrow[8], name[NAME] = "";
	uint64_t prev, next;
	bool wakes;

	if (sscanf(text, "%10d:%10d:%c %7s [%9u] %10d:%10d:%c %n", &prev_pid, &prev_prio, &prev_state, arrow, &cpu,
		   &next_pid, &next_prio, &next_state, &end) != 8)
		return false;
	wakes = !strcmp(arrow, "+");
	if ((!wakes && strcmp(arrow, "==>")) || !state_of(prev_state, &prev) || !state_of(next_state, &next))
		return false;
	if (end && strlen(text + end) < sizeof(name))
		memcpy(name, text + end, strlen(text + end) + 1);
	if (!IS(text, " %7d:%3d:%c %3s [%03u] %7d:%3d:%c %s", prev_pid, prev_prio, prev_state, wakes ? "+" : "==>", cpu,
		next_pid, next_prio, next_state, name) &&
	    !IS(text, " %5d:%3d:%c %3s [%03u] %5d:%3d:%c %s", prev_pid, prev_prio, prev_state, wakes ? "+" : "==>", cpu,
		next_pid, next_prio, next_state, name))
		return false;
	if (prev_prio < 0 || prev_prio > UINT8_MAX || next_prio < 0 || next_prio > UINT8_MAX)
		return false;
	/* __trace_find_cmdline(): these have no other name. */
	if (next_pid <= 0 && strcmp(name, next_pid ? "<XXX>" : "<idle>") != 0)
		return false;
	if (!import_names_task(make->names, next_pid, name, strlen(name), 0))
		return false;
	return records_numbers(make, "ftrace", wakes ? "wakeup" : "context_switch",
			       "u32 prev_pid;u32 next_pid;u32 next_cpu;u8 prev_prio;u8 prev_state;u8 next_prio;"
			       "u8 next_state",
			       (const uint64_t[]){ (uint32_t)prev_pid, (uint32_t)next_pid, cpu, (uint64_t)prev_prio,
						   prev, (uint64_t)next_prio, next });
}

/* trace_func_repeats_print(): "a <-b (repeats: 3, last_ts:    12.345678)" */
static bool take_repeats(const struct records *make, const char *text, uint64_t ts)
{
	const char *open = strstr(text, " (repeats: "), *arrow = strstr(text, " <-");
	unsigned long long seconds, us, last;
	unsigned count;
	uint64_t ip, parent = 0;

	if (!open || sscanf(open, " (repeats: %9u, last_ts: %10llu.%6llu)", &count, &seconds, &us) != 3)
		return false;
	last = (seconds * 1000000 + us) * 1000;
	if (last > ts || (ts - last) >> 48 || count > UINT16_MAX ||
	    !IS(open, " (repeats: %u, last_ts: %5llu.%06llu)", count, seconds, us))
		return false;
	arrow = arrow && arrow < open ? arrow : NULL;
	ip = records_address(make, text, (size_t)((arrow ? arrow : open) - text));
	if (arrow)
		parent = records_address(make, arrow + 3, (size_t)(open - arrow - 3));
	if (!ip || (arrow && !parent))
		return false;
	return records_numbers(make, "ftrace", "func_repeats",
			       "u64 ip;u64 parent_ip;u16 count;u16 top_delta_ts;u32 bottom_delta_ts",
			       (const uint64_t[]){ ip, parent, count, (ts - last) >> 32, (uint32_t)(ts - last) });
}

/*
 * Makes the record of a line that a tracer printed by code of its own: hwlat, osnoise, timerlat, the switches and
 * wakeups of the tracers wakeup and wakeup_rt, repeated functions (func-no-repeats), raw data of trace_marker_raw. The
 * text is head->body. Returns false for any other line, and for one that the record would not print again.
 */
static bool tracers_take(const struct records *make, const struct head *head)
{
	char text[TEXT];

	if (!head->body_len || head->body_len >= sizeof(text) || memchr(head->body, '\0', head->body_len))
		return false;
	memcpy(text, head->body, head->body_len);
	text[head->body_len] = '\0';
	if (*text == '#')
		return take_hwlat(make, text) || take_timerlat(make, text);
	if (*text >= '0' && *text <= '9' && take_osnoise(make, text))
		return true;
	if (*text == ' ' && tracers_take_switch(make, text))
		return true;
	return text[head->body_len - 1] == ')' && take_repeats(make, text, head->ts);
}

/* Whether the text is a name, maybe with more behind it, and not a number of 2.6-rt, which is bare hex. */
static bool is_name(const char *at, const char *end)
{
	const char *word = at;

	while (word < end && *word != '+' && *word != ' ')
		word++;
	if (at == word || (*at >= '0' && *at <= '9') ||
	    (word < end && *word == ' ' && word + 1 < end && word[1] != '<'))
		return false;
	for (const char *c = at; c < word; c++)
		if (!strchr("0123456789abcdef", *c))
			return true;
	return word - at != 8 && word - at != 16;
}

/* Makes the record of a function of 2.6-rt, "a (b)", also with offsets and addresses. */
static bool tracers_take_old(const struct records *make, const struct head *head)
{
	const char *end = head->body + head->body_len, *open = memmem(head->body, head->body_len, " (", 2);
	char text[TEXT];
	struct head now = *head;

	if (!open || end[-1] != ')' || !is_name(head->body, open) || !is_name(open + 2, end - 1))
		return false;
	now.body = text;
	now.body_len = (size_t)snprintf(text, sizeof(text), "%.*s <-%.*s", (int)(open - head->body), head->body,
					(int)(end - 1 - open - 2), open + 2);
	return now.body_len < sizeof(text) && records_function(make, &now);
}

enum { HEX_MAX = 16 };

/* A part of a line. */
struct part {
	const char *at;
	size_t len;
};

static bool begins(struct part part, const char *text)
{
	return part.len >= strlen(text) && !memcmp(part.at, text, strlen(text));
}

/* Takes the address at the beginning. */
static bool take_address(struct part *part, uint64_t *ret)
{
	size_t len = 0;

	for (*ret = 0; len < part->len && isxdigit((unsigned char)part->at[len]); len++) {
		char c = part->at[len];

		if (len == HEX_MAX || isupper((unsigned char)c))
			return false;
		*ret = *ret << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	*part = (struct part){ part->at + len, part->len - len };
	return len && begins(*part, " ");
}

/* Takes " ([kernel.kallsyms])" off the end. */
static struct part take_file(struct part *part)
{
	const char *end = part->at + part->len, *open = part->len && end[-1] == ')' ? part->at : NULL, *last = NULL;
	struct part file = { NULL, 0 };

	while (open && (open = memmem(open, (size_t)(end - open), " (", 2)))
		last = open++;
	if (!last)
		return file;
	file = (struct part){ last + 2, (size_t)(end - last - 3) };
	part->len = (size_t)(last - part->at);
	return file;
}

/* The name of a module: "[ext4]", or "/lib/modules/6.1.0/kernel/fs/ext4/ext4.ko.xz". */
static struct part module_of(struct part file)
{
	const char *slash = file.len ? memrchr(file.at, '/', file.len) : NULL, *ko;

	if (begins(file, "[kernel.") || begins(file, "[guest.kernel"))
		return (struct part){ NULL, 0 };
	if (begins(file, "[") && file.len > 2 && file.at[file.len - 1] == ']')
		return (struct part){ file.at + 1, file.len - 2 };
	ko = slash ? memmem(slash, (size_t)(file.at + file.len - slash), ".ko", 3) : NULL;
	return ko ? (struct part){ slash + 1, (size_t)(ko - slash - 1) } : (struct part){ NULL, 0 };
}

static bool add_kernel(struct part name, struct part file, uint64_t address, struct buf *ret)
{
	const char *plus = name.len ? memmem(name.at, name.len, "+0x", 3) : NULL;
	struct part module = module_of(file);

	if (begins(name, "[unknown]"))
		return buf_addf(ret, " => 0x%" PRIx64, address);
	if (plus)
		name.len = (size_t)(plus - name.at);
	if (!buf_add_str(ret, " => ") || !buf_add(ret, name.at, name.len))
		return false;
	if (!module.len)
		return true;
	if (!buf_add_str(ret, " ["))
		return false;
	/* The kernel's names of modules have no "-". */
	for (size_t i = 0; i < module.len; i++)
		if (!buf_add(ret, module.at[i] == '-' ? "_" : &module.at[i], 1))
			return false;
	return buf_add_str(ret, "]");
}

/*
 * Makes the kernel's line of a stack, " => vfs_read" or " =>  <00007f3cd1dc35e0>", of one of perf script:
 * "	ffffffff8122ecb9 vfs_read+0x19 ([kernel.kallsyms])". The kernel's line has no offset, and no name of a program's
 * function. *ret_user: the caller is one of a program. Returns false if it is none, or when memory runs out.
 */
static bool perf_caller(const char *line, size_t len, struct buf *ret, bool *ret_user)
{
	struct part name = { line, len }, file;
	uint64_t address;

	while (name.len && text_is_blank(*name.at))
		name = (struct part){ name.at + 1, name.len - 1 };
	while (name.len && text_is_blank(name.at[name.len - 1]))
		name.len--;
	if (name.at == line || !take_address(&name, &address))
		return false;
	name = (struct part){ name.at + 1, name.len - 1 };
	file = take_file(&name);
	if (!name.len)
		return false;
	*ret_user = !(address >> 63) && !begins(file, "[kernel.") && !memmem(file.at ?: "", file.len, ".ko", 3);
	buf_clear(ret);
	return *ret_user ? buf_addf(ret, " =>  <%016" PRIx64 ">", address) : add_kernel(name, file, address, ret);
}

enum { TIES_MAX = 400 };

/*
 * The text has microseconds. Lines of the same microsecond get times a nanosecond apart, which round to the same text.
 */
static uint64_t time_of(struct import *import, const struct head *head)
{
	uint64_t ts, clock = import->clock[head->cpu];

	if (head->is_placed)
		return head->ts;
	import->until = 0;
	if (head->is_latency && head->mark)
		import->until = (uint64_t)rounding_of(head, column_layout_has_old_marks(&import->shape)).until_min;
	if (!head->has_unit || head->ts != import->last || head->ts % 1000) {
		import->last = head->ts;
		import->ties = 0;
	} else if (import->ties < TIES_MAX) {
		import->ties++;
	}
	ts = head->ts + import->ties;
	/* A function of the graph may have ended in the same microsecond: then the time does not go back. */
	return head->has_unit && ts < clock && clock - head->ts < 1000 ? clock : ts;
}

int events_give_up(struct import *import, struct fail *fail)
{
	import->counts.unknown += import->waiting.guesses;
	import_graph_give_up(&import->graph);
	memset(import->waits, 0, sizeof(import->waits));
	return join_lines_end(&import->waiting, JOIN_LINES_ALL, GRAPH_UNKNOWN_PID, import->binder, fail);
}

static int bind(struct import *import, const struct head *head, const struct record *record, struct fail *fail)
{
	int64_t lost = import->lost[head->cpu];

	import->lost[head->cpu] = 0;
	import->counts.backwards += head->has_unit && record->ts < import->clock[head->cpu];
	import->clock[head->cpu] = record->ts > import->clock[head->cpu] ? record->ts : import->clock[head->cpu];
	if (!import->waits[head->cpu])
		return binder_add(import->binder, head->cpu, record, lost, fail);
	if (!join_lines_add(&import->waiting, head->cpu, record, lost, head->is_guess))
		return fail_memory(fail);
	return import->waiting.bytes.len > JOIN_LINES_MAX ? events_give_up(import, fail) : 0;
}

/* Adds a record that is complete except for what the line's head contains. */
static int put(struct import *import, const struct head *head, struct fail *fail)
{
	uint32_t pid = htole32((uint32_t)head->pid);
	struct record record = { .data = (const uint8_t *)import->record.data };
	int r;

	import->record.data[2] = (char)head->flags;
	import->record.data[3] = (char)head->preempt_count;
	if (head->has_lazy && import_kinds_common(import->kinds) > 8)
		import->record.data[8] = (char)head->lazy_count;
	memcpy(import->record.data + 4, &pid, sizeof(pid));
	while (import->record.len % 4)
		if (!buf_add(&import->record, "", 1))
			return fail_memory(fail);
	record.data = (const uint8_t *)import->record.data;
	record.len = (uint32_t)import->record.len;
	record.ts = time_of(import, head);
	if (!import_names_task(&import->names, head->pid, head->comm, head->comm_len, head->tgid))
		return fail_memory(fail);
	column_layout_event(&import->shape, head);
	r = bind(import, head, &record, fail);
	import->counts.events += !r;
	return r;
}

/* Returns how long the name before ": " is; 0 if there is none. */
static size_t name_len(const char *text, size_t text_len)
{
	const char *colon = memchr(text, ':', text_len);
	size_t len = colon ? (size_t)(colon - text) : 0;

	if (!len || text_len - len < 2 || colon[1] != ' ')
		return 0;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '_')
			return 0;
	return len;
}

static struct records records_of(struct import *import)
{
	return (struct records){
		.kinds = import->kinds, .names = &import->names, .shape = &import->shape, .record = &import->record
	};
}

/* Makes the record of an event again with the lines that go on it. */
static bool end_event(struct import *import)
{
	struct buf *text = &import->mark;
	const struct records make = records_of(import);
	size_t len = name_len(text->data, text->len);
	bool whole, known;

	if (!import->more.len)
		return true;
	if (!buf_add(text, import->more.data, import->more.len))
		return false;
	buf_clear(&import->more);
	return (len && !import_kinds_record(import->kinds, text->data, len, text->data + len + 2, text->len - len - 2,
					    &import->record, &whole, &known)) ||
	       records_line(&make, text->data, text->len);
}

/* The open record is complete: makes it. */
static bool end_open(struct import *import, enum import_open open)
{
	const struct records make = records_of(import);

	switch (open) {
	case OPEN_NOTHING:
	case OPEN_EXIT:
		return true;
	case OPEN_EVENT:
		return end_event(import);
	case OPEN_MARK:
		return records_mark(&make, import->open_ip, &import->mark);
	case OPEN_STACK:
		return records_stack(&make, &import->mark);
	case OPEN_USER_STACK:
		return records_user_stack(&make, import->open.tgid, &import->mark);
	case OPEN_USER_LINES:
		return records_line(&make, import->mark.data, import->mark.len);
	}
	return false;
}

int events_close(struct import *import, struct fail *fail)
{
	enum import_open open = import->is_open;

	import->is_open = OPEN_NOTHING;
	if (open == OPEN_NOTHING)
		return 0;
	if (!end_open(import, open))
		return fail_memory(fail);
	return put(import, &import->open, fail);
}

/* Whether the line is one of a trace marker of several lines. */
static bool continues_mark(const struct import *import, const char *line, size_t len)
{
	return import->is_open == OPEN_MARK && import->shape.has_header &&
	       unknown_lines_kind_of(line, len) != UNKNOWN_LINES_EVENT;
}

/* "[...]", or a line of dashes, stands for what was left out. */
static bool has_words(const char *line, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (isalnum((unsigned char)line[i]))
			return true;
	return !len;
}

/* Whether the line may be one of an event of several lines. */
static bool continues_event(struct import *import, const char *line, size_t len)
{
	struct buf *more = &import->more;

	if (unknown_lines_kind_of(line, len) != UNKNOWN_LINES_OTHER || !has_words(line, len) ||
	    import->mark.len + more->len + len + 1 > IMPORT_MARK_MAX)
		return false;
	if (!more->len)
		import->more_line = import->counts.lines;
	return buf_add(more, "\n", 1) && buf_add(more, line, len);
}

void events_end(struct import *import)
{
	const char *at = import->more.data, *end = at ? at + import->more.len : NULL;

	for (uint64_t number = import->more_line; at < end; number++) {
		const char *line = at + 1;

		at = memchr(line, '\n', (size_t)(end - line)) ?: end;
		if (at > line)
			unknown_lines_add(&import->counts.told, number, line, (size_t)(at - line));
	}
	buf_clear(&import->more);
}

/*
 * The stack of a program with the names of files (sym-userobj) is kept as its text: where the files were in memory is
 * not known.
 */
static bool go_on_lines(struct import *import, const char *line, size_t len)
{
	static const char title[] = "<user stack trace>";
	cleanup_buf struct buf text = BUF_INIT;

	if (import->is_open == OPEN_USER_STACK) {
		if (!buf_add_str(&text, title))
			return false;
		for (size_t i = 0; i < import->mark.len; i += sizeof(uint64_t)) {
			uint64_t address;

			memcpy(&address, import->mark.data + i, sizeof(address));
			if (!buf_addf(&text, "\n =>  <%016" PRIx64 ">", le64toh(address)))
				return false;
		}
		buf_clear(&import->mark);
		if (!buf_add(&import->mark, text.data, text.len))
			return false;
		import->is_open = OPEN_USER_LINES;
		import->counts.whole++;
	}
	return (records_is_object(line, len) || records_user_caller(line, len, &text)) &&
	       import->mark.len + len + 1 <= IMPORT_MARK_MAX && buf_add(&import->mark, "\n", 1) &&
	       buf_add(&import->mark, line, len);
}

bool events_go_on(struct import *import, const char *line, size_t len)
{
	const struct records make = records_of(import);
	size_t kept = import->mark.len;

	if (continues_mark(import, line, len)) {
		import->open_is_full |= kept + len + 1 > IMPORT_MARK_MAX;
		if (import->open_is_full) {
			unknown_lines_add_as(&import->counts.told, UNKNOWN_LINES_LONG, import->counts.lines, line, len);
			return true;
		}
		if (import->open.is_placed && len >= 3 && !memcmp(line + len - 3, " */", 3))
			len -= 3;
		return buf_add(&import->mark, "\n", 1) && buf_add(&import->mark, line, len);
	}
	if (import->is_open == OPEN_EVENT)
		return continues_event(import, line, len);
	if (import->is_open == OPEN_USER_LINES || (import->is_open == OPEN_USER_STACK && records_is_object(line, len)))
		return go_on_lines(import, line, len);
	if (kept + sizeof(uint64_t) > IMPORT_MARK_MAX)
		return false;
	if (import->is_open == OPEN_USER_STACK)
		return kept < RECORDS_USER_CALLERS * sizeof(uint64_t) && records_user_caller(line, len, &import->mark);
	return import->is_open == OPEN_STACK && records_caller(&make, line, len, &import->mark);
}

/*
 * Opens a record that the next line may continue. The texts of its head are saved, because they belong to this
 * line. Returns 1 if the text is too long.
 */
static int open_event(struct import *import, enum import_open what, const struct head *head, const char *text,
		      size_t len, struct fail *fail)
{
	if (len > IMPORT_MARK_MAX)
		return 1;
	import->open = *head;
	import->open_is_full = false;
	import->open.comm = NULL;
	import->open.comm_len = 0;
	import->open.body = "";
	import->open.body_len = 0;
	import->is_open = what;
	buf_clear(&import->mark);
	if (!import_names_task(&import->names, head->pid, head->comm, head->comm_len, head->tgid) ||
	    !buf_add(&import->mark, text, len))
		return fail_memory(fail);
	return 0;
}

static bool is_text(const struct head *head, const char *text)
{
	return head->body_len == strlen(text) && !memcmp(head->body, text, head->body_len);
}

/* Adds the record of an event, or keeps it open: only an event whose form is not known may have more lines. */
static int put_event(struct import *import, const struct head *head, bool known, struct fail *fail)
{
	if (known || !import->shape.has_header || import->had_prefix || head->is_placed)
		return put(import, head, fail);
	return open_event(import, OPEN_EVENT, head, head->body, head->body_len, fail);
}

/* Makes the record of an event with a name. Returns -E2BIG if there is none, or too many types. */
static int take_named(struct import *import, const struct head *head, struct fail *fail)
{
	size_t len = name_len(head->body, head->body_len);
	bool whole = false, known;
	int r;

	if (!len)
		return -E2BIG;
	r = import_kinds_record(import->kinds, head->body, len, head->body + len + 2, head->body_len - len - 2,
				&import->record, &whole, &known);
	if (r)
		return r == -E2BIG ? r : fail_memory(fail);
	import->counts.whole += whole;
	import->is_whole = known;
	import->broken = known ? NULL : known_named(head->body, len);
	return put_event(import, head, known, fail);
}

/* atrace writes once what the time of day is in ms. */
static void see_clock_sync(struct import *import, const struct head *head, const char *text, size_t len)
{
	static const char begin[] = "trace_event_clock_sync: realtime_ts=";
	size_t at = strlen(begin);
	uint64_t ms = 0;

	if (import->counts.clock_sync_ms || !head->has_unit || len <= at || memcmp(text, begin, at))
		return;
	for (; at < len && text[at] >= '0' && text[at] <= '9' && ms < UINT64_MAX / 10000000; at++)
		ms = 10 * ms + (uint64_t)(text[at] - '0');
	if (at < len)
		return;
	import->counts.clock_sync_at = head->ts;
	import->counts.clock_sync_ms = ms;
}

int events_take(struct import *import, const struct head *head, struct fail *fail)
{
	const struct records make = records_of(import);
	size_t mark = records_marker(&make, head->body, head->body_len, &import->open_ip);
	int r;

	import->is_whole = false;
	import->broken = NULL;
	if (mark)
		see_clock_sync(import, head, head->body + mark, head->body_len - mark);
	if (mark)
		return open_event(import, OPEN_MARK, head, head->body + mark, head->body_len - mark, fail);
	if (is_text(head, "<stack trace>"))
		return open_event(import, OPEN_STACK, head, "", 0, fail);
	if (is_text(head, "<user stack trace>"))
		return open_event(import, OPEN_USER_STACK, head, "", 0, fail);
	if (import_syscall(import->kinds, head->body, head->body_len, &import->record) ||
	    records_function(&make, head) || tracers_take(&make, head) ||
	    (import->shape.is_old && tracers_take_old(&make, head)))
		return put(import, head, fail);
	r = take_named(import, head, fail);
	if (r != -E2BIG)
		return r;
	/* In a function graph, a line that is no event has the text of a trace marker. */
	if (head->is_placed) {
		import->open_ip = import_names_symbol(&import->names, "tracing_mark_write", 18);
		return import->open_ip ? open_event(import, OPEN_MARK, head, head->body, head->body_len, fail) :
					 fail_memory(fail);
	}
	if (!records_line(&make, head->body, head->body_len))
		return 1;
	import->counts.whole++;
	return put_event(import, head, false, fail);
}

/*
 * A trace_printk() or trace_puts() without a newline: "FUNCTION: TEXT", and the head of the next event behind it. All
 * others print a newline, so a text of theirs only looks like that.
 */
bool events_take_unended(struct import *import, struct head *head, int *ret_err, struct fail *fail)
{
	const struct records make = records_of(import);
	size_t len = name_len(head->body, head->body_len);
	uint64_t ip;

	*ret_err = 0;
	if (!len || known_named(head->body, len) || records_marker(&make, head->body, head->body_len, &ip))
		return false;
	*ret_err = events_close(import, fail);
	if (*ret_err)
		return false;
	ip = import_names_symbol(&import->names, head->body, len);
	if (!ip || !records_printk(&make, ip, head->body + len + 2, head->body_len - len - 2))
		*ret_err = fail_memory(fail);
	else
		*ret_err = put(import, head, fail);
	return !*ret_err;
}

/* " =>  <0000000000000000>": a zero in a record ends its stack. */
static bool is_zero(const struct buf *caller)
{
	static const char text[] = " =>  <0000000000000000>";

	return caller->len == strlen(text) && !memcmp(caller->data, text, caller->len);
}

int events_take_perf_caller(struct import *import, const char *line, size_t len, struct fail *fail)
{
	struct head *head = &import->perf;
	enum import_open open;
	bool user;
	int r;

	if (!head->is_perf || !perf_caller(line, len, &import->caller, &user))
		return 1;
	open = user ? OPEN_USER_STACK : OPEN_STACK;
	if (import->perf_open != open) {
		head->body = user ? "<user stack trace>" : "<stack trace>";
		head->body_len = strlen(head->body);
		r = events_close(import, fail);
		r = r ? r : events_take(import, head, fail);
		if (r)
			return r;
		import->perf_open = open;
	}
	if (is_zero(&import->caller) || !events_go_on(import, import->caller.data, import->caller.len))
		unknown_lines_add_as(&import->counts.told, user ? UNKNOWN_LINES_DEEP : UNKNOWN_LINES_STACK,
				     import->counts.lines, line, len);
	return 0;
}

/* Adds the records of a line of a graph. An exit stays open, because the next line may have its overruns. */
static int put_calls(struct import *import, const struct graph_text *text, struct fail *fail)
{
	struct graph_call calls[GRAPH_CALLS_MAX];
	size_t nr = import_graph_calls(&import->graph, text, &import->names, calls);
	const struct records make = records_of(import);
	struct head head = text->head;
	int r = 0;

	/* The name is none of a function, or too much is behind it. */
	if (!nr || text->args_len > RECORDS_TEXT_MAX || text->note_len > RECORDS_TEXT_MAX)
		return 1;
	for (size_t i = 0; !r && i < nr; i++) {
		head.ts = calls[i].ts;
		if (!records_call(&make, &calls[i]))
			return fail_memory(fail);
		if (text->what == GRAPH_TEXT_EXIT) {
			import->open = head;
			import->is_open = OPEN_EXIT;
		} else {
			r = put(import, &head, fail);
		}
	}
	return r;
}

static int take_switch(struct import *import, const struct graph_text *text, struct fail *fail)
{
	int r = 0;

	if (!import_names_task_short(&import->names, text->head.pid, text->head.comm, text->head.comm_len) ||
	    !import_names_task_short(&import->names, text->next.pid, text->next.comm, text->next.comm_len))
		return fail_memory(fail);
	if (import_graph_switch(&import->graph, text) && import->waits[text->head.cpu]) {
		import->waits[text->head.cpu] = false;
		r = join_lines_end(&import->waiting, text->head.cpu, text->head.pid, import->binder, fail);
	}
	return r;
}

int events_take_graph(struct import *import, struct graph_text *text, struct fail *fail)
{
	struct head *head = &text->head;
	int r = 0;

	if (text->what == GRAPH_TEXT_NOTHING)
		return 0;
	import->shape.old_marks |= text->has_old_mark;
	import->shape.new_marks |= text->has_new_mark;
	if (!import->kinds)
		r = import_kinds_new(import->formats, head->has_lazy, &import->names, &import->kinds, fail);
	if (r)
		return r;
	if (text->what == GRAPH_TEXT_OVERRUN) {
		const struct records make = records_of(import);

		import->graph.overrun = true;
		if (import->is_open == OPEN_EXIT)
			records_overrun(&make, text->overrun);
		return 0;
	}
	r = events_close(import, fail);
	if (r)
		return r;
	if (text->what == GRAPH_TEXT_SWITCH)
		return take_switch(import, text, fail);
	if (text->has_task && !import_names_task_short(&import->names, head->pid, head->comm, head->comm_len))
		return fail_memory(fail);
	/* A line of the graph has no time of its own: it comes as late as the mark of the line before says. */
	head->is_guess =
		!import_graph_place(&import->graph, text, import->clock, import->last + import->ties + import->until);
	import->until = 0;
	import->waits[head->cpu] |= head->is_guess;
	head->is_placed = true;
	head->comm = NULL;
	head->comm_len = 0;
	import->last = head->ts - head->ts % 1000;
	import->ties = (unsigned)(head->ts % 1000);
	head->body = text->name;
	head->body_len = text->name_len;
	if (text->what == GRAPH_TEXT_COMMENT)
		r = events_take(import, head, fail);
	else
		r = put_calls(import, text, fail);
	return !r && import->graph.starved ? fail_memory(fail) : r;
}
