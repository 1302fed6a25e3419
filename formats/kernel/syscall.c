// SPDX-License-Identifier: LGPL-2.1-or-later
/* Mirrors kernel/trace/trace_syscalls.c: print_syscall_enter(), print_syscall_exit(). */
#include <stdio.h>
#include <string.h>

#include "formats/kernel/ftrace.h"
#include "formats/kernel/renderers_internal.h"
#include "lib/ground/base/digits.h"
#include "lib/ground/base/out.h"

/*
 * Mirrors kernel/trace/trace_syscalls.c of 6.19 and later: print_syscall_enter() for a call with user data, and
 * sys_enter_openat_print(). The format shows which arguments have data: after the arguments, __NAME_val is the data of
 * NAME.
 */

enum { ARGS_MAX = 6, COUNT_ARG = 2, FLAGS_MAX = 24, FLAG_NAME = 16, PREFIX_FROM = 10 };

struct user_call {
	struct user_arg {
		const struct field *field;
		const struct field *data; /* the data that it points to; NULL when it was not recorded */
		/* bytes, not a string: as many as argument COUNT_ARG says, if not cut */
		bool bytes;
	} args[ARGS_MAX];
	unsigned nr_args;
	bool verbose;
	struct flag {
		uint64_t value;
		char name[FLAG_NAME];
	} flags[FLAGS_MAX]; /* for openat, unless the option verbose is set */
	unsigned nr_flags;
	uint64_t access_mode, creating; /* O_ACCMODE; O_CREAT | O_TMPFILE */
};

static const struct field *data_of(const struct format *format, const char *name)
{
	char data_name[128];

	snprintf(data_name, sizeof(data_name), "__%s_val", name);
	return format_field(format, data_name);
}

static bool is_bytes(const struct format *format, const struct field *data)
{
	char call[160];

	snprintf(call, sizeof(call), "__print_dynamic_array(%s,", data->name);
	return strstr(format->print_fmt, call);
}

static void flag_add(struct user_call *call, uint64_t value, const char *name, size_t len)
{
	struct flag *flag = &call->flags[call->nr_flags];

	if (call->nr_flags == FLAGS_MAX || len >= FLAG_NAME)
		return;
	flag->value = value;
	memcpy(flag->name, name, len);
	call->nr_flags++;
}

static uint64_t flag_value(const struct user_call *call, const char *name)
{
	for (unsigned i = 0; i < call->nr_flags; i++)
		if (!strcmp(call->flags[i].name, name))
			return call->flags[i].value;
	return 0;
}

/*
 * Reads { 0x40, "O_CREAT" }: the machine's own values. O_TMPFILE is missing there; in the kernel's table it comes
 * first.
 */
static void flags_fill(struct user_call *call, const char *print_fmt)
{
	enum { TMPFILE = 0x400000 }; /* __O_TMPFILE on all machines except alpha, parisc and sparc */
	const char *at = print_fmt;
	unsigned long long value;
	int from, to;

	flag_add(call, TMPFILE, "O_TMPFILE", strlen("O_TMPFILE"));
	while ((at = strchr(at, '{'))) {
		from = to = 0;
		if (sscanf(at, "{ 0x%llx, \"%n%*[A-Z_]%n", &value, &from, &to) == 1 && to > from)
			flag_add(call, value, at + from, (size_t)(to - from));
		at++;
	}
	call->flags[0].value |= flag_value(call, "O_DIRECTORY");
	call->access_mode = flag_value(call, "O_WRONLY") | flag_value(call, "O_RDWR");
	call->creating = flag_value(call, "O_CREAT") | call->flags[0].value;
}

