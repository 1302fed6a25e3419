// SPDX-License-Identifier: GPL-2.0-only
#include "formats/export/perfetto.h"

#include "formats/export/perfetto_kind.h"
#include "formats/export/proto.h"
#include "lib/event/context.h"
#include "lib/event/symbols.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Messages and their fields, by the names that perfetto.dev gives them. */
enum { TRACE_PACKET = 1 };
enum {
	PACKET_FTRACE = 1,
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_SYSTEM_INFO = 45,
	PACKET_TRACK = 60
};
enum { BUNDLE_CPU = 1, BUNDLE_EVENT = 2, BUNDLE_LOST = 3, BUNDLE_DESCRIPTOR = 11 };
enum { EVENT_TIMESTAMP = 1, EVENT_PID = 2 };
enum { CLOCK_REALTIME_ID = 1, CLOCK_BOOTTIME_ID = 6 };

enum { BUNDLE_SIZE = 32 << 10, PENDING_MAX = 16 << 20, CLEARED = 1 };

void perfetto_put_packet(struct perfetto *perfetto)
{
	proto_message(perfetto->export.out, TRACE_PACKET, &perfetto->packet);
	out_clear(&perfetto->packet);
}

struct out *perfetto_begin_packet(struct perfetto *perfetto)
{
	out_clear(&perfetto->packet);
	proto_u64(&perfetto->packet, PACKET_SEQUENCE, 1);
	return &perfetto->packet;
}

/* Clock and time of a ClockSnapshot. */
static void put_clock(struct perfetto *perfetto, unsigned clock, uint64_t ts)
{
	out_clear(&perfetto->field);
	proto_u64(&perfetto->field, 1, clock);
	proto_u64(&perfetto->field, 2, ts);
	proto_message(&perfetto->message, 1, &perfetto->field);
}

static void put_system(struct perfetto *perfetto)
{
	const struct context *context = perfetto->nr_buffers ? perfetto->buffers[0].context : NULL;

	if (!context || !*context->machine)
		return;
	out_clear(&perfetto->field);
	proto_text(&perfetto->field, 1, "Linux");
	proto_string(&perfetto->field, 3, context->release, strlen(context->release));
	proto_string(&perfetto->field, 4, context->machine, strlen(context->machine));
	out_clear(&perfetto->message);
	proto_message(&perfetto->message, 1, &perfetto->field);
	proto_message(perfetto_begin_packet(perfetto), PACKET_SYSTEM_INFO, &perfetto->message);
	perfetto_put_packet(perfetto);
}

/* The importer's number of the trace's clock, if all buffers have the same clock; 0: it has none. */
static unsigned clock_of(const struct perfetto *perfetto)
{
	static const struct {
		const char *name;
		unsigned id;
	} clocks[] = { { "mono", 3 }, { "mono_raw", 5 }, { "perf", 10 } };
	unsigned ret = 0;

	for (size_t i = 0; i < perfetto->nr_buffers; i++) {
		const char *name = perfetto->buffers[i].context->clock;
		unsigned id = 0;

		for (size_t k = 0; name && k < array_size(clocks); k++)
			if (!strcmp(name, clocks[k].name))
				id = clocks[k].id;
		if (i && id != ret)
			return 0;
		ret = id;
	}
	return ret;
}

/*
 * The trace has one pair of clocks, at its beginning. The importer takes times for boot time, whatever clock they are
 * of: a clock of its own for each bundle would lose events, because it refuses pairs that go back, and the bundles of
 * several CPUs are not in the order of time.
 */
void perfetto_put_head(struct perfetto *perfetto, uint64_t ts)
{
	unsigned own = clock_of(perfetto);
	struct out *packet;

	perfetto->begun = true;
	perfetto->first = ts;
	out_clear(&perfetto->message);
	put_clock(perfetto, CLOCK_BOOTTIME_ID, ts);
	if (own)
		put_clock(perfetto, own, ts);
	if (perfetto->has_date)
		put_clock(perfetto, CLOCK_REALTIME_ID, ts + (uint64_t)perfetto->date_offset);
	packet = perfetto_begin_packet(perfetto);
	proto_u64(packet, PACKET_FLAGS, CLEARED);
	proto_message(packet, PACKET_CLOCK_SNAPSHOT, &perfetto->message);
	perfetto_put_packet(perfetto);
	put_system(perfetto);
}

