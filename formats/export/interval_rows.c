// SPDX-License-Identifier: LGPL-2.1-or-later
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/export/intervals_internal.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/number.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/u64_map.h"
#include "lib/ground/base/xxh64.h"
#include "lib/meaning/clock/wall.h"
#include "lib/meaning/event/comms.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/own_formats.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/event/tasks.h"
#include "lib/meaning/follow/who.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/state/state.h"
#include "lib/meaning/timeline/timeline.h"
#include "lib/pages/trace/trace.h"

enum { PLACES = 5 };

/* The fields of an event that ends an interval. */
struct ended {
	bool bound;
	struct place places[PLACES];
};

/* A buffer of the recording. */
struct lane {
	struct interval_rows *intervals;
	const struct context *context;
	struct timeline *timeline;
	struct interval_rollup *rollup;
	struct buf host, kernel;
	int64_t recording, booted; /* booted: in ns since 1970; 0: nobody knows */
	uint64_t first, last, events, gaps, lost;
	bool begun;
};

struct interval_rows {
	const struct reader *reader;
	struct interval_sink sink;
	struct lane *lanes;
	size_t nr_lanes;
	struct u64_map ended; /* struct ended, by buffer and type */
	bool starved;
};

/* A row that is being filled: the common columns, then those of its table. */
struct row {
	const struct lane *lane;
	enum interval_table table;
	struct column_value values[INTERVAL_COLUMNS_MAX];
	size_t nr;
	char name[TIMELINE_NAME];
};

static void put_number(struct row *row, int64_t number)
{
	row->values[row->nr++] = (struct column_value){ .kind = VALUE_IS_INTEGER, .number = (uint64_t)number };
}

static void put_null(struct row *row)
{
	row->values[row->nr++] = (struct column_value){ .kind = VALUE_IS_NULL };
}

static void put_number_if(struct row *row, bool known, int64_t number)
{
	if (known)
		put_number(row, number);
	else
		put_null(row);
}

/* NULL: null */
static void put_text(struct row *row, const char *text, size_t len)
{
	struct column_value value = { .kind = VALUE_IS_TEXT, .len = len };

	value.text = text;
	if (text)
		row->values[row->nr++] = value;
	else
		put_null(row);
}

static void put_word(struct row *row, const char *word)
{
	put_text(row, word, word ? strlen(word) : 0);
}

static void end_row(const struct row *row)
{
	const struct interval_sink *sink = &row->lane->intervals->sink;

	interval_rollup_see(row->lane->rollup, row->table, row->values);
	sink->row(sink->arg, row->table, row->values);
}

enum { OPEN = -1 };

/* `lasted`: OPEN, or ns. `cpu`: -1: of no CPU. `pid`: -1: of no task; its name may be `comm`. */
struct of {
	uint64_t start;
	int64_t lasted, cpu;
	const char *end;
	int32_t pid;
	const char *comm;
};

static void put_task(struct row *row, const struct of *of)
{
	const struct context *context = row->lane->context;
	struct task_name name = { .text = of->comm, .len = of->comm ? (uint32_t)strlen(of->comm) : 0 };
	int32_t process = of->pid > 0 ? who_process(context, of->pid, of->start, NULL) : 0;

	if (!name.len && of->pid >= 0)
		name = context_comm(context, of->pid, of->start);
	put_number_if(row, of->pid >= 0, of->pid);
	put_number_if(row, process > 0, process);
	put_text(row, name.text == task_no_name || !name.len ? NULL : name.text, name.len);
}

static void begin_row(struct row *row, const struct lane *lane, enum interval_table table, const struct of *of)
{
	int64_t ns = 0;
	bool dated = wall_of(lane->context->wall, of->start, &ns, NULL);

	row->lane = lane;
	row->table = table;
	row->nr = 0;
	put_text(row, lane->host.len ? lane->host.data : "", lane->host.len);
	put_number(row, lane->recording);
	put_word(row, lane->context->instance);
	put_number(row, (int64_t)of->start);
	put_number_if(row, dated, ns);
	put_number_if(row, of->lasted != OPEN, of->lasted);
	put_word(row, of->end);
	put_number_if(row, of->cpu >= 0, of->cpu);
	put_task(row, of);
}

