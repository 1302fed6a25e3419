// SPDX-License-Identifier: LGPL-2.1-or-later
/* weft_live: the events of the running kernel, whose pages another process takes out of it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/api/api_internal.h"
#include "lib/api/live_internal.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/clock/wall.h"
#include "lib/meaning/event/comms.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/names/symbols.h"
#include "lib/meaning/query/selection.h"
#include "lib/pages/stream/live_source.h"
#include "lib/pages/stream/source.h"

enum {
	BATCH = 256,
	LANE_CPUS_MAX = 1 << 16,
	PAGE_MAX = 1 << 24,
	BUFFERS_MAX = 1 << 12,
	WAITING_MAX = 8 << 20,
	LOST_MAX = 1 << 20,
	ROUND_NS = 100000000 /* so often somebody is asked who waits for events */
};

/* A page that came, and waits for the source. */
struct waiting {
	struct waiting *next;
	uint8_t data[];
};

struct queue {
	struct waiting *first, **tail;
};

/* The schema and the context borrow these texts. */
struct learnt {
	struct learnt *next;
	char text[];
};

struct lane {
	struct relay_buffer shape;
	uint32_t *cpus;
	struct queue *queues;  /* by index of the CPU */
	struct source *source; /* owned by the reader */
	struct context *context;
};

struct live {
	struct api_feed feed;
	struct live_pipe pipe;
	weft_reader *reader;
	weft_file *file;
	weft_query *query; /* NULL: all events */
	struct lane *lanes;
	size_t nr_lanes, waiting; /* bytes of pages */
	struct live_times times;
	struct learnt *learnt;
	struct buf symbols, names, tgids;
	struct event *lost; /* that no page tells: shown when a round has ended */
	size_t nr_lost;
	unsigned wait_ms;
	bool begun;    /* events were handed out */
	bool has_more; /* the sources may have events that are certain */
	bool ended;
};

static void release_lanes(struct live *live)
{
	for (size_t i = 0; i < live->nr_lanes; i++) {
		struct lane *lane = &live->lanes[i];
		struct waiting *at;

		for (size_t j = 0; lane->queues && j < lane->shape.nr_cpus; j++)
			while ((at = lane->queues[j].first)) {
				lane->queues[j].first = at->next;
				free(at);
			}
		free(lane->queues);
		free(lane->cpus);
	}
	free(live->lanes);
}

static struct live *live_of(const weft_reader *reader)
{
	return (struct live *)reader->feed;
}

/* Closing the pipe waits until the process that reads the kernel has restored everything. */
static void free_live(struct api_feed *feed)
{
	struct live *live = (struct live *)feed;
	struct learnt *at;

	live_pipe_close(&live->pipe);
	weft_query_free(live->query);
	release_lanes(live);
	while ((at = live->learnt)) {
		live->learnt = at->next;
		free(at);
	}
	free(live->lost);
	buf_release(&live->symbols);
	buf_release(&live->names);
	buf_release(&live->tgids);
	free(live);
}

static int damaged(struct fail *fail)
{
	return fail_set(fail, -EBADMSG, "what weft stream --pages writes is damaged");
}

static int take_facts(struct live *live, const uint8_t *data, size_t len, struct fail *fail)
{
	cleanup_fd int fd = memfd_create("weft-live", MFD_CLOEXEC);
	struct weft_error error;
	int r;

	if (live->file)
		return damaged(fail);
	if (fd < 0)
		return fail_set(fail, -errno, "cannot make a file in memory: %s", strerror(errno));
	r = io_write(fd, data, len);
	if (r)
		return fail_set(fail, r, "cannot write a file in memory: %s", strerror(-r));
	r = weft_file_open_fd(fd, "the running kernel", NULL, &live->file, &error);
	return r ? fail_set(fail, r, "%s", error.text) : 0;
}

