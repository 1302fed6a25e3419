// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Perfetto's trace packets (perfetto.dev), for ui.perfetto.dev and trace_processor. Events are in bundles of one CPU;
 * losses split the bundles, and are instants on a track of their own; times on a CPU that no switch proves are slices
 * on another: which these are, and which system calls have ended, are facts of lib/meaning/timeline/timeline.h. Calls
 * of the function graph are balanced; calls in hard interrupts are slices on a track of their CPU. Times are those of
 * the trace, as the importer's boot time. Not supported: thread groups that the file does not contain; values that weft
 * computes from events.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/export/exports_internal.h"
#include "formats/export/perfetto/perfetto_internal.h"
#include "formats/export/proto_internal.h"
#include "formats/kernel/ftrace.h"
#include "formats/sinks.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/event/comms.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/tasks.h"
#include "lib/meaning/follow/user_stacks.h"
#include "lib/meaning/follow/who.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/state/state.h"
#include "lib/meaning/timeline/path.h"
#include "lib/meaning/timeline/timeline.h"

enum { CPUS_OF_IMPORTER = 1024 };

/* A call ends at `ts`, on the CPU and in the task of its track. */
static void put_exit(struct perfetto *perfetto, struct perfetto_buffer *buffer, const struct track *track,
		     const struct frame *frame, uint64_t ts)
{
	const struct event at = { .ts = ts, .cpu = track->cpu, .pid = track->pid };

	out_clear(&perfetto->payload);
	proto_u64(&perfetto->payload, 1, frame->late ? frame->from : frame->start);
	proto_u64(&perfetto->payload, 2, (uint64_t)frame->depth);
	proto_u64(&perfetto->payload, 3, frame->note + 1);
	proto_u64(&perfetto->payload, 5, ts);
	perfetto_put_event(perfetto, buffer, FAMILY_GRAPH, &at, EVENT_GRAPH_EXIT);
}

static void enter(void *arg, const struct event *event, struct track *track)
{
	struct frame *frame = &track->frames[track->nr_frames - 1];
	struct perfetto_buffer *buffer = arg;
	struct perfetto *perfetto = buffer->perfetto;
	const struct label *label;
	struct event at = *event;

	if (frame->late && !frame->from)
		return;
	if (frame->late)
		at.ts = frame->from;
	frame->note = perfetto_function_label(buffer, frame->func);
	label = perfetto->labels.nr ? &perfetto->labels.at[frame->note] : &(struct label){ .text = NULL };
	if (track->interrupt) {
		perfetto_put_slice(perfetto, buffer, track->cpu, TRACK_INTERRUPT, SLICE_BEGIN, at.ts, label->text,
				   label->len);
		return;
	}
	out_clear(&perfetto->payload);
	proto_u64(&perfetto->payload, 1, (uint64_t)frame->depth);
	proto_u64(&perfetto->payload, 2, frame->note + 1);
	perfetto_put_event(perfetto, buffer, FAMILY_GRAPH, &at, EVENT_GRAPH_ENTRY);
}

static void leave(struct perfetto *perfetto, struct perfetto_buffer *buffer, const struct timeline_slice *slice)
{
	const struct track *track = slice->track;
	const struct frame *frame = &track->frames[track->nr_frames - 1];

	if (frame->late && !frame->from)
		return;
	if (track->interrupt) {
		perfetto_put_slice(perfetto, buffer, track->cpu, TRACK_INTERRUPT, SLICE_END, slice->to, NULL, 0);
		return;
	}
	put_exit(perfetto, buffer, track, frame, slice->to);
}

static struct perfetto_kind *kind_of(struct perfetto *perfetto, const struct context *context,
				     const struct event *event)
{
	struct perfetto_kind *kind = kinds_find(&perfetto->kinds, event);

	if (__builtin_expect(kind != NULL, 1))
		return kind;
	kind = perfetto_kind_new(context, event->type, perfetto->next_id);
	if (!kind || !kinds_set(&perfetto->kinds, event, kind)) {
		export_no_memory(&perfetto->export);
		return NULL;
	}
	perfetto->next_id += kind->own || kind->bare;
	return kind;
}

