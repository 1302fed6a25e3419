// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A profile for profiler.firefox.com: a thread for each task, with its functions (each sample the own time of a stack
 * of the function graph) or the stacks stored with events, and markers: system calls, interrupts, the time on a CPU
 * (slices of lib/meaning/timeline/timeline.h), every other event with its fields. Samples are folded (timed.h), markers
 * and counters have a limit of bytes, so memory does not depend on the number of events.
 */
#include "formats/export/firefox/firefox_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/export/exports_internal.h"
#include "formats/export/notes_internal.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/columns/value.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/tasks.h"
#include "lib/meaning/follow/tick.h"
#include "lib/meaning/follow/user_stacks.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/timeline/timeline.h"

/* MARKER and SAMPLE: the size as JSON of a marker without its text, and of a value of a counter. */
enum { LIMIT = 20 << 20, MARKER = 110, SAMPLE = 30, TEXT_LEN_MAX = 4096, COUNTERS_MAX = 4096 };

struct kind {
	const struct format *format; /* NULL: unknown */
	struct firefox_callers callers;
	uint32_t name; /* label */
};

static void enter(void *arg, const struct event *event, struct track *track)
{
	struct firefox_buffer *buffer = arg;
	struct timed *samples = &buffer->firefox->samples[FIREFOX_SELF_TIME];
	struct frame *frame = &track->frames[track->nr_frames - 1];
	uint32_t below;

	(void)event;
	if (track->nr_frames > 1)
		below = frame[-1].note;
	else
		below = firefox_root_of(buffer->firefox, FIREFOX_SELF_TIME,
					track->interrupt ? firefox_thread_of(buffer, THREAD_INTERRUPTS, 0, track->cpu) :
							   firefox_task_thread(buffer, track->pid, track->cpu));
	frame->note = timed_on(samples, below, firefox_function_of(buffer, frame->func));
}

static void leave(struct firefox_buffer *buffer, const struct timeline_slice *slice)
{
	const struct frame *frame = &slice->track->frames[slice->track->nr_frames - 1];

	if (slice->exited && frame->whole && slice->lasted > frame->nested)
		timed_add(&buffer->firefox->samples[FIREFOX_SELF_TIME], frame->note, frame->start,
			  slice->lasted - frame->nested);
}

static void kind_fill(struct firefox *firefox, const struct firefox_buffer *buffer, struct kind *kind,
		      const struct format *format)
{
	kind->format = format;
	kind->name = firefox_label(firefox, format->name, strlen(format->name));
	firefox_stack_bind(&kind->callers, format, &buffer->context->abi);
}

static const struct kind *kind_of(struct firefox *firefox, const struct firefox_buffer *buffer,
				  const struct event *event)
{
	struct kind *kind = kinds_find(&firefox->kinds, event);

	if (__builtin_expect(kind != NULL, 1))
		return kind;
	kind = calloc(1, sizeof(*kind));
	if (kind && event->type->format)
		kind_fill(firefox, buffer, kind, event->type->format);
	if (kind && kinds_set(&firefox->kinds, event, kind))
		return kind;
	export_no_memory(&firefox->export);
	return NULL;
}

/* Adds a marker, whose text begins at `text` in the texts; without room the marker is left out. */
static void add_marker(struct firefox *firefox, const struct firefox_marker *as, uint64_t seen)
{
	size_t len = out_len(&firefox->texts) - as->text;
	struct firefox_marker *marker;
	struct firefox_thread *thread;

	if (!firefox->nr_threads)
		return;
	thread = &firefox->threads[as->thread];
	thread->first = as->start < thread->first ? as->start : thread->first;
	thread->last = seen > thread->last ? seen : thread->last;
	marker = vec_push(firefox->markers, firefox->nr_markers);
	if (!marker) {
		export_no_memory(&firefox->export);
		return;
	}
	*marker = *as;
	marker->len = (uint32_t)len;
	firefox->bytes += MARKER + len;
}

