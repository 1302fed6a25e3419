// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/codec/frame.h"
#include "lib/names/symbol_subset.h"
#include "lib/ring/page.h"
#include "lib/trace/trace.h"

#include <errno.h>
#include <string.h>

/* The objects for reading one file. */
struct work {
	struct trace *trace;
	struct symbol_subset *subset;
	struct frame_reader *reader;
	struct buf scratch, data;
	uint64_t left; /* bytes of pages that may still be read */
};

static int see_cpu(struct work *work, size_t buffer, size_t cpu, struct fail *fail)
{
	enum { READ_SIZE = 1 << 18 };
	const struct trace_info *info = trace_info(work->trace);
	struct page_shape shape = { .size = trace_buffer(work->trace, buffer)->page_size,
				    .long_size = info->long_size,
				    .swap = info->swap };
	struct trace_pages pages;
	size_t size;
	int r = trace_pages_init(&pages, work->trace, buffer, cpu, fail);

	while (!r) {
		r = trace_pages_size(&pages, READ_SIZE, &size, fail);
		if (r <= 0)
			break;
		if (size > work->left)
			return -EFBIG;
		work->left -= size;
		buf_clear(&work->data);
		if (!buf_reserve(&work->data, size))
			return fail_memory(fail);
		r = trace_pages_read(&pages, work->reader, &work->scratch, work->data.data, size, fail);
		if (!r)
			symbol_subset_pages(work->subset, &shape, (uint8_t *)work->data.data, size);
	}
	return r;
}

static int see_texts(struct work *work, struct fail *fail)
{
	const struct trace_format *formats;
	struct trace_text text;
	const char *name;
	size_t nr, buffer;
	int r = 0;

	formats = trace_formats(work->trace, &nr);
	for (size_t i = 0; !r && i < nr; i++)
		r = symbol_subset_format(work->subset, formats[i].text.text, formats[i].text.len, fail);
	for (size_t i = 0; trace_setting_at(work->trace, i, &buffer, &name, &text); i++) {
		if (!strcmp(name, "last_boot_info") && text.len)
			return -ESTALE;
		symbol_subset_text(work->subset, text.text, text.len);
	}
	if (!r)
		r = trace_meta(work->trace, TRACE_LATENCY, &text, fail);
	if (!r && text.text)
		symbol_subset_text(work->subset, text.text, text.len);
	return r;
}

static int see_trace(struct work *work, struct fail *fail)
{
	int r = see_texts(work, fail);

	for (size_t i = 0; !r && i < trace_buffers(work->trace); i++)
		for (size_t j = 0; !r && j < trace_buffer(work->trace, i)->nr_cpus; j++)
			r = see_cpu(work, i, j, fail);
	return r;
}

int symbol_subset_of_trace(struct trace *trace, uint64_t pages_max, struct buf *ret, struct fail *fail)
{
	struct work work = { .trace = trace, .scratch = BUF_INIT, .data = BUF_INIT, .left = pages_max };
	struct trace_text text;
	int r = trace_meta(trace, TRACE_KALLSYMS, &text, fail);

	if (!r && text.len)
		r = symbol_subset_new(text.text, text.len, trace_info(trace)->long_size, &work.subset, fail);
	if (!r && work.subset) {
		r = frame_reader_new(&work.reader, fail);
		if (!r)
			r = see_trace(&work, fail);
		if (!r)
			r = symbol_subset_take(work.subset, ret, fail);
	}
	symbol_subset_free(work.subset);
	frame_reader_free(work.reader);
	buf_release(&work.scratch);
	buf_release(&work.data);
	return r == -ENOMEM ? r : 0;
}