/*
 * The importer shows the task that got a CPU as running until the next switch. Where no switch proves this (events were
 * lost, or a PID filter or a selection left switches out), a slice says so.
 */
static void see_switch(struct perfetto *perfetto, struct perfetto_buffer *buffer, const struct event *event)
{
	static const char name[] = "not recorded who ran";
	struct perfetto_bundle *bundle = perfetto_bundle_of(buffer, event->cpu, false);
	const struct state *state = timeline_state(buffer->timeline);
	bool proven;

	if (!bundle) {
		export_no_memory(&perfetto->export);
		return;
	}
	proven = buffer->found.run && buffer->found.run_start == bundle->switched;
	if (bundle->has_switched && !proven && event->ts > bundle->switched) {
		uint64_t from = bundle->switched;

		perfetto->unproven += bundle->to ? event->ts - from : 0;
		perfetto_put_slice(perfetto, buffer, event->cpu, TRACK_UNKNOWN, SLICE_BEGIN, from, name, strlen(name));
		perfetto_put_slice(perfetto, buffer, event->cpu, TRACK_UNKNOWN, SLICE_END, event->ts, NULL, 0);
	}
	bundle->has_switched = true;
	bundle->switched = event->ts;
	bundle->to = state->step.kind == STEP_SWITCH && state->step.task != STATE_NO_TASK ?
			     state->tasks[state->step.task].pid :
			     0;
}

/*
 * A text or the event of a driver that may be a mark. The importer makes slices and counters of what atrace wrote; what
 * others write it gets in these words.
 */
static void see_text(struct perfetto *perfetto, struct perfetto_buffer *buffer, struct perfetto_kind *kind,
		     const struct event *event)
{
	struct mark mark;
	bool is_mark = mark_source_read(&kind->mark, event, &perfetto->scratch, &mark);

	if (!kind->print)
		perfetto_put_kind(perfetto, buffer, kind, event);
	else if (!is_mark)
		perfetto_put_kind(perfetto, buffer, kind->bare, event);
	else if (mark.as_atrace)
		perfetto_put_kind(perfetto, buffer, kind, event);
	if (!is_mark || (kind->print && mark.as_atrace))
		return;
	/* The mark may lie in `scratch`, which the functions above use. */
	(void)mark_source_read(&kind->mark, event, &perfetto->scratch, &mark);
	out_clear(&perfetto->field);
	mark_put(&mark, &perfetto->field);
	out_clear(&perfetto->payload);
	proto_string(&perfetto->payload, 2, perfetto->field.start, out_len(&perfetto->field));
	perfetto_put_event(perfetto, buffer, FAMILY_PRINT, event, PERFETTO_PRINT);
}

static void see_record(struct perfetto *perfetto, struct perfetto_buffer *buffer, const struct event *event)
{
	bool shows = perfetto->export.shows;
	struct perfetto_kind *kind;

	if (shows && !last_tasks_same(&buffer->seen, event) && !u64_map_add(&buffer->pids, (uint32_t)event->pid))
		export_no_memory(&perfetto->export);
	buffer->found = (struct perfetto_found){ .call = false };
	if (export_see(&perfetto->export, buffer->timeline, event) == TIMELINE_A_FUNCTION)
		return;
	kind = kind_of(perfetto, buffer->context, event);
	/* The importer follows who has the CPUs, and would show a chosen task, or another one, as running too long. */
	if (!kind || (!shows && kind->family != FAMILY_TASKS))
		return;
	if (kind->switches)
		see_switch(perfetto, buffer, event);
	if (!kind->format)
		perfetto->unknown++;
	else if (kind->wakes && perfetto_put_waking(perfetto, buffer, kind, event))
		return;
	else if (kind->call)
		perfetto_calls_see(perfetto, buffer, kind, event);
	else if (kind->mark.of != MARK_SOURCE_NONE)
		see_text(perfetto, buffer, kind, event);
	else
		perfetto_put_kind(perfetto, buffer, kind, event);
}