/* Leaves out every second marker, except losses, and moves the texts of the others together. */
static void thin_markers(struct firefox *firefox)
{
	size_t nr = firefox->nr_markers, kept = 0, thinned = 0, text = 0;

	for (size_t i = 0; i < nr; i++) {
		struct firefox_marker marker = firefox->markers[i];

		if (!marker.lost && thinned++ & 1) {
			firefox->bytes -= MARKER + marker.len;
			firefox->left_out++;
			continue;
		}
		if (marker.len)
			memmove(firefox->texts.start + text, firefox->texts.start + marker.text, marker.len);
		marker.text = text;
		text += marker.len;
		firefox->markers[kept++] = marker;
	}
	firefox->nr_markers = kept;
	firefox->texts.at = firefox->texts.start + text;
	if (kept < nr)
		firefox->step *= 2;
}

/* Leaves out every second value of each counter. */
static void thin_counters(struct firefox *firefox)
{
	size_t left_out = 0;

	for (size_t i = 0; i < firefox->nr_counters; i++) {
		struct firefox_counter *counter = &firefox->counters[i];
		size_t kept = (counter->nr_counts + 1) / 2;

		for (size_t k = 1; k < kept; k++)
			counter->counts[k] = counter->counts[2 * k];
		left_out += counter->nr_counts - kept;
		counter->nr_counts = kept;
	}
	if (!left_out)
		return;
	firefox->counts_left_out += left_out;
	firefox->bytes -= left_out * SAMPLE;
	firefox->count_step *= 2;
}

/* Leaves out markers or values of counters, whichever take more, until there is room. False: none helps. */
static bool make_room(struct firefox *firefox)
{
	while (firefox->bytes >= firefox->limit) {
		uint64_t before = firefox->bytes;
		bool markers = 2 * (firefox->nr_markers * MARKER + out_len(&firefox->texts)) >= before;

		if (!markers)
			thin_counters(firefox);
		if (firefox->bytes == before)
			thin_markers(firefox);
		if (firefox->bytes == before && markers)
			thin_counters(firefox);
		if (firefox->bytes == before)
			return false;
	}
	return true;
}

/*
 * Whether a marker is written. What the limit leaves out is spread over the whole time: of all markers, each second,
 * fourth, eighth... is kept.
 */
static bool has_room(struct firefox *firefox)
{
	uint64_t number = firefox->markers_seen++;

	if (make_room(firefox) && !(number & (firefox->step - 1)))
		return true;
	firefox->left_out++;
	return false;
}

static void put_instant(struct firefox_buffer *buffer, const struct kind *kind, const struct event *event)
{
	const struct format *format = kind->format;
	struct firefox *firefox = buffer->firefox;
	struct out *out = &firefox->texts;
	const struct firefox_marker marker = { .start = event->ts,
					       .end = event->ts,
					       .text = out_len(out),
					       .instant = true,
					       .cpu = event->cpu,
					       .name = kind->name,
					       .category = FIREFOX_EVENT,
					       .thread = firefox_task_thread(buffer, event->pid, event->cpu) };

	for (uint32_t i = format->nr_common; i < format->nr_fields && out_len(out) - marker.text < TEXT_LEN_MAX; i++) {
		if (i > format->nr_common)
			out_char(out, ' ');
		out_str(out, format->fields[i].name);
		out_char(out, '=');
		value_put(&format->fields[i], &buffer->context->abi, event, value_is_text(&format->fields[i]), out);
	}
	add_marker(firefox, &marker, event->ts);
}

static void put_lasted(struct firefox_buffer *buffer, const struct timeline_slice *slice,
		       enum firefox_category category, uint32_t thread, uint16_t cpu)
{
	struct firefox *firefox = buffer->firefox;
	struct firefox_marker marker = { .start = slice->start,
					 .end = slice->to,
					 .text = out_len(&firefox->texts),
					 .cpu = cpu,
					 .category = (uint8_t)category,
					 .thread = thread };
	char text[TIMELINE_NAME];
	const char *name = "Running";
	size_t len = strlen(name);

