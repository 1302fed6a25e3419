/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_TRACE_WRITER_INTERNAL_H
#define WEFT_TRACE_WRITER_INTERNAL_H

#include "lib/base/buf.h"
#include "lib/trace/output.h"
#include "lib/trace/trace.h"
#include "lib/trace/writer.h"

struct frame_writer;

/* Shared by writer.c and the files of the two versions. No other file may include this. */

/* A buffer of the file: the data about it so far. */
struct writer_ring {
	char *name, *clock;
	uint32_t page_size;
	uint64_t offset; /* of its section (v7) or its table (v6) */
	struct trace_cpu *cpus;
	size_t nr_cpus;
};

struct writer {
	struct output output;
	struct writer_options options;
	bool swap;
	bool has_metadata;
	bool has_sums;               /* from the setting "weft/sums" */
	struct frame_writer *frames; /* NULL when nothing is compressed */
	struct writer_ring *rings;
	size_t nr_rings;
	uint32_t cpu_count;
	uint64_t done;                 /* v7: where the offset of the next options goes */
	struct buf strings;            /* v7: names of the sections */
	uint64_t reserve, reserve_end; /* v6: room among the options, for those that announce instances */
	bool has_clock;                /* v6: the top table has a clock after it */
	struct buf settings;           /* v6: the body, which goes to the end */
};

static inline struct writer_ring *writer_last_ring(struct writer *writer)
{
	return writer->nr_rings ? &writer->rings[writer->nr_rings - 1] : NULL;
}

/*
 * The pages of a CPU begin at multiples of the buffer's page size and of the page size with which readers may map the
 * file.
 */
static inline uint64_t writer_align(const struct writer_ring *ring)
{
	enum { MAPPABLE = 4096 };

	return ring->page_size > MAPPABLE ? ring->page_size : MAPPABLE;
}

int must_check v7_begin(struct writer *writer, struct fail *fail);
int must_check v7_metadata(struct writer *writer, const struct writer_metadata *metadata, struct fail *fail);
int must_check v7_begin_ring(struct writer *writer, struct writer_ring *ring, struct fail *fail);
int must_check v7_end_ring(struct writer *writer, struct writer_ring *ring, struct fail *fail);
int must_check v7_finish(struct writer *writer, struct fail *fail);

int must_check v6_begin(struct writer *writer, struct fail *fail);
int must_check v6_metadata(struct writer *writer, const struct writer_metadata *metadata, struct fail *fail);
int must_check v6_begin_ring(struct writer *writer, struct writer_ring *ring, struct fail *fail);
int must_check v6_end_ring(struct writer *writer, struct writer_ring *ring, struct fail *fail);
int must_check v6_finish(struct writer *writer, struct fail *fail);

/* The 18 bytes with which files of both versions begin. */
bool put_initial_head(struct buf *buf, const struct writer *writer);

#endif
