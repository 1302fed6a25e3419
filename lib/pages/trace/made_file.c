// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/pages/trace/made_file.h"

#include "lib/pages/trace/part.h"
#include "lib/pages/trace/trace.h"
#include "lib/pages/trace/writer.h"

int made_file_write(int fd, const struct writer_options *form, const struct writer_metadata *metadata,
		    made_file_buffers *buffers, void *arg, uint64_t *ret_size, struct fail *fail)
{
	struct writer *writer = NULL;
	struct part *part = NULL;
	int r = writer_new(fd, form, &writer, fail);

	if (!r)
		r = part_new(form, &part, fail);
	if (!r)
		r = writer_metadata(writer, metadata, fail);
	if (!r)
		r = buffers(arg, part, writer, fail);
	if (!r)
		r = writer_finish(writer, fail);
	if (!r)
		*ret_size = writer_size(writer);
	part_free(part);
	writer_free(writer);
	return r;
}

int made_file_buffer(struct writer *writer, const char *name, const struct trace_buffer *like, struct fail *fail)
{
	return writer_buffer(writer, name, like->clock.text ? like->clock.text : "local", like->page_size, fail);
}