	if (category != FIREFOX_RUNNING)
		name = timeline_name(buffer->timeline, slice, text, &len);
	marker.name = firefox_label(firefox, name, len);
	if (slice->end != RUNS_KNOWN)
		out_f(&firefox->texts, "end=%s", runs_end_name(slice->end));
	add_marker(firefox, &marker, slice->to);
}

static void see_event(void *arg, const struct event *event, enum timeline_part part)
{
	struct firefox_buffer *buffer = arg;
	const struct kind *kind;

	firefox_off_see(buffer, event);
	kind = part == TIMELINE_NO_PART ? kind_of(buffer->firefox, buffer, event) : NULL;
	if (kind && kind->callers.of)
		firefox_stack_see(buffer, &kind->callers, event);
	else
		firefox_stack_begin(buffer, event);
	if (!kind || !kind->format || kind->callers.of)
		return;
	if (buffer->tick_ns)
		firefox_stack_tick(buffer, event);
	else if (has_room(buffer->firefox))
		put_instant(buffer, kind, event);
}

static void put_loss(struct firefox_buffer *buffer, const struct timeline_slice *slice)
{
	struct firefox *firefox = buffer->firefox;
	struct firefox_marker marker = { .start = slice->start,
					 .end = slice->start,
					 .text = out_len(&firefox->texts),
					 .instant = true,
					 .lost = true,
					 .cpu = (uint16_t)slice->cpu };

	firefox_stack_end(buffer, (uint16_t)slice->cpu);
	u64_map_remove(&buffer->left, slice->cpu);
	marker.thread = firefox_thread_of(buffer, THREAD_INTERRUPTS, 0, marker.cpu);
	marker.name = firefox_label(firefox, "lost events", 11);
	if (slice->event->lost > 0)
		out_f(&firefox->texts, "count=%" PRId64, slice->event->lost);
	add_marker(firefox, &marker, slice->start);
}

/* A moment that a program marked. */
static void put_marked(struct firefox_buffer *buffer, const struct timeline_slice *slice)
{
	struct firefox *firefox = buffer->firefox;
	const struct firefox_marker marker = { .start = slice->start,
					       .end = slice->start,
					       .text = out_len(&firefox->texts),
					       .instant = true,
					       .cpu = (uint16_t)slice->cpu,
					       .name = firefox_label(firefox, slice->stem, slice->stem_len),
					       .category = FIREFOX_MARK,
					       .thread =
						       firefox_task_thread(buffer, slice->pid, (uint16_t)slice->cpu) };

	add_marker(firefox, &marker, slice->start);
}

/* mm_types_task.h: the name of a member of rss_stat. */
static const char *member_name(uint64_t member)
{
	static const char *const names[] = { "file pages", "anonymous pages", "swap entries", "shared memory" };

	return member < array_size(names) ? names[member] : "other pages";
}

static void name_counter(struct firefox_buffer *buffer, const struct timeline_slice *slice,
			 struct firefox_counter *counter)
{
	const char *instance = buffer->context->instance;
	char text[400];
	int len;

	if (slice->counter == TIMELINE_MARKED && !slice->owner)
		len = snprintf(text, sizeof(text), "%.*s", slice->stem_len < 128 ? (int)slice->stem_len : 128,
			       slice->stem);
	else if (slice->counter == TIMELINE_MARKED)
		len = snprintf(text, sizeof(text), "%.*s (%" PRIu64 ")",
			       slice->stem_len < 128 ? (int)slice->stem_len : 128, slice->stem, slice->owner);
	else if (slice->counter == TIMELINE_FREQUENCY)
		len = snprintf(text, sizeof(text), "CPU %" PRIu64 " frequency (kHz)", slice->owner);
	else
		len = snprintf(text, sizeof(text), "mm %" PRIu64 " %s", slice->owner, member_name(slice->part));
	if (*instance)
		len += snprintf(text + len, sizeof(text) - (size_t)len, " (%.200s)", instance);
	counter->name = firefox_label(buffer->firefox, text, (size_t)len);
	counter->what = (uint8_t)slice->counter;
}