static const char *end_word(enum runs_end end)
{
	return end == RUNS_LOST ? "lost" : end == RUNS_OPEN ? "open" : NULL;
}

static struct of of_slice(const struct timeline_slice *slice)
{
	return (struct of){ .start = slice->start,
			    .lasted = slice->end == RUNS_OPEN ? OPEN : (int64_t)(slice->to - slice->start),
			    .cpu = slice->cpu,
			    .end = end_word(slice->end),
			    .pid = slice->pid };
}

static void put_name(struct row *row, const struct timeline_slice *slice)
{
	size_t len;
	const char *name = timeline_name(row->lane->timeline, slice, row->name, &len);

	put_text(row, name, len);
}

static const char *letter_text(char letter, char into[3])
{
	into[0] = letter == '+' ? 'R' : letter;
	into[1] = letter == '+' ? '+' : '\0';
	into[2] = '\0';
	return letter ? into : NULL;
}

static const struct state_task *task_of(const struct lane *lane, uint32_t task)
{
	return &timeline_state(lane->timeline)->tasks[task];
}

static uint32_t note_priority(void *arg, uint32_t task)
{
	return (uint32_t)task_of(arg, task)->prio;
}

static void put_run(const struct lane *lane, const struct timeline_slice *slice)
{
	const struct state_task *task = task_of(lane, slice->task);
	struct of of = of_slice(slice);
	struct row row;
	char letter[3];

	of.pid = task->pid;
	of.comm = task->comm;
	begin_row(&row, lane, INTERVAL_RUN, &of);
	put_word(&row,
		 slice->end == RUNS_KNOWN && !slice->cut ? letter_text(task->idle ? 'R' : task->letter, letter) : NULL);
	put_number_if(&row, (int32_t)slice->note >= 0, (int32_t)slice->note);
	end_row(&row);
}

static void put_state(const struct lane *lane, const struct timeline_slice *slice)
{
	static const char *const words[TASK_MODES] = {
		[TASK_PREEMPTED] = "preempted", [TASK_WAKING] = "woken",    [TASK_QUEUED] = "woken",
		[TASK_SLEEPING] = "sleeping",   [TASK_BLOCKED] = "blocked", [TASK_STOPPED] = "stopped",
	};
	const struct state_task *task = task_of(lane, slice->task);
	const struct runs_mode *mode = slice->mode;
	bool woken = mode->mode == TASK_WAKING;
	struct of of = of_slice(slice);
	struct row row;
	char letter[3];

	/* The others are runs, or lie before and after a task's life. */
	if (task->idle || !words[mode->mode])
		return;
	of.cpu = -1;
	of.pid = task->pid;
	of.comm = task->comm;
	begin_row(&row, lane, INTERVAL_STATE, &of);
	put_word(&row, words[mode->mode]);
	put_word(&row, woken ? NULL : letter_text(mode->letter, letter));
	put_number_if(&row, woken && mode->waker > 0, mode->waker);
	end_row(&row);
}

/* From being woken to running, as weft latency and weft sched count it. The parts add up to it. */
static void put_wakeup(const struct lane *lane, const struct event *event)
{
	const struct state *state = timeline_state(lane->timeline);
	const struct state_step *step = &state->step;
	uint64_t since = step->waking ? step->waking : step->woken;
	const struct state_task *task;
	struct row row;

	if (step->kind != STEP_SWITCH || !step->intact || !since ||
	    (step->was != TASK_WAKING && step->was != TASK_QUEUED))
		return;
	task = &state->tasks[step->task];
	if (!timeline_chooses(lane->timeline, event->buffer, task->pid, since, state->now))
		return;
	begin_row(&row, lane, INTERVAL_WAKEUP,
		  &(struct of){ .start = since,
				.lasted = (int64_t)(state->now - since),
				.cpu = event->cpu,
				.pid = task->pid,
				.comm = task->comm });
	put_number_if(&row, step->waking && step->woken, (int64_t)(step->woken - step->waking));
	put_number_if(&row, step->woken, (int64_t)(state->now - step->woken));
	put_number_if(&row, task->prio >= 0, task->prio);
	put_number_if(&row, task->waker.pid > 0, task->waker.pid);
	put_number(&row, step->first);
	end_row(&row);
}

