// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/syscalls/syscalls_trace_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/frame/pass.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/event/tasks.h"
#include "lib/meaning/event/types.h"
#include "lib/meaning/follow/files.h"
#include "lib/meaning/schema/format.h"
#include "lib/meaning/uapi/arguments.h"
#include "lib/meaning/uapi/call_argument.h"
#include "lib/meaning/uapi/descriptors.h"

enum { STRING_SHOWN = 256, NUMBER_SHOWN = 1 << 20, NAMES_SHOWN = 512 };

const char *syscalls_file(const struct event *event, int64_t fd)
{
	const struct context *context = event->type->context;
	uint32_t file;

	if (fd < 0 || fd > INT32_MAX || !files_are_known(context))
		return NULL;
	file = files_is(context, event->pid, (int32_t)fd, event->ts);
	return file == FILES_CLOSED ? NULL : files_text(context, file);
}

/* The name to which an argument of this call points, as the kernel copied it. NULL: unknown. */
static const char *given_name(const struct event *event, uint64_t pointer)
{
	return files_name(event->type->context, event->pid, pointer, event->ts);
}

/* What is looked up once for each call. */
struct traced_call {
	bool found;
	int nr; /* of a raw event: how many arguments it has; -1: that is not known */
	struct call_argument arguments[CALL_ARGUMENTS];
	const struct argument_set *sets[CALL_ARGUMENTS]; /* NULL: a number */
};

bool syscalls_trace_init(struct syscalls_trace *trace, const struct pass *pass, bool holds)
{
	*trace = (struct syscalls_trace){
		.task = SYSCALLS_NOBODY, .pass = pass, .machine = pass->machine, .holds = holds
	};
	u64_map_init(&trace->held, sizeof(char *));
	u64_map_init(&trace->calls, sizeof(struct traced_call));
	return out_init(&trace->names, NAMES_SHOWN);
}