static struct firefox_counter *counter_of(struct firefox_buffer *buffer, const struct timeline_slice *slice)
{
	struct firefox *firefox = buffer->firefox;
	uint64_t key = ((uint64_t)slice->counter << 60) ^ slice->owner ^
		       (slice->counter == TIMELINE_MARKED ? slice->part << 32 : slice->part << 52);
	uint32_t *place = u64_map_find(&buffer->counters, key);
	struct firefox_counter *counter;

	if (place)
		return &firefox->counters[*place];
	if (firefox->nr_counters == COUNTERS_MAX)
		return NULL;
	counter = vec_push(firefox->counters, firefox->nr_counters);
	place = counter ? u64_map_add(&buffer->counters, key) : NULL;
	if (!place) {
		export_no_memory(&firefox->export);
		return NULL;
	}
	*place = (uint32_t)(firefox->nr_counters - 1);
	*counter = (struct firefox_counter){ .name = 0 };
	name_counter(buffer, slice, counter);
	return counter;
}

static void see_counter(struct firefox_buffer *buffer, const struct timeline_slice *slice)
{
	struct firefox *firefox = buffer->firefox;
	struct firefox_counter *counter;
	struct firefox_count *count;

	if (slice->counter == TIMELINE_IDLE)
		return;
	counter = counter_of(buffer, slice);
	if (!counter || !make_room(firefox) || counter->seen++ & (firefox->count_step - 1)) {
		firefox->counts_left_out++;
		return;
	}
	count = vec_push(counter->counts, counter->nr_counts);
	if (!count) {
		export_no_memory(&firefox->export);
		return;
	}
	*count = (struct firefox_count){ .ts = slice->start, .value = slice->number };
	firefox->bytes += SAMPLE;
}

static void put_slice(void *arg, const struct timeline_slice *slice)
{
	struct firefox_buffer *buffer = arg;
	uint16_t cpu = (uint16_t)slice->cpu;

	switch (slice->kind) {
	case TIMELINE_RUN:
		if (slice->pid && has_room(buffer->firefox))
			put_lasted(buffer, slice, FIREFOX_RUNNING, firefox_task_thread(buffer, slice->pid, cpu), cpu);
		break;
	case TIMELINE_STATE:
		firefox_off_state(buffer, slice);
		break;
	case TIMELINE_CALL:
		cpu = slice->event->cpu;
		if (has_room(buffer->firefox))
			put_lasted(buffer, slice, FIREFOX_CALL, firefox_task_thread(buffer, slice->pid, cpu), cpu);
		break;
	case TIMELINE_MARK:
	case TIMELINE_ASYNC:
		if (has_room(buffer->firefox))
			put_lasted(buffer, slice, FIREFOX_MARK, firefox_task_thread(buffer, slice->pid, cpu), cpu);
		break;
	case TIMELINE_INSTANT:
		if (has_room(buffer->firefox))
			put_marked(buffer, slice);
		break;
	case TIMELINE_PAIR:
		if (has_room(buffer->firefox))
			put_lasted(buffer, slice, FIREFOX_EVENT,
				   slice->of_task ? firefox_task_thread(buffer, slice->pid, cpu) :
						    firefox_thread_of(buffer, THREAD_INTERRUPTS, 0, cpu),
				   cpu);
		break;
	case TIMELINE_IRQ:
	case TIMELINE_SOFTIRQ:
	case TIMELINE_TASKLET:
	case TIMELINE_VECTOR:
		if (has_room(buffer->firefox))
			put_lasted(buffer, slice, FIREFOX_INTERRUPT,
				   firefox_thread_of(buffer, THREAD_INTERRUPTS, 0, cpu), cpu);
		break;
	case TIMELINE_FUNCTION:
		leave(buffer, slice);
		break;
	case TIMELINE_COUNTER:
		see_counter(buffer, slice);
		break;
	case TIMELINE_LOSS:
		put_loss(buffer, slice);
		break;
	}
}

