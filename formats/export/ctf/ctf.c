// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The Common Trace Format 1.8, for Trace Compass and babeltrace2, as perf writes it: events are called SYSTEM:EVENT and
 * have the kernel's own fields, including the common ones; the name of the task is their context. The output is a
 * directory with the file metadata and a file of packets for each CPU; with several instances it has a subdirectory for
 * each. Losses are in the packets' events_discarded, which counts from the start of the stream: an empty packet spans
 * the time of each loss, so that readers can tell when it happened.
 */
#include "formats/export/ctf/ctf_internal.h"

#include "formats/export/ctf/kind_internal.h"
#include "formats/export/exports_internal.h"
#include "lib/base/bytes.h"
#include "lib/event/context.h"
#include "lib/event/tasks.h"
#include "lib/reader/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAGIC = 0xc1fc1fc1,
	PACKET_MAX = 1 << 16,
	PACKET_MIN = 1 << 12,
	PACKETS_MAX = 32 << 20,
	HEAD = 52,
	EVENT_HEAD = 10
};

static void ctf_free(struct export *export)
{
	struct ctf *ctf = (struct ctf *)export;

	for (size_t i = 0; ctf->buffers && i < ctf->nr_buffers; i++) {
		struct ctf_stream *stream;
		uint64_t cpu;

		for (size_t at = 0; (stream = u64_map_next(&ctf->buffers[i].streams, &at, &cpu));) {
			if (stream->packet)
				out_release(stream->packet);
			free(stream->packet);
		}
		u64_map_release(&ctf->buffers[i].streams);
	}
	free(ctf->buffers);
	kinds_release(&ctf->kinds);
	if (ctf->metadata.start)
		out_release(&ctf->metadata);
	free(ctf);
}

static bool is_used(const struct ctf *ctf, size_t nr, const char *word)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(ctf->buffers[i].word, word))
			return true;
	return false;
}

/* With several instances each has a directory of its own, with a number added if the name is used already. */
static void name_folder(struct ctf *ctf, size_t index)
{
	const char *instance = ctf->buffers[index].context->instance;
	char word[FOLDER_WORD_MAX], numbered[FOLDER_WORD_MAX + 16];

	folder_word(*instance ? instance : "top", word);
	snprintf(numbered, sizeof(numbered), "%s", word);
	for (unsigned i = 2; is_used(ctf, index, numbered); i++)
		snprintf(numbered, sizeof(numbered), "%.60s_%u", word, i);
	snprintf(ctf->buffers[index].word, sizeof(ctf->buffers[index].word), "%.79s", numbered);
}

static int init(struct ctf *ctf, const struct export_input *input, struct fail *fail)
{
	const struct reader *reader = input->reader;

	ctf->has_date = input->has_date;
	ctf->date_offset = input->date_offset_ns;
	ctf->limit = PACKET_MAX;
	ctf->buffers = calloc(reader->nr_buffers + 1, sizeof(*ctf->buffers));
	if (!ctf->buffers || !out_init(&ctf->metadata, 1 << 14) ||
	    kinds_init(&ctf->kinds, reader->nr_buffers, ctf_kind_free))
		return fail_memory(fail);
	ctf->nr_buffers = reader->nr_buffers;
	for (size_t i = 0; i < reader->nr_buffers; i++) {
		u64_map_init(&ctf->buffers[i].streams, sizeof(struct ctf_stream));
		ctf->buffers[i].context = reader->buffers[i].context;
		if (reader->nr_buffers > 1)
			name_folder(ctf, i);
	}
	return 0;
}

static int ctf_new(const struct export_input *input, struct export **ret, struct fail *fail)
{
	struct ctf *ctf = calloc(1, sizeof(*ctf));
	int r = ctf ? init(ctf, input, fail) : fail_memory(fail);

	if (r && ctf)
		ctf_free(&ctf->export);
	else if (!r)
		*ret = &ctf->export;
	return r;
}