void syscalls_trace_release(struct syscalls_trace *trace)
{
	size_t at = 0;
	uint64_t key;
	char **text;

	while ((text = u64_map_next(&trace->held, &at, &key)))
		free(*text);
	u64_map_release(&trace->held);
	u64_map_release(&trace->calls);
	if (trace->names.start)
		out_release(&trace->names);
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

static bool add_who(const struct syscalls_trace *trace, struct buf *line, const struct syscalls_who *who)
{
	char text[48], at[PASS_MOMENT];

	snprintf(text, sizeof(text), "%.16s-%" PRId32, task_shown(who->comm), who->pid);
	return buf_addf(line, "%18s %3" PRIu32 "  %-20s ", pass_moment(trace->pass, who->at, at), who->cpu, text);
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

/* `quoted`: quotation marks stand around it. */
static bool add_escaped(struct buf *line, const char *text, size_t len, bool quoted)
{
	bool ok = true;

	for (size_t i = 0; ok && i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (quoted && (c == '"' || c == '\\'))
			ok = buf_addf(line, "\\%c", c);
		else if (c == '\n')
			ok = buf_add_str(line, "\\n");
		else
			ok = c < ' ' || c >= 127 ? buf_addf(line, "\\%o", c) : buf_add(line, &c, 1);
	}
	return ok;
}

static bool add_string(struct buf *line, const char *text, size_t len)
{
	bool cut = len > STRING_SHOWN;

	return buf_add_str(line, "\"") && add_escaped(line, text, cut ? STRING_SHOWN : len, true) &&
	       buf_add_str(line, cut ? "\"..." : "\"");
}

/* What is behind a descriptor, as strace -yy shows it: the name of a socket has its own quotation marks. */
static bool add_file(struct buf *line, const char *file)
{
	return !file || (buf_add_str(line, "<") && add_escaped(line, file, strlen(file), *file == '/') &&
			 buf_add_str(line, ">"));
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
	static const char *const sizes[] = { "size_t", "loff_t", NULL };
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
	/* What a long holds is an address as often as a number. */
	if (!has_word(field->type, ints) && !has_word(field->type, sizes))
		return add_number(line, value);
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

static void find_call(struct traced_call *traced, const char *machine, const struct event *event, const char *call,
		      bool raw)
{
	const struct format *format = event->type->format;
	uint32_t first = format->nr_common + 1;

	traced->found = true;
	traced->nr =
		raw ? call_arguments(machine, event->type->context->abi.long_size == 8, call, traced->arguments) : -1;
	for (uint32_t i = 0; i < CALL_ARGUMENTS; i++) {
		if (raw && (int)i < traced->nr && !traced->arguments[i].pointer)
			traced->sets[i] = argument_set_of(machine, call, traced->arguments[i].name);
		else if (!raw && first + i < format->nr_fields && !(format->fields[first + i].flags & FIELD_POINTER))
			traced->sets[i] = argument_set_of(machine, call, format->fields[first + i].name);
	}
}

/* By the name of the call, which belongs to the file or to the program. */
static const struct traced_call *call_of(struct syscalls_trace *trace, const struct event *event, const char *call,
					 bool raw)
{
	struct traced_call *traced = u64_map_add(&trace->calls, (uint64_t)(uintptr_t)call << 1 | raw);

	if (traced && !traced->found)
		find_call(traced, trace->machine, event, call, raw);
	return traced;
}

/* By the names that programs write for its value; else as a number. */
static bool add_value(struct syscalls_trace *trace, const struct argument_set *set, const struct field *field,
		      uint64_t value)
{
	out_clear(&trace->names);
	if (set && argument_set_put(set, value, &trace->names))
		return !trace->names.failed && buf_add(&trace->line, trace->names.start, out_len(&trace->names));
	return add_typed(&trace->line, field, value);
}

static bool add_args(struct syscalls_trace *trace, const struct event *event, const struct traced_call *traced)
{
	const struct format *format = event->type->format;
	uint32_t first = format->nr_common + 1;
	bool ok = true;

	for (uint32_t i = first; ok && i < format->nr_fields; i++) {
		const struct field *field = &format->fields[i];
		struct place place = place_of(field, &event->type->context->abi);
		uint64_t value = place_u64(&place, event);
		const char *text;
		size_t len;

		if (field->flags & FIELD_DYNAMIC)
			break;
		ok = i == first || buf_add_str(&trace->line, ", ");
		ok = ok && buf_addf(&trace->line, "%s: ", field->name);
		text = field->flags & FIELD_POINTER ? given_name(event, value) : NULL;
		if (ok && text)
			ok = add_string(&trace->line, text, strlen(text));
		else if (ok && copied(event, field->name, &text, &len))
			ok = add_string(&trace->line, text, len);
		else if (ok)
			ok = add_value(trace, i - first < CALL_ARGUMENTS ? traced->sets[i - first] : NULL, field,
				       value);
		if (ok && !(field->flags & FIELD_POINTER) && descriptor_is_argument(field->name))
			ok = add_file(&trace->line, syscalls_file(event, (int32_t)value));
	}
	return ok;
}

static bool add_raw_arg(struct syscalls_trace *trace, const struct call_argument *argument,
			const struct argument_set *set, uint64_t value)
{
	struct field field = { .name = argument->name,
			       .type = argument->type,
			       .flags = argument->pointer ? FIELD_POINTER : 0 };

	return buf_addf(&trace->line, "%s: ", field.name) && add_value(trace, set, &field, value);
}

/* The event has six numbers, whatever the call takes. */
static bool add_raw_args(struct syscalls_trace *trace, const struct event *event, const struct traced_call *traced)
{
	int nr = traced->nr < 0 ? CALL_ARGUMENTS : traced->nr;
	struct place place;
	uint64_t value;
	bool ok = true;

	if (!place_find(&place, event->type, "args"))
		return true;
	for (int i = 0; ok && i < nr && place_element(&place, event, (size_t)i, &value); i++) {
		const struct call_argument *argument = traced->nr < 0 ? NULL : &traced->arguments[i];
		const char *text = !argument || argument->pointer ? given_name(event, value) : NULL;

		ok = !i || buf_add_str(&trace->line, ", ");
		if (ok && text && argument)
			ok = buf_addf(&trace->line, "%s: ", argument->name);
		if (ok && text)
			ok = add_string(&trace->line, text, strlen(text));
		else if (ok)
			ok = argument ? add_raw_arg(trace, argument, traced->sets[i], value) :
					add_number(&trace->line, value);
		if (ok && argument && !argument->pointer && descriptor_is_argument(argument->name))
			ok = add_file(&trace->line, syscalls_file(event, (int32_t)value));
	}
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
	const struct traced_call *traced = call_of(trace, event, name, raw);
	struct buf *line = &trace->line;

	syscalls_trace_break(trace, out);
	buf_clear(line);
	if (!traced || !add_who(trace, line, who) || !buf_addf(line, "%s(", name) ||
	    !(raw ? add_raw_args(trace, event, traced) : add_args(trace, event, traced)) || !buf_add_str(line, ")"))
		return false;
	if (trace->holds)
		return hold(trace, who->task);
	trace->task = who->task;
	return true;
}

static void put_seconds(struct out *out, const char *before, uint64_t ns)
{
	char text[TEXT_HUMAN];

	out_str(out, before);
	out_str(out, text_seconds(text, ns));
}

static void put_returned(struct out *out, const struct syscalls_end *end)
{
	cleanup_buf struct buf file = BUF_INIT;

	out_f(out, " = %" PRId64, end->returned);
	if (end->file && add_file(&file, end->file))
		out_mem(out, file.data, file.len);
}

static void put_result(struct out *out, const char *name, const struct syscalls_end *end)
{
	bool address = !strcmp(name, "brk") || end->returned > INT32_MAX || end->returned < INT32_MIN;

	if (end->restarts)
		out_f(out, " = ? %s", end->error ? end->error : "");
	else if (end->error)
		out_f(out, " = -1 %s", end->error);
	else if (address)
		out_f(out, " = 0x%" PRIx64, (uint64_t)end->returned);
	else
		put_returned(out, end);
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

	if (trace->holds) {
		resume(trace, who->task);
		if (!end->wanted) {
			trace->task = SYSCALLS_NOBODY;
			return;
		}
	}
	if (trace->task != who->task || !end->known) {
		if (!trace->holds)
			syscalls_trace_break(trace, out);
		buf_clear(line);
		if (!add_who(trace, line, who))
			return;
		buf_addf(line, "<... %s resumed>", name);
	}
	trace->task = SYSCALLS_NOBODY;
	out_mem(out, line->data, line->len);
	put_result(out, name, end);
}
