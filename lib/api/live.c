// SPDX-License-Identifier: LGPL-2.1-or-later
/* weft_live: the events of the running kernel, whose pages another process takes out of it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/api/api_internal.h"
#include "lib/api/live_internal.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/query/selection.h"
#include "lib/meaning/reader/relay_reader.h"

enum {
	BATCH = 256,
	ROUND_NS = 100000000 /* so often somebody is asked who waits for events */
};

struct live {
	struct api_feed feed;
	struct live_pipe pipe;
	weft_reader *reader;
	weft_file *file;
	weft_query *query; /* NULL: all events */
	struct relay_reader *relay;
	unsigned wait_ms;
	bool begun; /* events were handed out */
};

static struct live *live_of(const weft_reader *reader)
{
	return (struct live *)reader->feed;
}

/* Closing the pipe waits until the process that reads the kernel has restored everything. */
static void free_live(struct api_feed *feed)
{
	struct live *live = (struct live *)feed;

	live_pipe_close(&live->pipe);
	weft_query_free(live->query);
	relay_reader_free(live->relay);
	free(live);
}

static int next_frame(void *arg, uint64_t end_ns, struct relay_head *ret, const uint8_t **ret_data, struct fail *fail)
{
	return live_pipe_next(arg, end_ns, ret, ret_data, fail);
}

/* Waits for what describes the buffers. */
static int describe(struct live *live, struct fail *fail)
{
	cleanup_fd int fd = memfd_create("weft-live", MFD_CLOEXEC);
	const struct relay_reader_options options = {
		.next = next_frame, .arg = &live->pipe, .file = fd, .name = "the running kernel"
	};
	int r;

	if (fd < 0)
		return fail_set(fail, -errno, "cannot make a file in memory: %s", strerror(errno));
	r = relay_reader_new(&options, &live->relay, fail);
	return r ? r : api_file_of(relay_reader_take_trace(live->relay), &live->file, fail);
}

static int add_buffer(struct live *live, size_t index, const struct query *query, struct fail *fail)
{
	struct reader *reader = &live->reader->reader;
	struct extent extent = { .known = false };
	int r = relay_reader_add(live->relay, index, live->file->trace, reader, fail);

	if (!r)
		r = api_load_plugins(live->file, reader->buffers[index].context, fail);
	return r ? r : query_narrow(query, &reader->buffers[index], false, &extent, NULL, fail);
}

static int add_source(weft_reader *reader, struct live *live, const struct query *query, struct fail *fail)
{
	struct api_source *source = vec_push(reader->sources, reader->nr_sources);

	if (!source)
		return fail_memory(fail);
	*source = (struct api_source){ .file = live->file, .query = query, .nr = relay_reader_buffers(live->relay) };
	api_file_use(live->file);
	reader->use = API_EVENTS;
	reader->limit = query->limit;
	return 0;
}

static int start(weft_reader *reader, struct live *live, const struct weft_live_options *options, struct fail *fail)
{
	static const struct query all = QUERY_INIT;
	const struct query *query = options->query ? &options->query->query : &all;
	int r = query->tail != UINT64_MAX ?
			fail_set(fail, -EINVAL, "tail: the last events of the running kernel are not known") :
			describe(live, fail);

	if (!r && options->plugins) {
		live->file->plugins = strdup(*options->plugins ? options->plugins : WEFT_LIBDIR "/plugins");
		r = live->file->plugins ? 0 : fail_memory(fail);
	}
	if (!r)
		r = add_source(reader, live, query, fail);
	for (size_t i = 0; !r && i < relay_reader_buffers(live->relay); i++)
		r = add_buffer(live, i, query, fail);
	if (r)
		return r;
	reader_limit(&reader->reader, query->limit);
	reader->types = calloc(reader->reader.nr_buffers + 1, sizeof(*reader->types));
	if (!reader->types)
		return fail_memory(fail);
	return reader_start(&reader->reader, &(struct reader_options){ .fails_at_once = true }, fail);
}

/* Shows what the sources have, and then the losses that no page tells: their number, 0. */
static int show(weft_reader *reader, struct fail *fail)
{
	struct live *live = live_of(reader);
	struct event events[BATCH];
	int r;

	reader_resume(&reader->reader);
	r = reader_batch(&reader->reader, events, BATCH, fail);
	if (r > 0) {
		r = api_reader_show(reader, events, (size_t)r, fail);
	} else if (!r) {
		const struct event *lost;
		size_t nr = relay_reader_dry(live->relay, &lost);

		if (nr)
			r = api_reader_show(reader, lost, nr, fail);
	}
	return r < 0 ? r : (int)reader->nr_events;
}

static bool is_over(const weft_reader *reader)
{
	return relay_reader_ended(live_of(reader)->relay) || (reader->limit != UINT64_MAX && !reader->reader.left);
}

static int read_live(weft_reader *reader, struct fail *fail)
{
	struct live *live = live_of(reader);
	uint64_t end_ns = live->wait_ms ? now_ns() + live->wait_ms * UINT64_C(1000000) : UINT64_MAX;
	int r = 0;

	if (reader->use != API_EVENTS)
		return fail_set(fail, -EBUSY, "the reader is used for an analysis");
	live->begun = true;
	while (!r) {
		r = show(reader, fail);
		if (r || is_over(reader))
			return r;
		r = relay_reader_take(live->relay, end_ns, fail);
	}
	return r;
}