static void put_loss(struct perfetto *perfetto, struct perfetto_buffer *buffer, const struct event *event)
{
	char name[64];

	for (unsigned apart = 0; apart < 2; apart++) {
		struct perfetto_bundle *bundle = perfetto_bundle_of(buffer, event->cpu, apart);

		if (bundle) {
			perfetto_bundle_flush(perfetto, buffer, event->cpu | apart * PERFETTO_APART, bundle);
			bundle->lost = true;
		} else {
			export_no_memory(&perfetto->export);
		}
	}
	if (event->lost > 0)
		snprintf(name, sizeof(name), "lost %" PRId64 " events", event->lost);
	else
		snprintf(name, sizeof(name), "lost events");
	perfetto_put_slice(perfetto, buffer, event->cpu, TRACK_LOST, SLICE_INSTANT, event->ts, name, strlen(name));
}

static void put_slice(void *arg, const struct timeline_slice *slice)
{
	struct perfetto_buffer *buffer = arg;
	struct perfetto_found *found = &buffer->found;

	switch (slice->kind) {
	case TIMELINE_RUN:
		if (slice->end == RUNS_KNOWN) {
			found->run = true;
			found->run_start = slice->start;
		}
		if (buffer->perfetto->guest)
			perfetto_guest_run(buffer->perfetto, buffer, slice);
		break;
	case TIMELINE_CALL:
		found->call = true;
		break;
	case TIMELINE_FUNCTION:
		leave(buffer->perfetto, buffer, slice);
		break;
	case TIMELINE_LOSS:
		put_loss(buffer->perfetto, buffer, slice->event);
		break;
	case TIMELINE_PAIR:
		if (slice->of_task || slice->on_cpu)
			perfetto_put_pair(buffer->perfetto, buffer, slice);
		break;
	case TIMELINE_STATE:
	case TIMELINE_IRQ:
	case TIMELINE_SOFTIRQ:
	case TIMELINE_TASKLET:
	case TIMELINE_VECTOR:
	case TIMELINE_COUNTER: /* of a field; the importer makes the others of events and texts */
		if (slice->counter == TIMELINE_MARKED && !slice->owner)
			perfetto_put_counter(buffer->perfetto, buffer, slice);
		break;
	case TIMELINE_MARK: /* the importer makes them of the texts */
	case TIMELINE_ASYNC:
	case TIMELINE_INSTANT:
		break;
	}
}

static void perfetto_event(struct export *export, const struct event *event)
{
	struct perfetto *perfetto = (struct perfetto *)export;
	struct perfetto_buffer *buffer = &perfetto->buffers[event->buffer];

	perfetto->last = event->ts;
	if (__builtin_expect(perfetto->begun && event->ts >= perfetto->next_date, 0))
		perfetto_put_date(perfetto, event->ts);
	if (__builtin_expect(event->cpu >= CPUS_OF_IMPORTER, 0)) {
		perfetto->far++;
		perfetto->far_cpu = event->cpu;
	} else if (event->kind == EVENT_LOST) {
		(void)timeline_see(buffer->timeline, event);
	} else {
		see_record(perfetto, buffer, event);
		if (export->shows)
			perfetto_put_unwound(perfetto, buffer, event);
	}
}

/*
 * Writes the processes and threads of the tasks that occurred. A task with an unknown thread group is a process of its
 * own.
 */
