// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/live/live.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/bytes.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/outlet.h"
#include "lib/kernel/live/counts.h"
#include "lib/kernel/live/flow.h"
#include "lib/kernel/live/relayed_internal.h"
#include "lib/kernel/record/tap.h"
#include "lib/kernel/record/tap_buffer.h"
#include "lib/meaning/clock/face.h"
#include "lib/meaning/clock/wall.h"
#include "lib/meaning/event/comms.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/events.h"
#include "lib/meaning/event/latency_facts.h"
#include "lib/meaning/event/tasks.h"
#include "lib/meaning/names/symbols.h"
#include "lib/meaning/query/selection.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/ring/page.h"
#include "lib/pages/stream/live_source.h"
#include "lib/pages/stream/relay.h"
#include "lib/pages/stream/source.h"
#include "lib/pages/trace/trace.h"

/*
 * One instance of a stream: its buffer, and everything between the buffer and its events. The tap and the reader are
 * borrowed and outlive it.
 */
struct live_lane {
	struct tap *tap;
	struct tap_buffer *buffer;
	struct reader *reader;
	uint16_t index;          /* of its buffer in the reader */
	struct context *context; /* owned by the reader */
	struct source *source;   /* owned by the reader */
	uint64_t *left_out;      /* number of weft's own events left out, owned by the selection; NULL: none are */
	uint64_t *dropped;       /* by CPU: losses that were reported already; NULL: pages report them */
	struct learnt *learnt;   /* formats of events created meanwhile */
	struct buf samples;      /* of its clock */
	struct out *relay;       /* gets frames; NULL: none */
	struct relayed_types seen;
};

/* What all lanes of a stream share. It outlives them. */
struct live_shared {
	struct live_times taken;
	size_t queue_max; /* bytes of pages that each CPU may have in its queue */
	size_t busy_cpus; /* number of online CPUs: these will use their queues */
};

/* The schema and the context borrow these texts. */
struct learnt {
	struct learnt *next;
	struct buf format, dynamic_events;
};

static int ask_symbols(void *arg, struct buf *buf)
{
	return tap_symbols(arg, buf, NULL);
}

/*
 * Learns the format of an event that was created meanwhile. Without the format, the event is printed as an unknown one.
 */
static void learn(void *arg, uint16_t id)
{
	struct live_lane *lane = arg;
	cleanup_buf struct buf system = BUF_INIT;
	struct learnt *learnt = calloc(1, sizeof(*learnt));

	if (!learnt)
		return;
	learnt->next = lane->learnt;
	lane->learnt = learnt;
	if (tap_buffer_format(lane->buffer, id, &system, &learnt->format, NULL) <= 0 ||
	    schema_add(lane->context->schema, buf_str(&system), system.len, buf_str(&learnt->format),
		       learnt->format.len, NULL))
		return;
	if (lane->relay)
		relayed_format(lane->relay, lane->index, &system, &learnt->format);
	/* The format of an event probe does not say to which event the probe is attached; dynamic_events does. */
	if (!tap_dynamic_events(lane->tap, &learnt->dynamic_events, NULL))
		lane->context->dynamic_events = buf_str(&learnt->dynamic_events);
	if (lane->relay)
		relay_put(lane->relay, RELAY_DYNAMIC, lane->index, 0, learnt->dynamic_events.data,
			  learnt->dynamic_events.len);
}

/* Formats come before the pages that need them. */
static void relay_page(void *arg, size_t cpu_index, const void *data, size_t len)
{
	struct live_lane *lane = arg;
	struct record record;
	struct page page;

	if (!page_init(&page, &lane->source->shape, data, len, NULL))
		while (page_next(&page, &record, NULL) > 0) {
			uint16_t id = load_u16(record.data, false);

			if (relayed_is_new(&lane->seen, id) && !schema_format(lane->context->schema, id, NULL))
				learn(lane, id);
		}
	relay_put(lane->relay, RELAY_PAGE, lane->index, cpu_index, data, len);
}

