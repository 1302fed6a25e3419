// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Mirrors kernel/trace/trace_kprobe.c, trace_uprobe.c, trace_fprobe.c and trace_events_user.c: print_kprobe_event() and
 * the like.
 */
#include "formats/kernel/renderers_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/kernel/ftrace.h"
#include "formats/kernel/symbol.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/names/symbols.h"

enum { PROBE_IP };
enum { PROBE_FUNC, PROBE_RETURN_IP };

static const char *const entry_fields[] = { "__probe_ip", NULL };
static const char *const return_fields[] = { "__probe_func", "__probe_ret_ip", NULL };

static bool entry_bind(struct ftrace *ftrace, struct binding *binding)
{
	(void)ftrace;
	return binding->places[PROBE_IP].size && binding->program;
}

static bool return_bind(struct ftrace *ftrace, struct binding *binding)
{
	(void)ftrace;
	return binding->places[PROBE_FUNC].size && binding->places[PROBE_RETURN_IP].size && binding->program;
}

/* Replaces the first NAME="" after `from` by NAME=(fault). */
static void mark_fault(struct out *out, size_t from, const char *name)
{
	size_t len = strlen(name);
	char *at = out->start + from;

	while ((at = memmem(at, (size_t)(out->at - at), name, len))) {
		if (at[-1] == ' ' && out->at - at >= (ptrdiff_t)len + 3 && !memcmp(at + len, "=\"\"", 3))
			break;
		at++;
	}
	if (!at)
		return;
	from = (size_t)(at - out->start) + len + 1;
	out_need(out, 8);
	at = out->start + from;
	memmove(at + 7, at + 2, (size_t)(out->at - at) - 2);
	memcpy(at, "(fault)", 7);
	out->at += 5;
}

/* Prints the arguments by the print fmt, without its "(ADDRESS)", which was already printed as a symbol. */
static void print_arguments(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
			    struct out *out)
{
	const struct format *format = binding->format;
	size_t from = out_len(out), left;
	char *close;

	program_run(binding->program, &ftrace->context->env, event->data, event->len, out);
	if (out_len(out) < from)
		return;
	left = out_len(out) - from;
	close = memchr(out->start + from, ')', left);
	if (close && out->start[from] == '(') {
		size_t skip = (size_t)(close + 1 - (out->start + from));

		memmove(out->start + from, close + 1, left - skip);
		out->at -= skip;
	}
	for (uint32_t i = format->nr_common; i < format->nr_fields; i++) {
		const struct field *field = &format->fields[i];

		if (field->flags & FIELD_DYNAMIC && !(field->flags & FIELD_ARRAY) && field->size == 4 &&
		    !(field_int(field, &ftrace->context->abi, event->data, event->len) >> 16))
			mark_fault(out, from, field->name);
	}
	out_char(out, '\n');
}

static void entry_format(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
			 struct out *out)
{
	const struct context *context = ftrace->context;

	out_mem(out, binding->name, binding->name_len);
	out_char(out, '(');
	symbol_print(context, place_u64(&binding->places[PROBE_IP], event), true, out);
	if (context_option(context, OPTION_SYM_ADDR))
		symbol_print_address(context, place_u64(&binding->places[PROBE_IP], event), out);
	out_char(out, ')');
	print_arguments(ftrace, binding, event, out);
}

static void return_format(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
			  struct out *out)
{
	const struct context *context = ftrace->context;
	uint64_t func = place_u64(&binding->places[PROBE_FUNC], event);
	uint64_t back = place_u64(&binding->places[PROBE_RETURN_IP], event);
	bool address = context_option(context, OPTION_SYM_ADDR);
	struct symbol symbol;

	out_mem(out, binding->name, binding->name_len);
	out_char(out, '(');
	symbol_print(context, back, true, out);
	if (address)
		symbol_print_address(context, back, out);
	out_mem(out, " <- ", 4);
	/*
	 * A function of a user program has no symbol and is printed without the leading zeros of unknown kernel
	 * addresses.
	 */
	symbol_print(context, func, !symbols_find(context->symbols, func, &symbol), out);
	if (address)
		symbol_print_address(context, func, out);
	out_char(out, ')');
	print_arguments(ftrace, binding, event, out);
}

/* "e:GROUP/NAME SYSTEM.EVENT ..." of dynamic_events: the event to which an event probe is attached. */
static bool find_probed(const struct context *context, const struct format *format, struct text_word *ret)
{
	const char *at = context->dynamic_events;
	size_t left = at ? strlen(at) : 0, system_len = strlen(format->system), name_len = strlen(format->name);
	struct text_word line, word;

	while (at && text_next_line(&at, &left, &line)) {
		const char *from = line.at + 2, *end = line.at + line.len;

		if (line.len < system_len + name_len + 4 || memcmp(line.at, "e:", 2) ||
		    memcmp(from, format->system, system_len) || from[system_len] != '/' ||
		    memcmp(from + system_len + 1, format->name, name_len))
			continue;
		from += system_len + 1 + name_len;
		if (*from != ' ')
			continue;
		word.at = ++from;
		while (from < end && *from != ' ')
			from++;
		word.len = (size_t)(from - word.at);
		*ret = word;
		return true;
	}
	return false;
}

static bool event_probe_bind(struct ftrace *ftrace, struct binding *binding)
{
	struct text_word probed;
	char *head = NULL;

	if (!binding->program || !find_probed(ftrace->context, binding->format, &probed))
		return false;
	if (asprintf(&head, "%s: (%.*s)", binding->format->name, (int)probed.len, probed.at) < 0) {
		context_lacks_memory(ftrace->context);
		return false;
	}
	binding->data = head;
	return true;
}

static void event_probe_format(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
			       struct out *out)
{
	out_str(out, binding->data);
	print_arguments(ftrace, binding, event, out);
}

static void user_format(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
			struct out *out)
{
	const struct context *context = ftrace->context;

	out_mem(out, binding->name, binding->name_len - 1);
	program_fields(&context->abi, binding->format, &context->env, event->data, event->len, out);
	out_char(out, '\n');
}

static const struct renderer entry_renderer = {
	.fields = entry_fields,
	.bind = entry_bind,
	.format = entry_format,
};

static const struct renderer return_renderer = {
	.fields = return_fields,
	.bind = return_bind,
	.format = return_format,
};

static const struct renderer event_probe_renderer = {
	.bind = event_probe_bind,
	.format = event_probe_format,
};

static const struct renderer user_renderer = {
	.format = user_format,
};

const struct renderer *probe_renderer(const struct format *format)
{
	const struct field *first = format->nr_fields > format->nr_common ? &format->fields[format->nr_common] : NULL;

	if (!strncmp(format->system, "user_events", strlen("user_events")))
		return &user_renderer;
	if (first && !strcmp(first->name, entry_fields[PROBE_IP]))
		return &entry_renderer;
	if (first && !strcmp(first->name, return_fields[PROBE_FUNC]))
		return &return_renderer;
	/*
	 * The print fmt has only arguments, each after a blank. An event probe that is not in dynamic_events is printed
	 * by its print fmt.
	 */
	if (!strncmp(format->print_fmt, "\" ", 2))
		return &event_probe_renderer;
	return NULL;
}
