// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/event_text.h"
#include "lib/api/api_internal.h"
#include "lib/meaning/columns/arrow.h"
#include "lib/meaning/columns/batch.h"
#include "lib/meaning/columns/filler.h"
#include "lib/meaning/columns/shape.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/reader/batches.h"

/* A stream of the events of a reader; what get_next() has read and not yet put into a batch is between two calls. */
struct stream {
	weft_reader *reader;
	bool takes_reader;
	struct filler *filler;
	struct event_text **texts; /* by buffer; NULL: no column asks for the text */
	const struct event *at;
	size_t left;
	int failed; /* the error that comes after the last rows */
	bool ended;
	struct fail fail;
	char said[sizeof(((struct fail *)NULL)->text)]; /* its text in words of weft.h */
};

static void stream_free(struct stream *stream)
{
	for (size_t i = 0; stream->texts && i < stream->reader->reader.nr_buffers; i++)
		event_text_free(stream->texts[i]);
	free(stream->texts);
	filler_free(stream->filler);
	if (stream->takes_reader)
		weft_reader_free(stream->reader);
	free(stream);
}

static void stream_release(struct ArrowArrayStream *stream)
{
	stream_free(stream->private_data);
	stream->release = NULL;
}

static int no_memory(struct stream *stream)
{
	fail_memory(&stream->fail);
	return ENOMEM;
}

static int stream_get_schema(struct ArrowArrayStream *arrow, struct ArrowSchema *ret)
{
	struct stream *stream = arrow->private_data;
	size_t nr;
	const struct column_shape *shapes = filler_shapes(stream->filler, &nr);

	return arrow_schema(shapes, nr, ret) ? 0 : no_memory(stream);
}

/* Adds events until a batch is full or there are none. An error ends the stream after the rows before it. */
static int fill(struct stream *stream)
{
	while (!filler_is_full(stream->filler)) {
		int r;

		for (; stream->left && !filler_is_full(stream->filler); stream->at++, stream->left--)
			if (!filler_add(stream->filler, stream->at))
				return -ENOMEM;
		if (stream->left)
			return 0;
		if (stream->ended)
			return 0;
		r = batches_next(stream->reader->batches, &stream->at, &stream->fail);
		stream->ended = r <= 0;
		stream->failed = r < 0 ? r : 0;
		stream->left = r > 0 ? (size_t)r : 0;
	}
	return 0;
}

static int stream_get_next(struct ArrowArrayStream *arrow, struct ArrowArray *ret)
{
	struct stream *stream = arrow->private_data;
	struct batch *batch;

	if (fill(stream)) {
		stream->ended = true;
		return no_memory(stream);
	}
	batch = filler_take(stream->filler);
	if (!batch) {
		ret->release = NULL;
		return -stream->failed;
	}
	if (arrow_array(batch, ret))
		return 0;
	batch_free(batch);
	return no_memory(stream);
}

static const char *stream_get_last_error(struct ArrowArrayStream *arrow)
{
	struct stream *stream = arrow->private_data;

	api_say(stream->fail.text, stream->said, sizeof(stream->said));
	return *stream->said ? stream->said : NULL;
}

static bool put_text(void *arg, const struct event *event, struct out *out)
{
	const struct stream *stream = arg;

	event_text_put(stream->texts[event->buffer], event, EVENT_TEXT_BODY, out);
	return !out->failed;
}

static bool asks_text(const char *const *columns, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(columns[i], "text"))
			return true;
	return false;
}

static int open_texts(struct stream *stream, struct fail *fail)
{
	const struct reader *reader = &stream->reader->reader;
	int r = 0;

	stream->texts = calloc(reader->nr_buffers + 1, sizeof(struct event_text *));
	if (!stream->texts)
		return fail_memory(fail);
	for (size_t i = 0; !r && i < reader->nr_buffers; i++)
		r = event_text_new(reader->buffers[i].context, &stream->texts[i], fail);
	return r;
}

static int open_stream(struct stream *stream, const char *const *columns, size_t nr, size_t rows, struct fail *fail)
{
	weft_reader *reader = stream->reader;
	const struct filler_options options = { .rows = rows, .text = put_text, .text_arg = stream };
	int r = reader->use == API_UNUSED ? api_reader_start(reader, API_EVENTS, NULL, fail) : 0;

	if (!r && (reader->use != API_EVENTS || reader->batches || reader->feed))
		r = fail_set(fail, -EBUSY, "the reader has handed out events");
	if (!r && asks_text(columns, nr))
		r = open_texts(stream, fail);
	if (!r)
		r = filler_new(&reader->reader, columns, nr, &options, &stream->filler, fail);
	return r ? r : batches_new(&reader->reader, &reader->batches, fail);
}

int weft_reader_arrow(weft_reader *reader, const char *const *columns, size_t nr,
		      const struct weft_arrow_options *options, struct ArrowArrayStream *ret, struct weft_error *error)
{
	struct fail fail = FAIL_INIT;
	struct weft_arrow_options arrow;
	struct stream *stream = calloc(1, sizeof(*stream));
	int r = api_options(options, &arrow, sizeof(arrow), &fail);

	if (!r && !stream)
		r = fail_memory(&fail);
	if (!r) {
		stream->reader = reader;
		r = open_stream(stream, columns, nr, arrow.rows, &fail);
	}
	if (r) {
		if (stream)
			stream_free(stream);
		return api_result(error, r, &fail);
	}
	stream->takes_reader = arrow.takes_reader;
	*ret = (struct ArrowArrayStream){ .get_schema = stream_get_schema,
					  .get_next = stream_get_next,
					  .get_last_error = stream_get_last_error,
					  .release = stream_release,
					  .private_data = stream };
	return 0;
}