/* The fields of the event, by their names. */
static const struct ended *fields_of(const struct lane *lane, const struct event *event, const char *const *names)
{
	struct ended *ended = u64_map_add(&lane->intervals->ended, (uint64_t)event->buffer << 32 | event->id);

	if (!ended)
		lane->intervals->starved = true;
	for (size_t i = 0; ended && !ended->bound && names[i]; i++)
		(void)!place_find(&ended->places[i], event->type, names[i]);
	if (ended)
		ended->bound = true;
	return ended;
}

static void put_field(struct row *row, const struct ended *ended, size_t at, const struct event *event)
{
	bool known = ended && ended->places[at].size;

	put_number_if(row, known, known ? place_s64(&ended->places[at], event) : 0);
}

static void put_text_field(struct row *row, const struct ended *ended, size_t at, const struct event *event)
{
	const char *text;
	size_t len;

	if (ended && ended->places[at].field && place_string(&ended->places[at], event, &text, &len))
		put_text(row, text, len);
	else
		put_null(row);
}

static void put_call(const struct lane *lane, const struct timeline_slice *slice)
{
	static const char *const names[] = { "ret", NULL };
	struct of of = of_slice(slice);
	struct row row;

	of.cpu = slice->event ? slice->event->cpu : -1;
	begin_row(&row, lane, INTERVAL_SYSCALL, &of);
	put_number(&row, slice->number);
	put_name(&row, slice);
	if (slice->event)
		put_field(&row, fields_of(lane, slice->event, names), 0, slice->event);
	else
		put_null(&row);
	end_row(&row);
}

static void put_interrupt(const struct lane *lane, const struct timeline_slice *slice)
{
	struct of of = of_slice(slice);
	struct row row;

	/* Whom it hit. */
	of.pid = slice->event ? slice->event->pid : -1;
	begin_row(&row, lane, slice->kind == TIMELINE_IRQ ? INTERVAL_IRQ : INTERVAL_SOFTIRQ, &of);
	put_number(&row, slice->number);
	put_name(&row, slice);
	end_row(&row);
}

static void put_block(const struct lane *lane, const struct timeline_slice *slice)
{
	static const char *const names[] = { "dev", "sector", "nr_sector", "rwbs", "error", NULL };
	const struct ended *ended = fields_of(lane, slice->event, names);
	struct of of = of_slice(slice);
	struct row row;

	/* It ends on any CPU, in any task. */
	of.cpu = of.pid = -1;
	begin_row(&row, lane, INTERVAL_BLOCK, &of);
	for (size_t i = 0; i < 3; i++)
		put_field(&row, ended, i, slice->event);
	put_text_field(&row, ended, 3, slice->event);
	put_field(&row, ended, 4, slice->event);
	end_row(&row);
}

static void put_lock(const struct lane *lane, const struct timeline_slice *slice)
{
	static const char *const names[] = { "lock_addr", "ret", NULL };
	const struct ended *ended = fields_of(lane, slice->event, names);
	struct of of = of_slice(slice);
	struct row row;

	of.cpu = slice->event->cpu;
	begin_row(&row, lane, INTERVAL_LOCK, &of);
	put_field(&row, ended, 0, slice->event);
	put_field(&row, ended, 1, slice->event);
	end_row(&row);
}

static bool is_named(const struct timeline_slice *slice, const char *stem)
{
	return slice->stem_len == strlen(stem) && !memcmp(slice->stem, stem, slice->stem_len);
}

static void put_pair(const struct lane *lane, const struct timeline_slice *slice)
{
	if (!slice->event)
		return;
	if (!strcmp(slice->system, "block") && is_named(slice, "block_rq"))
		put_block(lane, slice);
	else if (!strcmp(slice->system, "lock") && is_named(slice, "contention"))
		put_lock(lane, slice);
}

static void put_function(const struct lane *lane, const struct timeline_slice *slice)
{
	const struct track *track = slice->track;
	const struct frame *frame = &track->frames[track->nr_frames - 1];
	struct row row;

	begin_row(&row, lane, INTERVAL_FUNCTION,
		  &(struct of){ .start = slice->start,
				.lasted = slice->exited ? (int64_t)slice->lasted : OPEN,
				.end = slice->exited ? NULL :
						       end_word(slice->end == RUNS_KNOWN ? RUNS_OPEN : slice->end),
				.cpu = slice->cpu,
				.pid = track->pid });
	put_name(&row, slice);
	put_number(&row, frame->depth);
	end_row(&row);
}

