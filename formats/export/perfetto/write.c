// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/export/perfetto/perfetto_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/export/proto_internal.h"
#include "lib/ground/base/labels.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/vec.h"
#include "lib/ground/base/xxh64.h"
#include "lib/meaning/clock/clocks.h"
#include "lib/meaning/clock/wall.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/follow/stack.h"
#include "lib/meaning/follow/user_stacks.h"
#include "lib/meaning/follow/who.h"
#include "lib/meaning/names/symbols.h"
#include "lib/meaning/timeline/path.h"
#include "lib/meaning/timeline/timeline.h"

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
enum { BUNDLE_CPU = 1, BUNDLE_EVENT = 2, BUNDLE_LOST = 3, BUNDLE_COMPACT = 4, BUNDLE_DESCRIPTOR = 11 };
/* CompactSched has a packed array of each. */
enum {
	COMPACT_COMMS = 5,
	WAKING_TIMESTAMP = 7,
	WAKING_PID,
	WAKING_TARGET_CPU,
	WAKING_PRIO,
	WAKING_COMM,
	WAKING_FLAGS,
	WAKING_END
};
/* Clocks drift by some us in a minute. */
#define DATE_EVERY NS_PER_S

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
	unsigned ret = 0;

	for (size_t i = 0; i < perfetto->nr_buffers; i++) {
		unsigned id = clock_kind(perfetto->buffers[i].context->clock)->perfetto;

		if (i && id != ret)
			return 0;
		ret = id;
	}
	return ret;
}

/* When the next pair of clocks with the time of day is due: where it was set, or before the clocks drift apart. */
static uint64_t next_date(struct perfetto *perfetto, const struct wall *wall, uint64_t ts)
{
	const struct wall_piece *piece;
	uint64_t ret = UINT64_MAX;
	int64_t drift;

	if (!wall)
		return ret;
	if (wall_drift_ppb(wall, &drift) && drift)
		ret = ts + DATE_EVERY;
	while ((piece = wall_piece_at(wall, perfetto->piece + 1)) && piece->since <= ts)
		perfetto->piece++;
	return piece && piece->since < ret ? piece->since : ret;
}

/* CLOCK_REALTIME beside a time of the trace. */
static void put_date(struct perfetto *perfetto, uint64_t ts)
{
	const struct wall *wall = export_wall(perfetto->export.reader);
	int64_t ns;

	if (wall_of(wall, ts, &ns, NULL))
		put_clock(perfetto, CLOCK_REALTIME_ID, (uint64_t)ns);
	perfetto->next_date = next_date(perfetto, wall, ts);
}

static void put_snapshot(struct perfetto *perfetto, const struct perfetto_machine *machine, uint64_t ts)
{
	if (!machine->begun)
		return;
	out_clear(&perfetto->message);
	put_clock(perfetto, CLOCK_BOOTTIME_ID, ts);
	put_date(perfetto, ts);
	proto_message(perfetto_begin_packet(perfetto, machine), PACKET_CLOCK_SNAPSHOT, &perfetto->message);
	perfetto_put_packet(perfetto);
}

void perfetto_put_date(struct perfetto *perfetto, uint64_t ts)
{
	const struct wall_piece *piece = wall_piece_at(export_wall(perfetto->export.reader), perfetto->piece + 1);
	uint64_t at = piece && piece->since <= ts ? piece->since : ts;

	for (size_t i = 0; i < perfetto->nr_buffers; i++) {
		put_snapshot(perfetto, &perfetto->buffers[i].shared, at);
		put_snapshot(perfetto, &perfetto->buffers[i].own, at);
	}
}

