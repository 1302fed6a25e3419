// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/sliced_export.h"

#include <string.h>

#include "formats/export/export.h"
#include "formats/export/export_events.h"
#include "formats/export/export_slices.h"
#include "formats/text_end.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/reader/slices.h"
#include "tests/unit/printed.h"

static int add(void *arg, const void *data, size_t len, struct fail *fail)
{
	return buf_add(arg, data, len) ? 0 : fail_memory(fail);
}

/* Without the columns of losses, and with one that no event here has: both make notes. */
static const char *fields_of(const char *to)
{
	return strcmp(to, "csv") ? NULL : "ts,cpu,pid,comm,text,next_pid,child_pid";
}

static int run(struct reader *reader, const char *to, struct buf *ret, struct fail *fail)
{
	const struct export_input input = { .reader = reader, .fields = fields_of(to) };
	struct export_events driver = { .reader = reader, .limit = UINT64_MAX, .write = add, .arg = ret };
	struct out out = { .start = NULL };
	int r = out_init(&out, 1 << 16) ? 0 : fail_memory(fail);

	driver.out = &out;
	if (!r)
		r = export_new(export_find(to), &input, &out, &driver.export, fail);
	if (!r)
		r = export_events(&driver, fail);
	if (!r && !buf_addf(ret, "%s", buf_str(&driver.export->notes)))
		r = fail_memory(fail);
	export_free(driver.export);
	out_release(&out);
	return r;
}

int sliced_export_order(struct trace *trace, const char *to, const char *events, struct buf *ret, struct fail *fail)
{
	struct reader reader;
	int r;

	reader_init(&reader);
	r = reader_add(&reader, trace, 0, fail);
	if (!r)
		r = printed_select(reader.buffers[0].context, events, &reader.buffers[0].selection, fail);
	if (!r)
		r = reader_start(&reader, &(struct reader_options){ .pool = NULL }, fail);
	if (!r)
		r = run(&reader, to, ret, fail);
	reader_release(&reader);
	return r;
}

int sliced_export(const struct slices *slices, const char *to, struct pool *pool, struct text_end *end,
		  struct fail *fail)
{
	const struct export_input input = { .reader = slices->reader, .fields = fields_of(to) };
	struct export_slices driver = { .slices = slices, .input = &input, .pool = pool, .end = end };
	struct out out = { .start = NULL };
	int r = out_init(&out, 1 << 16) ? 0 : fail_memory(fail);

	driver.out = &out;
	if (!r)
		r = export_new(export_find(to), &input, &out, &driver.export, fail);
	if (!r)
		r = export_slices(&driver, fail);
	if (!r) {
		out_str(&out, buf_str(&driver.export->notes));
		r = text_end_put(end, &out, fail);
	}
	export_free(driver.export);
	out_release(&out);
	return r;
}