static void put_mark(const struct lane *lane, const struct timeline_slice *slice)
{
	static const char *const kinds[] = {
		[TIMELINE_MARK] = "span", [TIMELINE_ASYNC] = "async", [TIMELINE_INSTANT] = "instant"
	};
	struct of of = of_slice(slice);
	struct row row;

	begin_row(&row, lane, INTERVAL_MARK, &of);
	put_text(&row, slice->stem, slice->stem_len);
	put_word(&row, kinds[slice->kind]);
	put_text(&row, slice->of_track, slice->of_track_len);
	put_number(&row, slice->depth);
	put_number_if(&row, slice->kind == TIMELINE_ASYNC, slice->number);
	end_row(&row);
}

static void put_slice(void *arg, const struct timeline_slice *slice)
{
	const struct lane *lane = arg;

	switch (slice->kind) {
	case TIMELINE_RUN:
		put_run(lane, slice);
		return;
	case TIMELINE_STATE:
		put_state(lane, slice);
		return;
	case TIMELINE_CALL:
		put_call(lane, slice);
		return;
	case TIMELINE_IRQ:
	case TIMELINE_SOFTIRQ:
		put_interrupt(lane, slice);
		return;
	case TIMELINE_FUNCTION:
		put_function(lane, slice);
		return;
	case TIMELINE_MARK:
	case TIMELINE_ASYNC:
	case TIMELINE_INSTANT:
		put_mark(lane, slice);
		return;
	case TIMELINE_PAIR:
		put_pair(lane, slice);
		return;
	case TIMELINE_COUNTER:
	case TIMELINE_TASKLET:
	case TIMELINE_VECTOR:
	case TIMELINE_LOSS:
		return;
	}
}

/* A gap lasts from the last event of its CPU before it. */
static void put_gap(const struct lane *lane, const struct event *event)
{
	const struct gaps *gaps = &timeline_state(lane->timeline)->gaps;
	uint64_t from =
		gaps->nr && gaps->items[gaps->nr - 1].from <= event->ts ? gaps->items[gaps->nr - 1].from : event->ts;
	struct row row;

	begin_row(&row, lane, INTERVAL_GAP,
		  &(struct of){ .start = from, .lasted = (int64_t)(event->ts - from), .cpu = event->cpu, .pid = -1 });
	put_number_if(&row, event->lost > 0, event->lost);
	end_row(&row);
}

static bool is_of_one_recording(const struct context *one, const struct context *other)
{
	return one->recording == other->recording ||
	       (one->recording && other->recording && !strcmp(one->recording, other->recording));
}

/* The first sample of the clock that the file has of the recording. */
static bool first_sample(const struct lane *lane, struct wall_sample *ret)
{
	const struct interval_rows *intervals = lane->intervals;
	struct text_word line;

	for (size_t i = 0; i < intervals->nr_lanes; i++) {
		const struct context *context = intervals->lanes[i].context;
		struct trace_text text = { .text = NULL };

		if (is_of_one_recording(context, lane->context))
			text = trace_setting(context->trace, context->buffer, SETTING_CLOCKS);
		while (text.text && text_next_line(&text.text, &text.len, &line))
			if (wall_sample_parse(line.at, line.len, ret))
				return true;
	}
	return false;
}

/*
 * The number of the recording is made of what stays the same in every file that weft makes of it, also where its times
 * are moved: the machine, and what its other clocks showed at the first sample, or else the first event.
 */
