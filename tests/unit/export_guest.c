// SPDX-License-Identifier: GPL-2.0-only
/* A guest beside its host for Perfetto: its bytes are read by the numbers of perfetto.dev, and compared ns by ns. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/export/export.h"
#include "lib/ground/base/fail.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/guest/host.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/state/vcpus.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/exported.h"
#include "tests/unit/guest_pair.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

enum { PAIRS = 12, TRACKS = 16, DEPTHS = 3, NAME = 64 };
enum { PACKET_TIME = 8, PACKET_EVENT = 11, PACKET_TRACK = 60 };

/* A track that the file describes, and what its slices say of each ns, by depth: the number of a name, from 1. */
struct drawn_track {
	uint64_t uuid, parent, rank, tid;
	char name[NAME];
	unsigned open;
	uint64_t since[DEPTHS];
	unsigned names[DEPTHS];
	uint8_t at[DEPTHS][GUEST_PAIR_SPAN];
};

struct drawn {
	struct drawn_track tracks[TRACKS];
	size_t nr_tracks, nr_names;
	char names[64][NAME];
};

static uint64_t varint(const uint8_t **at)
{
	uint64_t value = 0;

	for (unsigned shift = 0;; shift += 7) {
		uint8_t byte = *(*at)++;

		value |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			return value;
	}
}

/* The next field of a message: a number, or bytes of *ret_len at the place returned as a value. */
static bool next_field(const uint8_t **at, const uint8_t *end, unsigned *ret_number, uint64_t *ret_value,
		       const uint8_t **ret_bytes)
{
	uint64_t key;

	if (*at >= end)
		return false;
	key = varint(at);
	*ret_number = (unsigned)(key >> 3);
	*ret_bytes = NULL;
	if ((key & 7) == 1) {
		memcpy(ret_value, *at, 8);
		*at += 8;
		return true;
	}
	*ret_value = varint(at);
	if ((key & 7) == 2) {
		*ret_bytes = *at;
		*at += *ret_value;
	}
	return CHECK(*at <= end);
}

static struct drawn_track *track_of(struct drawn *drawn, uint64_t uuid)
{
	for (size_t i = 0; i < drawn->nr_tracks; i++)
		if (drawn->tracks[i].uuid == uuid)
			return &drawn->tracks[i];
	return NULL;
}

static void copy_name(char into[NAME], const uint8_t *bytes, uint64_t len)
{
	snprintf(into, NAME, "%.*s", (int)len, (const char *)bytes);
}

static void take_track(struct drawn *drawn, const uint8_t *at, const uint8_t *end)
{
	struct drawn_track track = { .uuid = 0 };
	const uint8_t *bytes, *inner;
	unsigned number;
	uint64_t value;

	while (next_field(&at, end, &number, &value, &bytes)) {
		if (number == 1)
			track.uuid = value;
		else if (number == 2)
			copy_name(track.name, bytes, value);
		else if (number == 5)
			track.parent = value;
		else if (number == 12)
			track.rank = value;
		for (inner = bytes; number == 4 && inner < at;) {
			const uint8_t *text;
			unsigned field;

			if (next_field(&inner, at, &field, &value, &text) && field == 2)
				track.tid = value;
		}
	}
	/* What a track lies below comes before it. */
	CHECK(!track.parent || track_of(drawn, track.parent));
	if (CHECK(drawn->nr_tracks < TRACKS && !track_of(drawn, track.uuid)))
		drawn->tracks[drawn->nr_tracks++] = track;
}

static unsigned number_of(struct drawn *drawn, const char *name)
{
	for (size_t i = 0; i < drawn->nr_names; i++)
		if (!strcmp(drawn->names[i], name))
			return (unsigned)i + 1;
	if (CHECK(drawn->nr_names < array_size(drawn->names)))
		snprintf(drawn->names[drawn->nr_names++], NAME, "%s", name);
	return (unsigned)drawn->nr_names;
}

static void take_event(struct drawn *drawn, uint64_t ts, const uint8_t *at, const uint8_t *end)
{
	struct drawn_track *track = NULL;
	char name[NAME] = "";
	const uint8_t *bytes;
	uint64_t value, type = 0;
	unsigned number;

	while (next_field(&at, end, &number, &value, &bytes)) {
		if (number == 9)
			type = value;
		else if (number == 11)
			track = track_of(drawn, value);
		else if (number == 23)
			copy_name(name, bytes, value);
	}
	if (!CHECK(track) || type > 2)
		return;
	if (type == 1) {
		if (CHECK(track->open < DEPTHS)) {
			track->since[track->open] = ts;
			track->names[track->open++] = number_of(drawn, name);
		}
		return;
	}
	if (!CHECK(track->open))
		return;
	track->open--;
	for (uint64_t i = track->since[track->open]; i < ts && i < GUEST_PAIR_SPAN; i++) {
		CHECK(!track->at[track->open][i]);
		track->at[track->open][i] = (uint8_t)track->names[track->open];
	}
}

