// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/files/rewrite/recast.h"

#include "lib/pages/trace/carried.h"
#include "lib/pages/trace/made_file.h"
#include "lib/pages/trace/part.h"
#include "lib/pages/trace/trace.h"
#include "lib/pages/trace/writer.h"

static int write_buffer(struct trace *trace, size_t index, struct part *part, struct writer *writer, struct fail *fail)
{
	const struct trace_buffer *buffer = trace_buffer(trace, index);
	int r = made_file_buffer(writer, buffer->name.text, buffer, fail);

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

static int write_buffers(void *arg, struct part *part, struct writer *writer, struct fail *fail)
{
	struct trace *trace = arg;
	int r = 0;

	for (size_t i = 0; !r && i < trace_buffers(trace); i++)
		r = write_buffer(trace, i, part, writer, fail);
	return r;
}

struct writer_options recast_form(const struct recast_options *options, const struct trace *trace)
{
	const struct trace_info *info = trace_info(trace);

	return (struct writer_options){
		.version = options->version,
		.compress = options->compress,
		.level = options->level,
		.temporaries = options->temporaries,
		.big_endian = info->big_endian,
		.long_size = info->long_size,
		.page_size = info->page_size,
	};
}

int recast(struct trace *trace, const struct recast_options *options, int fd, uint64_t *ret_size, struct fail *fail)
{
	const struct writer_options form = recast_form(options, trace);
	struct carried carried;
	int r = carried_init(&carried, trace, fail);

	if (!r)
		r = made_file_write(fd, &form, &carried.metadata, write_buffers, trace, ret_size, fail);
	carried_release(&carried);
	return r;
}
