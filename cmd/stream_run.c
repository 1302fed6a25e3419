// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/stream.h"

#include "cmd/formats.h"
#include "cmd/stream_lane.h"
#include "cmd/stream_tables.h"
#include "cmd/terminal/terminal.h"
#include "formats/flow.h"
#include "formats/kernel/prefix.h"
#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/base/now.h"
#include "lib/base/out.h"
#include "lib/base/outlet.h"
#include "lib/event/context.h"
#include "lib/event/event.h"
#include "lib/event/events.h"
#include "lib/event/tasks.h"
#include "lib/reader/reader.h"
#include "lib/record/tap_buffer.h"
#include "lib/stream/live_source.h"
#include "lib/trace/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	ROUNDS = 4,            /* per latency: two for an event to become certain, two for printing it */
	PIECE = 64 << 10,      /* bytes of text to write before looking at anything else */
	QUEUES_MAX = 16 << 20, /* limit for the pages of all CPUs of all instances, in bytes */
	QUEUE_MAX = 1 << 20,
	NAMES_SHARE = 20,         /* reading the names of tasks takes at most 1/20 of the time */
	LOOK_NS = 200000000,      /* between two looks at the kernel's counts */
	PATIENCE_NS = 1000000000, /* how long to wait, after the end, for a reader that takes nothing */
};

struct stream {
	const struct stream_options *options;
	struct stream_result *result;
	struct tap *tap;
	struct stream_lane *lanes; /* one for each instance; they own the lanes of the flow */
	size_t nr_lanes;
	struct stream_shared shared;
	struct out out, scratch;
	struct outlet outlet;
	struct reader reader;
	struct flow flow;
	uint64_t interval_ns, next_round_ns;
	uint64_t named_ns, names_cost_ns;
	uint64_t looked_ns;
	bool fresh; /* pages were taken since then */
	bool more;  /* there are events that can be printed */
	bool quiet; /* there is data that cannot be taken before the next round */
};

/* Reads the names of tasks again: new tasks start, and tasks execute other programs. */
static void read_names(struct stream *stream, uint64_t now)
{
	cleanup_buf struct buf names = BUF_INIT, tgids = BUF_INIT;

	if (now - stream->named_ns < NAMES_SHARE * stream->names_cost_ns)
		return;
	/* After a failure the old names are kept. */
	if (!tap_tasks(stream->tap, &names, &tgids, NULL))
		for (size_t i = 0; i < stream->nr_lanes; i++)
			if (context_set_tasks(stream->lanes[i].context, buf_str(&names), names.len, buf_str(&tgids),
					      tgids.len, NULL) == -ENOMEM)
				return;
	stream->named_ns = now_ns();
	stream->names_cost_ns = stream->named_ns - now;
	stream->fresh = false;
}

/* A task without a name has just started, so its name can be read now; or it never gets one. */
static void name_task(void *arg, const struct event *event)
{
	struct stream *stream = arg;
	uint64_t now;

	if (event->kind != EVENT_RECORD || task_known(stream->lanes[event->buffer].context->tasks, event->pid))
		return;
	now = now_ns();
	if (now - stream->named_ns > stream->interval_ns)
		read_names(stream, now);
}

/* Returns how many bytes of pages each CPU of each instance may have in its queue. */
static size_t queue_max(const struct tap *tap)
{
	const struct tap_buffer *buffer;
	size_t nr = 1;

	for (size_t i = 0; (buffer = tap_buffer(tap, i)); i++)
		nr += buffer->nr_cpus;
	return QUEUES_MAX / nr < QUEUE_MAX ? QUEUES_MAX / nr : QUEUE_MAX;
}

static int open_lanes(struct stream *stream, struct fail *fail)
{
	size_t nr = 0;

	stream->shared.queue_max = queue_max(stream->tap);
	stream->shared.busy_cpus = (size_t)sysconf(_SC_NPROCESSORS_ONLN);
	while (tap_buffer(stream->tap, nr))
		nr++;
	stream->lanes = calloc(nr, sizeof(*stream->lanes));
	stream->flow.lanes = calloc(nr, sizeof(*stream->flow.lanes));
	if (!stream->lanes || !stream->flow.lanes)
		return fail_memory(fail);
	while (stream->nr_lanes < nr) {
		size_t index = stream->nr_lanes++;
		struct stream_lane *lane = &stream->lanes[index];
		int err = stream_lane_open(lane, stream->tap, &stream->reader, stream->options, &stream->shared, fail);

		if (err)
			return err;
		stream->flow.lanes[index].sink = lane->sink;
	}
	return reader_start(&stream->reader, &(struct reader_options){ .fails_at_once = true }, fail);
}