static int open_source(struct live_lane *lane, struct live_shared *shared, struct fail *fail)
{
	struct tap_buffer *buffer = lane->buffer;
	struct live_source_options live = {
		.feed = { .read = tap_buffer_read, .overrun = tap_buffer_overrun, .arg = buffer },
		.shape = tap_buffer_shape(buffer),
		.cpus = buffer->cpus,
		.nr_cpus = buffer->nr_cpus,
		.queue_max = shared->queue_max,
		.busy_cpus = shared->busy_cpus,
		.times = &shared->taken,
		.taken = lane->relay ? relay_page : NULL,
		.taken_arg = lane,
	};

	int err = live_source_new(&live, &lane->source, fail);

	if (err)
		return err;
	lane->reader->buffers[lane->index].window = (struct events_options){
		.until = UINT64_MAX,
		.source = lane->source,
		.see = comms_learn,
		.see_arg = lane->context->comms,
		.learn = learn,
		.learn_arg = lane,
	};
	return 0;
}

/* live_leave_out_self() of live.h. */
static int live_lane_leave_out_self(struct live_lane *lane, const uint64_t **ret, struct fail *fail)
{
	struct selection **selection = &lane->reader->buffers[lane->index].selection;
	int err = selection_new(lane->context, selection, fail);

	if (!err)
		err = selection_leave_out_self(*selection, &lane->left_out, fail);
	*ret = lane->left_out;
	return err;
}

/*
 * Adds the lane's buffer to the reader, which is started once all lanes are open. The lane must be closed even after a
 * failure.
 */
static int live_lane_open(struct live_lane *lane, struct tap *tap, struct reader *reader, struct live_shared *shared,
			  struct out *relay, struct fail *fail)
{
	int err;

	*lane = (struct live_lane){
		.tap = tap, .reader = reader, .index = (uint16_t)reader->nr_buffers, .relay = relay
	};
	lane->buffer = tap_buffer(tap, lane->index);
	err = reader_add(reader, tap_trace(tap), lane->index, fail);
	if (err)
		return err;
	lane->context = reader->buffers[lane->index].context;
	if (context_option(lane->context, OPTION_LATENCY_FORMAT))
		(void)!latency_facts_learn(lane->context, NULL);
	symbols_ask(lane->context->symbols, ask_symbols, tap);
	err = open_source(lane, shared, fail);
	if (!err && tap_buffer_keeps_oldest(lane->buffer)) {
		lane->dropped = calloc(lane->buffer->nr_cpus + 1, sizeof(*lane->dropped));
		err = lane->dropped ? 0 : fail_memory(fail);
	}
	return err;
}

/* The time of day by one more sample. If there is none, what is known stays. */
static void live_lane_sample(struct live_lane *lane)
{
	struct wall *wall;

	if (!tap_sample(lane->tap, lane->index, &lane->samples))
		return;
	if (lane->relay)
		relay_put(lane->relay, RELAY_CLOCK, lane->index, 0, lane->samples.data, lane->samples.len);
	if (wall_new_of_text(buf_str(&lane->samples), lane->samples.len, 0, &wall, NULL) || !wall)
		return;
	wall_free(lane->context->wall);
	lane->context->wall = wall;
}

static void live_lane_close(struct live_lane *lane)
{
	struct learnt *learnt;

	buf_release(&lane->samples);

	free(lane->dropped);
	while ((learnt = lane->learnt)) {
		lane->learnt = learnt->next;
		buf_release(&learnt->format);
		buf_release(&learnt->dynamic_events);
		free(learnt);
	}
}

/* Reads what the kernel has counted: tap_buffer_look() of lib/kernel/record/tap_buffer.h. */
static void live_lane_look(struct live_lane *lane)
{
	for (size_t i = 0; i < lane->buffer->nr_cpus; i++)
		tap_buffer_look(lane->buffer, i, live_source_taken(lane->source, i));
}

/* Returns whether that is needed in each round, because no page reports lost events. */
static bool live_lane_looks_always(const struct live_lane *lane)
{
	return lane->dropped;
}

