// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/tracecmd/tracecmd_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/names/symbols.h"

enum { NAME_WIDTH = 20 };

static const struct tracecmd_text *const tables[] = {
	tracecmd_sched_texts, tracecmd_function_texts, tracecmd_graph_texts,
	tracecmd_print_texts, tracecmd_kvm_texts,      tracecmd_other_texts,
};

/* Whether -n wants no plugin for these events. */
static bool is_plain(const struct tracecmd *tracecmd, const struct format *format)
{
	const uint64_t *plain = tracecmd->own.plain_types;

	return plain && plain[format->id / 64] >> format->id % 64 & 1;
}

static const struct tracecmd_text *text_of(const struct format *format, bool no_plugin)
{
	for (size_t i = 0; i < array_size(tables); i++)
		for (const struct tracecmd_text *text = tables[i]; text->system; text++)
			if (!strcmp(text->name, format->name) && !strcmp(text->system, format->system) &&
			    (text->builtin || !no_plugin))
				return text;
	return NULL;
}

/* " sched_switch: ", padded so that most texts begin in the same column. */
static void name_fill(struct tracecmd_binding *binding, const char *name)
{
	int len = snprintf(binding->name, sizeof(binding->name), " %.*s: ", TRACECMD_NAME - 4, name);

	while (len < NAME_WIDTH + 3)
		binding->name[len++] = ' ';
	binding->name_len = (uint32_t)len;
}

static int binding_fill(struct tracecmd *tracecmd, struct tracecmd_binding *binding, const struct event_type *type)
{
	const struct context *context = tracecmd->context;
	const struct tracecmd_text *text;
	const uint64_t *raw = tracecmd->options.raw_types;

	binding->format = type->format;
	if (!type->format) {
		/* TRACE_BLK, the type after TRACE_USER_STACK, is the only one that never has a format. */
		if (type->id == schema_find(context->schema, "ftrace", "user_stack") + 1)
			binding->text = &tracecmd_blk_text;
		name_fill(binding, binding->text ? "blktrace" : "(NULL)");
		return 0;
	}
	name_fill(binding, type->format->name);
	binding->program = type->program;
	/* The internal entries have none, because the kernel prints them in C. */
	if (!binding->program && *type->format->print_fmt)
		binding->program = schema_program(context->schema, type->format, NULL);
	binding->raw = tracecmd->options.raw || (raw && raw[type->id / 64] >> type->id % 64 & 1);
	text = binding->text = text_of(type->format, tracecmd->own.no_plugins || is_plain(tracecmd, type->format));
	binding->foreign = context->foreign && !is_plain(tracecmd, type->format);
	for (size_t i = 0; text && text->fields && text->fields[i] && i < TRACECMD_PLACES; i++)
		(void)place_bind(&binding->places[i], type->format, &context->abi, text->fields[i]);
	if (text && !strcmp(text->name, "sched_switch"))
		tracecmd_states(binding);
	/* Loads the symbols before other threads look them up: only this thread reads the file. */
	if ((text && text->symbols) || strstr(type->format->print_fmt, "%p"))
		symbols_load(context->symbols);
	return binding->raw ? tracecmd_raw_bind(tracecmd, binding) : 0;
}

const struct tracecmd_binding *tracecmd_bind(struct tracecmd *tracecmd, const struct event_type *type)
{
	struct tracecmd_binding *binding = calloc(1, sizeof(*binding));

	if (!binding || binding_fill(tracecmd, binding, type) < 0) {
		context_lacks_memory(tracecmd->context);
		free(binding);
		return NULL;
	}
	tracecmd->bindings[type->index] = binding;
	return binding;
}

void tracecmd_unbind(struct tracecmd *tracecmd)
{
	for (size_t i = 0; tracecmd->bindings && i < tracecmd->nr_bindings; i++) {
		if (!tracecmd->bindings[i])
			continue;
		free((void *)(uintptr_t)tracecmd->bindings[i]->raw_fields);
		free(tracecmd->bindings[i]);
	}
	free(tracecmd->bindings);
}
