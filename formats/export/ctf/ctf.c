// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The Common Trace Format 1.8, for Trace Compass and babeltrace2, as perf writes it: events are called SYSTEM:EVENT and
 * have the kernel's own fields, including the common ones; the name of the task, its process and, if the recording
 * tells services or containers, these are their context. The output is a
 * directory with the file metadata and a file of packets for each CPU; with several instances it has a subdirectory for
 * each. Losses are in the packets' events_discarded, which counts from the start of the stream: an empty packet spans
 * the time of each loss, so that readers can tell when it happened.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/export/ctf/kind_internal.h"
#include "formats/export/export.h"
#include "formats/export/exports_internal.h"
#include "formats/export/folder.h"
#include "lib/ground/base/bytes.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/u64_map.h"
#include "lib/ground/base/xxh64.h"
#include "lib/meaning/clock/clocks.h"
#include "lib/meaning/event/comms.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/kinds.h"
#include "lib/meaning/follow/who.h"
#include "lib/meaning/reader/reader.h"

/*
 * The state of the exporter. Each buffer is a trace of CTF: a metadata file and a stream file for
 * each CPU.
 */
struct ctf_stream {
	struct out *packet; /* the packet that is being filled: its head is written last */
	/* times of the first and last event of the packet; `last` stays valid after the packet was written */
	uint64_t begin, last;
	uint64_t discarded; /* events lost in this stream so far */
	uint32_t events;    /* in the packet */
	bool begun;         /* some packet was written */
};

/* Whom a task belonged to from one time to another. */
struct ctf_who {
	int32_t pid, process;
	uint64_t from, until;
	const char *unit, *container;
};

enum { WHOS_BITS = 8 };

struct ctf_buffer {
	const struct context *context;
	bool has_units; /* the recording tells services or containers */
	struct ctf_who whos[1 << WHOS_BITS];
	char word[FOLDER_WORD_MAX]; /* name of its folder; "": the file has one buffer only */
	uint64_t latest;            /* the latest time that readers take */
	struct u64_map streams;     /* by CPU: struct ctf_stream */
};

struct ctf {
	struct export export; /* first */
	struct kinds kinds;   /* struct ctf_kind */
	struct ctf_buffer *buffers;
	size_t nr_buffers;
	struct out metadata;
	size_t limit; /* bytes of a packet */
	size_t nr_streams;
	uint64_t first; /* the time of the first event of all buffers */
	uint64_t cut, uncounted, backwards, beyond;
};

enum { CLOCK_NAME = 40 };

#define U32 "integer { size = 32; align = 8; signed = false; "
#define U64 "integer { size = 64; align = 8; signed = false; "

static void put_trace(const struct context *context, struct out *out)
{
	out_f(out, "/* CTF 1.8 */\n\ntrace {\n\tmajor = 1;\n\tminor = 8;\n\tbyte_order = %s;\n",
	      context->abi.big_endian ? "be" : "le");
	out_str(out,
		"\tpacket.header := struct {\n\t\t" U32 "base = 16; } magic;\n\t\t" U32 "} stream_id;\n\t};\n};\n");
}

static void put_fact(struct out *out, const char *key, const char *value)
{
	if (!value || !*value)
		return;
	out_f(out, "\t%s = ", key);
	ctf_string(out, value);
	out_str(out, ";\n");
}

/* Written as perf does: Trace Compass then looks for the kernel's own names of events and fields. */
static void put_environment(const struct context *context, struct out *out)
{
	out_str(out, "\nenv {\n\tdomain = \"kernel\";\n\ttracer_name = \"perf\";\n\tsysname = \"Linux\";\n");
	put_fact(out, "release", context->release);
	put_fact(out, "machine", context->machine);
	put_fact(out, "clock", context->clock);
	put_fact(out, "tracer", context->tracer);
	put_fact(out, "instance", context->instance);
	out_str(out, "\texporter = \"weft\";\n};\n");
}

static void clock_name(const struct context *context, char into[CLOCK_NAME])
{
	snprintf(into, CLOCK_NAME, "trace_%.30s", context->clock ? context->clock : "clock");
	for (char *at = into; *at; at++)
		if (!isalnum((unsigned char)*at))
			*at = '_';
}

