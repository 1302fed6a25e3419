// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/exported.h"

#include <stdlib.h>
#include <string.h>

#include "formats/export/export.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

static void run(struct reader *reader, struct export *export)
{
	struct event event;

	CHECK(reader_start(reader, &(struct reader_options){ .pool = NULL }, NULL) == 0);
	if (export->ops->begin)
		export->ops->begin(export);
	while (reader_next(reader, &event, NULL) > 0)
		export->ops->event(export, &event);
}

static void finish(struct export *export)
{
	if (export->ops->end)
		export->ops->end(export);
	CHECK(export->error == 0);
}

static char *copy_of(struct out *out, size_t *ret_len)
{
	char *copy;

	out_char(out, '\0');
	copy = CHECK(!out->failed) ? malloc(out_len(out)) : NULL;
	if (copy)
		memcpy(copy, out->start, out_len(out));
	if (ret_len)
		*ret_len = out_len(out) - 1;
	return copy;
}

/* The output of an exporter for a trace. */
static char *export_trace(struct trace *trace, const char *to, struct export_input input, size_t *ret_len)
{
	const struct export_ops *ops = export_find(to);
	struct export *export = NULL;
	struct reader reader;
	struct out out;
	char *copy = NULL;

	if (!CHECK(trace && ops))
		return NULL;
	reader_init(&reader);
	CHECK(reader_add_trace(&reader, trace, NULL) == 0);
	input.reader = &reader;
	if (CHECK(out_init(&out, 4096))) {
		if (CHECK(export_new(ops, &input, &out, &export, NULL) == 0)) {
			run(&reader, export);
			finish(export);
			copy = copy_of(&out, ret_len);
			export_free(export);
		}
		out_release(&out);
	}
	reader_release(&reader);
	return copy;
}

char *exported_by(struct trace *trace, const char *to, struct pool *pool, size_t *ret_len)
{
	return export_trace(trace, to, (struct export_input){ .pool = pool }, ret_len);
}

char *exported(struct loom *loom, const char *to, const char *weight, size_t *ret_len)
{
	struct trace *trace = loom_trace(loom);
	char *copy = export_trace(trace, to, (struct export_input){ .weight = weight }, ret_len);

	trace_free(trace);
	return copy;
}

char *exported_guest(struct trace *trace, const char *to, const struct export_guest *guest, size_t *ret_len)
{
	return export_trace(trace, to, (struct export_input){ .guest = guest }, ret_len);
}

char *exported_fields(struct trace *trace, const char *fields)
{
	return export_trace(trace, "csv", (struct export_input){ .fields = fields }, NULL);
}

char *exported_diff(struct loom *loom, struct loom *before, const char *to)
{
	struct trace *traces[2] = { loom_trace(before), loom_trace(loom) };
	struct export *exports[2] = { NULL, NULL };
	struct reader readers[2];
	struct out out;
	char *copy = NULL;

	if (!CHECK(traces[0] && traces[1] && out_init(&out, 4096)))
		return NULL;
	for (size_t i = 0; i < 2; i++) {
		const struct export_input input = { .reader = &readers[i], .before = i ? exports[0] : NULL };

		reader_init(&readers[i]);
		CHECK(reader_add_trace(&readers[i], traces[i], NULL) == 0);
		if (CHECK(export_new(export_find(to), &input, &out, &exports[i], NULL) == 0))
			run(&readers[i], exports[i]);
	}
	if (exports[1]) {
		finish(exports[1]);
		copy = copy_of(&out, NULL);
	}
	for (size_t i = 2; i-- > 0;) {
		export_free(exports[i]);
		reader_release(&readers[i]);
		trace_free(traces[i]);
	}
	out_release(&out);
	return copy;
}