static void firefox_event(struct export *export, const struct event *event)
{
	struct firefox *firefox = (struct firefox *)export;
	struct firefox_buffer *buffer = &firefox->buffers[event->buffer];

	if (!firefox->some || event->ts < firefox->first)
		firefox->first = event->ts;
	firefox->some = true;
	firefox->last = event->ts;
	(void)export_see(export, buffer->timeline, event);
}

static void tell(struct firefox *firefox)
{
	struct export *export = &firefox->export;
	struct frames_left left = { .cut = 0 };

	for (size_t i = 0; i < firefox->nr_buffers; i++)
		timeline_count(firefox->buffers[i].timeline, &left);
	left_note(&left, export);
	if (firefox->left_out)
		export_note(export,
			    "%" PRIu64 " markers are left out, evenly over the time (one of %" PRIu64
			    " is kept): --max-size makes room for more, -e and --since choose less",
			    firefox->left_out, firefox->step);
	if (firefox->counts_left_out)
		export_note(export,
			    "%" PRIu64 " values of counters are left out, evenly over the time (one of %" PRIu64
			    " is kept): --max-size makes room for more, -e and --since choose less",
			    firefox->counts_left_out, firefox->count_step);
	for (size_t i = 0; i < FIREFOX_WEIGHTS; i++)
		if (firefox->samples[i].cut)
			export_note(export,
				    "there are too many different stacks: %" PRIu64
				    " frames are left out, and what stood on them counts for those "
				    "below",
				    firefox->samples[i].cut);
}

static bool is_starved(const struct firefox *firefox)
{
	bool starved = firefox->texts.failed;

	for (size_t i = 0; i < FIREFOX_WEIGHTS; i++)
		starved |= firefox->samples[i].starved;
	for (size_t i = 0; i < firefox->nr_buffers; i++)
		starved |= timeline_starved(firefox->buffers[i].timeline) || firefox->buffers[i].offs.starved ||
			   firefox->buffers[i].left.starved;
	return starved;
}

static void firefox_end(struct export *export)
{
	struct firefox *firefox = (struct firefox *)export;

	for (size_t i = 0; i < firefox->nr_buffers; i++) {
		for (size_t cpu = 0; cpu < firefox->buffers[i].held.nr; cpu++)
			firefox_stack_end(&firefox->buffers[i], (uint16_t)cpu);
		timeline_end(firefox->buffers[i].timeline, firefox->last);
	}
	if (is_starved(firefox)) {
		export_no_memory(export);
		return;
	}
	tell(firefox);
	if (!firefox_write(firefox, export->out))
		export_no_memory(export);
}

static void firefox_free(struct export *export)
{
	struct firefox *firefox = (struct firefox *)export;

	for (size_t i = 0; firefox->buffers && i < firefox->nr_buffers; i++) {
		timeline_free(firefox->buffers[i].timeline);
		u64_map_release(&firefox->buffers[i].threads);
		u64_map_release(&firefox->buffers[i].functions);
		u64_map_release(&firefox->buffers[i].counters);
		u64_map_release(&firefox->buffers[i].left);
		u64_map_release(&firefox->buffers[i].offs);
		held_stacks_release(&firefox->buffers[i].held);
		user_stacks_free(firefox->buffers[i].unwound);
		free(firefox->buffers[i].programs);
	}
	free(firefox->buffers);
	for (size_t i = 0; i < FIREFOX_WEIGHTS; i++)
		timed_release(&firefox->samples[i]);
	labels_release(&firefox->labels);
	kinds_release(&firefox->kinds);
	free(firefox->threads);
	free(firefox->markers);
	for (size_t i = 0; i < firefox->nr_counters; i++)
		free(firefox->counters[i].counts);
	free(firefox->counters);
	if (firefox->texts.start)
		out_release(&firefox->texts);
	free(firefox);
}