static void put_tasks(struct perfetto *perfetto, const struct perfetto_buffer *buffer,
		      const struct perfetto_machine *machine, uint64_t *unknown)
{
	struct u64_map groups;
	struct task_name name;
	int32_t parent;
	uint64_t pid;
	size_t at = 0;

	u64_map_init(&groups, 1);
	out_clear(&perfetto->message);
	while (u64_map_next(&buffer->pids, &at, &pid)) {
		int32_t tgid = who_process(buffer->context, (int32_t)pid, UINT64_MAX, NULL);

		if (!pid || !context_names(buffer->context, (int32_t)pid))
			continue;
		*unknown += !tgid;
		name = context_comm(buffer->context, (int32_t)pid, COMMS_LAST);
		out_clear(&perfetto->field);
		proto_u64(&perfetto->field, 1, pid);
		proto_string(&perfetto->field, 2, name.text, name.len);
		proto_u64(&perfetto->field, 3, tgid ? (uint32_t)tgid : pid);
		proto_message(&perfetto->message, 2, &perfetto->field);
		if (!u64_map_add(&groups, tgid ? (uint32_t)tgid : pid))
			export_no_memory(&perfetto->export);
	}
	for (at = 0; u64_map_next(&groups, &at, &pid);) {
		name = context_comm(buffer->context, (int32_t)pid, COMMS_LAST);
		out_clear(&perfetto->field);
		proto_u64(&perfetto->field, 1, pid);
		parent = who_parent(buffer->context, (int32_t)pid, UINT64_MAX);
		if (parent)
			proto_u64(&perfetto->field, 2, (uint32_t)parent);
		if (context_names(buffer->context, (int32_t)pid))
			proto_string(&perfetto->field, 3, name.text, name.len);
		proto_message(&perfetto->message, 1, &perfetto->field);
	}
	if (out_len(&perfetto->message)) {
		proto_u64(perfetto_begin_packet(perfetto, machine), PACKET_TIMESTAMP, perfetto->first);
		proto_message(&perfetto->packet, PACKET_PROCESS_TREE, &perfetto->message);
		perfetto_put_packet(perfetto);
	}
	for (at = 0; u64_map_next(&groups, &at, &pid);)
		perfetto_put_labels(perfetto, buffer, machine, (int32_t)pid);
	u64_map_release(&groups);
}

/* Says which buffers have a machine of their own. */
static void tell_machines(struct perfetto *perfetto)
{
	for (size_t i = 0; i < perfetto->nr_buffers; i++) {
		const struct perfetto_buffer *buffer = &perfetto->buffers[i];
		const char *instance = *buffer->context->instance ? buffer->context->instance : "the top instance";

		if (buffer->own.begun)
			export_note(&perfetto->export,
				    "another instance recorded events of the same kinds as '%s': Perfetto shows those "
				    "of '%s' as a machine of its own",
				    instance, instance);
	}
}

static void tell(struct perfetto *perfetto, uint64_t groups)
{
	struct export *export = &perfetto->export;
	bool counts = false;

	for (size_t i = 0; i < perfetto->nr_buffers; i++)
		counts |= perfetto->buffers[i].context->unit == CLOCK_UNIT_COUNT;
	if (groups)
		export_note(export,
			    "the thread groups of %" PRIu64
			    " tasks are not in the file: each is shown as a process (record with -O record-tgid)",
			    groups);
	export->left_out = perfetto->unknown + perfetto->far;
	if (perfetto->unknown)
		export_note(export, "%" PRIu64 " events of types without a format are left out", perfetto->unknown);
	if (perfetto->far)
		export_note(export,
			    "%" PRIu64 " events are left out: Perfetto has no CPU %" PRIu64 ", only those below %d",
			    perfetto->far, perfetto->far_cpu, CPUS_OF_IMPORTER);
	if (perfetto->unproven && !counts)
		export_note(export,
			    "Perfetto shows %" PRIu64 ".%03" PRIu64
			    " s as running although no switch proves it, because the next one was lost or left out "
			    "(-P, -F, a filter): the tracks \"not recorded\" show when",
			    perfetto->unproven / NS_PER_S, perfetto->unproven / 1000000 % 1000);
	tell_machines(perfetto);
	if (counts)
		export_note(export, "the clock does not count nanoseconds, and Perfetto takes it as if it did");
}

/*
 * Events of two machines have an order only if they are further apart than their clocks may be off. An importer orders
 * all, so each machine says how far that is.
 */