/* Makes the prefixes "  NAME: ", all of the same width; blanks for the main instance. */
static int set_prefixes(struct stream *stream, struct fail *fail)
{
	int width = 0;

	for (size_t i = 0; i < stream->nr_lanes; i++) {
		cleanup_free char *name =
			format_instance_name(stream->lanes[i].context->instance, &stream->options->sink);
		int len = name ? (int)strlen(name) : 0;

		if (!name)
			return fail_memory(fail);
		width = len > width ? len : width;
	}
	for (size_t i = 0; i < stream->nr_lanes; i++) {
		cleanup_free char *name =
			format_instance_name(stream->lanes[i].context->instance, &stream->options->sink);

		if (!name)
			return fail_memory(fail);
		stream->lanes[i].prefix = prefix_of(name, width);
		if (!stream->lanes[i].prefix)
			return fail_memory(fail);
		stream->flow.lanes[i].prefix = stream->lanes[i].prefix;
	}
	return out_init(&stream->scratch, 0) ? 0 : fail_memory(fail);
}

static int open_flow(struct stream *stream, struct fail *fail)
{
	const struct stream_options *options = stream->options;
	int err;

	stream->flow = (struct flow){ .reader = &stream->reader,
				      .out = &stream->out,
				      .scratch = &stream->scratch,
				      .limit = options->limit,
				      .before = name_task,
				      .before_arg = stream };
	err = open_lanes(stream, fail);
	if (!err && stream->nr_lanes > 1 && !options->format->tells_instance && !options->tables)
		err = set_prefixes(stream, fail);
	if (!err && !out_init(&stream->out, 2 * PIECE))
		err = fail_memory(fail);
	stream->flow.nr_lanes = stream->nr_lanes;
	if (!err && options->tables)
		err = stream_tables_begin(options->tables, &stream->reader, &stream->out, fail);
	return err;
}

/* Returns 1 when all text was taken; 0 when the reader takes no more for now; -EPIPE when it has closed the output. */
static int write_text(struct stream *stream, struct fail *fail)
{
	int r = outlet_write(&stream->outlet, &stream->out);

	if (r == -EPIPE)
		return fail_set(fail, r, "the reader of the output is gone");
	return r < 0 ? fail_set(fail, r, "cannot write the output: %s", strerror(-r)) : r;
}

/* Takes from all instances. Returns 1, or 0 when there was nothing. */
static int take_from_all(struct stream *stream, bool is_round, bool *ret_full, struct fail *fail)
{
	int taken = 0;

	*ret_full = false;
	for (size_t i = 0; i < stream->nr_lanes; i++) {
		bool full;
		int r = live_source_take(stream->lanes[i].source, is_round, &full, fail);

		if (r < 0)
			return r;
		taken |= r;
		*ret_full |= full;
	}
	if (is_round)
		live_times_round(&stream->shared.taken);
	return taken;
}

static void look(struct stream *stream, uint64_t now)
{
	bool all = now - stream->looked_ns >= LOOK_NS;

	for (size_t i = 0; i < stream->nr_lanes; i++)
		if (all || stream_lane_looks_always(&stream->lanes[i]))
			stream_lane_look(&stream->lanes[i]);
	if (all)
		stream->looked_ns = now;
}

static int take_pages(struct stream *stream, uint64_t now, struct fail *fail)
{
	bool is_round = now >= stream->next_round_ns, full;
	int r;

	if (is_round)
		look(stream, now);
	r = take_from_all(stream, is_round, &full, fail);
	if (r < 0)
		return r;
	stream->quiet = !r || full;
	stream->fresh |= r;
	if (!is_round)
		return 0;
	stream->next_round_ns = now + stream->interval_ns;
	stream->quiet = false;
	if (stream->fresh)
		read_names(stream, now);
	for (size_t i = 0; i < stream->nr_lanes; i++)
		stream_lane_dropped(&stream->lanes[i], &stream->flow);
	return 0;
}

