// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/syscalls_trace_internal.h"

#include "lib/base/out.h"
#include "lib/event/context.h"
#include "lib/event/event.h"
#include "lib/event/place.h"
#include "lib/event/types.h"
#include "lib/schema/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STRING_SHOWN = 256, NUMBER_SHOWN = 1 << 20 };

void syscalls_trace_init(struct syscalls_trace *trace, bool failures)
{
	*trace = (struct syscalls_trace){ .task = SYSCALLS_NOBODY, .failures = failures };
	u64_map_init(&trace->held, sizeof(char *));
}

void syscalls_trace_release(struct syscalls_trace *trace)
{
	size_t at = 0;
	uint64_t key;
	char **text;

	while ((text = u64_map_next(&trace->held, &at, &key)))
		free(*text);
	u64_map_release(&trace->held);
	buf_release(&trace->line);
}

void syscalls_trace_break(struct syscalls_trace *trace, struct out *out)
{
	if (trace->task == SYSCALLS_NOBODY)
		return;
	out_mem(out, trace->line.data, trace->line.len);
	out_str(out, " <unfinished ...>\n");
	trace->task = SYSCALLS_NOBODY;
}

static bool add_who(struct buf *line, const struct syscalls_who *who)
{
	char text[48];

	snprintf(text, sizeof(text), "%.16s-%" PRId32, *who->comm ? who->comm : "<...>", who->pid);
	return buf_addf(line, "%8" PRIu64 ".%09" PRIu64 " %3" PRIu32 "  %-20s ", who->at / 1000000000,
			who->at % 1000000000, who->cpu, text);
}

/* Small numbers are mostly counts and descriptors, so they are decimal; large ones are addresses and bits. */
static bool add_number(struct buf *line, uint64_t value)
{
	if ((int64_t)value > -NUMBER_SHOWN && (int64_t)value < NUMBER_SHOWN)
		return buf_addf(line, "%" PRId64, (int64_t)value);
	/* A negative int, such as AT_FDCWD. */
	if (value <= UINT32_MAX && (int32_t)value < 0 && (int32_t)value >= -4096)
		return buf_addf(line, "%" PRId32, (int32_t)value);
	return buf_addf(line, "0x%" PRIx64, value);
}

static bool add_string(struct buf *line, const char *text, size_t len)
{
	bool ok = buf_add_str(line, "\""), cut = len > STRING_SHOWN;

	for (size_t i = 0; ok && i < (cut ? STRING_SHOWN : len); i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '"' || c == '\\')
			ok = buf_addf(line, "\\%c", c);
		else if (c == '\n')
			ok = buf_add_str(line, "\\n");
		else
			ok = c < ' ' || c >= 127 ? buf_addf(line, "\\%o", c) : buf_add(line, &c, 1);
	}
	return ok && buf_add_str(line, cut ? "\"..." : "\"");
}

static bool has_word(const char *text, const char *const *words)
{
	for (size_t i = 0; words[i]; i++)
		if (strstr(text, words[i]))
			return true;
	return false;
}

/* Arguments are stored as longs. The C type says how many of their bits count. */
static bool add_typed(struct buf *line, const struct field *field, uint64_t value)
{
	static const char *const bits[] = { "flags", "mask", "prot", "addr", NULL };
	static const char *const ints[] = { "int",   "pid_t", "uid_t", "gid_t",   "clockid_t",
					    "key_t", "u32",   "s32",   "timer_t", NULL };
	bool unsigned_type = has_word(field->type, (const char *const[]){ "unsigned", "size_t", "u32", "u64", "uid_t",
									  "gid_t", NULL });

	if (field->flags & FIELD_POINTER)
		return value ? buf_addf(line, "0x%" PRIx64, value) : buf_add_str(line, "NULL");
	if (strstr(field->type, "umode_t") || !strcmp(field->name, "mode"))
		return buf_addf(line, "0%" PRIo64, value & UINT16_MAX);
	if (has_word(field->type, ints))
		value = unsigned_type ? (uint32_t)value : (uint64_t)(int64_t)(int32_t)value;
	if (has_word(field->name, bits))
		return buf_addf(line, value ? "0x%" PRIx64 : "%" PRIx64, value);
	/* Constants such as AT_FDCWD are negative, even if the argument is declared as unsigned. */
	if (!unsigned_type || (uint32_t)value >= (uint32_t)-4096)
		return buf_addf(line, "%" PRId64, unsigned_type ? (int64_t)(int32_t)value : (int64_t)value);
	return buf_addf(line, "%" PRIu64, value);
}

/*
 * Gets the kernel's copy of a string to which an argument points. Since 6.19 the copy is a field of its own behind the
 * arguments.
 */
