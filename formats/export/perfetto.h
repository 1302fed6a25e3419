/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FORMATS_EXPORT_PERFETTO_H
#define WEFT_FORMATS_EXPORT_PERFETTO_H

#include "formats/export/export.h"
#include "formats/export/kinds.h"
#include "formats/export/labels.h"
#include "lib/base/out.h"
#include "lib/base/u64_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct context;
struct frames;
struct perfetto_kind;
struct sink;

/* Private to perfetto*.c: the state of the exporter, and the functions that write packets (perfetto_write.c). */
enum { PACKET_TIMESTAMP = 8, PACKET_PROCESS_TREE = 2 };
enum { EVENT_GRAPH_ENTRY = 437, EVENT_GRAPH_EXIT = 438 };
enum { SLICE_BEGIN = 1, SLICE_END = 2, SLICE_INSTANT = 3 };
enum { TRACK_LOST = 1, TRACK_INTERRUPT = 2 };

/* Events of a CPU that wait until there are enough for a packet. */
struct perfetto_bundle {
	struct out *events;
	bool lost;
	bool tracks[3]; /* by TRACK_*: whether the track was described */
};

struct perfetto_buffer {
	struct perfetto *perfetto;
	const struct context *context;
	struct frames *frames;
	struct sink *sink;
	struct u64_map functions; /* by address: label + 1 */
	struct u64_map bundles;   /* by CPU: struct perfetto_bundle */
	struct u64_map pids;      /* seen */
	uint16_t index;
};

struct perfetto {
	struct export export; /* first */
	struct kinds kinds;
	struct perfetto_buffer *buffers;
	size_t nr_buffers;
	struct labels labels; /* names of functions: a label's iid is its number + 1 */
	uint32_t next_id;
	struct out packet, message, payload, scratch, field;
	size_t pending;
	bool begun;
	uint64_t first, last;           /* times */
	uint64_t unknown, far, far_cpu; /* events left out */
	bool has_date;
	int64_t date_offset;
};

struct out *perfetto_begin_packet(struct perfetto *perfetto);
/* Writes the packet that perfetto_begin_packet() began. */
void perfetto_put_packet(struct perfetto *perfetto);

/* Writes the clocks and the machine. */
void perfetto_put_head(struct perfetto *perfetto, uint64_t ts);

/* The bundle of a CPU, to which its events are added; NULL without memory. */
struct perfetto_bundle *perfetto_bundle_of(struct perfetto_buffer *buffer, uint16_t cpu);
void perfetto_bundle_flush(struct perfetto *perfetto, uint64_t cpu, struct perfetto_bundle *bundle);
void perfetto_flush_all(struct perfetto *perfetto);

/* Writes an event, with perfetto->payload as its payload. */
void perfetto_put_event(struct perfetto *perfetto, struct perfetto_buffer *buffer, uint16_t cpu, uint64_t ts,
			int32_t pid, uint32_t id);

/* Writes the begin or end of a slice, or an instant, on a track that weft defines. */
void perfetto_put_slice(struct perfetto *perfetto, struct perfetto_buffer *buffer, uint16_t cpu, unsigned what,
			unsigned type, uint64_t ts, const char *name, size_t len);

/* The label of a function; its name is written when it is new. */
uint32_t perfetto_function_label(struct perfetto_buffer *buffer, uint64_t address);

/* Describes a type of event. The description precedes all events of the type, because these wait in their bundles. */
void perfetto_describe_kind(struct perfetto *perfetto, const struct perfetto_kind *kind);

#endif