/* How many counts of the buffer's clock are a second for readers. */
static uint64_t ctf_frequency(const struct context *context)
{
	if (context->unit == CLOCK_UNIT_COUNT && clock_kind(context->clock)->counts == CLOCK_COUNTS_JIFFIES &&
	    context->hz)
		return context->hz;
	return NS_PER_S;
}

/* Without a date, readers compare only times of one clock: so all instances of a file have the same clock. */
static void put_clock_uuid(const struct ctf *ctf, const char *name, struct out *out)
{
	uint64_t first = ctf->first;
	uint64_t high = xxh64(name, strlen(name)), low = xxh64(&first, sizeof(first));

	out_f(out, "\tuuid = \"%08x-%04x-4%03x-8%03x-%012" PRIx64 "\";\n", (uint32_t)(high >> 32),
	      (uint32_t)(high >> 16) & 0xffff, (uint32_t)high & 0xfff, (uint32_t)(low >> 48) & 0xfff,
	      low & 0xffffffffffff);
}

static void put_clock(const struct ctf *ctf, const struct context *context, const char *name, struct out *out)
{
	int64_t offset = 0, s, ns;
	bool date = context->unit == CLOCK_UNIT_NS && export_day_offset(ctf->export.reader, ctf->first, &offset);

	s = offset / NS_PER_S;
	ns = offset % NS_PER_S;

	out_f(out, "\nclock {\n\tname = %s;\n", name);
	if (!date)
		put_clock_uuid(ctf, name, out);
	/* Beside the other machines of the file: the standard has it in counts of the clock. */
	if (context->compared && context->unit == CLOCK_UNIT_NS)
		out_f(out, "\tprecision = %" PRIu64 ";\n", context->clock_error_ns);
	out_str(out, "\tdescription = ");
	ctf_string(out, context->clock ? context->clock : "");
	out_f(out, ";\n\tfreq = %" PRIu64 ";\n", ctf_frequency(context));
	if (date)
		out_f(out, "\toffset_s = %" PRId64 ";\n\toffset = %" PRId64 ";\n", ns < 0 ? s - 1 : s,
		      ns < 0 ? ns + NS_PER_S : ns);
	out_f(out, "\tabsolute = %s;\n};\n", date ? "TRUE" : "FALSE");
}

static void put_stream(const char *clock, bool has_units, struct out *out)
{
	out_str(out, "\nstream {\n\tid = 0;\n\tpacket.context := struct {\n");
	out_f(out,
	      "\t\t" U64 "map = clock.%s.value; } timestamp_begin;\n\t\t" U64
	      "map = clock.%s.value; } timestamp_end;\n",
	      clock, clock);
	out_str(out, "\t\t" U64 "} content_size;\n\t\t" U64 "} packet_size;\n\t\t" U64 "} events_discarded;\n\t\t" U32
		     "} cpu_id;\n\t};\n");
	out_str(out, "\tevent.header := struct {\n\t\tinteger { size = 16; align = 8; signed = false; } id;\n");
	out_f(out, "\t\t" U64 "map = clock.%s.value; } timestamp;\n\t};\n", clock);
	out_str(out, "\tevent.context := struct {\n\t\tstring _procname;\n");
	out_str(out, "\t\tinteger { size = 32; align = 8; signed = true; } _pid;\n");
	out_f(out, "%s\t};\n};\n", has_units ? "\t\tstring _unit;\n\t\tstring _container;\n" : "");
}

/* Writes the metadata of a buffer into ctf->metadata. */
static void ctf_put_metadata(struct ctf *ctf, size_t buffer)
{
	const struct context *context = ctf->buffers[buffer].context;
	const struct kinds_buffer *kinds = &ctf->kinds.buffers[buffer];
	struct out *out = &ctf->metadata;
	char clock[CLOCK_NAME];

	out_clear(out);
	clock_name(context, clock);
	put_trace(context, out);
	put_environment(context, out);
	put_clock(ctf, context, clock, out);
	put_stream(clock, ctf->buffers[buffer].has_units, out);
	for (size_t i = 0; i < kinds->nr; i++)
		if (kinds->at[i])
			ctf_kind_declare(kinds->at[i], out);
}

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

/* The last whole second that has a signed number of ns, as readers make of each time. They refuse its last value. */
static uint64_t latest(const struct context *context)
{
	uint64_t frequency = ctf_frequency(context), s = INT64_MAX / NS_PER_S;

	return s * (frequency < NS_PER_S ? frequency : NS_PER_S);
}