static bool name_recording(struct lane *lane, uint64_t first)
{
	const struct context *context = lane->context;
	cleanup_buf struct buf facts = BUF_INIT;
	struct trace_text uname = { .text = NULL };
	struct text_word word = { .at = "" };
	struct wall_sample sample;
	const char *at;
	bool ok, sampled;

	if (trace_meta(context->trace, TRACE_UNAME, &uname, NULL))
		uname.text = NULL;
	uname = own_kernel(context->trace, context->buffer, uname);
	at = uname.text;
	/* "Linux HOST RELEASE MACHINE" */
	if (!at || !text_next_word(&at, " ", &word) || !text_next_word(&at, " ", &word))
		word = (struct text_word){ .at = "" };
	ok = buf_add(&lane->host, word.at, word.len) && buf_add(&facts, word.at, word.len) &&
	     (!uname.text || buf_add(&lane->kernel, uname.text, strcspn(uname.text, "\n"))) &&
	     buf_addf(&facts, " %s %s\n", context->release, context->machine);
	sampled = first_sample(lane, &sample);
	lane->booted = sampled && sample.boot ? sample.wall_lo - sample.boot : 0;
	if (ok && sampled)
		ok = buf_addf(&facts, "%" PRId64 " %" PRId64 "\n", sample.mono, sample.boot);
	else if (ok)
		ok = buf_addf(&facts, "%" PRIu64 "\n", first);
	lane->recording = (int64_t)(xxh64(facts.data, facts.len) >> 1);
	return ok;
}

/* Who recorded it; NULL: nobody knows. */
static struct trace_text recorder_of(const struct context *context)
{
	struct trace_text text = { .text = NULL };

	if (trace_meta(context->trace, TRACE_VERSION, &text, NULL))
		text.text = NULL;
	text.len = text.text ? strcspn(text.text, "\n") : 0;
	return text;
}

/* How many recordings it stands for: itself, or those of as many hours (lib/kernel/record/sampling.h). */
static int64_t weight_of(const struct lane *lane)
{
	struct trace_text text = own_setting(lane->context->trace, lane->context->buffer, SETTING_SAMPLE);
	uint64_t of = text.text && !strncmp(text.text, "1/", 2) ? number_of(text.text + 2, 1) : 1;

	return of && of <= INT64_MAX ? (int64_t)of : 1;
}

static void put_recording(const struct lane *lane)
{
	const struct context *context = lane->context;
	struct trace_text recorder = recorder_of(context);
	uint64_t bound = WALL_NO_BOUND;
	struct row row;
	int64_t ns;

	if (!lane->begun)
		return;
	(void)!wall_of(context->wall, lane->last, &ns, &bound);
	begin_row(&row, lane, INTERVAL_RECORDING,
		  &(struct of){
			  .start = lane->first, .lasted = (int64_t)(lane->last - lane->first), .cpu = -1, .pid = -1 });
	put_word(&row, context->clock);
	put_number_if(&row, bound != WALL_NO_BOUND, (int64_t)bound);
	put_word(&row, *context->release ? context->release : NULL);
	put_word(&row, *context->machine ? context->machine : NULL);
	put_number_if(&row, context->online_cpus, context->online_cpus);
	put_number(&row, (int64_t)lane->events);
	put_number(&row, (int64_t)lane->gaps);
	put_number(&row, (int64_t)lane->lost);
	put_word(&row, lane->intervals->sink.file);
	put_text(&row, lane->kernel.len ? lane->kernel.data : NULL, lane->kernel.len);
	put_text(&row, recorder.text, recorder.len);
	put_number_if(&row, lane->booted, lane->booted);
	put_number(&row, weight_of(lane));
	put_number_if(&row, context->compared, (int64_t)context->clock_error_ns);
	end_row(&row);
}

static void put_rollup(const struct lane *lane)
{
	struct row row;

	if (!lane->begun)
		return;
	begin_row(&row, lane, INTERVAL_ROLLUP,
		  &(struct of){ .start = lane->first, .lasted = OPEN, .cpu = -1, .pid = -1 });
	interval_rollup_end(lane->rollup, row.values, &lane->intervals->sink);
}

/* The lane of an event, which has counted it; NULL: none. */
static struct lane *count(struct interval_rows *intervals, const struct event *event, bool shows)
{
	struct lane *lane = event->buffer < intervals->nr_lanes ? &intervals->lanes[event->buffer] : NULL;

	if (!lane)
		return NULL;
	if (!lane->begun && !name_recording(lane, event->ts))
		intervals->starved = true;
	if (!lane->begun)
		lane->first = event->ts;
	lane->begun = true;
	lane->last = event->ts;
	if (event->kind != EVENT_LOST) {
		lane->events += shows;
		return lane;
	}
	lane->gaps++;
	lane->lost += event->lost > 0 ? (uint64_t)event->lost : 0;
	return lane;
}