static bool user_bind(struct ftrace *ftrace, struct binding *binding)
{
	const struct format *format = binding->format;
	struct user_call *call = calloc(1, sizeof(*call));

	binding->data = call;
	if (!call)
		return false;
	for (uint32_t i = format->nr_common + 1; i < format->nr_fields; i++) {
		const struct field *field = &format->fields[i];
		struct user_arg *arg = &call->args[call->nr_args];

		if (field->flags & FIELD_DYNAMIC)
			break;
		if (call->nr_args == ARGS_MAX || field->flags & FIELD_ARRAY || (field->size != 4 && field->size != 8))
			return false;
		arg->field = field;
		arg->data = data_of(format, field->name);
		arg->bytes = arg->data && is_bytes(format, arg->data);
		call->nr_args++;
	}
	call->verbose = ftrace_option(ftrace, OPTION_VERBOSE);
	if (!call->verbose && call->nr_args > 3 && !strcmp(format->name, "sys_enter_openat"))
		flags_fill(call, format->print_fmt);
	return true;
}

static uint64_t value_of(const struct ftrace *ftrace, const struct event *event, const struct field *field)
{
	uint64_t value = field_int(field, &ftrace->context->abi, event->data, event->len);

	return field->size == 4 ? (uint32_t)value : value;
}

static bool is_printable(uint8_t c)
{
	return c >= ' ' && c < 0x7f;
}

static void put_string(const uint8_t *data, size_t len, struct out *out)
{
	out_mem(out, " \"", 2);
	out_mem(out, data, strnlen((const char *)data, len));
	out_char(out, '"');
}

static void put_bytes(const uint8_t *data, size_t len, int32_t count, struct out *out)
{
	bool printable = false, cut = (int64_t)len < count;

	out_mem(out, " (", 2);
	for (size_t i = 0; i < len; i++) {
		printable = printable || is_printable(data[i]);
		if (i)
			out_char(out, ':');
		out_hex_pad(out, data[i], 2, '0');
	}
	out_str(out, cut ? ", ...)" : ")");
	if (!printable)
		return;
	out_mem(out, " \"", 2);
	for (size_t i = 0; i < len; i++)
		out_char(out, is_printable(data[i]) ? (char)data[i] : '.');
	out_str(out, cut ? "\"..." : "\"");
}

static void put_data(const struct ftrace *ftrace, const struct user_call *call, const struct user_arg *arg,
		     const struct event *event, struct out *out)
{
	const uint8_t *data;
	size_t len;

	/* Data outside the record counts as empty. */
	if (!field_bytes(arg->data, &ftrace->context->abi, event->data, event->len, &data, &len)) {
		data = event->data;
		len = 0;
	}
	if (!arg->bytes || call->nr_args <= COUNT_ARG)
		put_string(data, len, out);
	else
		put_bytes(data, len, (int32_t)value_of(ftrace, event, call->args[COUNT_ARG].field), out);
}

/* trace_print_flags_seq() */
static void put_flags(const struct user_call *call, uint64_t flags, struct out *out)
{
	bool first = true;

	for (unsigned i = 0; flags && i < call->nr_flags; i++) {
		const struct flag *flag = &call->flags[i];

		if ((flags & flag->value) != flag->value)
			continue;
		flags &= ~flag->value;
		if (!first)
			out_char(out, '|');
		first = false;
		out_str(out, flag->name);
	}
	if (!flags)
		return;
	out_str(out, first ? "0x" : "|0x");
	out_hex(out, flags);
}

/* False when the mode is unused: then nothing is printed after the flags. */
static bool put_open_flags(const struct user_call *call, uint8_t long_size, uint64_t value, struct out *out)
{
	/* The kernel stores the flags in an int. */
	uint64_t flags = (uint64_t)(int64_t)(int32_t)value;

	if (long_size == 4)
		flags = (uint32_t)flags;
	out_str(out, "flags: ");
	if (!flags) {
		out_str(out, "O_RDONLY");
		return false;
	}
	if (!(flags & call->access_mode))
		out_str(out, "O_RDONLY|");
	put_flags(call, flags, out);
	return flags & call->creating;
}

static void put_open(const struct ftrace *ftrace, const struct user_call *call, const struct event *event,
		     struct out *out)
{
	for (unsigned i = 0; i < call->nr_args; i++) {
		const struct user_arg *arg = &call->args[i];
		uint64_t value = value_of(ftrace, event, arg->field);

		if (i)
			out_mem(out, ", ", 2);
		if (i == 2) {
			if (!put_open_flags(call, ftrace->context->abi.long_size, value, out))
				return;
			continue;
		}
		out_str(out, arg->field->name);
		if (i == 3) {
			out_f(out, ": 0%03o", (unsigned)value);
			continue;
		}
		out_mem(out, ": ", 2);
		out_u64(out, value);
		if (arg->data)
			put_data(ftrace, call, arg, event, out);
	}
}

