// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Mirrors kernel/trace/trace_syscalls.c of 6.19 and later: print_syscall_enter() for a call with user data, and
 * sys_enter_openat_print(). The format shows which arguments have data: after the arguments, __NAME_val is the data of
 * NAME.
 */
#include "formats/kernel/syscall_internal.h"

#include "formats/kernel/ftrace.h"
#include "lib/base/out.h"

#include <stdio.h>
#include <string.h>

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

static bool bind(struct ftrace *ftrace, struct binding *binding)
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

static void format(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
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

const struct renderer syscall_user_renderer = { .plain = true, .bind = bind, .format = format };