/* Prints some text, if there is any. */
static int print(struct stream *stream, struct fail *fail)
{
	int r = flow_run(&stream->flow, PIECE, fail);

	if (r >= 0 && stream->options->tables && stream_tables_failed(stream->options->tables))
		r = stream_tables_failed(stream->options->tables);
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

/* Makes one turn. Returns 1 while the stream continues. */
static int turn(struct stream *stream, struct fail *fail)
{
	bool waiting = out_len(&stream->out);
	enum tap_news news = TAP_READY;
	int err, wait = timeout_ms(stream, waiting);

	/* While the reader takes nothing, weft waits only for it, or for the end. */
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

/*
 * Waits for a slow reader. Returns 1, or 0 when it takes nothing for too long, or when somebody wants weft to end now.
 */
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

/* Prints everything that was traced until the end. */
static int print_rest(struct stream *stream, struct fail *fail)
{
	bool full = true;
	int r = 1;

	for (size_t i = 0; i < stream->nr_lanes; i++) {
		stream_lane_look(&stream->lanes[i]);
		live_source_end(stream->lanes[i].source);
	}
	/* This is the last time that names are read, so it does not matter how long that takes. */
	stream->named_ns = 0;
	read_names(stream, now_ns());
	while (r > 0 && (full || stream->more) && stream->flow.printed < stream->flow.limit) {
		r = take_from_all(stream, false, &full, fail);
		if (r < 0)
			return r;
		r = print(stream, fail);
		if (!r)
			r = wait_for_reader(stream, fail);
	}
	if (r <= 0)
		return r;
	for (size_t i = 0; i < stream->nr_lanes && stream->flow.printed < stream->flow.limit; i++)
		stream_lane_last_gaps(&stream->lanes[i], &stream->flow);
	flow_end(&stream->flow);
	if (stream->options->tables && stream_tables_failed(stream->options->tables))
		return stream_tables_failed(stream->options->tables);
	return wait_for_reader(stream, fail);
}

/* `all`: everything was wanted, and nothing failed. */
static int sum_up(struct stream *stream, bool all, struct fail *fail)
{
	struct stream_result *result = stream->result;

	result->sums = calloc(stream->nr_lanes, sizeof(*result->sums));
	if (!result->sums)
		return fail_memory(fail);
	result->nr_sums = stream->nr_lanes;
	for (size_t i = 0; i < stream->nr_lanes; i++) {
		struct stream_sum *sum = &result->sums[i];

		stream_lane_sum(&stream->lanes[i], sum);
		if (!all)
			sum->left = 0;
		result->all.printed += sum->printed;
		result->all.lost += sum->lost;
		result->all.left += sum->left;
		result->all.left_out += sum->left_out;
		result->all.cleared += sum->cleared;
	}
	return 0;
}

static int check_damage(const struct stream *stream, struct fail *fail)
{
	for (size_t i = 0; i < stream->nr_lanes; i++) {
		const struct stream_lane *lane = &stream->lanes[i];
		const char *damage = events_damage(stream->reader.buffers[i].events);

		if (trace_damage(lane->context->trace))
			return fail_set(fail, -ENOMEM, "%s", trace_damage(lane->context->trace));
		if (damage)
			return fail_set(fail, -EBADMSG, "the kernel's pages are damaged: %s", damage);
		if (decode_check(lane->context, fail))
			return -ENOEXEC;
	}
	return 0;
}

static int follow(struct stream *stream, struct fail *fail)
{
	struct fail later = FAIL_INIT;
	int r, err;

	flow_begin(&stream->flow);
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
	if (r >= 0)
		r = check_damage(stream, fail);
	/* With a limit, the user did not want the rest. */
	err = sum_up(stream, r >= 0 && stream->flow.printed < stream->flow.limit, r ? &later : fail);
	return r < 0 ? r : err;
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
	reader_init(&stream.reader);
	outlet_init(&stream.outlet, STDOUT_FILENO);
	/* Tables that are redrawn contain escape sequences of weft's own, and escape everything else themselves. */
	stream.outlet.escapes = options->tables ? terminal_escapes() && !options->tables->redraws :
						  format_is_escaped(options->format, &options->sink);
	err = open_flow(&stream, fail);
	if (!err)
		err = follow(&stream, fail);
	for (size_t i = 0; i < stream.nr_lanes; i++)
		stream_lane_close(&stream.lanes[i]);
	for (size_t i = 0; i < stream.reader.nr_buffers; i++)
		if (stream.reader.buffers[i].events)
			format_tell_fields(stream.reader.buffers[i].events);
	if (options->tables)
		stream_tables_release(options->tables);
	reader_release(&stream.reader);
	free(stream.lanes);
	free(stream.flow.lanes);
	out_release(&stream.out);
	out_release(&stream.scratch);
	outlet_release(&stream.outlet);
	closed = tap_close(stream.tap, &later);
	ret->gone = err == -EPIPE;
	if (ret->gone)
		err = 0;
	return fail_first(err, closed, fail, &later);
}