static int take_buffer(struct live *live, const uint8_t *data, size_t len, struct fail *fail)
{
	struct relay_buffer shape;
	struct lane *lane;

	if (len < sizeof(shape))
		return damaged(fail);
	memcpy(&shape, data, sizeof(shape));
	if (shape.nr_cpus > LANE_CPUS_MAX || len != sizeof(shape) + shape.nr_cpus * sizeof(uint32_t) ||
	    shape.page_size < 64 || shape.page_size > PAGE_MAX || (shape.long_size != 4 && shape.long_size != 8) ||
	    live->nr_lanes >= BUFFERS_MAX)
		return damaged(fail);
	lane = vec_push(live->lanes, live->nr_lanes);
	if (!lane)
		return fail_memory(fail);
	*lane = (struct lane){ .shape = shape };
	lane->cpus = calloc(shape.nr_cpus + 1, sizeof(*lane->cpus));
	lane->queues = calloc(shape.nr_cpus + 1, sizeof(*lane->queues));
	if (!lane->cpus || !lane->queues)
		return fail_memory(fail);
	memcpy(lane->cpus, data + sizeof(shape), shape.nr_cpus * sizeof(uint32_t));
	for (size_t i = 0; i < shape.nr_cpus; i++) {
		lane->queues[i].tail = &lane->queues[i].first;
		if (i && lane->cpus[i] <= lane->cpus[i - 1])
			return damaged(fail);
	}
	return 0;
}

/* What describes the buffers, until RELAY_READY. */
static int read_description(struct live *live, struct fail *fail)
{
	struct relay_head head = { .kind = RELAY_HELLO };
	const uint8_t *data;
	int r = 0;

	while (!r && head.kind != RELAY_READY) {
		do
			r = live_pipe_next(&live->pipe, UINT64_MAX, &head, &data, fail);
		while (r == -EINTR);
		if (r < 0)
			return r;
		r = 0;
		if (head.kind == RELAY_FACTS)
			r = take_facts(live, data, head.len, fail);
		else if (head.kind == RELAY_BUFFER)
			r = take_buffer(live, data, head.len, fail);
		else if (head.kind == RELAY_SYMBOLS && !live->symbols.len)
			r = buf_add(&live->symbols, data, head.len) ? 0 : fail_memory(fail);
		else if (head.kind != RELAY_HELLO && head.kind != RELAY_READY)
			r = damaged(fail);
	}
	return !r && (!live->file || !live->nr_lanes || live->nr_lanes != weft_file_buffers(live->file)) ?
		       damaged(fail) :
		       r;
}

static int read_page(void *arg, size_t cpu_index, void *into, struct fail *fail)
{
	struct lane *lane = arg;
	struct queue *queue = &lane->queues[cpu_index];
	struct waiting *first = queue->first;

	(void)fail;
	if (!first)
		return 0;
	queue->first = first->next;
	if (!queue->first)
		queue->tail = &queue->first;
	memcpy(into, first->data, lane->shape.page_size);
	free(first);
	return 1;
}

static int ask_symbols(void *arg, struct buf *buf)
{
	const struct live *live = arg;

	return buf_add(buf, live->symbols.data, live->symbols.len) ? 0 : -ENOMEM;
}

/* A buffer of the reader with the pages of a lane. */
static int add_buffer(struct live *live, size_t index, const struct query *query, struct fail *fail)
{
	struct reader *reader = &live->reader->reader;
	struct lane *lane = &live->lanes[index];
	struct extent extent = { .known = false };
	const struct live_source_options options = {
		.feed = { .read = read_page, .arg = lane },
		.shape = { .size = lane->shape.page_size, .long_size = (uint8_t)lane->shape.long_size },
		.cpus = lane->cpus,
		.nr_cpus = lane->shape.nr_cpus,
		.queue_max = SIZE_MAX,
		.times = &live->times,
	};
	struct events_options *window;
	int r = reader_add(reader, live->file->trace, index, fail);

	if (r)
		return r;
	lane->context = reader->buffers[index].context;
	symbols_ask(lane->context->symbols, ask_symbols, live);
	r = api_load_plugins(live->file, lane->context, fail);
	if (!r)
		r = live_source_new(&options, &lane->source, fail);
	if (r)
		return r;
	window = &reader->buffers[index].window;
	window->source = lane->source;
	window->see = comms_learn;
	window->see_arg = lane->context->comms;
	return query_narrow(query, &reader->buffers[index], false, &extent, NULL, fail);
}