static void put_file(struct ctf *ctf, const struct ctf_buffer *buffer, const char *name, const struct out *bytes)
{
	char path[FOLDER_NAME_MAX];

	if (bytes->failed) {
		export_no_memory(&ctf->export);
		return;
	}
	snprintf(path, sizeof(path), "%s%s%s", buffer->word, *buffer->word ? "/" : "", name);
	folder_piece(ctf->export.out, path, out_len(bytes));
	out_mem(ctf->export.out, bytes->start, out_len(bytes));
}

static char *store_u32(char *at, uint32_t value, bool swap)
{
	value = load_u32(&value, swap);
	memcpy(at, &value, sizeof(value));
	return at + sizeof(value);
}

static char *store_u64(char *at, uint64_t value, bool swap)
{
	value = load_u64(&value, swap);
	memcpy(at, &value, sizeof(value));
	return at + sizeof(value);
}

/* Writes the packet, with or without events, and begins an empty one. */
static void flush(struct ctf *ctf, const struct ctf_buffer *buffer, uint64_t cpu, struct ctf_stream *stream)
{
	bool swap = buffer->context->abi.swap;
	uint64_t bits = (uint64_t)out_len(stream->packet) * 8;
	char *at = stream->packet->start, name[32];

	at = store_u32(at, MAGIC, swap);
	at = store_u32(at, 0, swap);
	at = store_u64(at, stream->begin, swap);
	at = store_u64(at, stream->last, swap);
	at = store_u64(at, bits, swap);
	at = store_u64(at, bits, swap);
	at = store_u64(at, stream->discarded, swap);
	store_u32(at, (uint32_t)cpu, swap);
	snprintf(name, sizeof(name), "stream_%" PRIu64, cpu);
	put_file(ctf, buffer, name, stream->packet);
	out_clear(stream->packet);
	out_fill(stream->packet, '\0', HEAD);
	stream->events = 0;
	stream->begun = true;
}

static bool stream_init(struct ctf *ctf, struct ctf_stream *stream)
{
	stream->packet = calloc(1, sizeof(*stream->packet));
	if (!stream->packet || !out_init(stream->packet, PACKET_MIN)) {
		free(stream->packet);
		stream->packet = NULL;
		return false;
	}
	out_fill(stream->packet, '\0', HEAD);
	/* Hundreds of CPUs share the memory for packets. */
	ctf->nr_streams++;
	if (ctf->nr_streams > PACKETS_MAX / PACKET_MAX)
		ctf->limit = PACKETS_MAX / ctf->nr_streams > PACKET_MIN ? PACKETS_MAX / ctf->nr_streams : PACKET_MIN;
	return true;
}

static struct ctf_stream *stream_of(struct ctf *ctf, struct ctf_buffer *buffer, const struct event *event)
{
	struct ctf_stream *stream = u64_map_add(&buffer->streams, event->cpu);

	if (stream && (stream->packet || stream_init(ctf, stream)))
		return stream;
	export_no_memory(&ctf->export);
	return NULL;
}

/* Readers refuse a stream in which time goes back. */
static uint64_t time_in(struct ctf *ctf, struct ctf_stream *stream, uint64_t ts)
{
	if (ts < stream->last) {
		ctf->backwards++;
		return stream->last;
	}
	return ts;
}

static void put_loss(struct ctf *ctf, const struct ctf_buffer *buffer, const struct event *event,
		     struct ctf_stream *stream)
{
	uint64_t ts = time_in(ctf, stream, event->ts);

	if (!stream->begun && !stream->events)
		stream->begin = stream->last = ts;
	/* Readers compare the count with the previous packet, so there must be one. */
	if (stream->events || !stream->begun)
		flush(ctf, buffer, event->cpu, stream);
	stream->begin = stream->last;
	stream->last = ts;
	stream->discarded += event->lost > 0 ? (uint64_t)event->lost : 1;
	ctf->uncounted += event->lost <= 0;
	flush(ctf, buffer, event->cpu, stream);
}

