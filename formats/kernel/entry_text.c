// SPDX-License-Identifier: LGPL-2.1-or-later
/* Mirrors kernel/trace/trace.c: print_trace_fmt(): the text of one entry without its columns. */
#include "formats/kernel/ftrace.h"

#include <string.h>

#include "formats/kernel/ftrace_sink_internal.h"
#include "formats/kernel/symbol.h"
#include "lib/ground/base/escape.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/plugin/foreign.h"
#include "lib/meaning/plugin/plugins.h"

static void put_body(const struct ftrace *ftrace, const struct event *event, struct out *out)
{
	const struct binding *binding = ftrace_binding(ftrace, event);
	const struct context *context = ftrace->context;

	if (binding->renderer) {
		binding->renderer->format(ftrace, binding, event, out);
		return;
	}
	if (!binding->format) {
		out_f(out, "Unknown type %d\n", event->id);
		return;
	}
	if (binding->program) {
		out_mem(out, binding->name, binding->name_len);
		program_run(binding->program, &context->env, event->data, event->len, out);
	} else {
		out_mem(out, binding->name, binding->name_len - 1);
		program_fields(&context->abi, binding->format, &context->env, event->data, event->len, out);
	}
	out_char(out, '\n');
}

void entry_seal(const struct ftrace *ftrace, size_t from, struct out *out)
{
	if (ftrace->options.one_line)
		escape_newlines(out, from);
}

void ftrace_body(const struct ftrace *ftrace, const struct event *event, struct out *out)
{
	const struct binding *binding = ftrace_binding(ftrace, event);
	size_t from = out_len(out);

	put_body(ftrace, event, out);
	if (!binding->renderer || !binding->renderer->lines)
		entry_seal(ftrace, from, out);
}

void ftrace_alone(const struct ftrace *ftrace, const struct event *event, struct out *out)
{
	const struct binding *binding = ftrace_binding(ftrace, event);
	const struct schema_abi *abi = &ftrace->context->abi;
	const struct field *func;

	if (!binding->renderer || !binding->renderer->settle) {
		ftrace_body(ftrace, event, out);
		return;
	}
	func = format_field(binding->format, "func");
	if (func)
		symbol_print(ftrace->context, field_int(func, abi, event->data, event->len), false, out);
}

/* print_event_fields() */
static void format_fields(const struct ftrace *ftrace, const struct event *event, struct out *out)
{
	const struct binding *binding = ftrace_binding(ftrace, event);
	const struct context *context = ftrace->context;

	/* The kernel's search for a type does not include its internal types. */
	if (!ftrace->options.raw && !binding->fields && !strcmp(binding->format->system, "ftrace")) {
		out_f(out, "UNKNOWN TYPE %d\n", event->id);
		return;
	}
	out_mem(out, binding->name, binding->name_len - 1);
	program_fields(&context->abi, binding->format, &context->env, event->data, event->len, out);
	out_char(out, '\n');
}

/* Adds the text of a plugin to the end of the line. */
void entry_decode(const struct decoder *decoder, const struct event *event, struct out *out)
{
	if (!out_len(out) || out->at[-1] != '\n')
		return;
	out->at--;
	decoder_run(decoder, event->data, event->len, out);
	out_char(out, '\n');
}

/* The same for a plugin of libtraceevent, whose text has no names. */
static void add_foreign(const struct foreign_text *text, struct out *out)
{
	size_t len = text->len;

	if (!out_len(out) || out->at[-1] != '\n')
		return;
	out->at--;
	out_mem(out, " {traceevent=", strlen(" {traceevent="));
	out_mem(out, text->text, len && text->text[len - 1] == '\n' ? len - 1 : len);
	out_mem(out, "}\n", 2);
}

/*
 * print_trace_fmt(): events of the last boot are printed as fields, because pointers in their print fmt are not valid;
 * an exception are system calls since 6.15.
 */
static bool only_fields(const struct ftrace *ftrace, const struct binding *binding)
{
	if (!ftrace->moved || !strcmp(binding->format->system, "ftrace") || ftrace->tracer)
		return false;
	return strcmp(binding->format->system, "syscalls") || !context_since(ftrace->context, 6, 15);
}

void ftrace_name(const struct ftrace *ftrace, const char *text, size_t len, struct out *out)
{
	size_t from = out_len(out);

	out_mem(out, text, len);
	/* Not at the end of the line. */
	out_char(out, '-');
	entry_seal(ftrace, from, out);
	out->at--;
}

void ftrace_entry(const struct ftrace *ftrace, const struct event *event, struct out *out)
{
	const struct binding *binding = ftrace_binding(ftrace, event);
	size_t from = out_len(out);

	if (__builtin_expect((ftrace->fields || binding->fields || ftrace->moved) && binding->format, 0) &&
	    (ftrace->fields || binding->fields || only_fields(ftrace, binding)))
		format_fields(ftrace, event, out);
	else
		ftrace_body(ftrace, event, out);
	if (ftrace->context->plugins && binding->decoder)
		entry_decode(binding->decoder, event, out);
	if (ftrace->context->foreign && event->added)
		add_foreign(event->added, out);
	if (!binding->renderer || !binding->renderer->lines)
		entry_seal(ftrace, from, out);
}
