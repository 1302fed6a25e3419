/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_INTAKE_INTERNAL_H
#define WEFT_KERNEL_RECORD_INTAKE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/record/compress_or_store_internal.h"

struct cpu_pipe;
struct fail;
struct frame_writer;
struct chunk_history_cpu;
struct landed;
struct page_staging;
struct recorder_options;
struct spool;

/*
 * What a recorder does with pages: it takes them out of its CPU's buffer, makes chunks of them, and appends these to
 * its spool. When it does so is the business of recorder.h.
 * Invariant: after each call below that returns 0, every page that was taken is in the spool.
 */
struct intake {
	/* of the caller, borrowed */
	const struct recorder_options *options;
	struct cpu_pipe *pipe;
	struct spool *spool;
	struct chunk_history_cpu *held; /* NULL: the spool is a file and nothing is dropped from it */
	struct page_staging *staging;   /* NULL: pages are taken into own_pages */
	/* its own */
	struct frame_writer *codec; /* NULL: pages are not compressed */
	char *own_pages;
	char *pages; /* of the chunk that is made */
	size_t pages_len, pages_size;
	char *batch;
	size_t batch_len, batch_size;
	uint32_t batch_chunks;
	struct compress_or_store slack;
	uint64_t batch_raw;
	char *ends; /* for a spool in memory: the first and the last page of a chunk */
	uint64_t unchecked;
	bool lost; /* events were lost before the next page */
};

/* `intake` has what the caller lends, and zeros. */
int must_check intake_init(struct intake *intake, struct fail *fail);
void intake_release(struct intake *intake);

/* Takes all sub-buffers that are full now. */
int must_check intake_full(struct intake *intake, size_t *ret_taken, struct fail *fail);
/* The same and the partly filled one. It reads that one only once, because reading it may cause events. */
int must_check intake_now(struct intake *intake, struct fail *fail);
/* Takes the rest of the buffer, after tracing was turned off. */
int must_check intake_rest(struct intake *intake, struct fail *fail);
/* Adds what a dead recorder had taken and not yet put into its spool. */
int must_check intake_landed(struct intake *intake, const struct landed *landed, struct fail *fail);

/*
 * The bytes of pages in a chunk. A reader of the file holds one chunk of each CPU in memory, so chunks are small if
 * there are many CPUs. nr_cpus 0: those of this machine.
 */
size_t intake_chunk_size(uint32_t page_size, uint32_t nr_cpus);
/* The bytes of pages in a staging. */
size_t intake_landing_size(uint32_t page_size, uint32_t nr_cpus);

#endif
