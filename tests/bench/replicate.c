// SPDX-License-Identifier: GPL-2.0-only
/*
 * replicate IN OUT VERSION TIMES: writes the first buffer of IN, a trace.dat, TIMES times one behind the other into OUT, of version
 * 6 or 7, with the time going on. Large inputs for `make bench` from small recordings.
 */
#include "lib/base/buf.h"
#include "lib/base/cleanup.h"
#include "lib/base/fail.h"
#include "lib/codec/frame.h"
#include "lib/ring/page.h"
#include "lib/trace/part.h"
#include "lib/trace/trace.h"
#include "lib/trace/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

struct copy {
	struct trace *trace;
	const struct trace_buffer *buffer;
	struct page_shape shape;
	struct buf *pages; /* of each CPU */
	uint64_t first, last;
};

static int load_cpu(struct copy *copy, size_t index, struct frame_reader *reader, struct fail *fail)
{
	struct buf *pages = &copy->pages[index];
	cleanup_buf struct buf scratch = BUF_INIT;
	struct trace_pages from;
	size_t size;
	int r = trace_pages_init(&from, copy->trace, 0, index, fail);

	while (!r && (r = trace_pages_size(&from, 1 << 20, &size, fail)) > 0) {
		if (!buf_reserve(pages, size))
			return fail_memory(fail);
		r = trace_pages_read(&from, reader, &scratch, pages->data + pages->len, size, fail);
		pages->len += size / copy->shape.size * copy->shape.size;
	}
	return r;
}

static int find_span(struct copy *copy, const struct buf *pages, struct fail *fail)
{
	struct page page;
	struct record record;
	int r;

	for (size_t at = 0; at + copy->shape.size <= pages->len; at += copy->shape.size) {
		r = page_init(&page, &copy->shape, pages->data + at, copy->shape.size, fail);
		if (r < 0)
			return r;
		while ((r = page_next(&page, &record, fail)) > 0) {
			copy->first = record.ts < copy->first ? record.ts : copy->first;
			copy->last = record.ts > copy->last ? record.ts : copy->last;
		}
		if (r < 0)
			return r;
	}
	return 0;
}

static void shift(struct copy *copy, struct buf *pages, uint64_t by)
{
	for (size_t at = 0; at < pages->len; at += copy->shape.size) {
		uint64_t ts;

		memcpy(&ts, pages->data + at, sizeof(ts));
		ts += by;
		memcpy(pages->data + at, &ts, sizeof(ts));
	}
}

static int metadata(struct copy *copy, struct writer *writer, struct fail *fail)
{
	static const enum trace_meta wanted[] = { TRACE_HEADER_PAGE, TRACE_HEADER_EVENT, TRACE_KALLSYMS, TRACE_PRINTK,
						  TRACE_CMDLINES,    TRACE_UNAME };
	const struct trace_info *info = trace_info(copy->trace);
	const struct trace_format *formats;
	struct writer_format *own;
	struct trace_text meta[TRACE_META_NR] = { 0 };
	struct writer_metadata data = { .clock = copy->buffer->clock.text, .trace_id = info->trace_id,
					.cpu_count = info->cpu_count };
	int r;

	for (size_t i = 0; i < array_size(wanted); i++) {
		r = trace_meta(copy->trace, wanted[i], &meta[wanted[i]], fail);
		if (r < 0)
			return r;
	}
	formats = trace_formats(copy->trace, &data.nr_formats);
	own = calloc(data.nr_formats + 1, sizeof(*own));
	if (!own)
		return fail_memory(fail);
	for (size_t i = 0; i < data.nr_formats; i++)
		own[i] = (struct writer_format){ formats[i].system.text, formats[i].text.text, formats[i].text.len };
	data.formats = own;
	data.header_page = meta[TRACE_HEADER_PAGE].text;
	data.header_event = meta[TRACE_HEADER_EVENT].text;
	data.kallsyms = meta[TRACE_KALLSYMS].text, data.kallsyms_len = meta[TRACE_KALLSYMS].len;
	data.printk = meta[TRACE_PRINTK].text, data.printk_len = meta[TRACE_PRINTK].len;
	data.cmdlines = meta[TRACE_CMDLINES].text, data.cmdlines_len = meta[TRACE_CMDLINES].len;
	data.uname = meta[TRACE_UNAME].text;
	r = writer_metadata(writer, &data, fail);
	free(own);
	return r;
}

static int write_all(struct copy *copy, int fd, const struct writer_options *options, unsigned times, struct fail *fail)
{
	struct writer *writer = NULL;
	struct part *part = NULL;
	uint64_t span = copy->last - copy->first + 1000;
	int r = writer_new(fd, options, &writer, fail);

	r = r ? r : metadata(copy, writer, fail);
	r = r ? r : writer_buffer(writer, "", copy->buffer->clock.text, copy->shape.size, fail);
	r = r ? r : part_new(options, &part, fail);
	for (size_t i = 0; !r && i < copy->buffer->nr_cpus; i++) {
		for (unsigned k = 0; !r && k < times; k++) {
			r = part_add(part, copy->pages[i].data, copy->pages[i].len, copy->shape.size, fail);
			shift(copy, &copy->pages[i], span);
		}
		r = r ? r : part_write(part, writer, copy->buffer->cpus[i].cpu, fail);
	}
	r = r ? r : writer_finish(writer, fail);
	part_free(part);
	writer_free(writer);
	return r;
}

static int replicate(const char *in, const char *out, unsigned version, unsigned times, struct fail *fail)
{
	struct copy copy = { .first = UINT64_MAX };
	const struct trace_info *info;
	struct frame_reader *reader = NULL;
	struct writer_options options = { .version = version, .compress = version == 7, .level = FRAME_LEVEL_DEFAULT };
	cleanup_fd int fd = open(out, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	int r;

	if (fd < 0)
		return fail_set(fail, -errno, "cannot create '%s': %s", out, strerror(errno));
	r = trace_open(in, &copy.trace, fail);
	if (r < 0)
		return r;
	info = trace_info(copy.trace);
	if (!trace_buffers(copy.trace) || info->swap)
		return fail_set(fail, -EINVAL, "%s: not of this machine's byte order, or without a buffer", in);
	options.big_endian = info->big_endian;
	options.long_size = info->long_size;
	options.page_size = info->page_size;
	copy.buffer = trace_buffer(copy.trace, 0);
	copy.shape = (struct page_shape){ .size = copy.buffer->page_size, .long_size = info->long_size };
	copy.pages = calloc(copy.buffer->nr_cpus + 1, sizeof(*copy.pages));
	if (!copy.pages)
		return fail_memory(fail);
	r = frame_reader_new(&reader, fail);
	for (size_t i = 0; !r && i < copy.buffer->nr_cpus; i++) {
		r = load_cpu(&copy, i, reader, fail);
		r = r ? r : find_span(&copy, &copy.pages[i], fail);
	}
	return r ? r : write_all(&copy, fd, &options, times, fail);
}

int main(int argc, char **argv)
{
	struct fail fail = FAIL_INIT;

	if (argc != 5) {
		fprintf(stderr, "usage: replicate IN OUT 6|7 TIMES\n");
		return 2;
	}
	if (replicate(argv[1], argv[2], (unsigned)strtoul(argv[3], NULL, 10),
		      (unsigned)strtoul(argv[4], NULL, 10), &fail) < 0) {
		fprintf(stderr, "replicate: %s\n", fail.text);
		return 1;
	}
	return 0;
}
