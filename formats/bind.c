// SPDX-License-Identifier: GPL-2.0-only
#include "formats/bind.h"

#include "formats/ftrace.h"
#include "formats/print.h"
#include "formats/probe.h"
#include "formats/renderers.h"
#include "formats/synth.h"
#include "formats/syscall.h"
#include "lib/event/symbols.h"
#include "lib/plugin/plugins.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Types have 16 bits; threads read the table while it fills, so it never moves. */
enum { BINDINGS_MAX = 1 << 16 };

/* The types of entries that the kernel prints in C. */
static const struct renderer *const renderers[] = {
	&function_renderer,
	&graph_entry_renderer,
	&graph_retaddr_renderer,
	&graph_exit_renderer,
	&kernel_stack_renderer,
	&user_stack_renderer,
	&print_renderer,
	&bputs_renderer,
	&bprint_renderer,
	&raw_data_renderer,
	&context_switch_renderer,
	&wakeup_renderer,
	&func_repeats_renderer,
	&hwlat_renderer,
	&osnoise_renderer,
	&timerlat_renderer,
	&mmiotrace_rw_renderer,
	&mmiotrace_map_renderer,
	&branch_renderer,
};

/* Whether its line is printed in the usual way: the current tracer has none for it. */
static bool is_usual(const struct ftrace *ftrace, const struct binding *binding)
{
	const struct tracer *tracer = ftrace->tracer;

	return !tracer || !tracer->line || (tracer->usual && tracer->usual(ftrace, binding));
}

int bind_init(struct ftrace *ftrace)
{
	ftrace->bindings = calloc(BINDINGS_MAX, sizeof(struct binding *));
	if (!ftrace->bindings)
		return -ENOMEM;
	ftrace->bindings[0] = calloc(1, sizeof(struct binding));
	if (!ftrace->bindings[0])
		return -ENOMEM;
	ftrace->bindings[0]->words_size = UINT32_MAX;
	ftrace->bindings[0]->settle = ftrace->tracer ? ftrace->tracer->settle : NULL;
	ftrace->bindings[0]->usual = is_usual(ftrace, ftrace->bindings[0]);
	ftrace->nr_bindings = 1;
	return 0;
}

void bind_release(struct ftrace *ftrace)
{
	for (size_t i = 0; i < ftrace->nr_bindings; i++) {
		free((void *)(uintptr_t)ftrace->bindings[i]->data);
		free(ftrace->bindings[i]);
	}
	free(ftrace->bindings);
}

static const struct renderer *renderer_of(const struct format *format)
{
	const struct renderer *renderer;

	if (strcmp(format->system, "ftrace")) {
		renderer = syscall_renderer(format);
		if (!renderer)
			renderer = synth_renderer(format);
		return renderer ? renderer : probe_renderer(format);
	}
	for (size_t i = 0; i < array_size(renderers); i++)
		if (!strcmp(renderers[i]->format_name, format->name))
			return renderers[i];
	return NULL;
}

static void places_fill(struct binding *binding, const char *const *names)
{
	for (size_t i = 0; names && names[i] && i < BINDING_PLACES; i++) {
		const struct field *field = format_field(binding->format, names[i]);
		bool integer = field && (field->size == 1 || field->size == 2 || field->size == 4 || field->size == 8) &&
			       !(field->flags & (FIELD_ARRAY | FIELD_STRING | FIELD_DYNAMIC));

		if (field)
			binding->places[i] = (struct place){ .offset = field->offset,
							     .size = integer ? (uint8_t)field->size : 0,
							     .is_signed = field->flags & FIELD_SIGNED,
							     .field = field };
	}
}

static void name_fill(struct binding *binding)
{
	size_t len = strlen(binding->format->name);

	if (len > BINDING_NAME - 2)
		len = BINDING_NAME - 2;
	memcpy(binding->name, binding->format->name, len);
	memcpy(binding->name + len, ": ", 2);
	binding->name_len = (uint32_t)len + 2;
}

static void binding_fill(struct ftrace *ftrace, struct binding *binding, const struct event_type *type)
{
	const struct renderer *renderer;

	binding->format = type->format;
	binding->program = type->program;
	binding->words_size = UINT32_MAX;
	binding->settle = ftrace->tracer ? ftrace->tracer->settle : NULL;
	if (!type->format) {
		/* TRACE_BLK, the type behind TRACE_USER_STACK, is the only one that never has a format. */
		if (type->id == schema_find(ftrace->context->schema, "ftrace", "user_stack") + 1)
			binding->renderer = &blk_renderer;
		return;
	}
	name_fill(binding);
	if (ftrace->options.plugins)
		binding->decoder = plugins_decoder(ftrace->options.plugins, type->format);
	renderer = renderer_of(type->format);
	/* Before the threads start to ask for them: reading the file is this thread's. */
	if (ftrace->fields || (renderer ? !renderer->plain : strstr(type->format->print_fmt, "%p") != NULL))
		symbols_load(ftrace->context->symbols);
	if (!renderer)
		return;
	places_fill(binding, renderer->fields);
	if (!renderer->bind || renderer->bind(ftrace, binding))
		binding->renderer = renderer;
	if (!binding->settle && binding->renderer)
		binding->settle = renderer->settle;
}

const struct binding *ftrace_bind_first(struct ftrace *ftrace, struct event_type *type)
{
	struct binding *binding;

	if (ftrace->nr_bindings == BINDINGS_MAX)
		return ftrace->bindings[0];
	binding = calloc(1, sizeof(*binding));
	if (!binding) {
		context_lacks_memory(ftrace->context);
		return ftrace->bindings[0];
	}
	binding_fill(ftrace, binding, type);
	binding->usual = is_usual(ftrace, binding);
	ftrace->bindings[ftrace->nr_bindings] = binding;
	type->renderer = (uint16_t)ftrace->nr_bindings++;
	return binding;
}
