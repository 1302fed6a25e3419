// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/pages/codec/frame.h"
#include "lib/pages/trace/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { ROUNDS_MAX = 1 << 14 };

static volatile char sink;

/* A text is readable up to its end, where it has a NUL. */
static void touch(struct trace_text text)
{
	if (!text.text)
		return;
	for (size_t i = 0; i < text.len; i += 512)
		sink = text.text[i];
	if (text.text[text.len])
		abort();
}

static void read_cpu(struct trace *trace, size_t buffer, size_t cpu, struct frame_reader *reader)
{
	struct buf scratch = BUF_INIT;
	struct fail fail = FAIL_INIT;
	struct trace_pages pages;
	size_t size;
	int r = trace_pages_init(&pages, trace, buffer, cpu, &fail);

	for (int i = 0; !r && i < ROUNDS_MAX && (r = trace_pages_size(&pages, 1 << 16, &size, &fail)) > 0; i++) {
		char head[16], *room;

		if (!size || size > TRACE_CHUNK_MAX)
			abort();
		room = malloc(size);
		if (!room)
			abort();
		r = size >= sizeof(head) ? trace_pages_peek(&pages, reader, &scratch, head, sizeof(head), &fail) : 0;
		if (!r)
			r = i % 8 == 7 ? trace_pages_skip(&pages, size, &fail) :
					 trace_pages_read(&pages, reader, &scratch, room, size, &fail);
		free(room);
	}
	if (r < 0 && !*fail.text)
		abort();
	buf_release(&scratch);
}

static void read_texts(struct trace *trace)
{
	const struct trace_format *formats;
	struct fail fail = FAIL_INIT;
	struct trace_text text;
	const char *name;
	size_t count, buffer;

	formats = trace_formats(trace, &count);
	for (size_t i = 0; i < count; i++) {
		touch(formats[i].system);
		touch(formats[i].text);
	}
	for (int i = 0; i < TRACE_META_NR; i++)
		if (!trace_meta(trace, (enum trace_meta)i, &text, &fail))
			touch(text);
	for (size_t i = 0; trace_setting_at(trace, i, &buffer, &name, &text); i++) {
		touch(text);
		sink = (char)strlen(name);
	}
	if (trace_sections(trace, &count))
		sink = (char)count;
}

/* Whatever the bytes are: opening fails with a message, or everything that the getters return can be read. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	cleanup_fd int fd = memfd_create("container", MFD_CLOEXEC);
	struct frame_reader *reader = NULL;
	struct fail fail = FAIL_INIT;
	struct trace *trace = NULL;

	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		return 0;
	if (trace_open_fd(fd, "fuzz", &trace, &fail)) {
		if (!*fail.text)
			abort();
		return 0;
	}
	if (frame_reader_new(&reader, &fail))
		abort();
	read_texts(trace);
	for (size_t i = 0; i < trace_buffers(trace); i++)
		for (size_t j = 0; j < trace_buffer(trace, i)->nr_cpus; j++)
			read_cpu(trace, i, j, reader);
	frame_reader_free(reader);
	trace_free(trace);
	return 0;
}
