// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/pack/pack_types_internal.h"

#include "lib/base/fail.h"
#include "lib/event/context.h"
#include "lib/event/event.h"
#include "lib/names/symbols.h"
#include "lib/probe/types.h"
#include "lib/reader/reader.h"
#include "lib/trace/trace.h"
#include "lib/trace/tree.h"
#include "lib/trace/whole_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The names of functions that one buffer needs. */
struct taking {
	struct reader reader;
	struct names *functions;
	int err;
	struct fail *fail;
};

/*
 * Adds the functions whose entries have arguments: entries of function and funcgraph_entry that are longer than their
 * format.
 */
static void take_function(void *arg, const struct event *event)
{
	struct taking *taking = arg;
	const struct context *context = taking->reader.buffers[0].context;
	const struct format *format = event->kind == EVENT_RECORD && event->type ? event->type->format : NULL;
	const struct field *func, *args;
	struct symbol symbol;

	if (!format || strcmp(format->system, "ftrace"))
		return;
	func = format_field(format, "func");
	if (!func)
		func = format_field(format, "ip");
	args = format_field(format, "args");
	if (!func || !args || event->len <= args->offset)
		return;
	if (!symbols_find(context->symbols, field_int(func, &context->abi, event->data, event->len), &symbol))
		return;
	taking->err = names_add(taking->functions, symbol.name, symbol.name_len, taking->fail);
	if (taking->err)
		reader_stop(&taking->reader);
}

static int take_functions(struct trace *trace, size_t buffer, struct names *functions, struct fail *fail)
{
	struct taking taking = { .functions = functions, .fail = fail };

	reader_init(&taking.reader);
	taking.err = reader_add(&taking.reader, trace, buffer, fail);
	/* A damaged file contributes what was read before the damage. */
	if (!taking.err && !reader_start(&taking.reader, &(struct reader_options){ .pool = NULL }, NULL))
		(void)!reader_run(&taking.reader, &(struct reader_consumer){ .see = take_function, .arg = &taking }, 1,
				  NULL);
	reader_release(&taking.reader);
	return taking.err;
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