/* An analysis needs all events; those that the words for events choose, it counts. */
static int show_all(weft_reader *reader, struct fail *fail)
{
	const struct query *query = reader->sources[0].query;
	struct query shown = *query;
	int r = 0;

	shown.comms.nr = shown.marks.nr = shown.files.nr = shown.nr_pids = shown.nr_who = 0;
	for (size_t i = 0; !r && i < reader->reader.nr_buffers; i++) {
		struct reader_buffer *buffer = &reader->reader.buffers[i];

		selection_free(buffer->selection);
		buffer->selection = NULL;
		if (query->events.nr || query->filters.nr)
			r = query_select(&shown, buffer->context, &buffer->shown, fail);
	}
	return r;
}

/* Shows what the sources have, and then the losses that no page tells. */
static int show_to(weft_reader *reader, const struct reader_consumer *consumer, bool (*ends)(void *arg), void *arg,
		   struct fail *fail)
{
	struct live *live = live_of(reader);
	struct event events[BATCH];
	const struct event *lost;
	size_t nr;
	int r;

	do {
		reader_resume(&reader->reader);
		r = reader_batch(&reader->reader, events, BATCH, fail);
		for (int i = 0; i < r; i++)
			consumer->see(consumer->arg, &events[i]);
		if (ends(arg))
			return fail_set(fail, -EINTR, "the analysis was interrupted");
	} while (r > 0);
	nr = relay_reader_dry(live->relay, &lost);
	for (size_t i = 0; !r && i < nr; i++)
		consumer->see(consumer->arg, &lost[i]);
	return r;
}

static int run_live(weft_reader *reader, const struct reader_consumer *consumer, bool (*ends)(void *arg), void *arg,
		    struct fail *fail)
{
	struct live *live = live_of(reader);
	int r = 0;

	if (live->begun)
		return fail_set(fail, -EBUSY, "the reader has handed out events: an analysis needs one that has not");
	if (reader->use == API_EVENTS)
		r = show_all(reader, fail);
	reader->use = API_STATE;
	while (!r) {
		r = show_to(reader, consumer, ends, arg, fail);
		if (r || is_over(reader))
			return r;
		r = relay_reader_take(live->relay, now_ns() + ROUND_NS, fail);
		if (r == -EAGAIN || r == -EINTR)
			r = 0;
	}
	return r;
}

static int new_reader(weft_reader **ret, struct fail *fail)
{
	struct live *live = calloc(1, sizeof(*live));
	weft_reader *reader = live ? weft_reader_new() : NULL;

	if (!reader) {
		free(live);
		return fail_memory(fail);
	}
	*live = (struct live){ .feed = { .read = read_live, .run = run_live, .free = free_live },
			       .reader = reader,
			       .pipe = { .frames.fd = -1, .said_fd = -1 } };
	reader->feed = &live->feed;
	*ret = reader;
	return 0;
}

/* The begin of both ways to open. */
static int begin(const struct weft_live_options *options, struct weft_live_options *known, weft_reader **ret,
		 struct fail *fail)
{
	int r = api_options(options, known, sizeof(*known), fail);

	return r ? r : new_reader(ret, fail);
}

/* The end of both ways to open: `r` is what opening the pipe returned. */
static int finish(weft_reader *reader, int r, const struct weft_live_options *options, weft_reader **ret,
		  struct fail *fail)
{
	struct live *live = live_of(reader);

	live->wait_ms = options->wait_ms;
	live->query = (weft_query *)(uintptr_t)options->query;
	if (live->query)
		api_query_use(live->query);
	if (!r)
		r = start(reader, live, options, fail);
	/* The reader uses the file from here on. */
	weft_file_free(live->file);
	if (r)
		weft_reader_free(reader);
	else
		*ret = reader;
	return r;
}

int weft_live_start(const char *const *words, size_t nr, const struct weft_live_options *options, weft_reader **ret,
		    struct weft_error *error)
{
	struct weft_live_options known;
	struct fail fail = FAIL_INIT;
	weft_reader *reader = NULL;
	int r = begin(options, &known, &reader, &fail);

	if (!r) {
		r = live_pipe_start(&live_of(reader)->pipe, known.program ? known.program : WEFT_BINDIR "/weft",
				    known.environment, words, nr, &fail);
		r = finish(reader, r, &known, ret, &fail);
	}
	return api_result(error, r, &fail);
}

int weft_live_open_fd(int fd, const struct weft_live_options *options, weft_reader **ret, struct weft_error *error)
{
	struct weft_live_options known;
	struct fail fail = FAIL_INIT;
	weft_reader *reader = NULL;
	int r = begin(options, &known, &reader, &fail);

	if (!r) {
		r = live_pipe_open(&live_of(reader)->pipe, fd, &fail);
		r = finish(reader, r, &known, ret, &fail);
	}
	return api_result(error, r, &fail);
}

int weft_live_stop(weft_reader *reader, struct weft_error *error)
{
	struct fail fail = FAIL_INIT;
	int r = !reader->feed ? fail_set(&fail, -EINVAL, "the reader does not read the running kernel") :
		relay_reader_ended(live_of(reader)->relay) ? 0 :
							     live_pipe_stop(&live_of(reader)->pipe, &fail);

	return api_result(error, r, &fail);
}

int weft_live_fd(const weft_reader *reader)
{
	return reader->feed ? live_of(reader)->pipe.frames.fd : -EINVAL;
}
