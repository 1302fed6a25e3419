// SPDX-License-Identifier: GPL-2.0-only
#include "lib/trace/recast.h"

#include "lib/trace/carried.h"
#include "lib/trace/part.h"
#include "lib/trace/trace.h"
#include "lib/trace/writer.h"

static int write_buffer(struct trace *trace, struct writer *writer, struct part *part, size_t index, struct fail *fail)
{
	const struct trace_buffer *buffer = trace_buffer(trace, index);
	int r = writer_buffer(writer, buffer->name.text, buffer->clock.text ? buffer->clock.text : "local",
			      buffer->page_size, fail);

	for (size_t i = 0; !r && i < buffer->nr_cpus; i++) {
		struct trace_pages pages;

		r = trace_pages_init(&pages, trace, index, i, fail);
		if (!r)
			r = part_add_pages(part, &pages, fail);
		if (!r)
			r = part_write(part, writer, buffer->cpus[i].cpu, fail);
	}
	return r;
}

int recast(struct trace *trace, const struct recast_options *options, int fd, uint64_t *ret_size, struct fail *fail)
{
	const struct trace_info *info = trace_info(trace);
	const struct writer_options form = {
		.version = options->version,
		.compress = options->compress,
		.level = options->level,
		.temporaries = options->temporaries,
		.big_endian = info->big_endian,
		.long_size = info->long_size,
		.page_size = info->page_size,
	};
	struct carried carried;
	struct writer *writer = NULL;
	struct part *part = NULL;
	int r = carried_init(&carried, trace, fail);

	if (!r)
		r = writer_new(fd, &form, &writer, fail);
	if (!r)
		r = part_new(&form, &part, fail);
	if (!r)
		r = writer_metadata(writer, &carried.metadata, fail);
	for (size_t i = 0; !r && i < trace_buffers(trace); i++)
		r = write_buffer(trace, writer, part, i, fail);
	if (!r)
		r = writer_finish(writer, fail);
	if (!r)
		*ret_size = writer_size(writer);
	part_free(part);
	writer_free(writer);
	carried_release(&carried);
	return r;
}
