// SPDX-License-Identifier: GPL-2.0-only
/*
 * Perfetto's trace packets (perfetto.dev), for ui.perfetto.dev and trace_processor. Events are in bundles of one CPU;
 * losses split the bundles, and are instants on a track of their own. Calls of the function graph are balanced; calls
 * in hard interrupts are slices on a track of their CPU. Times are those of the trace, as the importer's boot time. Not
 * supported: thread groups that the file does not contain; values that weft computes from events.
 */
#include "formats/export/exports.h"
#include "formats/export/frames.h"
#include "formats/export/perfetto.h"
#include "formats/export/perfetto_kind.h"
#include "formats/export/proto.h"
#include "formats/kernel/ftrace.h"
#include "formats/sinks.h"
#include "lib/event/context.h"
#include "lib/event/tasks.h"
#include "lib/reader/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CPUS_OF_IMPORTER = 1024 };

static void enter(void *arg, const struct event *event, struct track *track)
{
	struct frame *frame = &track->frames[track->nr_frames - 1];
	struct perfetto_buffer *buffer = arg;
	struct perfetto *perfetto = buffer->perfetto;
	const struct label *label;

	frame->note = perfetto_function_label(buffer, frame->func);
	label = perfetto->labels.nr ? &perfetto->labels.at[frame->note] : &(struct label){ .text = NULL };
	if (track->interrupt) {
		perfetto_put_slice(perfetto, buffer, track->cpu, TRACK_INTERRUPT, SLICE_BEGIN, event->ts, label->text,
				   label->len);
		return;
	}
	out_clear(&perfetto->payload);
	proto_u64(&perfetto->payload, 1, (uint64_t)frame->depth);
	proto_u64(&perfetto->payload, 2, frame->note + 1);
	perfetto_put_event(perfetto, buffer, event->cpu, event->ts, event->pid, EVENT_GRAPH_ENTRY);
}

static void leave(void *arg, uint16_t index, struct track *track, uint64_t ts, uint64_t lasted, bool exited)
{
	const struct frame *frame = &track->frames[track->nr_frames - 1];
	struct perfetto_buffer *buffer = arg;
	struct perfetto *perfetto = buffer->perfetto;

	(void)index;
	(void)lasted;
	(void)exited;
	if (track->interrupt) {
		perfetto_put_slice(perfetto, buffer, track->cpu, TRACK_INTERRUPT, SLICE_END, ts, NULL, 0);
		return;
	}
	out_clear(&perfetto->payload);
	proto_u64(&perfetto->payload, 1, frame->start);
	proto_u64(&perfetto->payload, 2, (uint64_t)frame->depth);
	proto_u64(&perfetto->payload, 3, frame->note + 1);
	proto_u64(&perfetto->payload, 5, ts);
	perfetto_put_event(perfetto, buffer, track->cpu, ts, track->pid, EVENT_GRAPH_EXIT);
}

static const struct perfetto_kind *kind_of(struct perfetto *perfetto, const struct context *context,
					   const struct event *event)
{
	struct perfetto_kind *kind = kinds_find(&perfetto->kinds, event);

	if (__builtin_expect(kind != NULL, 1))
		return kind;
	kind = perfetto_kind_new(context, event->type->format, perfetto->next_id);
	if (!kind || !kinds_set(&perfetto->kinds, event, kind)) {
		export_no_memory(&perfetto->export);
		return NULL;
	}
	if (kind->own) {
		perfetto->next_id++;
		perfetto_describe_kind(perfetto, kind);
	}
	return kind;
}

static void see_record(struct perfetto *perfetto, struct perfetto_buffer *buffer, const struct event *event)
{
	const struct perfetto_kind *kind;

	if (!u64_map_add(&buffer->pids, (uint32_t)event->pid))
		export_no_memory(&perfetto->export);
	if (frames_see(buffer->frames, event))
		return;
	kind = kind_of(perfetto, buffer->context, event);
	if (!kind)
		return;
	if (!kind->format || kind->id > PERFETTO_OWN_LAST) {
		perfetto->unknown++;
		return;
	}
	out_clear(&perfetto->payload);
	perfetto_kind_put(kind, buffer->context, buffer->sink, event, &perfetto->scratch, &perfetto->payload);
	perfetto_put_event(perfetto, buffer, event->cpu, event->ts, event->pid, kind->id);
}

static void see_lost(struct perfetto *perfetto, struct perfetto_buffer *buffer, const struct event *event)
{
	struct perfetto_bundle *bundle = perfetto_bundle_of(buffer, event->cpu);
	char name[64];

	frames_see(buffer->frames, event);
	if (bundle) {
		perfetto_bundle_flush(perfetto, event->cpu, bundle);
		bundle->lost = true;
	} else {
		export_no_memory(&perfetto->export);
	}
	if (event->lost > 0)
		snprintf(name, sizeof(name), "lost %" PRId64 " events", event->lost);
	else
		snprintf(name, sizeof(name), "lost events");
	perfetto_put_slice(perfetto, buffer, event->cpu, TRACK_LOST, SLICE_INSTANT, event->ts, name, strlen(name));
}

static void perfetto_event(struct export *export, const struct event *event)
{
	struct perfetto *perfetto = (struct perfetto *)export;
	struct perfetto_buffer *buffer = &perfetto->buffers[event->buffer];

	if (__builtin_expect(!perfetto->begun, 0))
		perfetto_put_head(perfetto, event->ts);
	perfetto->last = event->ts;
	if (__builtin_expect(event->cpu >= CPUS_OF_IMPORTER, 0)) {
		perfetto->far++;
		perfetto->far_cpu = event->cpu;
	} else if (event->kind == EVENT_LOST) {
		see_lost(perfetto, buffer, event);
	} else {
		see_record(perfetto, buffer, event);
	}
}