static void put_args(const struct ftrace *ftrace, const struct user_call *call, const struct event *event,
		     struct out *out)
{
	for (unsigned i = 0; i < call->nr_args; i++) {
		const struct user_arg *arg = &call->args[i];
		uint64_t value = value_of(ftrace, event, arg->field);

		if (i)
			out_mem(out, ", ", 2);
		if (call->verbose) {
			out_str(out, arg->field->type);
			out_char(out, ' ');
		}
		out_str(out, arg->field->name);
		out_str(out, value < PREFIX_FROM ? ": " : ": 0x");
		out_hex(out, value);
		if (arg->data)
			put_data(ftrace, call, arg, event, out);
	}
}

static void user_format(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
			struct out *out)
{
	const struct user_call *call = binding->data;

	out_str(out, "sys_");
	out_str(out, binding->format->name + strlen("sys_enter_"));
	out_char(out, '(');
	if (call->nr_flags)
		put_open(ftrace, call, event, out);
	else
		put_args(ftrace, call, event, out);
	out_mem(out, ")\n", 2);
}

static const struct renderer user_renderer = { .plain = true, .bind = user_bind, .format = user_format };

/* The pieces of text of one system call, put together once. */
struct call {
	struct piece {
		struct place place; /* after the text; size 0 for none */
		uint32_t len;
		char text[128]; /* a multiple of STEP */
	} pieces[ARGS_MAX + 1];
	unsigned nr_pieces;
	uint32_t size; /* of a record that has all places */
	uint32_t room; /* for the whole text, and for the bytes that a copy writes beyond it */
	bool prefix;   /* as 6.18 and later print it: 0x in front, from PREFIX_FROM on */
};

/* Texts are copied in steps of a constant size, beyond their ends. */
enum { STEP = 32 };

static void piece_add(struct piece *piece, const char *text)
{
	size_t len = strlen(text);

	if (len > sizeof(piece->text) - piece->len)
		len = sizeof(piece->text) - piece->len;
	memcpy(piece->text + piece->len, text, len);
	piece->len += (uint32_t)len;
}

/* The kernel prints registers as unsigned numbers. */
static struct place register_of(const struct field *field, const struct schema_abi *abi)
{
	struct place place = place_of(field, abi);

	place.is_signed = false;
	return place;
}

static bool is_word(const struct field *field)
{
	return !(field->flags & (FIELD_ARRAY | FIELD_DYNAMIC)) && (field->size == 4 || field->size == 8);
}

static void call_settle(struct call *call)
{
	call->room = 2 * STEP;
	for (unsigned i = 0; i < call->nr_pieces; i++) {
		const struct piece *piece = &call->pieces[i];
		uint32_t end = piece->place.offset + piece->place.size;

		call->room += piece->len + 2 + DIGITS_MAX;
		if (piece->place.size && end > call->size)
			call->size = end;
	}
}

/* "sys_NAME(" ARG ": " VALUE ", " ARG ": " VALUE ")". The first field after the common ones is the number. */
static bool enter_bind(struct ftrace *ftrace, struct binding *binding)
{
	const struct format *format = binding->format;
	uint32_t first = format->nr_common + 1, count = format->nr_fields < first ? 0 : format->nr_fields - first;
	struct call *call;

	if (format->nr_fields < first || count > ARGS_MAX)
		return false;
	call = calloc(1, sizeof(*call));
	if (!call) {
		context_lacks_memory(ftrace->context);
		return false;
	}
	binding->data = call;
	piece_add(&call->pieces[0], "sys_");
	piece_add(&call->pieces[0], format->name + strlen("sys_enter_"));
	piece_add(&call->pieces[0], "(");
	for (uint32_t i = 0; i < count; i++) {
		const struct field *field = &format->fields[first + i];
		struct piece *piece = &call->pieces[i];

		if (!is_word(field))
			return false;
		if (ftrace_option(ftrace, OPTION_VERBOSE)) {
			piece_add(piece, field->type);
			piece_add(piece, " ");
		}
		piece_add(piece, field->name);
		piece_add(piece, ": ");
		piece->place = register_of(field, &ftrace->context->abi);
		if (i + 1 < count)
			piece_add(&call->pieces[i + 1], ", ");
	}
	piece_add(&call->pieces[count], ")\n");
	call->nr_pieces = count + 1;
	call->prefix = ftrace->context->release_major && context_since(ftrace->context, 6, 18);
	call_settle(call);
	return true;
}