static bool copied(const struct event *event, const char *name, const char **ret, size_t *ret_len)
{
	const uint8_t *bytes;
	struct place place;
	char data[80];

	snprintf(data, sizeof(data), "__%s_val", name);
	/* A copy of length 0, without even the end of a string, means that the string could not be read. */
	return place_find(&place, event->type, data) && place_bytes(&place, event, &bytes, ret_len) && *ret_len &&
	       place_string(&place, event, ret, ret_len);
}

static bool add_args(struct buf *line, const struct event *event)
{
	const struct format *format = event->type->format;
	bool ok = true;

	for (uint32_t i = format->nr_common + 1; ok && i < format->nr_fields; i++) {
		const struct field *field = &format->fields[i];
		struct place place = place_of(field, &event->type->context->abi);
		const char *text;
		size_t len;

		if (field->flags & FIELD_DYNAMIC)
			break;
		ok = i == format->nr_common + 1 || buf_add_str(line, ", ");
		ok = ok && buf_addf(line, "%s: ", field->name);
		if (ok && copied(event, field->name, &text, &len))
			ok = add_string(line, text, len);
		else if (ok)
			ok = add_typed(line, field, place_u64(&place, event));
	}
	return ok;
}

static bool add_raw_args(struct buf *line, const struct event *event)
{
	struct place place;
	uint64_t value;
	bool ok = true;

	if (!place_find(&place, event->type, "args"))
		return true;
	for (size_t i = 0; ok && place_element(&place, event, i, &value); i++)
		ok = (!i || buf_add_str(line, ", ")) && add_number(line, value);
	return ok;
}

/* Keeps the line until its call ends. */
static bool hold(struct syscalls_trace *trace, uint32_t task)
{
	char **text = u64_map_add(&trace->held, task);

	if (!text)
		return false;
	free(*text);
	*text = strdup(buf_str(&trace->line));
	return *text;
}

/* Makes the kept line of a task the present one; there is none if its call began before the start. */
static void resume(struct syscalls_trace *trace, uint32_t task)
{
	char **text = u64_map_find(&trace->held, task);

	trace->task = SYSCALLS_NOBODY;
	if (!text)
		return;
	buf_clear(&trace->line);
	if (*text && buf_add_str(&trace->line, *text))
		trace->task = task;
	free(*text);
	u64_map_remove(&trace->held, task);
}

bool syscalls_trace_enter(struct syscalls_trace *trace, struct out *out, const struct syscalls_who *who,
			  const char *name, const struct event *event, bool raw)
{
	struct buf *line = &trace->line;

	syscalls_trace_break(trace, out);
	buf_clear(line);
	if (!add_who(line, who) || !buf_addf(line, "%s(", name) ||
	    !(raw ? add_raw_args(line, event) : add_args(line, event)) || !buf_add_str(line, ")"))
		return false;
	if (trace->failures)
		return hold(trace, who->task);
	trace->task = who->task;
	return true;
}

static void put_seconds(struct out *out, const char *before, uint64_t ns)
{
	out_f(out, "%s%" PRIu64 ".%09" PRIu64, before, ns / 1000000000, ns % 1000000000);
}

static void put_result(struct out *out, const struct syscalls_end *end)
{
	if (end->restarts)
		out_f(out, " = ? %s", end->error ? end->error : "");
	else if (end->error)
		out_f(out, " = -1 %s", end->error);
	else if (end->returned > INT32_MAX || end->returned < INT32_MIN)
		out_f(out, " = 0x%" PRIx64, (uint64_t)end->returned);
	else
		out_f(out, " = %" PRId64, end->returned);
	if (end->known) {
		put_seconds(out, " <", end->lasted);
		if (end->split && end->blocked)
			put_seconds(out, ", blocked ", end->blocked);
		if (end->split && end->waiting)
			put_seconds(out, ", waiting ", end->waiting);
		out_char(out, '>');
	}
	out_char(out, '\n');
}

void syscalls_trace_exit(struct syscalls_trace *trace, struct out *out, const struct syscalls_who *who,
			 const char *name, const struct syscalls_end *end)
{
	struct buf *line = &trace->line;

	if (trace->failures) {
		resume(trace, who->task);
		if (!end->error || end->restarts) {
			trace->task = SYSCALLS_NOBODY;
			return;
		}
	}
	if (trace->task != who->task || !end->known) {
		if (!trace->failures)
			syscalls_trace_break(trace, out);
		buf_clear(line);
		if (!add_who(line, who))
			return;
		buf_addf(line, "<... %s resumed>", name);
	}
	trace->task = SYSCALLS_NOBODY;
	out_mem(out, line->data, line->len);
	put_result(out, end);
}
