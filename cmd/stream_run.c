// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/stream.h"

#include "cmd/formats.h"
#include "formats/flow.h"
#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/base/out.h"
#include "lib/base/outlet.h"
#include "lib/event/context.h"
#include "lib/event/event.h"
#include "lib/event/events.h"
#include "lib/event/symbols.h"
#include "lib/event/tasks.h"
#include "lib/plugin/plugins.h"
#include "lib/stream/live_source.h"
#include "lib/stream/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	ROUNDS = 4,                     /* in a latency: two for an event to become certain, two for printing it */
	PIECE = 64 << 10,               /* bytes of text before anything else is looked at */
	QUEUES_MAX = 64 << 20,          /* bytes of pages of all CPUs */
	QUEUE_MAX = 1 << 20,
	NAMES_SHARE = 20,               /* of the time: reading names of tasks takes no more than this part of it */
	PATIENCE_NS = 1000000000,       /* with a reader that takes nothing when all is over */
};

struct stream {
	const struct stream_options *options;
	struct stream_result *result;
	struct tap *tap;
	struct context *context;
	struct plugins *plugins;
	struct sink *sink;
	struct source *source;          /* the events own it */
	struct events *events;
	struct out out;
	struct outlet outlet;
	struct flow flow;
	uint64_t *dropped;              /* by CPU: told already; NULL where pages tell */
	uint64_t interval_ns, next_round_ns;
	uint64_t named_ns, names_cost_ns;
	bool fresh;                     /* pages were taken since */
	bool more;                      /* events are there that can be printed */
	bool quiet;                     /* what there is to take cannot be taken before the next round */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Tasks come, and programs replace each other in them: the kernel's names are those of now. */
static void read_names(struct stream *stream, uint64_t now)
{
	cleanup_buf struct buf names = BUF_INIT, tgids = BUF_INIT;

	if (now - stream->named_ns < NAMES_SHARE * stream->names_cost_ns)
		return;
	/* Without new names the old ones are as good as any. */
	if (!tap_tasks(stream->tap, &names, &tgids, NULL) &&
	    context_set_tasks(stream->context, buf_str(&names), names.len, buf_str(&tgids), tgids.len, NULL) == -ENOMEM)
		return;
	stream->named_ns = now_ns();
	stream->names_cost_ns = stream->named_ns - now;
	stream->fresh = false;
}

/* One that has no name yet got it a moment ago, or never will. */
static void name_task(void *arg, const struct event *event)
{
	struct stream *stream = arg;
	uint64_t now;

	if (event->kind != EVENT_RECORD || task_known(stream->context->tasks, event->pid))
		return;
	now = now_ns();
	if (now - stream->named_ns > stream->interval_ns)
		read_names(stream, now);
}

static int ask_symbols(void *arg, struct buf *buf)
{
	return tap_symbols(arg, buf, NULL);
}

static int open_source(struct stream *stream, struct fail *fail)
{
	struct live_options live = {
		.feed = { .read = tap_read, .overrun = tap_overrun, .arg = stream->tap },
		.shape = { .size = tap_page_size(stream->tap), .long_size = sizeof(long) },
	};

	live.cpus = tap_cpus(stream->tap, &live.nr_cpus);
	live.queue_max = QUEUES_MAX / (live.nr_cpus ? live.nr_cpus : 1);
	if (live.queue_max > QUEUE_MAX)
		live.queue_max = QUEUE_MAX;
	return live_source_new(&live, &stream->source, fail);
}

static int open_events(struct stream *stream, struct fail *fail)
{
	struct events_options options = { .until = UINT64_MAX };
	int err = context_new(tap_trace(stream->tap), 0, &stream->context, fail);

	if (err)
		return err;
	symbols_ask(stream->context->symbols, ask_symbols, stream->tap);
	err = open_source(stream, fail);
	if (err)
		return err;
	options.source = stream->source;
	return events_open(stream->context, &options, &stream->events, fail);
}

static int open_sink(struct stream *stream, struct fail *fail)
{
	const struct stream_options *options = stream->options;
	struct sink_options sink = options->sink;
	int err = 0;

	if (options->decode)
		err = format_plugins(stream->context, options->plugin_dir, &stream->plugins, fail);
	sink.plugins = stream->plugins;
	if (!err)
		err = options->format->new(stream->context, &sink, &stream->sink, fail);
	if (!err && !out_init(&stream->out, 2 * PIECE))
		err = fail_memory(fail);
	if (!err && tap_keeps_oldest(stream->tap)) {
		stream->dropped = calloc(stream->source->nr_cpus + 1, sizeof(*stream->dropped));
		err = stream->dropped ? 0 : fail_memory(fail);
	}
	stream->flow = (struct flow){ .events = stream->events, .sink = stream->sink, .out = &stream->out,
				      .limit = options->limit, .before = name_task, .before_arg = stream };
	return err;
}

/* 1: all text was taken; 0: the reader takes no more now; -EPIPE: it is gone. */
static int write_text(struct stream *stream, struct fail *fail)
{
	int r = outlet_write(&stream->outlet, &stream->out);

	if (r == -EPIPE)
		return fail_set(fail, r, "the reader of the output is gone");
	return r < 0 ? fail_set(fail, r, "cannot write the output: %s", strerror(-r)) : r;
}

/* What no page tells is asked for, and told where it was noticed. */
static int print_dropped(struct stream *stream, struct fail *fail)
{
	size_t nr_cpus;
	const uint32_t *cpus = tap_cpus(stream->tap, &nr_cpus);

	for (size_t i = 0; stream->dropped && i < nr_cpus; i++) {
		uint64_t now = 0;
		int err = tap_dropped(stream->tap, i, &now, fail);

		if (err)
			return err;
		if (now > stream->dropped[i])
			flow_gap(&stream->flow, (uint16_t)cpus[i], (int64_t)(now - stream->dropped[i]));
		stream->dropped[i] = now;
	}
	return 0;
}

static int take_pages(struct stream *stream, uint64_t now, struct fail *fail)
{
	bool is_round = now >= stream->next_round_ns, full;
	int err, r = live_source_take(stream->source, is_round, &full, fail);

	if (r < 0)
		return r;
	stream->quiet = !r || full;
	stream->fresh |= r;
	if (is_round) {
		stream->next_round_ns = now + stream->interval_ns;
		stream->quiet = false;
		if (stream->fresh)
			read_names(stream, now);
		err = print_dropped(stream, fail);
		if (err)
			return err;
	}
	events_resume(stream->events);
	return 0;
}

/* Some text, if there is any. */
static int print(struct stream *stream, struct fail *fail)
{
	int r = flow_run(&stream->flow, PIECE, fail);

	if (r < 0)
		return r;
	stream->more = r;
	r = write_text(stream, fail);
	return r < 0 ? r : 0;
}

static int timeout_ms(const struct stream *stream, bool waiting)
{
	uint64_t now = now_ns();

	if (stream->more && !waiting)
		return 0;
	return now >= stream->next_round_ns ? 0 : (int)((stream->next_round_ns - now + 999999) / 1000000);
}

/* One turn: 1 while it goes on. */
static int turn(struct stream *stream, struct fail *fail)
{
	bool waiting = out_len(&stream->out);
	enum tap_news news = TAP_READY;
	int err, wait = timeout_ms(stream, waiting);

	/* With a reader that takes nothing there is nothing to do but to wait for it, or for the end. */
	err = tap_wait(stream->tap, waiting ? stream->outlet.fd : -1, !waiting && !stream->quiet, waiting ? -1 : wait,
		       &news, fail);
	if (err || news != TAP_READY)
		return err;
	if (waiting) {
		int r = write_text(stream, fail);

		if (r <= 0)
			return r < 0 ? r : 1;
	}
	err = take_pages(stream, now_ns(), fail);
	if (!err)
		err = print(stream, fail);
	if (err)
		return err;
	return stream->flow.printed < stream->flow.limit;
}

/* Waits for a reader that is behind: 1, or 0 when it takes nothing for too long or somebody wants us to end now. */
static int wait_for_reader(struct stream *stream, struct fail *fail)
{
	uint64_t end = now_ns() + PATIENCE_NS;
	size_t before = stream->outlet.done;
	int r;

	while (!(r = write_text(stream, fail))) {
		enum tap_news news = TAP_READY;
		uint64_t now = now_ns();

		if (stream->outlet.done != before) {
			before = stream->outlet.done;
			end = now + PATIENCE_NS;
		}
		if (now >= end)
			return 0;
		r = tap_wait(stream->tap, stream->outlet.fd, false, (int)((end - now) / 1000000) + 1, &news, fail);
		if (r < 0 || news == TAP_SIGNAL)
			return r;
	}
	return r;
}

/* What was lost without a page to tell it: behind the last event of a CPU, or where the kernel keeps the oldest. */
static void print_last_gaps(struct stream *stream)
{
	size_t nr_cpus;
	const uint32_t *cpus = tap_cpus(stream->tap, &nr_cpus);

	for (size_t i = 0; i < nr_cpus; i++) {
		uint64_t events, lost, told = live_source_lost(stream->source, i);

		told += stream->dropped ? stream->dropped[i] : 0;
		tap_count(stream->tap, i, &events, &lost);
		if (lost > told)
			flow_gap(&stream->flow, (uint16_t)cpus[i], (int64_t)(lost - told));
	}
}

/* All that was written until tracing ended. */
static int print_rest(struct stream *stream, struct fail *fail)
{
	bool full = true;
	int r = 1;

	live_source_end(stream->source);
	/* Whatever the last names cost, no later ones will come. */
	stream->named_ns = 0;
	read_names(stream, now_ns());
	while (r > 0 && (full || stream->more) && stream->flow.printed < stream->flow.limit) {
		r = live_source_take(stream->source, false, &full, fail);
		if (r < 0)
			return r;
		events_resume(stream->events);
		r = print(stream, fail);
		if (!r)
			r = wait_for_reader(stream, fail);
	}
	if (r <= 0)
		return r;
	if (stream->flow.printed < stream->flow.limit)
		print_last_gaps(stream);
	if (stream->sink->ops->end)
		stream->sink->ops->end(stream->sink, &stream->out);
	return wait_for_reader(stream, fail);
}

static void sum_up(struct stream *stream)
{
	struct stream_result *result = stream->result;
	uint64_t all = 0;
	size_t nr_cpus;

	tap_cpus(stream->tap, &nr_cpus);
	for (size_t i = 0; i < nr_cpus; i++) {
		uint64_t events, lost;

		tap_count(stream->tap, i, &events, &lost);
		all += events;
		result->lost += lost;
	}
	result->printed = events_count(stream->events);
	if (stream->flow.printed < stream->flow.limit && all > result->printed)
		result->left = all - result->printed;
}

static int follow(struct stream *stream, struct fail *fail)
{
	struct fail later = FAIL_INIT;
	int r, err;

	if (stream->sink->ops->begin)
		stream->sink->ops->begin(stream->sink, &stream->out);
	stream->next_round_ns = now_ns();
	r = tap_start(stream->tap, fail);
	if (r < 0)
		return r;
	while ((r = turn(stream, fail)) > 0)
		continue;
	err = tap_stop(stream->tap, r ? &later : fail);
	if (!r)
		r = err;
	if (!r)
		r = print_rest(stream, fail);
	if (r >= 0 && events_damage(stream->events))
		r = fail_set(fail, -EBADMSG, "the kernel's pages are damaged: %s", events_damage(stream->events));
	sum_up(stream);
	return r < 0 ? r : 0;
}

static int run_tap(struct stream *stream, struct fail *fail)
{
	int err = open_events(stream, fail);

	if (!err)
		err = open_sink(stream, fail);
	if (!err)
		err = follow(stream, fail);
	if (!err && stream->plugins && plugins_failure(stream->plugins))
		err = fail_set(fail, -ENOEXEC, "%s", plugins_failure(stream->plugins));
	return err;
}

int stream_run(const struct stream_options *options, struct stream_result *ret, struct fail *fail)
{
	struct stream stream = { .options = options, .result = ret, .interval_ns = options->latency_ns / ROUNDS };
	struct fail later = FAIL_INIT;
	int err, closed;

	*ret = (struct stream_result){ .gone = false };
	err = tap_open(&options->tap, &ret->tap, &stream.tap, fail);
	if (err)
		return err;
	outlet_init(&stream.outlet, STDOUT_FILENO);
	err = run_tap(&stream, fail);
	if (stream.sink)
		stream.sink->ops->free(stream.sink);
	plugins_free(stream.plugins);
	events_free(stream.events);
	context_free(stream.context);
	out_release(&stream.out);
	outlet_release(&stream.outlet);
	free(stream.dropped);
	closed = tap_close(stream.tap, &later);
	ret->gone = err == -EPIPE;
	if (ret->gone)
		err = 0;
	if (!err && closed)
		err = fail_set(fail, closed, "%s", later.text);
	return err;
}
