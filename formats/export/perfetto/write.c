// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/export/perfetto/perfetto_internal.h"

#include "formats/export/proto_internal.h"
#include "lib/event/context.h"
#include "lib/event/event.h"
#include "lib/event/tasks.h"
#include "lib/names/symbols.h"

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
	PACKET_TRACK = 60,
	PACKET_MACHINE = 98
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

struct out *perfetto_begin_packet(struct perfetto *perfetto, const struct perfetto_machine *machine)
{
	out_clear(&perfetto->packet);
	proto_u64(&perfetto->packet, PACKET_SEQUENCE, 1);
	if (machine->id)
		proto_u64(&perfetto->packet, PACKET_MACHINE, machine->id);
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

/* "recording, instance"; empty for the only one. */
static void put_name_of_machine(struct perfetto *perfetto, const struct perfetto_machine *machine,
				const struct context *context)
{
	const char *recording = context->recording ? context->recording : "";
	char name[512];

	if (!machine->id && !*recording)
		return;
	snprintf(name, sizeof(name), "%.200s%s%.200s", recording, *recording && *context->instance ? ", " : "",
		 context->instance);
	proto_string(&perfetto->message, 17, name, strlen(name));
}

static void put_system(struct perfetto *perfetto, const struct perfetto_machine *machine, const struct context *context)
{
	out_clear(&perfetto->message);
	if (*context->machine) {
		out_clear(&perfetto->field);
		proto_text(&perfetto->field, 1, "Linux");
		proto_string(&perfetto->field, 3, context->release, strlen(context->release));
		proto_string(&perfetto->field, 4, context->machine, strlen(context->machine));
		proto_message(&perfetto->message, 1, &perfetto->field);
	}
	put_name_of_machine(perfetto, machine, context);
	if (!out_len(&perfetto->message))
		return;
	proto_message(perfetto_begin_packet(perfetto, machine), PACKET_SYSTEM_INFO, &perfetto->message);
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
void perfetto_put_head(struct perfetto *perfetto, struct perfetto_machine *machine,
		       const struct perfetto_buffer *buffer, uint64_t ts)
{
	unsigned own = clock_of(perfetto);
	struct out *packet;

	machine->begun = true;
	if (!perfetto->begun)
		perfetto->first = ts;
	perfetto->begun = true;
	out_clear(&perfetto->message);
	put_clock(perfetto, CLOCK_BOOTTIME_ID, ts);
	if (own)
		put_clock(perfetto, own, ts);
	if (perfetto->has_date)
		put_clock(perfetto, CLOCK_REALTIME_ID, ts + (uint64_t)perfetto->date_offset);
	packet = perfetto_begin_packet(perfetto, machine);
	proto_u64(packet, PACKET_FLAGS, CLEARED);
	proto_message(packet, PACKET_CLOCK_SNAPSHOT, &perfetto->message);
	perfetto_put_packet(perfetto);
	if (buffer)
		put_system(perfetto, machine, buffer->context);
}

struct perfetto_machine *perfetto_machine_of(struct perfetto_buffer *buffer, enum perfetto_family family)
{
	struct perfetto *perfetto = buffer->perfetto;
	struct perfetto_machine *machine;
	bool taken = false;

	if (__builtin_expect(!buffer->apart[family], 0)) {
		for (size_t i = 0; family != FAMILY_NONE && i < perfetto->nr_buffers; i++)
			taken |= perfetto->buffers[i].first == buffer->first && perfetto->buffers[i].apart[family] == 1;
		buffer->apart[family] = taken ? 2 : 1;
	}
	machine = buffer->apart[family] == 2 ? &buffer->own : &perfetto->buffers[buffer->first].shared;
	if (__builtin_expect(!machine->begun, 0))
		perfetto_put_head(perfetto, machine,
				  machine == &buffer->own ? buffer : &perfetto->buffers[buffer->first], perfetto->last);
	return machine;
}

void perfetto_bundle_flush(struct perfetto *perfetto, struct perfetto_buffer *buffer, uint64_t key,
			   struct perfetto_bundle *bundle)
{
	struct out *head = &perfetto->message, *tail = &perfetto->field, *out = perfetto->export.out, *packet;
	size_t len;

	if (!bundle->events || !out_len(bundle->events))
		return;
	out_clear(head);
	proto_u64(head, BUNDLE_CPU, key & (PERFETTO_APART - 1));
	out_clear(tail);
	if (bundle->lost)
		proto_u64(tail, BUNDLE_LOST, 1);
	len = out_len(head) + out_len(bundle->events) + out_len(tail);
	packet = perfetto_begin_packet(perfetto,
				       key & PERFETTO_APART ? &buffer->own : &perfetto->buffers[buffer->first].shared);
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
			perfetto_bundle_flush(perfetto, &perfetto->buffers[i], cpu, bundle);
}

struct perfetto_bundle *perfetto_bundle_of(struct perfetto_buffer *buffer, uint16_t cpu, bool apart)
{
	struct perfetto_bundle *bundle = u64_map_get(&buffer->bundles, cpu | (apart ? PERFETTO_APART : 0U));

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

void perfetto_put_event(struct perfetto *perfetto, struct perfetto_buffer *buffer, enum perfetto_family family,
			const struct event *event, uint32_t id)
{
	bool apart = perfetto_machine_of(buffer, family) == &buffer->own;
	struct perfetto_bundle *bundle = perfetto_bundle_of(buffer, event->cpu, apart);
	struct out *message = &perfetto->message;
	size_t before;

	if (!bundle) {
		export_no_memory(&perfetto->export);
		return;
	}
	/* trace_processor is fast with fields in just this order. */
	out_clear(message);
	proto_u64(message, EVENT_TIMESTAMP, event->ts);
	proto_u64(message, EVENT_PID, (uint32_t)event->pid);
	proto_varint(message, (uint64_t)id << 3 | 2);
	proto_varint(message, out_len(&perfetto->payload));
	before = out_len(bundle->events);
	proto_varint(bundle->events, BUNDLE_EVENT << 3 | 2);
	proto_varint(bundle->events, out_len(message) + out_len(&perfetto->payload));
	out_mem(bundle->events, message->start, out_len(message));
	out_mem(bundle->events, perfetto->payload.start, out_len(&perfetto->payload));
	perfetto->pending += out_len(bundle->events) - before;
	if (out_len(bundle->events) >= BUNDLE_SIZE)
		perfetto_bundle_flush(perfetto, buffer, event->cpu | (apart ? PERFETTO_APART : 0U), bundle);
	else if (perfetto->pending >= PENDING_MAX)
		perfetto_flush_all(perfetto);
}

/* `id` is a CPU, or a PID for the track of a task. */
static uint64_t track_uuid(const struct perfetto_buffer *buffer, uint32_t id, unsigned what)
{
	return UINT64_C(0x776) << 52 | (uint64_t)buffer->index << 36 | (uint64_t)what << 32 | id;
}

static void put_track(struct perfetto *perfetto, const struct perfetto_machine *machine)
{
	proto_message(perfetto_begin_packet(perfetto, machine), PACKET_TRACK, &perfetto->field);
	perfetto_put_packet(perfetto);
}

static void describe_track(struct perfetto *perfetto, struct perfetto_buffer *buffer, uint16_t cpu, unsigned what)
{
	static const char *const names[] = { [TRACK_LOST] = "lost events",
					     [TRACK_INTERRUPT] = "functions in hard interrupts",
					     [TRACK_UNKNOWN] = "not recorded" };
	const struct perfetto_machine *machine = perfetto_machine_of(buffer, FAMILY_NONE);
	const char *instance = buffer->context->instance;
	char name[256];

	snprintf(name, sizeof(name), "%s, CPU %u%s%.200s", names[what], cpu, *instance ? ", " : "", instance);
	out_clear(&perfetto->field);
	proto_u64(&perfetto->field, 1, track_uuid(buffer, cpu, what));
	proto_string(&perfetto->field, 2, name, strlen(name));
	put_track(perfetto, machine);
}

static void put_track_event(struct perfetto *perfetto, const struct perfetto_machine *machine, uint64_t uuid,
			    unsigned type, uint64_t ts, const char *name, size_t len)
{
	struct out *packet;

	out_clear(&perfetto->field);
	proto_u64(&perfetto->field, 9, type);
	proto_u64(&perfetto->field, 11, uuid);
	if (name)
		proto_string(&perfetto->field, 23, name, len);
	packet = perfetto_begin_packet(perfetto, machine);
	proto_u64(packet, PACKET_TIMESTAMP, ts);
	proto_message(packet, PACKET_TRACK_EVENT, &perfetto->field);
	perfetto_put_packet(perfetto);
}

void perfetto_put_slice(struct perfetto *perfetto, struct perfetto_buffer *buffer, uint16_t cpu, unsigned what,
			unsigned type, uint64_t ts, const char *name, size_t len)
{
	struct perfetto_bundle *bundle = perfetto_bundle_of(buffer, cpu, false);

	if (!bundle) {
		export_no_memory(&perfetto->export);
		return;
	}
	if (!bundle->tracks[what])
		describe_track(perfetto, buffer, cpu, what);
	bundle->tracks[what] = true;
	put_track_event(perfetto, perfetto_machine_of(buffer, FAMILY_NONE), track_uuid(buffer, cpu, what), type, ts,
			name, len);
}

/* A track of a thread is the one on which the importer draws the system calls that it pairs itself. */
void perfetto_put_task_slice(struct perfetto *perfetto, struct perfetto_buffer *buffer, int32_t pid, unsigned type,
			     uint64_t ts, const char *name)
{
	const struct perfetto_machine *machine = perfetto_machine_of(buffer, FAMILY_CALLS);
	uint64_t uuid = track_uuid(buffer, (uint32_t)pid, TRACK_TASK);
	uint8_t *known = u64_map_add(&buffer->tracks, (uint32_t)pid);
	int32_t tgid = task_tgid(buffer->context->tasks, pid);

	if (!known) {
		export_no_memory(&perfetto->export);
		return;
	}
	if (!*known) {
		out_clear(&perfetto->message);
		proto_u64(&perfetto->message, 1, (uint32_t)(tgid ? tgid : pid));
		proto_u64(&perfetto->message, 2, (uint32_t)pid);
		out_clear(&perfetto->field);
		proto_u64(&perfetto->field, 1, uuid);
		proto_message(&perfetto->field, 4, &perfetto->message);
		put_track(perfetto, machine);
		*known = 1;
	}
	put_track_event(perfetto, machine, uuid, type, ts, name, name ? strlen(name) : 0);
}

static void intern(struct perfetto *perfetto, const struct perfetto_machine *machine, uint32_t label,
		   const struct symbol *symbol)
{
	out_clear(&perfetto->field);
	proto_u64(&perfetto->field, 1, label + 1);
	proto_string(&perfetto->field, 2, symbol->name, symbol->name_len);
	out_clear(&perfetto->message);
	proto_message(&perfetto->message, 26, &perfetto->field);
	proto_message(perfetto_begin_packet(perfetto, machine), PACKET_INTERNED, &perfetto->message);
	perfetto_put_packet(perfetto);
}

uint32_t perfetto_function_label(struct perfetto_buffer *buffer, uint64_t address)
{
	struct perfetto *perfetto = buffer->perfetto;
	const struct perfetto_machine *machine = perfetto_machine_of(buffer, FAMILY_GRAPH);
	uint32_t *known = u64_map_get(&buffer->functions[machine == &buffer->own], address), label;
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
	/* Several addresses may have one name, and other machines have names of their own. */
	if (fresh || perfetto->nr_buffers > 1)
		intern(perfetto, machine, label, &symbol);
	return label;
}

static void describe(struct perfetto *perfetto, struct perfetto_buffer *buffer, const struct perfetto_kind *kind)
{
	const struct perfetto_machine *machine = perfetto_machine_of(buffer, FAMILY_NONE);

	out_clear(&perfetto->payload);
	perfetto_kind_describe(kind, &perfetto->scratch, &perfetto->field, &perfetto->payload);
	out_clear(&perfetto->message);
	proto_u64(&perfetto->message, BUNDLE_CPU, 0);
	proto_message(&perfetto->message, BUNDLE_DESCRIPTOR, &perfetto->payload);
	proto_message(perfetto_begin_packet(perfetto, machine), PACKET_FTRACE, &perfetto->message);
	perfetto_put_packet(perfetto);
}

void perfetto_put_kind(struct perfetto *perfetto, struct perfetto_buffer *buffer, struct perfetto_kind *kind,
		       const struct event *event)
{
	if (kind->own && kind->id > PERFETTO_OWN_LAST) {
		perfetto->unknown++;
		return;
	}
	/* The description precedes all events of the type, because these wait in their bundles. */
	if (kind->own && !kind->described)
		describe(perfetto, buffer, kind);
	kind->described = true;
	out_clear(&perfetto->payload);
	if (!perfetto_kind_put(kind, buffer->context, buffer->sink, event, &perfetto->scratch, &perfetto->payload))
		export_no_memory(&perfetto->export);
	perfetto_put_event(perfetto, buffer, kind->family, event, kind->id);
}