static void put_clock_errors(struct perfetto *perfetto)
{
	char name[128], error[TEXT_HUMAN];

	for (size_t i = 0; i < perfetto->nr_buffers; i++) {
		struct perfetto_buffer *buffer = &perfetto->buffers[i];
		uint64_t ns = buffer->context->clock_error_ns;

		if (!buffer->context->compared || buffer->first != i)
			continue;
		if (ns)
			snprintf(name, sizeof(name), "times are exact to within +-%s of those of the other machines",
				 text_time(error, ns));
		else
			snprintf(name, sizeof(name), "times of the other machines are compared with this clock");
		perfetto_put_clock_error(perfetto, buffer, name);
	}
}

static void perfetto_end(struct export *export)
{
	struct perfetto *perfetto = (struct perfetto *)export;
	uint64_t groups = 0;

	if (!perfetto->begun)
		perfetto_put_head(perfetto, &(struct perfetto_machine){ .id = 0 },
				  perfetto->nr_buffers ? perfetto->buffers : NULL, 0);
	for (size_t i = 0; i < perfetto->nr_buffers; i++) {
		perfetto_calls_end(perfetto, &perfetto->buffers[i]);
		timeline_end(perfetto->buffers[i].timeline, perfetto->last);
		if (timeline_starved(perfetto->buffers[i].timeline))
			export_no_memory(export);
	}
	for (size_t i = 0; perfetto->nr_buffers && i < export->nr_paths; i++)
		perfetto_put_path(perfetto, perfetto->buffers, &export->paths[i], (uint32_t)i);
	put_clock_errors(perfetto);
	if (perfetto->guest)
		perfetto_guest_end(perfetto);
	perfetto_flush_all(perfetto);
	for (size_t i = 0; i < perfetto->nr_buffers; i++) {
		const struct perfetto_buffer *buffer = &perfetto->buffers[i];
		uint64_t again;

		if (perfetto->buffers[buffer->first].shared.begun)
			put_tasks(perfetto, buffer, &perfetto->buffers[buffer->first].shared, &groups);
		if (buffer->own.begun)
			put_tasks(perfetto, buffer, &buffer->own, &again);
	}
	tell(perfetto, groups);
}

static void buffer_release(struct perfetto_buffer *buffer)
{
	struct perfetto_bundle *bundle;
	uint64_t cpu;

	for (size_t at = 0; (bundle = u64_map_next(&buffer->bundles, &at, &cpu));) {
		if (bundle->events)
			out_release(bundle->events);
		free(bundle->events);
		free(bundle->wakings);
	}
	perfetto_calls_release(buffer);
	u64_map_release(&buffer->bundles);
	u64_map_release(&buffer->functions[0]);
	u64_map_release(&buffer->functions[1]);
	u64_map_release(&buffer->tracks);
	u64_map_release(&buffer->pairs);
	u64_map_release(&buffer->pids);
	timeline_free(buffer->timeline);
	user_stacks_free(buffer->unwound);
	if (buffer->sink)
		buffer->sink->ops->free(buffer->sink);
}

static void perfetto_free(struct export *export)
{
	struct perfetto *perfetto = (struct perfetto *)export;
	struct out *outs[] = { &perfetto->packet, &perfetto->message, &perfetto->payload, &perfetto->scratch,
			       &perfetto->field };

	for (size_t i = 0; perfetto->buffers && i < perfetto->nr_buffers; i++)
		buffer_release(&perfetto->buffers[i]);
	free(perfetto->buffers);
	kinds_release(&perfetto->kinds);
	labels_release(&perfetto->labels);
	u64_map_release(&perfetto->guest_cpus);
	for (size_t i = 0; i < array_size(outs); i++)
		if (outs[i]->start)
			out_release(outs[i]);
	free(perfetto);
}

/* The first buffer of the same recording. */
static uint16_t first_of(const struct perfetto *perfetto, const struct perfetto_buffer *buffer)
{
	uint16_t i = 0;

	while (i < buffer->index && !context_is_beside(perfetto->buffers[i].context, buffer->context))
		i++;
	return i;
}