static int add_source(weft_reader *reader, struct live *live, const struct query *query, struct fail *fail)
{
	struct api_source *source = vec_push(reader->sources, reader->nr_sources);

	if (!source)
		return fail_memory(fail);
	*source = (struct api_source){ .file = live->file, .query = query, .nr = live->nr_lanes };
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
			read_description(live, fail);

	if (!r && options->plugins) {
		live->file->plugins = strdup(*options->plugins ? options->plugins : WEFT_LIBDIR "/plugins");
		r = live->file->plugins ? 0 : fail_memory(fail);
	}
	if (!r)
		r = add_source(reader, live, query, fail);
	for (size_t i = 0; !r && i < live->nr_lanes; i++)
		r = add_buffer(live, i, query, fail);
	if (r)
		return r;
	reader_limit(&reader->reader, query->limit);
	reader->types = calloc(reader->reader.nr_buffers + 1, sizeof(*reader->types));
	if (!reader->types)
		return fail_memory(fail);
	return reader_start(&reader->reader, &(struct reader_options){ .fails_at_once = true }, fail);
}

static int queue_page(struct live *live, struct lane *lane, const struct relay_head *head, const uint8_t *data,
		      struct fail *fail)
{
	struct waiting *added;
	struct queue *queue;

	if (head->cpu >= lane->shape.nr_cpus || head->len != lane->shape.page_size)
		return damaged(fail);
	added = malloc(sizeof(*added) + head->len);
	if (!added)
		return fail_memory(fail);
	added->next = NULL;
	memcpy(added->data, data, head->len);
	queue = &lane->queues[head->cpu];
	*queue->tail = added;
	queue->tail = &added->next;
	live->waiting += head->len;
	return 0;
}

static int take_pages(struct live *live, bool round, struct fail *fail)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < live->nr_lanes; i++)
		r = live_source_take(live->lanes[i].source, round, NULL, fail);
	if (r < 0)
		return r;
	if (round)
		live_times_round(&live->times);
	live->waiting = 0;
	live->has_more = true;
	return 0;
}

static int take_names(struct live *live, struct buf *into, const uint8_t *data, size_t len, struct fail *fail)
{
	int r = 0;

	into->len = 0;
	if (!buf_add(into, data, len))
		return fail_memory(fail);
	for (size_t i = 0; !r && i < live->nr_lanes; i++)
		r = context_set_tasks(live->lanes[i].context, buf_str(&live->names), live->names.len,
				      buf_str(&live->tgids), live->tgids.len, fail);
	/* After another failure the old names stay. */
	return r == -ENOMEM ? r : 0;
}

static struct learnt *learn(struct live *live, const uint8_t *data, size_t len)
{
	struct learnt *learnt = malloc(sizeof(*learnt) + len + 1);

	if (!learnt)
		return NULL;
	memcpy(learnt->text, data, len);
	learnt->text[len] = '\0';
	learnt->next = live->learnt;
	return live->learnt = learnt;
}

static int take_format(struct live *live, struct lane *lane, const uint8_t *data, size_t len, struct fail *fail)
{
	struct learnt *learnt = learn(live, data, len);
	size_t system;

	if (!learnt)
		return fail_memory(fail);
	system = strlen(learnt->text);
	if (system >= len)
		return damaged(fail);
	/* One that is no format is that of an event that is not known. */
	return schema_add(lane->context->schema, learnt->text, system, learnt->text + system + 1, len - system - 1,
			  NULL) == -ENOMEM ?
		       fail_memory(fail) :
		       0;
}

static int take_clock(struct lane *lane, const uint8_t *data, size_t len, struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct wall *wall = NULL;

	if (!buf_add(&text, data, len))
		return fail_memory(fail);
	if (wall_new_of_text(buf_str(&text), len, 0, &wall, NULL) || !wall)
		return 0;
	wall_free(lane->context->wall);
	lane->context->wall = wall;
	return 0;
}

static int take_lost(struct live *live, const struct lane *lane, const struct relay_head *head, const uint8_t *data,
		     struct fail *fail)
{
	struct event *event;