/*
 * The trace has one pair of clocks, at its beginning, and others only for the time of day. The importer takes times for
 * boot time, whatever clock they are of: a clock of its own for each bundle would lose events, because it refuses pairs
 * that go back, and the bundles of several CPUs are not in the order of time.
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
	put_date(perfetto, ts);
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

static uint64_t waking_value(struct perfetto *perfetto, const struct perfetto_bundle *bundle, size_t i, unsigned field,
			     struct labels *comms)
{
	const struct perfetto_waking *waking = &bundle->wakings[i];
	uint32_t number;
	bool fresh;

	switch (field) {
	case WAKING_TIMESTAMP:
		return i ? waking->ts - waking[-1].ts : waking->ts;
	case WAKING_PID:
		return waking->pid;
	case WAKING_TARGET_CPU:
		return waking->target_cpu;
	case WAKING_PRIO:
		return waking->prio;
	case WAKING_COMM:
		number = labels_add(comms, waking->comm, strnlen(waking->comm, sizeof(waking->comm)), &fresh);
		if (number == LABEL_NONE)
			export_no_memory(&perfetto->export);
		return number;
	}
	return waking->flags;
}

/* Makes the CompactSched of a bundle in perfetto->payload. */
static void make_compact(struct perfetto *perfetto, const struct perfetto_bundle *bundle)
{
	struct labels comms;

	out_clear(&perfetto->payload);
	labels_init(&comms);
	for (unsigned field = WAKING_TIMESTAMP; field < WAKING_END; field++) {
		out_clear(&perfetto->field);
		for (size_t i = 0; i < bundle->nr_wakings; i++)
			proto_varint(&perfetto->field, waking_value(perfetto, bundle, i, field, &comms));
		proto_message(&perfetto->payload, field, &perfetto->field);
	}
	for (size_t i = 0; i < comms.nr; i++)
		proto_string(&perfetto->payload, COMPACT_COMMS, comms.at[i].text, comms.at[i].len);
	labels_release(&comms);
}

void perfetto_bundle_flush(struct perfetto *perfetto, struct perfetto_buffer *buffer, uint64_t key,
			   struct perfetto_bundle *bundle)
{
	struct out *head = &perfetto->message, *tail = &perfetto->field, *out = perfetto->export.out, *packet;
	size_t len;

