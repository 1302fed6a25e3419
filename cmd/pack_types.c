// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/pack_types.h"

#include "cmd/command.h"
#include "lib/event/context.h"
#include "lib/event/event.h"
#include "lib/event/events.h"
#include "lib/event/symbols.h"
#include "lib/kernel/types.h"
#include "lib/trace/trace.h"
#include "lib/trace/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The functions of the entries that hold arguments: those of function and funcgraph_entry that are longer than their format. */
static int take_function(const struct context *context, const struct event *event, struct names *functions, struct fail *fail)
{
	const struct format *format = event->type ? event->type->format : NULL;
	const struct field *func, *args;
	struct symbol symbol;

	if (!format || strcmp(format->system, "ftrace"))
		return 0;
	func = format_field(format, "func");
	if (!func)
		func = format_field(format, "ip");
	args = format_field(format, "args");
	if (!func || !args || event->len <= args->offset)
		return 0;
	if (!symbols_find(context->symbols, field_int(func, &context->abi, event->data, event->len), &symbol))
		return 0;
	return names_add(functions, symbol.name, symbol.name_len, fail);
}

/* A file that ends in damage has what was read before. */
static int take_functions(struct trace *trace, size_t buffer, struct names *functions, struct fail *fail)
{
	const struct events_options options = { .until = UINT64_MAX };
	struct context *context = NULL;
	struct events *events = NULL;
	struct event event;
	int r = context_new(trace, buffer, &context, fail);

	if (!r && !events_open(context, &options, &events, NULL))
		while (!r && events_next(events, &event, NULL) > 0)
			if (event.kind == EVENT_RECORD)
				r = take_function(context, &event, functions, fail);
	events_free(events);
	context_free(context);
	return r;
}

static int take_names(struct trace *trace, struct names *functions, struct names *enumerators, struct fail *fail)
{
	size_t nr, nr_formats;
	const struct trace_format *formats = trace_formats(trace, &nr_formats);
	int r = 0;

	nr = trace_buffers(trace);
	for (size_t i = 0; !r && i < nr; i++)
		r = take_functions(trace, i, functions, fail);
	for (size_t i = 0; !r && i < nr_formats; i++)
		r = names_add_format(enumerators, formats[i].text.text, formats[i].text.len, fail);
	return r;
}

int pack_types_read(int fd, const char *path, struct buf *ret, struct fail *fail)
{
	struct names *functions = NULL, *enumerators = NULL;
	cleanup_free char *btf = NULL;
	struct trace *trace = NULL;
	size_t len;
	int r = tree_read_file(path, &btf, &len, fail);

	if (r)
		return r == -ENOENT ? fail_set(fail, r, "there is no file '%s'", path) : r;
	r = trace_open_fd(fd, "the new file", &trace, fail);
	if (!r)
		r = names_new(&functions, fail);
	if (!r)
		r = names_new(&enumerators, fail);
	if (!r)
		r = take_names(trace, functions, enumerators, fail);
	if (!r) {
		r = types_lines(btf, len, functions, enumerators, ret, fail);
		if (r)
			r = fail_in(fail, r, "'%s'", path);
	}
	trace_free(trace);
	names_free(functions);
	names_free(enumerators);
	return r;
}
