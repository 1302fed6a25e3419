// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/printed.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/painted.h"
#include "formats/render.h"
#include "formats/sink.h"
#include "formats/text_end.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/latency_facts.h"
#include "lib/meaning/query/selection.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/trace/trace.h"

int printed_select(const struct context *context, const char *events, struct selection **ret, struct fail *fail)
{
	int r = events ? selection_new(context, ret, fail) : 0;

	return r || !events ? r : selection_add_events(*ret, events, fail);
}

static int print(struct trace *trace, struct reader *reader, const struct printed *how, int fd, struct fail *fail)
{
	const struct render_options whole = { .limit = UINT64_MAX };
	const struct sink_options options = { .color = how->color, .width = how->width };
	const struct sink_ops *ops = sink_find(how->format);
	struct sink *sink = NULL;
	uint64_t nr;
	int r = reader_add(reader, trace, how->buffer, fail);

	if (!r && how->option)
		r = context_set_option(reader->buffers[0].context, how->option, fail);
	if (!r)
		r = printed_select(reader->buffers[0].context, how->events, &reader->buffers[0].selection, fail);
	if (!r)
		r = latency_facts_learn(reader->buffers[0].context, fail);
	if (!r)
		reader->buffers[0].window.since = how->since;
	if (!r && how->until)
		reader->buffers[0].window.until = how->until;
	if (!r)
		r = reader_start(reader, &(struct reader_options){ .keep_blocks = true }, fail);
	if (!r)
		r = painted_new(ops, reader->buffers[0].context, &options, &sink, fail);
	if (!r)
		r = render(reader, &sink, &whole, &(struct text_end){ .fd = fd }, &nr, fail);
	if (sink)
		sink->ops->free(sink);
	if (!r && trace_damage(trace))
		r = fail_set(fail, -EBADMSG, "%s", trace_damage(trace));
	return r;
}

int printed_trace(struct trace *trace, const struct printed *how, struct buf *ret, struct fail *fail)
{
	cleanup_fd int fd = memfd_create("printed", MFD_CLOEXEC);
	struct reader reader;
	int r;

	reader_init(&reader);
	r = print(trace, &reader, how, fd, fail);
	reader_release(&reader);
	if (!r && (lseek(fd, 0, SEEK_SET) || io_read_all(fd, 1 << 28, ret)))
		r = fail_set(fail, -EIO, "what was printed cannot be read");
	return r;
}

const char *printed_body(struct buf *text)
{
	const char *at = buf_str(text);

	while (*at == '#')
		at += strcspn(at, "\n") + 1;
	return at;
}

int printed(const char *path, const char *format, const char *option, struct buf *ret, struct fail *fail)
{
	struct trace *trace = NULL;
	int r = trace_open(path, &trace, fail);

	if (!r)
		r = printed_trace(trace, &(struct printed){ .format = format, .option = option }, ret, fail);
	trace_free(trace);
	return r;
}