void perfetto_bundle_flush(struct perfetto *perfetto, uint64_t cpu, struct perfetto_bundle *bundle)
{
	struct out *head = &perfetto->message, *tail = &perfetto->field, *out = perfetto->export.out, *packet;
	size_t len;

	if (!bundle->events || !out_len(bundle->events))
		return;
	out_clear(head);
	proto_u64(head, BUNDLE_CPU, cpu);
	out_clear(tail);
	if (bundle->lost)
		proto_u64(tail, BUNDLE_LOST, 1);
	len = out_len(head) + out_len(bundle->events) + out_len(tail);
	packet = perfetto_begin_packet(perfetto);
	proto_varint(packet, PACKET_FTRACE << 3 | 2);
	proto_varint(packet, len);
	proto_varint(out, TRACE_PACKET << 3 | 2);
	proto_varint(out, out_len(packet) + len);
	out_mem(out, packet->start, out_len(packet));
	out_mem(out, head->start, out_len(head));
	out_mem(out, bundle->events->start, out_len(bundle->events));
	out_mem(out, tail->start, out_len(tail));
	perfetto->pending -= out_len(bundle->events);
	perfetto->export.out->failed |= bundle->events->failed;
	out_clear(bundle->events);
	bundle->lost = false;
}

void perfetto_flush_all(struct perfetto *perfetto)
{
	struct perfetto_bundle *bundle;
	uint64_t cpu;

	for (size_t i = 0; i < perfetto->nr_buffers; i++)
		for (size_t at = 0; (bundle = u64_map_next(&perfetto->buffers[i].bundles, &at, &cpu));)
			perfetto_bundle_flush(perfetto, cpu, bundle);
}

struct perfetto_bundle *perfetto_bundle_of(struct perfetto_buffer *buffer, uint16_t cpu)
{
	struct perfetto_bundle *bundle = u64_map_add(&buffer->bundles, cpu);

	if (!bundle)
		return NULL;
	if (!bundle->events) {
		bundle->events = calloc(1, sizeof(*bundle->events));
		if (!bundle->events || !out_init(bundle->events, 512)) {
			free(bundle->events);
			bundle->events = NULL;
			return NULL;
		}
	}
	return bundle;
}

void perfetto_put_event(struct perfetto *perfetto, struct perfetto_buffer *buffer, uint16_t cpu, uint64_t ts,
			int32_t pid, uint32_t id)
{
	struct perfetto_bundle *bundle = perfetto_bundle_of(buffer, cpu);
	struct out *message = &perfetto->message;
	size_t before;

	if (!bundle) {
		export_no_memory(&perfetto->export);
		return;
	}
	/* trace_processor is fast with fields in just this order. */
	out_clear(message);
	proto_u64(message, EVENT_TIMESTAMP, ts);
	proto_u64(message, EVENT_PID, (uint32_t)pid);
	proto_varint(message, (uint64_t)id << 3 | 2);
	proto_varint(message, out_len(&perfetto->payload));
	before = out_len(bundle->events);
	proto_varint(bundle->events, BUNDLE_EVENT << 3 | 2);
	proto_varint(bundle->events, out_len(message) + out_len(&perfetto->payload));
	out_mem(bundle->events, message->start, out_len(message));
	out_mem(bundle->events, perfetto->payload.start, out_len(&perfetto->payload));
	perfetto->pending += out_len(bundle->events) - before;
	if (out_len(bundle->events) >= BUNDLE_SIZE)
		perfetto_bundle_flush(perfetto, cpu, bundle);
	else if (perfetto->pending >= PENDING_MAX)
		perfetto_flush_all(perfetto);
}