	if (!bundle->events || (!out_len(bundle->events) && !bundle->nr_wakings))
		return;
	out_clear(head);
	proto_u64(head, BUNDLE_CPU, key & (PERFETTO_APART - 1));
	if (bundle->nr_wakings) {
		make_compact(perfetto, bundle);
		proto_message(head, BUNDLE_COMPACT, &perfetto->payload);
	}
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
	perfetto->pending -= out_len(bundle->events) + bundle->nr_wakings * sizeof(*bundle->wakings);
	bundle->nr_wakings = 0;
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

static uint64_t value_of(const struct perfetto_kind *kind, const struct event *event, unsigned number)
{
	for (size_t i = 0; i < kind->nr_fields; i++)
		if (kind->fields[i].number == number)
			return place_u64(&kind->fields[i].place, event);
	return 0;
}

bool perfetto_put_waking(struct perfetto *perfetto, struct perfetto_buffer *buffer, const struct perfetto_kind *kind,
			 const struct event *event)
{
	bool apart = perfetto_machine_of(buffer, kind->family) == &buffer->own;
	struct perfetto_bundle *bundle = perfetto_bundle_of(buffer, event->cpu, apart);
	const struct perfetto_bundle *shown = apart ? perfetto_bundle_of(buffer, event->cpu, false) : bundle;
	uint64_t prio = value_of(kind, event, 3), target = value_of(kind, event, 5);
	struct perfetto_waking *waking;
	const char *text;
	size_t len;

	if (!bundle || !shown || !shown->has_switched || shown->to != event->pid || shown->switched >= event->ts ||
	    prio > UINT16_MAX || target > UINT16_MAX || kind->fields[0].number != 1 ||
	    !place_string(&kind->fields[0].place, event, &text, &len))
		return false;
	waking = vec_push(bundle->wakings, bundle->nr_wakings);
	if (!waking) {
		export_no_memory(&perfetto->export);
		return true;
	}
	*waking = (struct perfetto_waking){ .ts = event->ts,
					    .pid = (uint32_t)value_of(kind, event, 2),
					    .target_cpu = (uint32_t)target,
					    .prio = (uint32_t)prio,
					    .flags = event->flags };
	memcpy(waking->comm, text, len < sizeof(waking->comm) ? len : sizeof(waking->comm));
	perfetto->pending += sizeof(*waking);
	if (bundle->nr_wakings * sizeof(*waking) >= BUNDLE_SIZE)
		perfetto_bundle_flush(perfetto, buffer, event->cpu | (apart ? PERFETTO_APART : 0U), bundle);
	else if (perfetto->pending >= PENDING_MAX)
		perfetto_flush_all(perfetto);
	return true;
}

uint64_t perfetto_track_uuid(const struct perfetto_buffer *buffer, uint32_t id, unsigned what)
{
	return UINT64_C(0x776) << 52 | (uint64_t)buffer->index << 36 | (uint64_t)what << 32 | id;
}

static void put_track(struct perfetto *perfetto, const struct perfetto_machine *machine)
{
	proto_message(perfetto_begin_packet(perfetto, machine), PACKET_TRACK, &perfetto->field);
	perfetto_put_packet(perfetto);
}

void perfetto_describe(struct perfetto *perfetto, const struct perfetto_machine *machine, uint64_t uuid,
		       uint64_t parent, const char *name, unsigned rank)
{
	enum { EXPLICIT = 3 };

	out_clear(&perfetto->field);
	proto_u64(&perfetto->field, 1, uuid);
	proto_string(&perfetto->field, 2, name, strlen(name));
	proto_u64(&perfetto->field, 5, parent);
	if (rank)
		proto_u64(&perfetto->field, 12, rank);
	else
		proto_u64(&perfetto->field, 11, EXPLICIT);
	put_track(perfetto, machine);
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
	proto_u64(&perfetto->field, 1, perfetto_track_uuid(buffer, cpu, what));
	proto_string(&perfetto->field, 2, name, strlen(name));
	put_track(perfetto, machine);
}

void perfetto_put_labels(struct perfetto *perfetto, const struct perfetto_buffer *buffer,
			 const struct perfetto_machine *machine, int32_t process)
{
	static const enum who_part parts[] = { WHO_UNIT, WHO_CONTAINER, WHO_POD, WHO_CGROUP, WHO_USER };
	size_t before;

	out_clear(&perfetto->message);
	proto_u64(&perfetto->message, 1, (uint32_t)process);
	before = out_len(&perfetto->message);
	for (size_t i = 0; i < array_size(parts); i++) {
		uint32_t who = who_is(buffer->context, parts[i], process, UINT64_MAX, NULL);
		const char *text = who ? who_text(buffer->context, parts[i], who) : "";
		char label[300];

		if (!*text)
			continue;
		snprintf(label, sizeof(label), "%s %s", who_part_word(parts[i]), text);
		proto_string(&perfetto->message, 8, label, strlen(label));
	}
	if (out_len(&perfetto->message) == before)
		return;
	out_clear(&perfetto->field);
	proto_u64(&perfetto->field, 1, perfetto_track_uuid(buffer, (uint32_t)process, TRACK_PROCESS));
	proto_message(&perfetto->field, 3, &perfetto->message);
	put_track(perfetto, machine);
}

/* `flows`: the arrows from or to this slice; 0: none. */
static void put_flow_event(struct perfetto *perfetto, const struct perfetto_machine *machine, uint64_t uuid,
			   unsigned type, uint64_t ts, const char *name, size_t len, const uint64_t flows[2])
{
	struct out *packet;

	out_clear(&perfetto->field);
	proto_u64(&perfetto->field, 9, type);
	proto_u64(&perfetto->field, 11, uuid);
	if (name)
		proto_string(&perfetto->field, 23, name, len);
	for (size_t i = 0; i < 2; i++)
		if (flows[i])
			proto_fixed64(&perfetto->field, 47, flows[i]);
	packet = perfetto_begin_packet(perfetto, machine);
	proto_u64(packet, PACKET_TIMESTAMP, ts);
	proto_message(packet, PACKET_TRACK_EVENT, &perfetto->field);
	perfetto_put_packet(perfetto);
}

void perfetto_put_track_event(struct perfetto *perfetto, const struct perfetto_machine *machine, uint64_t uuid,
			      unsigned type, uint64_t ts, const char *name, size_t len)
{
	static const uint64_t none[2];

	put_flow_event(perfetto, machine, uuid, type, ts, name, len, none);
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
	perfetto_put_track_event(perfetto, perfetto_machine_of(buffer, FAMILY_NONE),
				 perfetto_track_uuid(buffer, cpu, what), type, ts, name, len);
}

uint64_t perfetto_task_track(struct perfetto *perfetto, struct perfetto_buffer *buffer, int32_t pid)
{
	const struct perfetto_machine *machine = perfetto_machine_of(buffer, FAMILY_CALLS);
	uint64_t uuid = perfetto_track_uuid(buffer, (uint32_t)pid, TRACK_TASK);
	uint8_t *known = u64_map_add(&buffer->tracks, (uint32_t)pid);
	int32_t tgid = who_process(buffer->context, pid, UINT64_MAX, NULL);

	if (!known) {
		export_no_memory(&perfetto->export);
		return 0;
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
	return uuid;
}

/* A track of a thread is the one on which the importer draws the system calls that it pairs itself. */
void perfetto_put_task_slice(struct perfetto *perfetto, struct perfetto_buffer *buffer, int32_t pid, unsigned type,
			     uint64_t ts, const char *name)
{
	uint64_t uuid = perfetto_task_track(perfetto, buffer, pid);

	if (uuid)
		perfetto_put_track_event(perfetto, perfetto_machine_of(buffer, FAMILY_CALLS), uuid, type, ts, name,
					 name ? strlen(name) : 0);
}

/* Pairs of one name and owner are not inside one another, and may cross those of other names. */
void perfetto_put_pair(struct perfetto *perfetto, struct perfetto_buffer *buffer, const struct timeline_slice *slice)
{
	const struct perfetto_machine *machine = perfetto_machine_of(buffer, FAMILY_CALLS);
	uint64_t parent = slice->of_task && slice->pid ? perfetto_task_track(perfetto, buffer, slice->pid) : 0, uuid;
	uint32_t owner = slice->of_task ? (uint32_t)slice->pid : slice->cpu;
	char name[128], key[160];
	uint8_t *known;
	int len;

	snprintf(name, sizeof(name), "%.40s:%.*s", slice->system, slice->stem_len < 60 ? (int)slice->stem_len : 60,
		 slice->stem);
	if (!parent)
		snprintf(name + strlen(name), sizeof(name) - strlen(name), ", CPU %" PRIu32, slice->cpu);
	len = snprintf(key, sizeof(key), "%s %" PRIu32 " %u", name, owner, buffer->index);
	uuid = xxh64(key, (size_t)len);
	known = u64_map_add(&buffer->pairs, uuid);
	if (!known) {
		export_no_memory(&perfetto->export);
		return;
	}
	if (!*known) {
		out_clear(&perfetto->field);
		proto_u64(&perfetto->field, 1, uuid);
		proto_string(&perfetto->field, 2, name, strlen(name));
		if (parent)
			proto_u64(&perfetto->field, 5, parent);
		put_track(perfetto, machine);
		*known = 1;
	}
	perfetto_put_track_event(perfetto, machine, uuid, SLICE_BEGIN, slice->start, slice->stem, slice->stem_len);
	perfetto_put_track_event(perfetto, machine, uuid, SLICE_END, slice->to, NULL, 0);
}

void perfetto_put_counter(struct perfetto *perfetto, struct perfetto_buffer *buffer, const struct timeline_slice *slice)
{
	const struct perfetto_machine *machine = perfetto_machine_of(buffer, FAMILY_NONE);
	char key[200];
	int len = snprintf(key, sizeof(key), "counter %.*s %u", slice->stem_len < 160 ? (int)slice->stem_len : 160,
			   slice->stem, buffer->index);
	uint64_t uuid = xxh64(key, (size_t)len);
	uint8_t *known = u64_map_add(&buffer->pairs, uuid);
	struct out *packet;

	if (!known) {
		export_no_memory(&perfetto->export);
		return;
	}
	if (!*known) {
		out_clear(&perfetto->message);
		out_clear(&perfetto->field);
		proto_u64(&perfetto->field, 1, uuid);
		proto_string(&perfetto->field, 2, slice->stem, slice->stem_len);
		proto_message(&perfetto->field, 8, &perfetto->message);
		put_track(perfetto, machine);
		*known = 1;
	}
	out_clear(&perfetto->field);
	proto_u64(&perfetto->field, 9, SLICE_COUNTER);
	proto_u64(&perfetto->field, 11, uuid);
	proto_u64(&perfetto->field, 30, (uint64_t)slice->number);
	packet = perfetto_begin_packet(perfetto, machine);
	proto_u64(packet, PACKET_TIMESTAMP, slice->start);
	proto_message(packet, PACKET_TRACK_EVENT, &perfetto->field);
	perfetto_put_packet(perfetto);
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

/* The payload describes a type of event. */
static void put_description(struct perfetto *perfetto, struct perfetto_buffer *buffer)
{
	const struct perfetto_machine *machine = perfetto_machine_of(buffer, FAMILY_NONE);

	out_clear(&perfetto->message);
	proto_u64(&perfetto->message, BUNDLE_CPU, 0);
	proto_message(&perfetto->message, BUNDLE_DESCRIPTOR, &perfetto->payload);
	proto_message(perfetto_begin_packet(perfetto, machine), PACKET_FTRACE, &perfetto->message);
	perfetto_put_packet(perfetto);
}

static void describe(struct perfetto *perfetto, struct perfetto_buffer *buffer, const struct perfetto_kind *kind)
{
	out_clear(&perfetto->payload);
	perfetto_kind_describe(kind, &perfetto->scratch, &perfetto->field, &perfetto->payload);
	put_description(perfetto, buffer);
}

enum { STACK_TGID = 1, STACK_CALLER }; /* fields of user_stack */

static void describe_stack_field(struct out *field, const char *name, unsigned number, unsigned type)
{
	out_clear(field);
	proto_text(field, 1, name);
	proto_u64(field, 3, number);
	proto_u64(field, 4, 1);
	proto_u64(field, 5, type);
}

/* As perfetto_kind_describe() does. */
static void describe_stack(struct perfetto *perfetto, struct perfetto_buffer *buffer)
{
	enum { INT64 = 3, STRING = 9 };

	out_clear(&perfetto->scratch);
	proto_text(&perfetto->scratch, 1, "user_stack");
	describe_stack_field(&perfetto->field, "tgid", STACK_TGID, INT64);
	proto_message(&perfetto->scratch, 2, &perfetto->field);
	describe_stack_field(&perfetto->field, "caller", STACK_CALLER, STRING);
	proto_message(&perfetto->scratch, 2, &perfetto->field);
	out_clear(&perfetto->payload);
	proto_u64(&perfetto->payload, 1, buffer->stack_id);
	proto_message(&perfetto->payload, 2, &perfetto->scratch);
	proto_text(&perfetto->payload, 3, "weft");
	put_description(perfetto, buffer);
}

static void put_stack_text(struct out *out, const struct context *context, int32_t tgid, struct stack *stack)
{
	char name[STACK_USER_NAME];
	uint64_t address;

	out_clear(out);
	for (bool inner = true; stack_next(stack, &address); inner = false) {
		uint64_t frame = stack_user_frame(context, tgid, address, inner);

		if (!inner)
			out_char(out, '\n');
		out_mem(out, name, stack_user_name(context, tgid, frame, name, sizeof(name)));
	}
	if (stack->cut)
		out_str(out, "\n...");
}

void perfetto_put_unwound(struct perfetto *perfetto, struct perfetto_buffer *buffer, const struct event *event)
{
	struct stack stack;
	int32_t tgid;

	if (!user_stacks_beside(buffer->unwound, event, &stack, &tgid))
		return;
	if (!buffer->stack_id) {
		buffer->stack_id = perfetto->next_id++;
		if (buffer->stack_id <= PERFETTO_OWN_LAST)
			describe_stack(perfetto, buffer);
	}
	if (buffer->stack_id > PERFETTO_OWN_LAST) {
		perfetto->unknown++;
		return;
	}
	put_stack_text(&perfetto->scratch, buffer->context, tgid, &stack);
	out_clear(&perfetto->payload);
	proto_u64(&perfetto->payload, STACK_TGID, (uint64_t)tgid);
	proto_string(&perfetto->payload, STACK_CALLER, perfetto->scratch.start, out_len(&perfetto->scratch));
	perfetto_put_event(perfetto, buffer, FAMILY_NONE, event, buffer->stack_id);
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

static bool is_same(const struct path_link *link, const struct path_link *other, unsigned frame)
{
	return frame < link->nr_chain && frame < other->nr_chain && link->chain[frame].pid == other->chain[frame].pid &&
	       !strcmp(link->chain[frame].comm, other->chain[frame].comm);
}

static void describe_path(struct perfetto *perfetto, const struct perfetto_machine *machine, const struct path *path,
			  uint64_t uuid)
{
	char name[160];

	snprintf(name, sizeof(name), "why: %.48s of %.32s-%" PRId32, path->name, path->task.comm, path->task.pid);
	out_clear(&perfetto->field);
	proto_u64(&perfetto->field, 1, uuid);
	proto_string(&perfetto->field, 2, name, strlen(name));
	put_track(perfetto, machine);
}

/* An arrow leads from what a task did until it woke another one to what that one did then. */
static void find_flows(const struct path *path, size_t at, uint64_t uuid, uint64_t flows[2])
{
	uint64_t flow = (uuid ^ UINT64_C(1) << 62) + ((uint64_t)at << 1);

	flows[0] = at && path->links[at - 1].depth > path->links[at].depth ? flow : 0;
	flows[1] = at + 1 < path->nr_links && path->links[at].depth > path->links[at + 1].depth ? flow + 2 : 0;
}

void perfetto_put_path(struct perfetto *perfetto, struct perfetto_buffer *buffer, const struct path *path,
		       uint32_t number)
{
	const struct perfetto_machine *machine = perfetto_machine_of(buffer, FAMILY_CALLS);
	uint64_t uuid = perfetto_track_uuid(buffer, number, TRACK_WHY), flows[2];
	unsigned open = 0, same;
	char name[256];

	describe_path(perfetto, machine, path, uuid);
	for (size_t i = 0; i <= path->nr_links; i++) {
		const struct path_link *link = i < path->nr_links ? &path->links[i] : NULL;
		uint64_t at = link ? link->from : path->to;

		for (same = 0; link && i && is_same(link, &path->links[i - 1], same);)
			same++;
		for (; open > same; open--)
			perfetto_put_track_event(perfetto, machine, uuid, SLICE_END, at, NULL, 0);
		for (; link && open < link->nr_chain; open++) {
			snprintf(name, sizeof(name), "%.32s-%" PRId32, link->chain[open].comm, link->chain[open].pid);
			perfetto_put_track_event(perfetto, machine, uuid, SLICE_BEGIN, at, name, strlen(name));
		}
		if (!link)
			break;
		find_flows(path, i, uuid, flows);
		snprintf(name, sizeof(name), "%s%s%.96s", link->state, *link->cause ? " " : "", link->cause);
		put_flow_event(perfetto, machine, uuid, SLICE_BEGIN, at, name, strlen(name), flows);
		perfetto_put_track_event(perfetto, machine, uuid, SLICE_END, link->to, NULL, 0);
	}
}

void perfetto_put_clock_error(struct perfetto *perfetto, struct perfetto_buffer *buffer, const char *name)
{
	const struct perfetto_machine *machine = perfetto_machine_of(buffer, FAMILY_NONE);
	uint64_t uuid = perfetto_track_uuid(buffer, 0, TRACK_CLOCK);
	char track[256];

	snprintf(track, sizeof(track), "clock of %.200s",
		 buffer->context->recording ? buffer->context->recording : buffer->context->instance);
	out_clear(&perfetto->field);
	proto_u64(&perfetto->field, 1, uuid);
	proto_string(&perfetto->field, 2, track, strlen(track));
	put_track(perfetto, machine);
	perfetto_put_track_event(perfetto, machine, uuid, SLICE_BEGIN, perfetto->first, name, strlen(name));
	perfetto_put_track_event(perfetto, machine, uuid, SLICE_END, perfetto->last, NULL, 0);
}