static void tell_lost(const struct live_lane *lane, struct flow *flow, size_t cpu_index, int64_t lost)
{
	flow_gap(flow, lane->index, (uint16_t)lane->buffer->cpus[cpu_index], lost);
	if (lane->relay)
		relay_put(lane->relay, RELAY_LOST, lane->index, cpu_index, &lost, sizeof(lost));
}

/* Reports losses that no page reports, as of the last look. */
static void live_lane_dropped(struct live_lane *lane, struct flow *flow)
{
	const struct tap_buffer *buffer = lane->buffer;

	for (size_t i = 0; lane->dropped && i < buffer->nr_cpus; i++) {
		uint64_t now = tap_buffer_dropped(buffer, i);

		if (now > lane->dropped[i])
			tell_lost(lane, flow, i, (int64_t)(now - lane->dropped[i]));
		lane->dropped[i] = now;
	}
}

/*
 * Reports the remaining losses of a stopped tap that no page reports: those after the last event of a CPU, or where the
 * kernel keeps the oldest events.
 */
static void live_lane_last_gaps(const struct live_lane *lane, struct flow *flow)
{
	const struct tap_buffer *buffer = lane->buffer;

	for (size_t i = 0; i < buffer->nr_cpus; i++) {
		uint64_t lost = tap_buffer_lost(buffer, i), told = live_source_lost(lane->source, i);

		told += lane->dropped ? lane->dropped[i] : 0;
		if (lost > told)
			tell_lost(lane, flow, i, (int64_t)(lost - told));
	}
}

/* If a buffer was cleared before weft looked at the counts again, only the pages tell what was lost. */
static uint64_t count_lost(const struct live_lane *lane, size_t cpu_index)
{
	uint64_t counted = tap_buffer_lost(lane->buffer, cpu_index), told = live_source_lost(lane->source, cpu_index);

	return counted > told ? counted : told;
}

/* The tap must be stopped. */
static void live_lane_sum(const struct live_lane *lane, struct live_sum *ret)
{
	uint64_t all = 0;

	*ret = (struct live_sum){
		.instance = tap_buffer_name(lane->buffer),
		.printed = events_count(lane->reader->buffers[lane->index].events),
		.clears_itself = tap_buffer_clears_itself(lane->buffer),
	};
	for (size_t i = 0; i < lane->buffer->nr_cpus; i++) {
		unsigned cleared = tap_buffer_cleared(lane->buffer, i);

		all += tap_buffer_events(lane->buffer, i);
		ret->lost += count_lost(lane, i);
		ret->cleared = cleared > ret->cleared ? cleared : ret->cleared;
	}
	if (all > ret->printed)
		ret->left = all - ret->printed;
	ret->left_out = lane->left_out ? *lane->left_out : 0;
	ret->printed -= ret->left_out;
}

enum {
	ROUNDS = 4,            /* per latency: two for an event to become certain, two for printing it */
	PIECE = 64 << 10,      /* bytes of text to write before looking at anything else */
	QUEUES_MAX = 16 << 20, /* limit for the pages of all CPUs of all instances, in bytes */
	QUEUE_MAX = 1 << 20,
	NAMES_SHARE = 20,       /* reading the names of tasks takes at most 1/20 of the time */
	LOOK_NS = 200000000,    /* between two looks at the kernel's counts */
	SECOND_NS = NS_PER_S,   /* from the first sample to the one that tells how fast the clock runs */
	PATIENCE_NS = NS_PER_S, /* how long to wait, after the end, for a reader that takes nothing */
};

struct live {
	const struct live_options *options;
	struct live_result *result;
	struct tap *tap;
	struct live_lane *lanes; /* one for each instance */
	size_t nr_lanes;
	struct live_shared shared;
	struct relayed relayed;
	struct event unseen; /* of live_no_text() */
	struct out out;
	struct outlet outlet;
	struct reader reader;
	struct flow flow;
	uint64_t interval_ns, next_round_ns;
	uint64_t named_ns, names_cost_ns;
	uint64_t looked_ns;
	uint64_t sample_ns; /* a sample of the clocks is due; 0: none but those of TAP_CLOCK */
	bool fresh;         /* pages were taken since then */
	bool more;          /* there are events that can be printed */
	bool quiet;         /* there is data that cannot be taken before the next round */
};

