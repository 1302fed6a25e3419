// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/kernel/ftrace_sink_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/kernel/ftrace.h"
#include "formats/kernel/renderers_internal.h"
#include "lib/meaning/names/symbols.h"
#include "lib/meaning/plugin/plugins.h"

/* Threads read the table while it fills, so it never moves. */
enum { BINDINGS_MAX = EVENT_TYPES_MAX };

/* Whether its line is printed in the usual way: the current tracer has no line of its own for it. */
static bool is_usual(const struct ftrace *ftrace, const struct binding *binding)
{
	const struct tracer *tracer = ftrace->tracer;

	return !tracer || !tracer->line || binding->fields || (tracer->usual && tracer->usual(ftrace, binding));
}

int bind_init(struct ftrace *ftrace, renderer_of_fn *renderer_of)
{
	ftrace->renderer_of = renderer_of;
	ftrace->bindings = calloc(BINDINGS_MAX, sizeof(struct binding *));
	if (!ftrace->bindings)
		return -ENOMEM;
	ftrace->unbound = calloc(1, sizeof(*ftrace->unbound));
	if (!ftrace->unbound)
		return -ENOMEM;
	ftrace->unbound->words_size = UINT32_MAX;
	ftrace->unbound->settle = ftrace->tracer ? ftrace->tracer->settle : NULL;
	ftrace->unbound->usual = is_usual(ftrace, ftrace->unbound);
	return 0;
}

void bind_release(struct ftrace *ftrace)
{
	for (size_t i = 0; i < ftrace->nr_bindings; i++) {
		if (!ftrace->bindings[i] || ftrace->bindings[i] == ftrace->unbound)
			continue;
		free((void *)(uintptr_t)ftrace->bindings[i]->data);
		free(ftrace->bindings[i]);
	}
	free(ftrace->unbound);
	free(ftrace->bindings);
}

static void places_fill(struct binding *binding, const struct schema_abi *abi, const char *const *names)
{
	for (size_t i = 0; names && names[i] && i < BINDING_PLACES; i++)
		(void)place_bind(&binding->places[i], binding->format, abi, names[i]);
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
		/* TRACE_BLK, the type after TRACE_USER_STACK, is the only one that never has a format. */
		if (type->id == schema_find(ftrace->context->schema, "ftrace", "user_stack") + 1)
			binding->renderer = &blk_renderer;
		return;
	}
	name_fill(binding);
	binding->fields = ftrace->options.raw_types && ftrace->options.raw_types[type->id / 64] >> type->id % 64 & 1;
	if (ftrace->context->plugins)
		binding->decoder = plugins_decoder(ftrace->context->plugins, type->format);
	renderer = ftrace->renderer_of(type->format);
	/* Loads the symbols before other threads look them up: only this thread reads the file. */
	if (ftrace->fields || binding->fields ||
	    (renderer ? !renderer->plain : strstr(type->format->print_fmt, "%p") != NULL))
		symbols_load(ftrace->context->symbols);
	if (binding->fields)
		binding->settle = NULL;
	if (!renderer || binding->fields)
		return;
	places_fill(binding, &ftrace->context->abi, renderer->fields);
	if (!renderer->bind || renderer->bind(ftrace, binding))
		binding->renderer = renderer;
	if (!binding->settle && binding->renderer)
		binding->settle = renderer->settle;
}

const struct binding *ftrace_bind_first(struct ftrace *ftrace, const struct event_type *type)
{
	struct binding *binding = calloc(1, sizeof(*binding));

	if (binding) {
		binding_fill(ftrace, binding, type);
		binding->usual = is_usual(ftrace, binding);
	} else {
		context_lacks_memory(ftrace->context);
		binding = ftrace->unbound;
	}
	ftrace->bindings[type->index] = binding;
	if (type->index >= ftrace->nr_bindings)
		ftrace->nr_bindings = type->index + 1u;
	return binding;
}