/*
 * Writes the processes and threads of the tasks that occurred. A task with an unknown thread group is a process of its
 * own.
 */
static void put_tasks(struct perfetto *perfetto, const struct perfetto_buffer *buffer, uint64_t *unknown)
{
	struct u64_map groups;
	struct task_name name;
	uint64_t pid;
	size_t at = 0;

	u64_map_init(&groups, 1);
	out_clear(&perfetto->message);
	while (u64_map_next(&buffer->pids, &at, &pid)) {
		int32_t tgid = task_tgid(buffer->context->tasks, (int32_t)pid);

		if (!pid || !task_known(buffer->context->tasks, (int32_t)pid))
			continue;
		*unknown += !tgid;
		name = task_name(buffer->context->tasks, (int32_t)pid);
		out_clear(&perfetto->field);
		proto_u64(&perfetto->field, 1, pid);
		proto_string(&perfetto->field, 2, name.text, name.len);
		proto_u64(&perfetto->field, 3, tgid ? (uint32_t)tgid : pid);
		proto_message(&perfetto->message, 2, &perfetto->field);
		if (!u64_map_add(&groups, tgid ? (uint32_t)tgid : pid))
			export_no_memory(&perfetto->export);
	}
	for (at = 0; u64_map_next(&groups, &at, &pid);) {
		name = task_name(buffer->context->tasks, (int32_t)pid);
		out_clear(&perfetto->field);
		proto_u64(&perfetto->field, 1, pid);
		if (task_known(buffer->context->tasks, (int32_t)pid))
			proto_string(&perfetto->field, 3, name.text, name.len);
		proto_message(&perfetto->message, 1, &perfetto->field);
	}
	u64_map_release(&groups);
	if (!out_len(&perfetto->message))
		return;
	proto_u64(perfetto_begin_packet(perfetto), PACKET_TIMESTAMP, perfetto->first);
	proto_message(&perfetto->packet, PACKET_PROCESS_TREE, &perfetto->message);
	perfetto_put_packet(perfetto);
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
	if (perfetto->unknown)
		export_note(export, "%" PRIu64 " events of types without a format are left out", perfetto->unknown);
	if (perfetto->far)
		export_note(export,
			    "%" PRIu64 " events are left out: Perfetto has no CPU %" PRIu64 ", only those below %d",
			    perfetto->far, perfetto->far_cpu, CPUS_OF_IMPORTER);
	if (counts)
		export_note(export, "the clock does not count nanoseconds, and Perfetto takes it as if it did");
}

static void perfetto_end(struct export *export)
{
	struct perfetto *perfetto = (struct perfetto *)export;
	uint64_t groups = 0;

	if (!perfetto->begun)
		perfetto_put_head(perfetto, 0);
	for (size_t i = 0; i < perfetto->nr_buffers; i++) {
		frames_end(perfetto->buffers[i].frames, (uint16_t)i, perfetto->last);
		if (frames_starved(perfetto->buffers[i].frames))
			export_no_memory(export);
	}
	perfetto_flush_all(perfetto);
	for (size_t i = 0; i < perfetto->nr_buffers; i++)
		put_tasks(perfetto, &perfetto->buffers[i], &groups);
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
	}
	u64_map_release(&buffer->bundles);
	u64_map_release(&buffer->functions);
	u64_map_release(&buffer->pids);
	frames_free(buffer->frames);
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
	for (size_t i = 0; i < array_size(outs); i++)
		if (outs[i]->start)
			out_release(outs[i]);
	free(perfetto);
}

static int buffer_init(struct perfetto *perfetto, struct perfetto_buffer *buffer, const struct context *context,
		       struct fail *fail)
{
	const struct frames_calls calls = { .enter = enter, .leave = leave, .arg = buffer };

	buffer->perfetto = perfetto;
	buffer->context = context;
	buffer->index = (uint16_t)(buffer - perfetto->buffers);
	u64_map_init(&buffer->functions, sizeof(uint32_t));
	u64_map_init(&buffer->bundles, sizeof(struct perfetto_bundle));
	u64_map_init(&buffer->pids, 1);
	buffer->frames = frames_new(&context->abi, &calls);
	if (!buffer->frames)
		return fail_memory(fail);
	return ftrace_new_reader(&ftrace_sink, context, &(struct sink_options){ .raw = false }, &buffer->sink, fail);
}

static int init(struct perfetto *perfetto, const struct export_input *input, struct fail *fail)
{
	struct out *outs[] = { &perfetto->packet, &perfetto->message, &perfetto->payload, &perfetto->scratch,
			       &perfetto->field };
	const struct reader *reader = input->reader;
	int r = 0;

	labels_init(&perfetto->labels);
	perfetto->next_id = PERFETTO_OWN_FIRST;
	perfetto->has_date = input->has_date;
	perfetto->date_offset = input->date_offset_ns;
	for (size_t i = 0; i < array_size(outs); i++)
		if (!out_init(outs[i], 1024))
			return fail_memory(fail);
	perfetto->buffers = calloc(reader->nr_buffers + 1, sizeof(*perfetto->buffers));
	if (!perfetto->buffers || kinds_init(&perfetto->kinds, reader->nr_buffers, free))
		return fail_memory(fail);
	perfetto->nr_buffers = reader->nr_buffers;
	for (size_t i = 0; !r && i < reader->nr_buffers; i++)
		r = buffer_init(perfetto, &perfetto->buffers[i], reader->buffers[i].context, fail);
	return r;
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
	.binary = true,
	.create = perfetto_new,
	.free = perfetto_free,
	.event = perfetto_event,
	.end = perfetto_end,
};