/* Reads the names of tasks again: new tasks start, and tasks execute other programs. */
static void read_names(struct live *live, uint64_t now)
{
	cleanup_buf struct buf names = BUF_INIT, tgids = BUF_INIT;

	if (now - live->named_ns < NAMES_SHARE * live->names_cost_ns)
		return;
	/* After a failure the old names are kept. */
	if (!tap_tasks(live->tap, &names, &tgids, NULL)) {
		if (live->options->relays)
			relayed_tasks(&live->relayed, &live->out, &names, &tgids);
		for (size_t i = 0; i < live->nr_lanes; i++)
			if (context_set_tasks(live->lanes[i].context, buf_str(&names), names.len, buf_str(&tgids),
					      tgids.len, NULL) == -ENOMEM)
				return;
	}
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
		int err = live_lane_open(&live->lanes[live->nr_lanes++], live->tap, &live->reader, &live->shared,
					 live->options->relays ? &live->out : NULL, fail);

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
	return r < 0 ? fail_set(fail, r, FAIL_WRITE_OUT "%s", strerror(-r)) : r;
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

static void sample(struct live *live)
{
	for (size_t i = 0; i < live->nr_lanes; i++)
		live_lane_sample(&live->lanes[i]);
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
	if (live->options->relays)
		relay_put(&live->out, RELAY_ROUND, 0, 0, NULL, 0);
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
	if (!err && (news == TAP_CLOCK || (live->sample_ns && now_ns() >= live->sample_ns))) {
		live->sample_ns = 0;
		sample(live);
	}
	if (err || (news != TAP_READY && news != TAP_CLOCK))
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
	if (live->options->relays)
		relay_put(&live->out, RELAY_END, 0, 0, NULL, 0);
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
	relayed_release(&live->relayed);
	out_release(&live->out);
	outlet_release(&live->outlet);
}

/* What a process has to know that reads the pages: nothing may come before it. */
static int describe(struct live *live, struct fail *fail)
{
	int err = relayed_facts(&live->out, tap_trace(live->tap), fail);

	for (size_t i = 0; !err && i < live->nr_lanes; i++) {
		const struct tap_buffer *buffer = live->lanes[i].buffer;
		struct page_shape shape = live->lanes[i].source->shape;

		relayed_buffer(&live->out, i, &shape, buffer->cpus, buffer->nr_cpus);
	}
	return err ? err : relayed_symbols(&live->out, live->tap, fail);
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
	err = out_init(&live->out, 2 * PIECE) ? 0 : fail_memory(fail);
	if (!err)
		err = open_lanes(live, fail);
	if (!err && options->relays)
		err = describe(live, fail);
	if (!err && options->tap.time_of_day) {
		sample(live);
		live->sample_ns = now_ns() + SECOND_NS;
	}
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

struct trace *live_trace(const struct live *live)
{
	return tap_trace(live->tap);
}

int live_texts(const struct live *live, struct buf *cmdlines, struct buf *kallsyms, struct fail *fail)
{
	cleanup_buf struct buf tgids = BUF_INIT;
	int r = tap_tasks(live->tap, cmdlines, &tgids, fail);

	return r ? r : tap_symbols(live->tap, kallsyms, fail);
}

int live_face(const struct reader *reader, enum face_kind kind, struct face *face, struct fail *fail)
{
	const struct wall *wall = reader->buffers[0].context->wall;
	const struct wall_piece *piece = wall_piece_at(wall, 0);

	if (!piece)
		return fail_set(fail, -ENODATA,
				"--time: the time of day of this clock cannot be told: -C local or -C mono can");
	return face_init(face, kind, wall, piece->sampled, fail);
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
	return reader_start(&live->reader, &(struct reader_options){ .fails_at_once = true }, fail);
}

static bool see_nothing(void *arg, struct event *event)
{
	(void)arg;
	(void)event;
	return true;
}

struct flow_consumer live_no_text(struct live *live)
{
	return (struct flow_consumer){ .event = &live->unseen, .settle = see_nothing };
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