static int buffer_init(struct perfetto *perfetto, struct perfetto_buffer *buffer, const struct context *context,
		       struct fail *fail)
{
	const struct timeline_calls calls = {
		.arg = buffer,
		.wanted = 1 << TIMELINE_RUN | 1 << TIMELINE_CALL | 1 << TIMELINE_FUNCTION | 1 << TIMELINE_LOSS |
			  1 << TIMELINE_PAIR | 1 << TIMELINE_COUNTER,
		.slice = put_slice,
		.enter = enter,
		.all_runs = true,
		.only_with_entry = context->unit != CLOCK_UNIT_NS, /* times in records of calls are in ns */
	};

	buffer->perfetto = perfetto;
	buffer->context = context;
	buffer->index = (uint16_t)(buffer - perfetto->buffers);
	buffer->first = first_of(perfetto, buffer);
	buffer->shared.id = buffer->index;
	buffer->own.id = (uint32_t)perfetto->nr_buffers + buffer->index;
	u64_map_init(&buffer->functions[0], sizeof(uint32_t));
	u64_map_init(&buffer->functions[1], sizeof(uint32_t));
	u64_map_init(&buffer->tracks, 1);
	u64_map_init(&buffer->pairs, 1);
	perfetto_calls_init(buffer);
	u64_map_init(&buffer->bundles, sizeof(struct perfetto_bundle));
	u64_map_init(&buffer->pids, 1);
	buffer->timeline = timeline_new(&calls, context->preempt_rt);
	buffer->unwound = user_stacks_new(context);
	if (!buffer->timeline || !buffer->unwound || !timeline_add(buffer->timeline, buffer->index, context))
		return fail_memory(fail);
	return ftrace_new_reader(&ftrace_sink, context, &(struct sink_options){ .raw = false }, &buffer->sink, fail);
}

static int init(struct perfetto *perfetto, const struct export_input *input, struct fail *fail)
{
	struct out *outs[] = { &perfetto->packet, &perfetto->message, &perfetto->payload, &perfetto->scratch,
			       &perfetto->field };
	const struct reader *reader = input->reader;

	labels_init(&perfetto->labels);
	u64_map_init(&perfetto->guest_cpus, 1);
	perfetto->guest = input->guest;
	perfetto->next_id = PERFETTO_OWN_FIRST;
	for (size_t i = 0; i < array_size(outs); i++)
		if (!out_init(outs[i], 1024))
			return fail_memory(fail);
	perfetto->buffers = calloc(reader->nr_buffers + 1, sizeof(*perfetto->buffers));
	if (!perfetto->buffers || kinds_init(&perfetto->kinds, reader->nr_buffers, perfetto_kind_free))
		return fail_memory(fail);
	perfetto->nr_buffers = reader->nr_buffers;
	for (size_t i = 0; i < reader->nr_buffers; i++) {
		int r = buffer_init(perfetto, &perfetto->buffers[i], reader->buffers[i].context, fail);

		if (r)
			return r;
		export_choose(perfetto->buffers[i].timeline, (uint16_t)i, reader);
		timeline_count_fields(perfetto->buffers[i].timeline, input->counters, input->nr_counters);
	}
	return 0;
}

static int perfetto_new(const struct export_input *input, struct export **ret, struct fail *fail)
{
	struct perfetto *perfetto = calloc(1, sizeof(*perfetto));
	int r;

	if (!perfetto)
		return fail_memory(fail);
	r = init(perfetto, input, fail);
	if (r)
		perfetto_free(&perfetto->export);
	else
		*ret = &perfetto->export;
	return r;
}

const struct export_ops perfetto_export = {
	.name = "perfetto",
	.summary = "for ui.perfetto.dev and trace_processor: tracks, states, slices, all fields",
	.takes_decode = true,
	.binary = true,
	.takes_counters = true,
	.host = EXPORT_BOTH,
	.paths = 3,
	.of_tasks = true,
	.create = perfetto_new,
	.free = perfetto_free,
	.event = perfetto_event,
	.end = perfetto_end,
};