/* Formats a record that was cut, or one in the other byte order. */
static void enter_format_slowly(const struct call *call, const struct event *event, struct out *out)
{
	for (unsigned i = 0; i < call->nr_pieces; i++) {
		const struct piece *piece = &call->pieces[i];
		uint64_t value = place_u64(&piece->place, event);

		out_mem(out, piece->text, piece->len);
		if (piece->place.size && call->prefix && value >= PREFIX_FROM)
			out_mem(out, "0x", 2);
		if (piece->place.size)
			out_hex(out, value);
	}
}

static inline char *put_steps(char *at, const char *text, uint32_t len)
{
	memcpy(at, text, STEP);
	for (uint32_t done = STEP; __builtin_expect(done < len, 0); done += STEP)
		memcpy(at + done, text + done, STEP);
	return at + len;
}

static void enter_format(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
			 struct out *out)
{
	const struct call *call = binding->data;
	const struct piece *piece = call->pieces, *last = piece + call->nr_pieces - 1;
	char *at;

	if (__builtin_expect(event->len < call->size || ftrace->context->abi.swap, 0)) {
		enter_format_slowly(call, event, out);
		return;
	}
	out_need(out, call->room);
	at = out->at;
	for (; piece < last; piece++) {
		const uint8_t *from = event->data + piece->place.offset;
		uint64_t value = piece->place.size == 8 ? load_u64(from, false) : load_u32(from, false);

		at = put_steps(at, piece->text, piece->len);
		if (call->prefix && value >= PREFIX_FROM) {
			memcpy(at, "0x", 2);
			at += 2;
		}
		at = digits_put_hex(at, value);
	}
	/* Only the last piece has nothing after its text. */
	out->at = put_steps(at, piece->text, piece->len);
}

static bool exit_bind(struct ftrace *ftrace, struct binding *binding)
{
	const struct field *ret = format_field(binding->format, "ret");
	struct call *call;

	if (!ret || !is_word(ret))
		return false;
	call = calloc(1, sizeof(*call));
	if (!call) {
		context_lacks_memory(ftrace->context);
		return false;
	}
	binding->data = call;
	piece_add(&call->pieces[0], "sys_");
	piece_add(&call->pieces[0], binding->format->name + strlen("sys_exit_"));
	piece_add(&call->pieces[0], " -> 0x");
	call->pieces[0].place = register_of(ret, &ftrace->context->abi);
	piece_add(&call->pieces[1], "\n");
	call->nr_pieces = 2;
	call_settle(call);
	return true;
}

static const struct renderer enter_renderer = { .plain = true, .bind = enter_bind, .format = enter_format };
static const struct renderer exit_renderer = { .plain = true, .bind = exit_bind, .format = enter_format };

const struct renderer *syscall_renderer(const struct format *format)
{
	if (strcmp(format->system, "syscalls"))
		return NULL;
	/* An import keeps the text of arguments that it cannot read. */
	if (format_field(format, "text"))
		return &text_line_renderer;
	if (!strncmp(format->name, "sys_enter_", strlen("sys_enter_")))
		return format->nr_fields && format->fields[format->nr_fields - 1].flags & FIELD_DYNAMIC ?
			       &user_renderer :
			       &enter_renderer;
	if (!strncmp(format->name, "sys_exit_", strlen("sys_exit_")))
		return &exit_renderer;
	return NULL;
}