void interval_rows_count(struct interval_rows *intervals, const struct event *event)
{
	(void)count(intervals, event, true);
}

bool interval_rows_load(const struct interval_rows *intervals, size_t buffer, struct interval_load *ret)
{
	const struct lane *lane = &intervals->lanes[buffer];
	const char *instance = lane->context->instance;

	*ret = (struct interval_load){ .recording = lane->recording,
				       .instance = xxh64(instance, strlen(instance)),
				       .first = lane->first,
				       .last = lane->last,
				       .events = lane->events,
				       .gaps = lane->gaps };
	return lane->begun;
}

void interval_rows_see(struct interval_rows *intervals, const struct event *event, bool shows)
{
	struct lane *lane = count(intervals, event, shows);

	if (!lane)
		return;
	(void)timeline_take(lane->timeline, event, shows);
	if (event->kind != EVENT_LOST)
		put_wakeup(lane, event);
	else
		put_gap(lane, event);
}

void interval_rows_end(struct interval_rows *intervals)
{
	for (size_t i = 0; i < intervals->nr_lanes; i++) {
		timeline_end(intervals->lanes[i].timeline, intervals->lanes[i].last);
		put_rollup(&intervals->lanes[i]);
		put_recording(&intervals->lanes[i]);
	}
}

bool interval_rows_starved(const struct interval_rows *intervals)
{
	bool starved = intervals->starved;

	for (size_t i = 0; i < intervals->nr_lanes; i++)
		starved |= timeline_starved(intervals->lanes[i].timeline) ||
			   interval_rollup_starved(intervals->lanes[i].rollup);
	return starved;
}

static bool open_lane(struct interval_rows *intervals, struct lane *lane, uint16_t buffer)
{
	const struct timeline_calls calls = {
		.arg = lane,
		.wanted = 1 << TIMELINE_RUN | 1 << TIMELINE_STATE | 1 << TIMELINE_CALL | 1 << TIMELINE_IRQ |
			  1 << TIMELINE_SOFTIRQ | 1 << TIMELINE_FUNCTION | 1 << TIMELINE_MARK | 1 << TIMELINE_ASYNC |
			  1 << TIMELINE_INSTANT | 1 << TIMELINE_PAIR,
		.slice = put_slice,
		.begin = note_priority,
		.one_wait = true,
	};

	lane->intervals = intervals;
	lane->context = intervals->reader->buffers[buffer].context;
	lane->timeline = timeline_new(&calls, lane->context->preempt_rt);
	lane->rollup = interval_rollup_new();
	if (!lane->rollup || !lane->timeline || !timeline_add(lane->timeline, buffer, lane->context))
		return false;
	timeline_choose(lane->timeline, buffer, intervals->reader->buffers[buffer].shown);
	return true;
}

int interval_rows_new(const struct reader *reader, const struct interval_sink *sink, struct interval_rows **ret,
		      struct fail *fail)
{
	struct interval_rows *intervals = calloc(1, sizeof(*intervals));
	bool ok = intervals;

	if (!ok)
		return fail_memory(fail);
	intervals->reader = reader;
	intervals->sink = *sink;
	u64_map_init(&intervals->ended, sizeof(struct ended));
	intervals->lanes = calloc(reader->nr_buffers + 1, sizeof(*intervals->lanes));
	for (ok = intervals->lanes; ok && intervals->nr_lanes < reader->nr_buffers; intervals->nr_lanes++)
		ok = open_lane(intervals, &intervals->lanes[intervals->nr_lanes], (uint16_t)intervals->nr_lanes);
	if (!ok) {
		interval_rows_free(intervals);
		return fail_memory(fail);
	}
	*ret = intervals;
	return 0;
}

void interval_rows_free(struct interval_rows *intervals)
{
	if (!intervals)
		return;
	for (size_t i = 0; i < intervals->nr_lanes; i++) {
		timeline_free(intervals->lanes[i].timeline);
		interval_rollup_free(intervals->lanes[i].rollup);
		buf_release(&intervals->lanes[i].host);
		buf_release(&intervals->lanes[i].kernel);
	}
	free(intervals->lanes);
	u64_map_release(&intervals->ended);
	free(intervals);
}