static uint64_t track_uuid(const struct perfetto_buffer *buffer, uint16_t cpu, unsigned what)
{
	return UINT64_C(0x77656674) << 32 | (uint64_t)(buffer->index & 0x3fff) << 18 | (uint64_t)what << 16 | cpu;
}

static void describe_track(struct perfetto *perfetto, const struct perfetto_buffer *buffer, uint16_t cpu, unsigned what)
{
	const char *instance = buffer->context->instance;
	char name[256];
	struct out *packet;

	snprintf(name, sizeof(name), "%s, CPU %u%s%.200s",
		 what == TRACK_LOST ? "lost events" : "functions in hard interrupts", cpu, *instance ? ", " : "",
		 instance);
	out_clear(&perfetto->field);
	proto_u64(&perfetto->field, 1, track_uuid(buffer, cpu, what));
	proto_string(&perfetto->field, 2, name, strlen(name));
	packet = perfetto_begin_packet(perfetto);
	proto_message(packet, PACKET_TRACK, &perfetto->field);
	perfetto_put_packet(perfetto);
}

void perfetto_put_slice(struct perfetto *perfetto, struct perfetto_buffer *buffer, uint16_t cpu, unsigned what,
			unsigned type, uint64_t ts, const char *name, size_t len)
{
	struct perfetto_bundle *bundle = perfetto_bundle_of(buffer, cpu);
	struct out *packet;

	if (!bundle) {
		export_no_memory(&perfetto->export);
		return;
	}
	if (!bundle->tracks[what])
		describe_track(perfetto, buffer, cpu, what);
	bundle->tracks[what] = true;
	out_clear(&perfetto->field);
	proto_u64(&perfetto->field, 9, type);
	proto_u64(&perfetto->field, 11, track_uuid(buffer, cpu, what));
	if (name)
		proto_string(&perfetto->field, 23, name, len);
	packet = perfetto_begin_packet(perfetto);
	proto_u64(packet, PACKET_TIMESTAMP, ts);
	proto_message(packet, PACKET_TRACK_EVENT, &perfetto->field);
	perfetto_put_packet(perfetto);
}

uint32_t perfetto_function_label(struct perfetto_buffer *buffer, uint64_t address)
{
	struct perfetto *perfetto = buffer->perfetto;
	uint32_t *known = u64_map_add(&buffer->functions, address), label;
	struct symbol symbol;
	bool fresh;
	char text[32];

	if (known && *known)
		return *known - 1;
	if (!symbols_find(buffer->context->symbols, address, &symbol)) {
		snprintf(text, sizeof(text), "0x%" PRIx64, address);
		symbol = (struct symbol){ .name = text, .name_len = (uint32_t)strlen(text) };
	}
	label = labels_add(&perfetto->labels, symbol.name, symbol.name_len, &fresh);
	if (!known || label == LABEL_NONE) {
		export_no_memory(&perfetto->export);
		return 0;
	}
	*known = label + 1;
	if (fresh) {
		out_clear(&perfetto->field);
		proto_u64(&perfetto->field, 1, label + 1);
		proto_string(&perfetto->field, 2, symbol.name, symbol.name_len);
		out_clear(&perfetto->message);
		proto_message(&perfetto->message, 26, &perfetto->field);
		proto_message(perfetto_begin_packet(perfetto), PACKET_INTERNED, &perfetto->message);
		perfetto_put_packet(perfetto);
	}
	return label;
}

void perfetto_describe_kind(struct perfetto *perfetto, const struct perfetto_kind *kind)
{
	out_clear(&perfetto->payload);
	perfetto_kind_describe(kind, &perfetto->scratch, &perfetto->field, &perfetto->payload);
	out_clear(&perfetto->message);
	proto_u64(&perfetto->message, BUNDLE_CPU, 0);
	proto_message(&perfetto->message, BUNDLE_DESCRIPTOR, &perfetto->payload);
	proto_message(perfetto_begin_packet(perfetto), PACKET_FTRACE, &perfetto->message);
	perfetto_put_packet(perfetto);
}
