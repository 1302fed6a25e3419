/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PAGES_PERF_PERF_DATA_INTERNAL_H
#define WEFT_PAGES_PERF_PERF_DATA_INTERNAL_H

#include "lib/ground/base/bytes.h"
#include "lib/ground/base/u64_map.h"
#include "lib/pages/perf/perf_data.h"

struct frame_stream;

/* The bytes of a record's head: u32 kind, u16 flags, u16 size. */
enum { PERF_HEAD = 8, PERF_KNOWN_IDS = 256 };

struct perf_data {
	const struct input *inputs;
	size_t nr_inputs, input;
	uint64_t at, end; /* of the records of this input */
	bool swap, pipe, done;
	uint32_t rounds;
	struct perf_attr *attrs;
	size_t nr_attrs;
	struct u64_map ids;  /* the number of its attr, by id */
	struct u64_map cpus; /* by id: the CPU + 1 */
	/* the attributes of some ids, each where its lowest bits say; attr NULL: look for it */
	struct {
		uint64_t id;
		const struct perf_attr *attr;
	} known[PERF_KNOWN_IDS];
	struct perf_facts facts;
	struct perf_formats formats;
	uint8_t *tracing; /* what the texts of `formats` lie in */
	size_t tracing_len;
	uint8_t *window;
	uint64_t window_size;
	size_t window_input;
	uint64_t window_at;
	size_t window_len;
	struct frame_stream *stream;
	const uint8_t *packed; /* in the window */
	size_t packed_len;
	bool more; /* the stream may have more for what it took */
	uint8_t *inflated;
	size_t inflated_at, inflated_len;
	uint64_t packed_total, inflated_total;
};

/* The attribute of an id; of an unknown id the first one. NULL: there is none. */
const struct perf_attr *perf_attr_of(const struct perf_data *data, uint64_t id);

/* Reads a record of enum perf_kind. False: it is too short for what it has. */
bool perf_record_read(struct perf_data *data, uint32_t kind, const uint8_t *at, size_t size, struct perf_record *ret);

#endif