static void take_all(struct drawn *drawn, const uint8_t *at, const uint8_t *end)
{
	const uint8_t *packet, *bytes, *inner;
	uint64_t value, ts = 0;
	unsigned number;

	while (next_field(&at, end, &number, &value, &packet)) {
		for (inner = packet; inner < at && next_field(&inner, at, &number, &value, &bytes);) {
			if (number == PACKET_TIME)
				ts = value;
			else if (number == PACKET_TRACK)
				take_track(drawn, bytes, bytes + value);
			else if (number == PACKET_EVENT)
				take_event(drawn, ts, bytes, bytes + value);
		}
	}
}

static const struct drawn_track *track_named(struct drawn *drawn, const char *name)
{
	for (size_t i = 0; i < drawn->nr_tracks; i++)
		if (!strcmp(drawn->tracks[i].name, name))
			return &drawn->tracks[i];
	CHECK(!name);
	return &drawn->tracks[0];
}

static const char *name_at(const struct drawn *drawn, const struct drawn_track *track, unsigned depth, uint64_t at)
{
	return track->at[depth][at] ? drawn->names[track->at[depth][at] - 1] : "";
}

static bool is_mode(const char *name, uint8_t mode)
{
	static const char *const exits[] = { "exit EXTERNAL_INTERRUPT", "exit HLT", "exit EPT_VIOLATION" };
	static const char *const names[VCPU_MODES] = { [VCPU_RAN] = "ran",
						       [VCPU_WAITED] = "waits for a CPU of the host",
						       [VCPU_HALTED] = "halted",
						       [VCPU_UNKNOWN] = "not known" };

	for (size_t i = 0; mode == VCPU_EXIT && i < array_size(exits); i++)
		if (!strcmp(name, exits[i]))
			return true;
	return mode != VCPU_EXIT && !strcmp(name, names[mode]);
}

/* From the first to the last event of both. */
static void check_drawn(struct drawn *drawn, const struct guest_pair *pair, uint64_t first)
{
	const struct drawn_track *tasks = track_named(drawn, "tasks of the guest"),
				 *thread = track_named(drawn, "what the thread did"),
				 *unsure = track_named(drawn, "unsure"), *cpu = track_named(drawn, "CPU 0 of guest");

	/* Below the track of the thread, in this order. */
	CHECK(tasks->rank == 1 && thread->rank == 2 && unsure->rank == 3);
	CHECK(tasks->parent == cpu->uuid && thread->parent == cpu->uuid && unsure->parent == cpu->uuid);
	CHECK(track_of(drawn, cpu->parent) && track_of(drawn, cpu->parent)->tid == 500);
	for (uint64_t at = first; at < GUEST_PAIR_SPAN; at++) {
		uint8_t mode = pair->modes[at];
		bool off = pair->task[at] && mode != VCPU_RAN && mode != VCPU_UNKNOWN;
		char task[NAME] = "";

		if (pair->task[at])
			snprintf(task, sizeof(task), "t%u-%u", pair->task[at], pair->task[at]);
		if (!CHECK(!strcmp(name_at(drawn, tasks, 0, at), task)) ||
		    !CHECK(off ? is_mode(name_at(drawn, tasks, 1, at), mode) : !tasks->at[1][at]) ||
		    !CHECK(is_mode(name_at(drawn, thread, 0, at), mode)) ||
		    !CHECK(!!unsure->at[0][at] == pair->unsure[at])) {
			printf("at %" PRIu64 ": '%s' '%s' '%s'\n", at, name_at(drawn, tasks, 0, at),
			       name_at(drawn, tasks, 1, at), name_at(drawn, thread, 0, at));
			return;
		}
	}
}

static void check_pair(struct guest_pair *pair, struct drawn *drawn)
{
	const struct guest_host host = { .buffer = "host" };
	struct guest_host_reading *reading = NULL;
	struct export_guest guest = { .guest = 0, .host = 1 };
	struct reader reader;
	struct trace *trace;
	struct loom loom;
	uint64_t first = 1;
	char *bytes = NULL;
	size_t len = 0;

	loom_init(&loom);
	guest_pair_plant(pair);
	trace = guest_pair_trace(pair, &loom);
	loom_release(&loom);
	reader_init(&reader);
	REQUIRE(trace && !reader_add(&reader, trace, 0, NULL));
	if (CHECK(!guest_host_begin(&host, reader.buffers[0].context, &reading, NULL) &&
		  !guest_host_run(reading, NULL, NULL, NULL))) {
		guest.vcpus = guest_host_vcpus(reading);
		bytes = exported_guest(trace, "perfetto", &guest, &len);
	}
	if (bytes) {
		take_all(drawn, (const uint8_t *)bytes, (const uint8_t *)bytes + len);
		check_drawn(drawn, pair, first);
	}
	free(bytes);
	guest_host_end(reading);
	reader_release(&reader);
	trace_free(trace);
}

TEST(export_guest_perfetto_has_each_ns_of_the_guest_and_its_thread)
{
	srand(595);
	for (int i = 0; i < PAIRS; i++) {
		struct guest_pair *pair = calloc(1, sizeof(*pair));
		struct drawn *drawn = calloc(1, sizeof(*drawn));

		REQUIRE(pair && drawn);
		check_pair(pair, drawn);
		guest_pair_release(pair);
		free(drawn);
		free(pair);
	}
}