static const struct ctf_kind *kind_of(struct ctf *ctf, const struct event *event)
{
	struct ctf_kind *kind = kinds_find(&ctf->kinds, event);

	if (__builtin_expect(kind != NULL, 1))
		return kind;
	kind = ctf_kind_new(event->type->format, event->type->id);
	if (kind && kinds_set(&ctf->kinds, event, kind))
		return kind;
	export_no_memory(&ctf->export);
	return NULL;
}

static void put_event(struct ctf *ctf, const struct ctf_buffer *buffer, const struct ctf_kind *kind,
		      const struct event *event, struct ctf_stream *stream)
{
	const struct task_name name = task_name(buffer->context->tasks, event->pid);
	const struct schema_abi *abi = &buffer->context->abi;
	struct out *out = stream->packet;
	uint16_t id = load_u16(&(uint16_t){ (uint16_t)kind->id }, abi->swap);

	stream->last = time_in(ctf, stream, event->ts);
	if (!stream->events++)
		stream->begin = stream->last;
	out_need(out, EVENT_HEAD);
	memcpy(out->at, &id, sizeof(id));
	out->at = store_u64(out->at + sizeof(id), stream->last, abi->swap);
	out_mem(out, name.text, name.len + 1);
	ctf->cut += !ctf_kind_put(kind, abi, event, out);
}

static void ctf_event(struct export *export, const struct event *event)
{
	struct ctf *ctf = (struct ctf *)export;
	struct ctf_buffer *buffer = &ctf->buffers[event->buffer];
	struct ctf_stream *stream = stream_of(ctf, buffer, event);
	const struct ctf_kind *kind;

	if (!stream)
		return;
	if (!ctf->first)
		ctf->first = event->ts;
	if (event->kind == EVENT_LOST) {
		put_loss(ctf, buffer, event, stream);
		return;
	}
	kind = kind_of(ctf, event);
	if (!kind)
		return;
	put_event(ctf, buffer, kind, event, stream);
	if (out_len(stream->packet) >= ctf->limit)
		flush(ctf, buffer, event->cpu, stream);
}

static void end_buffer(struct ctf *ctf, size_t index)
{
	struct ctf_buffer *buffer = &ctf->buffers[index];
	struct ctf_stream *stream;
	uint64_t cpu;

	for (size_t at = 0; (stream = u64_map_next(&buffer->streams, &at, &cpu));)
		if (stream->events)
			flush(ctf, buffer, cpu, stream);
	ctf_put_metadata(ctf, index);
	put_file(ctf, buffer, "metadata", &ctf->metadata);
}

static void tell_clocks(struct ctf *ctf)
{
	for (size_t i = 0; i < ctf->nr_buffers; i++) {
		const struct context *context = ctf->buffers[i].context;

		if (context->unit == CLOCK_UNIT_NS ||
		    (context->clock && !strcmp(context->clock, "uptime") && context->hz))
			continue;
		export_note(&ctf->export,
			    "the clock %s does not count nanoseconds; readers show each of its counts as one",
			    context->clock ? context->clock : "of the recording");
		return;
	}
}

static void ctf_end(struct export *export)
{
	struct ctf *ctf = (struct ctf *)export;

	for (size_t i = 0; i < ctf->nr_buffers; i++)
		end_buffer(ctf, i);
	tell_clocks(ctf);
	if (ctf->uncounted)
		export_note(export,
			    "at %" PRIu64 " place%s the kernel did not count how many events were lost: "
			    "events_discarded grows by 1 there",
			    ctf->uncounted, ctf->uncounted == 1 ? "" : "s");
	if (ctf->cut)
		export_note(export,
			    "%" PRIu64 " records are shorter than their format says: what is missing is 0 or empty",
			    ctf->cut);
	if (ctf->backwards)
		export_note(export,
			    "the time of %" PRIu64
			    " events was before the time of the event in front: they have its time",
			    ctf->backwards);
}

const struct export_ops ctf_export = {
	.name = "ctf",
	.summary = "the Common Trace Format 1.8, a folder, for Trace Compass and babeltrace2",
	.binary = true,
	.folder = true,
	.create = ctf_new,
	.free = ctf_free,
	.event = ctf_event,
	.end = ctf_end,
};
