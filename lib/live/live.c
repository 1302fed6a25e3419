// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/live/live.h"

#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/base/now.h"
#include "lib/base/out.h"
#include "lib/base/outlet.h"
#include "lib/event/context.h"
#include "lib/event/event.h"
#include "lib/event/events.h"
#include "lib/event/tasks.h"
#include "lib/live/lane_internal.h"
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

struct live {
	const struct live_options *options;
	struct live_result *result;
	struct tap *tap;
	struct live_lane *lanes; /* one for each instance */
	size_t nr_lanes;
	struct live_shared shared;
	struct out out;
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
static void read_names(struct live *live, uint64_t now)
{
	cleanup_buf struct buf names = BUF_INIT, tgids = BUF_INIT;

	if (now - live->named_ns < NAMES_SHARE * live->names_cost_ns)
		return;
	/* After a failure the old names are kept. */
	if (!tap_tasks(live->tap, &names, &tgids, NULL))
		for (size_t i = 0; i < live->nr_lanes; i++)
			if (context_set_tasks(live->lanes[i].context, buf_str(&names), names.len, buf_str(&tgids),
					      tgids.len, NULL) == -ENOMEM)
				return;
	live->named_ns = now_ns();
	live->names_cost_ns = live->named_ns - now;
	live->fresh = false;
}

/* A task without a name has just started, so its name can be read now; or it never gets one. */
static void name_task(void *arg, const struct event *event)
{
	struct live *live = arg;
	uint64_t now;

	if (event->kind != EVENT_RECORD || task_known(live->lanes[event->buffer].context->tasks, event->pid))
		return;
	now = now_ns();
	if (now - live->named_ns > live->interval_ns)
		read_names(live, now);
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

static int open_lanes(struct live *live, struct fail *fail)
{
	size_t nr = 0;

	live->shared.queue_max = queue_max(live->tap);
	live->shared.busy_cpus = (size_t)sysconf(_SC_NPROCESSORS_ONLN);
	while (tap_buffer(live->tap, nr))
		nr++;
	live->lanes = calloc(nr, sizeof(*live->lanes));
	if (!live->lanes)
		return fail_memory(fail);
	while (live->nr_lanes < nr) {
		int err = live_lane_open(&live->lanes[live->nr_lanes++], live->tap, &live->reader, &live->shared, fail);

		if (err)
			return err;
	}
	return 0;
}

/* Returns 1 when all text was taken; 0 when the reader takes no more for now; -EPIPE when it has closed the output. */
static int write_text(struct live *live, struct fail *fail)
{
	int r = outlet_write(&live->outlet, &live->out);

	if (r == -EPIPE)
		return fail_set(fail, r, "the reader of the output is gone");
	return r < 0 ? fail_set(fail, r, "cannot write the output: %s", strerror(-r)) : r;
}

/* Takes from all instances. Returns 1, or 0 when there was nothing. */
static int take_from_all(struct live *live, bool is_round, bool *ret_full, struct fail *fail)
{
	int taken = 0;

	*ret_full = false;
	for (size_t i = 0; i < live->nr_lanes; i++) {
		bool full;
		int r = live_source_take(live->lanes[i].source, is_round, &full, fail);

		if (r < 0)
			return r;
		taken |= r;
		*ret_full |= full;
	}
	if (is_round)
		live_times_round(&live->shared.taken);
	return taken;
}

static void look(struct live *live, uint64_t now)
{
	bool all = now - live->looked_ns >= LOOK_NS;

	for (size_t i = 0; i < live->nr_lanes; i++)
		if (all || live_lane_looks_always(&live->lanes[i]))
			live_lane_look(&live->lanes[i]);
	if (all)
		live->looked_ns = now;
}

static int take_pages(struct live *live, uint64_t now, struct fail *fail)
{
	bool is_round = now >= live->next_round_ns, full;
	int r;

	if (is_round)
		look(live, now);
	r = take_from_all(live, is_round, &full, fail);
	if (r < 0)
		return r;
	live->quiet = !r || full;
	live->fresh |= r;
	if (!is_round)
		return 0;
	live->next_round_ns = now + live->interval_ns;
	live->quiet = false;
	if (live->fresh)
		read_names(live, now);
	for (size_t i = 0; i < live->nr_lanes; i++)
		live_lane_dropped(&live->lanes[i], &live->flow);
	return 0;
}

/* Prints some text, if there is any. */
static int print(struct live *live, struct fail *fail)
{
	int r = flow_run(&live->flow, PIECE, fail);

	if (r < 0)
		return r;
	live->more = r;
	r = write_text(live, fail);
	return r < 0 ? r : 0;
}

static int timeout_ms(const struct live *live, bool waiting)
{
	uint64_t now = now_ns();

	if (live->more && !waiting)
		return 0;
	return now >= live->next_round_ns ? 0 : (int)((live->next_round_ns - now + 999999) / 1000000);
}

/* Makes one turn. Returns 1 while the stream continues. */
static int turn(struct live *live, struct fail *fail)
{
	bool waiting = out_len(&live->out);
	enum tap_news news = TAP_READY;
	int err, wait = timeout_ms(live, waiting);

	/* While the reader takes nothing, weft waits only for it, or for the end. */
	err = tap_wait(live->tap, waiting ? live->outlet.fd : -1, !waiting && !live->quiet, waiting ? -1 : wait, &news,
		       fail);
	if (err || news != TAP_READY)
		return err;
	if (waiting) {
		int r = write_text(live, fail);

		if (r <= 0)
			return r < 0 ? r : 1;
	}
	err = take_pages(live, now_ns(), fail);
	if (!err)
		err = print(live, fail);
	if (err)
		return err;
	return live->flow.printed < live->flow.limit;
}

/*
 * Waits for a slow reader. Returns 1, or 0 when it takes nothing for too long, or when somebody wants weft to end now.
 */
static int wait_for_reader(struct live *live, struct fail *fail)
{
	uint64_t end = now_ns() + PATIENCE_NS;
	size_t before = live->outlet.done;
	int r;

	while (!(r = write_text(live, fail))) {
		enum tap_news news = TAP_READY;
		uint64_t now = now_ns();

		if (live->outlet.done != before) {
			before = live->outlet.done;
			end = now + PATIENCE_NS;
		}
		if (now >= end)
			return 0;
		r = tap_wait(live->tap, live->outlet.fd, false, (int)((end - now) / 1000000) + 1, &news, fail);
		if (r < 0 || news == TAP_SIGNAL)
			return r;
	}
	return r;
}

/* Prints everything that was traced until the end. */
static int print_rest(struct live *live, struct fail *fail)
{
	bool full = true;
	int r = 1;

	for (size_t i = 0; i < live->nr_lanes; i++) {
		live_lane_look(&live->lanes[i]);
		live_source_end(live->lanes[i].source);
	}
	/* This is the last time that names are read, so it does not matter how long that takes. */
	live->named_ns = 0;
	read_names(live, now_ns());
	while (r > 0 && (full || live->more) && live->flow.printed < live->flow.limit) {
		r = take_from_all(live, false, &full, fail);
		if (r < 0)
			return r;
		r = print(live, fail);
		if (!r)
			r = wait_for_reader(live, fail);
	}
	if (r <= 0)
		return r;
	for (size_t i = 0; i < live->nr_lanes && live->flow.printed < live->flow.limit; i++)
		live_lane_last_gaps(&live->lanes[i], &live->flow);
	r = flow_end(&live->flow);
	return r ? r : wait_for_reader(live, fail);
}

/* `all`: everything was wanted, and nothing failed. */
static int sum_up(struct live *live, bool all, struct fail *fail)
{
	struct live_result *result = live->result;

	result->sums = calloc(live->nr_lanes, sizeof(*result->sums));
	if (!result->sums)
		return fail_memory(fail);
	result->nr_sums = live->nr_lanes;
	for (size_t i = 0; i < live->nr_lanes; i++) {
		struct live_sum *sum = &result->sums[i];

		live_lane_sum(&live->lanes[i], sum);
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

static int check_damage(const struct live *live, struct fail *fail)
{
	for (size_t i = 0; i < live->nr_lanes; i++) {
		const struct live_lane *lane = &live->lanes[i];
		const char *damage = events_damage(live->reader.buffers[i].events);

		if (trace_damage(lane->context->trace))
			return fail_set(fail, -ENOMEM, "%s", trace_damage(lane->context->trace));
		if (damage)
			return fail_set(fail, -EBADMSG, "the kernel's pages are damaged: %s", damage);
	}
	return 0;
}

static int follow(struct live *live, struct fail *fail)
{
	struct fail later = FAIL_INIT;
	int r, err;

	flow_begin(&live->flow);
	live->next_round_ns = now_ns();
	r = tap_start(live->tap, fail);
	if (r < 0)
		return r;
	while ((r = turn(live, fail)) > 0)
		continue;
	err = tap_stop(live->tap, r ? &later : fail);
	if (!r)
		r = err;
	if (!r)
		r = print_rest(live, fail);
	if (r >= 0)
		r = check_damage(live, fail);
	/* With a limit, the user did not want the rest. */
	err = sum_up(live, r >= 0 && live->flow.printed < live->flow.limit, r ? &later : fail);
	return r < 0 ? r : err;
}

static void release(struct live *live)
{
	for (size_t i = 0; i < live->nr_lanes; i++)
		live_lane_close(&live->lanes[i]);
	reader_release(&live->reader);
	free(live->lanes);
	out_release(&live->out);
	outlet_release(&live->outlet);
}

int live_new(const struct live_options *options, struct live_result *result, struct live **ret, struct fail *fail)
{
	struct live *live = calloc(1, sizeof(*live));
	struct fail later = FAIL_INIT;
	int err;

	*ret = NULL;
	*result = (struct live_result){ .gone = false };
	if (!live)
		return fail_memory(fail);
	live->options = options;
	live->result = result;
	live->interval_ns = options->latency_ns / ROUNDS;
	err = tap_open(&options->tap, &result->tap, &live->tap, fail);
	if (err) {
		free(live);
		return err;
	}
	reader_init(&live->reader);
	outlet_init(&live->outlet, options->fd);
	live->outlet.escapes = options->escapes;
	err = open_lanes(live, fail);
	if (err) {
		int closed = live_free(live, &later);

		return fail_first(err, closed, fail, &later);
	}
	*ret = live;
	return 0;
}

int live_free(struct live *live, struct fail *fail)
{
	int err;

	if (!live)
		return 0;
	release(live);
	err = tap_close(live->tap, fail);
	free(live);
	return err;
}

struct reader *live_reader(struct live *live)
{
	return &live->reader;
}

struct out *live_out(struct live *live)
{
	return &live->out;
}

int live_leave_out_self(struct live *live, size_t buffer, const uint64_t **ret, struct fail *fail)
{
	return live_lane_leave_out_self(&live->lanes[buffer], ret, fail);
}

int live_start(struct live *live, struct fail *fail)
{
	int err = reader_start(&live->reader, &(struct reader_options){ .fails_at_once = true }, fail);

	if (!err && !out_init(&live->out, 2 * PIECE))
		err = fail_memory(fail);
	return err;
}

int live_run(struct live *live, const struct flow_consumer *consumer, struct fail *fail)
{
	int err;

	live->flow = (struct flow){ .reader = &live->reader,
				    .consumer = *consumer,
				    .out = &live->out,
				    .limit = live->options->limit,
				    .before = name_task,
				    .before_arg = live };
	err = follow(live, fail);
	live->result->gone = err == -EPIPE;
	return live->result->gone ? 0 : err;
}