static void note_unit(const char *text, void *arg)
{
	(void)text;
	*(bool *)arg = true;
}

static int init(struct ctf *ctf, const struct export_input *input, struct fail *fail)
{
	const struct reader *reader = input->reader;

	ctf->limit = PACKET_MAX;
	ctf->buffers = calloc(reader->nr_buffers + 1, sizeof(*ctf->buffers));
	if (!ctf->buffers || !out_init(&ctf->metadata, 1 << 14) ||
	    kinds_init(&ctf->kinds, reader->nr_buffers, ctf_kind_free))
		return fail_memory(fail);
	ctf->nr_buffers = reader->nr_buffers;
	for (size_t i = 0; i < reader->nr_buffers; i++) {
		u64_map_init(&ctf->buffers[i].streams, sizeof(struct ctf_stream));
		ctf->buffers[i].context = reader->buffers[i].context;
		ctf->buffers[i].latest = latest(reader->buffers[i].context);
		who_each(reader->buffers[i].context, WHO_UNIT, note_unit, &ctf->buffers[i].has_units);
		who_each(reader->buffers[i].context, WHO_CONTAINER, note_unit, &ctf->buffers[i].has_units);
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

/* Readers refuse a stream in which time goes back, and times that are too late for them. */
static uint64_t time_in(struct ctf *ctf, const struct ctf_buffer *buffer, const struct ctf_stream *stream, uint64_t ts)
{
	if (ts > buffer->latest) {
		ctf->beyond++;
		return buffer->latest;
	}
	if (ts < stream->last) {
		ctf->backwards++;
		return stream->last;
	}
	return ts;
}

static void put_loss(struct ctf *ctf, const struct ctf_buffer *buffer, const struct event *event,
		     struct ctf_stream *stream)
{
	uint64_t ts = time_in(ctf, buffer, stream, event->ts);

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

/* Readers show an empty text as the one before it. */
static const char *text_of(const struct context *context, enum who_part part, const struct event *event)
{
	uint32_t who = who_is(context, part, event->pid, event->ts, NULL);
	const char *text = who ? who_text(context, part, who) : "(unknown)";

	return *text ? text : "(none)";
}

static const struct ctf_who *who_of(struct ctf_buffer *buffer, const struct event *event)
{
	struct ctf_who *who = &buffer->whos[(uint32_t)event->pid % array_size(buffer->whos)];

	if (who->pid == event->pid && who->from <= event->ts && event->ts < who->until)
		return who;
	*who = (struct ctf_who){ .pid = event->pid,
				 .process = who_process(buffer->context, event->pid, event->ts, NULL),
				 .from = event->ts,
				 .until = who_until(buffer->context, event->pid, event->ts) };
	if (buffer->has_units) {
		who->unit = text_of(buffer->context, WHO_UNIT, event);
		who->container = text_of(buffer->context, WHO_CONTAINER, event);
	}
	return who;
}

static void put_event(struct ctf *ctf, struct ctf_buffer *buffer, const struct ctf_kind *kind,
		      const struct event *event, struct ctf_stream *stream)
{
	const struct task_name name = context_comm(buffer->context, event->pid, event->ts);
	const struct schema_abi *abi = &buffer->context->abi;
	struct out *out = stream->packet;
	const struct ctf_who *who;
	uint16_t id = load_u16(&(uint16_t){ (uint16_t)kind->id }, abi->swap);

	stream->last = time_in(ctf, buffer, stream, event->ts);
	if (!stream->events++)
		stream->begin = stream->last;
	out_need(out, EVENT_HEAD);
	memcpy(out->at, &id, sizeof(id));
	out->at = store_u64(out->at + sizeof(id), stream->last, abi->swap);
	out_mem(out, name.text, name.len + 1);
	who = who_of(buffer, event);
	out_need(out, sizeof(uint32_t));
	out->at = store_u32(out->at, (uint32_t)who->process, abi->swap);
	if (buffer->has_units) {
		out_mem(out, who->unit, strlen(who->unit) + 1);
		out_mem(out, who->container, strlen(who->container) + 1);
	}
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
		    (clock_kind(context->clock)->counts == CLOCK_COUNTS_JIFFIES && context->hz))
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
	if (ctf->beyond)
		export_note(export,
			    "the time of %" PRIu64
			    " events is beyond 2^63 ns, which readers refuse: they have the last time before it",
			    ctf->beyond);
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