	if (head->cpu >= lane->shape.nr_cpus || head->len != sizeof(event->lost) || live->nr_lost == LOST_MAX)
		return damaged(fail);
	event = vec_push(live->lost, live->nr_lost);
	if (!event)
		return fail_memory(fail);
	*event = (struct event){ .kind = EVENT_LOST,
				 .ts = live->times.latest,
				 .buffer = (uint16_t)head->buffer,
				 .cpu = (uint16_t)lane->cpus[head->cpu],
				 .cpu_index = (uint16_t)head->cpu };
	memcpy(&event->lost, data, sizeof(event->lost));
	return 0;
}

static int take_end(struct live *live, struct fail *fail)
{
	live->ended = true;
	for (size_t i = 0; i < live->nr_lanes; i++)
		live_source_end(live->lanes[i].source);
	return take_pages(live, false, fail);
}

static int take_frame(struct live *live, const struct relay_head *head, const uint8_t *data, struct fail *fail)
{
	struct lane *lane = head->buffer < live->nr_lanes ? &live->lanes[head->buffer] : NULL;
	struct learnt *learnt;

	if (!lane)
		return damaged(fail);
	switch ((enum relay_kind)head->kind) {
	case RELAY_PAGE:
		return queue_page(live, lane, head, data, fail);
	case RELAY_ROUND:
		return take_pages(live, true, fail);
	case RELAY_TASKS:
		return take_names(live, &live->names, data, head->len, fail);
	case RELAY_TGIDS:
		return take_names(live, &live->tgids, data, head->len, fail);
	case RELAY_FORMAT:
		return take_format(live, lane, data, head->len, fail);
	case RELAY_DYNAMIC:
		learnt = learn(live, data, head->len);
		lane->context->dynamic_events = learnt ? learnt->text : lane->context->dynamic_events;
		return 0;
	case RELAY_CLOCK:
		return take_clock(lane, data, head->len, fail);
	case RELAY_LOST:
		return take_lost(live, lane, head, data, fail);
	case RELAY_END:
		return take_end(live, fail);
	default:
		return damaged(fail);
	}
}

/* Takes frames until there may be events. */
static int take_frames(struct live *live, uint64_t end_ns, struct fail *fail)
{
	struct relay_head head;
	const uint8_t *data;
	int r;

	while (!live->has_more) {
		r = live_pipe_next(&live->pipe, end_ns, &head, &data, fail);
		if (!r)
			return fail_set(fail, -EAGAIN, "no event has come yet");
		if (r > 0)
			r = take_frame(live, &head, data, fail);
		if (!r && live->waiting > WAITING_MAX)
			r = take_pages(live, false, fail);
		if (r)
			return r;
	}
	return 0;
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
		live->has_more = false;
		if (live->nr_lost)
			r = api_reader_show(reader, live->lost, live->nr_lost, fail);
		live->nr_lost = 0;
	}
	return r < 0 ? r : (int)reader->nr_events;
}

static bool is_over(const weft_reader *reader)
{
	return live_of(reader)->ended || (reader->limit != UINT64_MAX && !reader->reader.left);
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
		r = take_frames(live, end_ns, fail);
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
	int r;

	do {
		reader_resume(&reader->reader);
		r = reader_batch(&reader->reader, events, BATCH, fail);
		for (int i = 0; i < r; i++)
			consumer->see(consumer->arg, &events[i]);
		if (ends(arg))
			return fail_set(fail, -EINTR, "the analysis was interrupted");
	} while (r > 0);
	live->has_more = false;
	for (size_t i = 0; !r && i < live->nr_lost; i++)
		consumer->see(consumer->arg, &live->lost[i]);
	live->nr_lost = 0;
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
		r = take_frames(live, now_ns() + ROUND_NS, fail);
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
			       .pipe = { .fd = -1, .said_fd = -1 } };
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
	int r = !reader->feed          ? fail_set(&fail, -EINVAL, "the reader does not read the running kernel") :
		live_of(reader)->ended ? 0 :
					 live_pipe_stop(&live_of(reader)->pipe, &fail);

	return api_result(error, r, &fail);
}

int weft_live_fd(const weft_reader *reader)
{
	return reader->feed ? live_of(reader)->pipe.fd : -EINVAL;
}
