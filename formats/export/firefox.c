// SPDX-License-Identifier: GPL-2.0-only
/*
 * A profile for profiler.firefox.com: a thread for each task, with its functions (each sample the own time of a stack
 * of the function graph) or the stacks stored with events, and markers: system calls, interrupts, the time on a CPU,
 * every other event with its fields. Samples are folded (timed.h), markers and counters have a limit of bytes, so
 * memory does not depend on the number of events.
 */
#include "formats/export/firefox_internal.h"

#include "formats/export/exports_internal.h"
#include "formats/export/left_note_internal.h"
#include "formats/value.h"
#include "lib/base/vec.h"
#include "lib/event/context.h"
#include "lib/event/place.h"
#include "lib/event/tasks.h"
#include "lib/follow/spans.h"
#include "lib/follow/stack.h"
#include "lib/names/symbols.h"
#include "lib/reader/reader.h"
#include "lib/timeline/call_name.h"
#include "lib/timeline/frames.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* MARKER: the size of a marker as JSON without its text. */
enum { LIMIT = 20 << 20, MARKER = 110, ADDRESSES_MAX = 256, TEXT_LEN_MAX = 4096 };

enum role { ROLE_INSTANT, ROLE_PAIRED, ROLE_STACK };

struct kind {
	const struct format *format; /* NULL: unknown */
	struct place call;           /* the number of a system call without a name */
	struct place caller;         /* of a ROLE_STACK */
	struct firefox_counted counted;
	bool is_counted;
	enum role role;
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

static void leave(void *arg, uint16_t index, struct track *track, uint64_t ts, uint64_t lasted, bool exited)
{
	const struct frame *frame = &track->frames[track->nr_frames - 1];
	struct firefox_buffer *buffer = arg;

	(void)index;
	(void)ts;
	if (exited && frame->whole && lasted > frame->nested)
		timed_add(&buffer->firefox->samples[FIREFOX_SELF_TIME], frame->note, frame->start,
			  lasted - frame->nested);
}

static bool ends_with(const char *name, const char *end)
{
	size_t len = strlen(name), tail = strlen(end);

	return len > tail && !strcmp(name + len - tail, end);
}

/* Whether the event belongs to a pair of spans_see() that is shown. */
static bool is_paired(const struct format *format)
{
	return !strcmp(format->system, "syscalls") || !strcmp(format->system, "raw_syscalls") ||
	       (!strcmp(format->system, "irq") &&
		(ends_with(format->name, "_entry") || ends_with(format->name, "_exit"))) ||
	       (!strcmp(format->system, "sched") && !strcmp(format->name, "sched_switch"));
}

static void kind_fill(struct firefox *firefox, const struct firefox_buffer *buffer, struct kind *kind,
		      const struct format *format)
{
	const struct schema_abi *abi = &buffer->context->abi;

	kind->format = format;
	kind->name = firefox_label(firefox, format->name, strlen(format->name));
	(void)place_bind(&kind->call, format, abi, "id");
	kind->is_counted = firefox_counter_bind(abi, format, &kind->counted);
	if (!strcmp(format->system, "ftrace") && !strcmp(format->name, "kernel_stack") &&
	    place_bind(&kind->caller, format, abi, "caller"))
		kind->role = ROLE_STACK;
	else
		kind->role = is_paired(format) ? ROLE_PAIRED : ROLE_INSTANT;
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
static void thin(struct firefox *firefox)
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

bool firefox_make_room(struct firefox *firefox)
{
	while (firefox->bytes >= firefox->limit) {
		uint64_t before = firefox->bytes;
		bool markers = 2 * (firefox->nr_markers * MARKER + out_len(&firefox->texts)) >= before;

		if (!markers)
			firefox_counters_thin(firefox);
		if (firefox->bytes == before)
			thin(firefox);
		if (firefox->bytes == before && markers)
			firefox_counters_thin(firefox);
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

	if (firefox_make_room(firefox) && !(number & (firefox->step - 1)))
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

static void put_span(struct firefox_buffer *buffer, const struct kind *kind, const struct event *event,
		     const struct span *span)
{
	struct firefox *firefox = buffer->firefox;
	struct firefox_marker marker = { .start = span->start,
					 .end = span->start + span->lasted,
					 .text = out_len(&firefox->texts),
					 .cpu = event->cpu };
	char text[CALL_NAME];
	const char *name;

	if (span->kind == SPAN_PAIR) {
		marker.thread = firefox_thread_of(buffer, THREAD_INTERRUPTS, 0, event->cpu);
		marker.name = firefox_label(firefox, span->name, span->name_len);
		marker.category = FIREFOX_INTERRUPT;
	} else {
		name = span->kind == SPAN_CALL ? call_name(buffer->context, &kind->call, event, text) : "Running";
		marker.thread = firefox_task_thread(buffer, event->pid, event->cpu);
		marker.name = firefox_label(firefox, name, strlen(name));
		marker.category = span->kind == SPAN_CALL ? FIREFOX_CALL : FIREFOX_RUNNING;
	}
	add_marker(firefox, &marker, event->ts);
}

static void see_stack(struct firefox_buffer *buffer, const struct kind *kind, const struct event *event)
{
	struct firefox *firefox = buffer->firefox;
	struct timed *samples = &firefox->samples[FIREFOX_COUNT];
	uint32_t node = firefox_root_of(firefox, FIREFOX_COUNT, firefox_task_thread(buffer, event->pid, event->cpu));
	uint64_t addresses[ADDRESSES_MAX];
	struct stack stack;
	size_t nr = 0;

	stack_of_kernel(&kind->caller, event, &stack);
	while (nr < ADDRESSES_MAX && stack_next(&stack, &addresses[nr]))
		nr++;
	for (size_t i = nr; i;)
		node = timed_on(samples, node, firefox_function_of(buffer, addresses[--i]));
	timed_add(samples, node, event->ts, 1);
	if (!buffer->left_before)
		return;
	samples = &firefox->samples[FIREFOX_OFF_CPU];
	node = firefox_task_root(buffer, FIREFOX_OFF_CPU, event->pid);
	while (nr)
		node = timed_on(samples, node, firefox_function_of(buffer, addresses[--nr]));
	firefox_off_stack(buffer, node);
}

static void see_record(struct firefox_buffer *buffer, const struct event *event)
{
	struct firefox *firefox = buffer->firefox;
	const struct kind *kind;
	struct span span;

	if (frames_see(buffer->frames, event))
		return;
	kind = kind_of(firefox, buffer, event);
	if (!kind || !kind->format)
		return;
	if (kind->is_counted)
		firefox_counter_see(buffer, &kind->counted, event);
	if (kind->role == ROLE_STACK)
		see_stack(buffer, kind, event);
	else if (kind->role == ROLE_INSTANT && has_room(firefox))
		put_instant(buffer, kind, event);
	if (spans_see(buffer->spans, event, &span) && kind->role == ROLE_PAIRED &&
	    (span.kind != SPAN_ON_CPU || event->pid) && has_room(firefox))
		put_span(buffer, kind, event, &span);
}

static void see_lost(struct firefox_buffer *buffer, const struct event *event)
{
	struct firefox *firefox = buffer->firefox;
	struct firefox_marker marker = { .start = event->ts,
					 .end = event->ts,
					 .text = out_len(&firefox->texts),
					 .instant = true,
					 .lost = true,
					 .cpu = event->cpu };
	struct span none;

	frames_see(buffer->frames, event);
	(void)spans_see(buffer->spans, event, &none);
	marker.thread = firefox_thread_of(buffer, THREAD_INTERRUPTS, 0, event->cpu);
	marker.name = firefox_label(firefox, "lost events", 11);
	if (event->lost > 0)
		out_f(&firefox->texts, "count=%" PRId64, event->lost);
	add_marker(firefox, &marker, event->ts);
}

static void firefox_event(struct export *export, const struct event *event)
{
	struct firefox *firefox = (struct firefox *)export;
	struct firefox_buffer *buffer = &firefox->buffers[event->buffer];

	if (!firefox->some || event->ts < firefox->first)
		firefox->first = event->ts;
	firefox->some = true;
	firefox->last = event->ts;
	firefox_off_see(buffer, event);
	if (event->kind == EVENT_LOST)
		see_lost(buffer, event);
	else
		see_record(buffer, event);
}

static void tell(struct firefox *firefox)
{
	struct export *export = &firefox->export;
	struct frames_left left = { .cut = 0 };

	for (size_t i = 0; i < firefox->nr_buffers; i++)
		frames_count(firefox->buffers[i].frames, &left);
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
		starved |= firefox->buffers[i].state.failed || frames_starved(firefox->buffers[i].frames) ||
			   spans_starved(firefox->buffers[i].spans);
	return starved;
}

static void firefox_end(struct export *export)
{
	struct firefox *firefox = (struct firefox *)export;

	for (size_t i = 0; i < firefox->nr_buffers; i++)
		frames_end(firefox->buffers[i].frames, (uint16_t)i, firefox->last);
	for (size_t i = 0; i < firefox->nr_buffers; i++)
		firefox_off_end(&firefox->buffers[i]);
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
		frames_free(firefox->buffers[i].frames);
		spans_free(firefox->buffers[i].spans);
		u64_map_release(&firefox->buffers[i].threads);
		u64_map_release(&firefox->buffers[i].functions);
		u64_map_release(&firefox->buffers[i].counters);
		u64_map_release(&firefox->buffers[i].left);
		state_release(&firefox->buffers[i].state);
		free(firefox->buffers[i].offs);
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
	static const char *const names[FIREFOX_WEIGHTS] = { "self-time", "count", "off-cpu" };

	firefox->chosen = -1;
	for (int i = 0; text && i < FIREFOX_WEIGHTS; i++)
		if (!strcmp(text, names[i]))
			firefox->chosen = i;
	if (text && firefox->chosen < 0)
		return fail_usage(fail, fail_set(fail, -EINVAL,
						 "--weight: firefox has self-time, off-cpu and count, not '%s'", text));
	return 0;
}

static int init(struct firefox *firefox, const struct export_input *input, struct fail *fail)
{
	size_t nr_buffers = input->reader->nr_buffers;

	firefox->step = firefox->count_step = 1;
	firefox->limit = input->max_size ? input->max_size : LIMIT;
	firefox->has_date = input->has_date;
	firefox->date_offset = input->date_offset_ns;
	firefox->buffers = calloc(nr_buffers + 1, sizeof(*firefox->buffers));
	if (!firefox->buffers || !out_init(&firefox->texts, 4096) || kinds_init(&firefox->kinds, nr_buffers, free))
		return fail_memory(fail);
	firefox->nr_buffers = nr_buffers;
	for (size_t i = 0; i < nr_buffers; i++) {
		struct firefox_buffer *buffer = &firefox->buffers[i];
		const struct frames_calls calls = { .enter = enter, .leave = leave, .arg = buffer, .late = true };

		buffer->firefox = firefox;
		buffer->context = input->reader->buffers[i].context;
		u64_map_init(&buffer->threads, sizeof(uint32_t));
		u64_map_init(&buffer->functions, sizeof(uint32_t));
		u64_map_init(&buffer->counters, sizeof(uint32_t));
		u64_map_init(&buffer->left, sizeof(uint32_t));
		state_init(&buffer->state, buffer->context->preempt_rt);
		state_restrict(&buffer->state, buffer->context);
		buffer->frames = frames_new(&calls);
		buffer->spans = spans_new(buffer->context);
		if (!buffer->frames || !buffer->spans)
			return fail_memory(fail);
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
	.create = firefox_new,
	.free = firefox_free,
	.event = firefox_event,
	.end = firefox_end,
};
