// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/exported.h"

#include "formats/export/export.h"
#include "lib/base/out.h"
#include "lib/reader/reader.h"
#include "lib/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

static void run(struct reader *reader, struct export *export)
{
	struct event event;

	CHECK(reader_start(reader, &(struct reader_options){ .pool = NULL }, NULL) == 0);
	if (export->ops->begin)
		export->ops->begin(export);
	while (reader_next(reader, &event, NULL) > 0)
		export->ops->event(export, &event);
	if (export->ops->end)
		export->ops->end(export);
	CHECK(export->error == 0);
}

char *exported(struct loom *loom, const char *to, const char *weight, size_t *ret_len)
{
	struct trace *trace = loom_trace(loom);
	const struct export_ops *ops = export_find(to);
	struct export *export = NULL;
	struct reader reader;
	struct out out;
	char *copy = NULL;

	if (!CHECK(trace && ops))
		return NULL;
	reader_init(&reader);
	CHECK(reader_add_trace(&reader, trace, NULL) == 0);
	if (CHECK(out_init(&out, 4096))) {
		const struct export_input input = { .reader = &reader, .weight = weight };

		if (CHECK(export_new(ops, &input, &out, &export, NULL) == 0)) {
			run(&reader, export);
			out_char(&out, '\0');
			copy = CHECK(!out.failed) ? malloc(out_len(&out)) : NULL;
			if (copy)
				memcpy(copy, out.start, out_len(&out));
			if (ret_len)
				*ret_len = out_len(&out) - 1;
			export_free(export);
		}
		out_release(&out);
	}
	reader_release(&reader);
	trace_free(trace);
	return copy;
}