static int choose_weight(struct firefox *firefox, const char *text, struct fail *fail)
{
	static const char *const names[FIREFOX_WEIGHTS] = { "self-time", "on-cpu", "count", "off-cpu" };

	firefox->chosen = -1;
	for (int i = 0; text && i < FIREFOX_WEIGHTS; i++)
		if (!strcmp(text, names[i]))
			firefox->chosen = i;
	if (text && firefox->chosen < 0)
		return fail_usage(fail, fail_set(fail, -EINVAL,
						 "--weight: firefox has self-time, on-cpu, off-cpu and count, not '%s'",
						 text));
	return 0;
}

static int init(struct firefox *firefox, const struct export_input *input, struct fail *fail)
{
	size_t nr_buffers = input->reader->nr_buffers;

	firefox->step = firefox->count_step = 1;
	firefox->limit = input->max_size ? input->max_size : LIMIT;
	firefox->buffers = calloc(nr_buffers + 1, sizeof(*firefox->buffers));
	if (!firefox->buffers || !out_init(&firefox->texts, 4096) || kinds_init(&firefox->kinds, nr_buffers, free))
		return fail_memory(fail);
	firefox->nr_buffers = nr_buffers;
	for (size_t i = 0; i < nr_buffers; i++) {
		struct firefox_buffer *buffer = &firefox->buffers[i];
		const struct timeline_calls calls = {
			.arg = buffer,
			.wanted = ~0u,
			.slice = put_slice,
			.enter = enter,
			.event = see_event,
			.one_wait = true,
		};

		buffer->firefox = firefox;
		buffer->context = input->reader->buffers[i].context;
		buffer->tick_ns = tick_buffer(buffer->context) ? tick_ns(buffer->context) : 0;
		buffer->of_tasks = buffer->tick_ns ? &firefox->buffers[0] : buffer;
		u64_map_init(&buffer->threads, sizeof(uint32_t));
		u64_map_init(&buffer->functions, sizeof(uint32_t));
		u64_map_init(&buffer->counters, sizeof(uint32_t));
		u64_map_init(&buffer->left, sizeof(uint32_t));
		u64_map_init(&buffer->offs, sizeof(uint32_t));
		buffer->timeline = timeline_new(&calls, buffer->context->preempt_rt);
		buffer->unwound = user_stacks_new(buffer->context);
		if (!buffer->unwound || !buffer->timeline ||
		    !timeline_add(buffer->timeline, (uint16_t)i, buffer->context))
			return fail_memory(fail);
		export_choose(buffer->timeline, (uint16_t)i, input->reader);
		timeline_count_fields(buffer->timeline, input->counters, input->nr_counters);
	}
	return choose_weight(firefox, input->weight, fail);
}

static int firefox_new(const struct export_input *input, struct export **ret, struct fail *fail)
{
	struct firefox *firefox = calloc(1, sizeof(*firefox));
	int r;

	if (!firefox)
		return fail_memory(fail);
	labels_init(&firefox->labels);
	for (size_t i = 0; i < FIREFOX_WEIGHTS; i++)
		timed_init(&firefox->samples[i]);
	r = init(firefox, input, fail);
	if (r)
		firefox_free(&firefox->export);
	else
		*ret = &firefox->export;
	return r;
}

const struct export_ops firefox_export = {
	.name = "firefox",
	.summary = "for profiler.firefox.com: tasks with their functions or stacks, calls and events",
	.takes_weight = true,
	.takes_size = true,
	.takes_counters = true,
	.of_tasks = true,
	.create = firefox_new,
	.free = firefox_free,
	.event = firefox_event,
	.end = firefox_end,
};
