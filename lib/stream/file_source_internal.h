/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_STREAM_FILE_SOURCE_INTERNAL_H
#define WEFT_STREAM_FILE_SOURCE_INTERNAL_H

#include "lib/base/buf.h"
#include "lib/base/cleanup.h"
#include "lib/base/fail.h"
#include "lib/base/pool.h"
#include "lib/stream/source.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frame_reader;
struct trace_pages;

/* Shared by file_source.c and file_seek.c. */
/* A decompression context and its buffer. A thread takes one and puts it back. */
struct decoder {
	struct decoder *next;
	struct frame_reader *reader;
	struct buf scratch;
};

/* The block of one CPU that is read while the block before it is in use. */
struct ahead {
	struct pool_job job; /* must be the first member: a job is cast to its ahead */
	struct file_source *file;
	struct trace_pages *pages;
	struct block *block;         /* NULL: no job is running for it */
	bool loaded;                 /* the block has been read: file_source_load() */
	uint64_t events, events_max; /* bytes of events so far, and the number that is accepted */
	uint64_t first;              /* offset in the file of the CPU's first piece */
	uint64_t stride;             /* bytes between the places of the last two seeks; 0: unknown */
	uint64_t time, lasted;       /* of a seek by rate: the raw time of its place, and the time of that stride */
	uint64_t packed;             /* bytes in the file of the chunk there */
	/* when only a part of a chunk fits: the chunk's bytes and the bytes handed out so far; else 0 */
	size_t chunk, done;
	int result;
	struct fail fail;
};

struct file_source {
	struct source source;
	struct trace_pages *pages; /* one for each CPU */
	struct trace_pages *found; /* where the last seek after a restart, to `sought`, has led: one for each CPU */
	uint64_t sought;           /* raw time; 0: there was none */
	uint32_t *cpus;
	struct pool *pool;   /* borrowed; NULL: nothing is read ahead */
	struct ahead *ahead; /* one for each CPU */
	size_t ahead_size;   /* bytes of a block that has room for several chunks; 0 without a pool */
	size_t share;        /* bytes that one block may have; a multiple of the page size */
	size_t index;        /* of the buffer in the trace */
	struct buf whole;    /* a chunk that is handed out in parts */
	bool trusted;
	pthread_mutex_t lock; /* protects `idle` */
	struct decoder *idle;
	struct decoder *decoders; /* one for the owner's thread and one for each of the pool's threads */
	unsigned nr_decoders;
};

static inline struct file_source *file_source(struct source *source)
{
	return (struct file_source *)source;
}

size_t file_source_run_size(const struct file_source *file);
struct decoder *file_source_decoder_take(struct file_source *file);
void file_source_decoder_put(struct file_source *file, struct decoder *decoder);

/*
 * Reads the first block of a CPU after a restart, which next() will hand out without reading it again. Without a pool.
 * False: it cannot be read here, and nothing has changed. file_source_unload() gives up a block that was loaded and not
 * handed out, as if it had not been read; the pages stay behind it.
 */
bool must_check file_source_load(struct file_source *file, size_t cpu_index, uint64_t *ret_time);
void file_source_unload(struct file_source *file, size_t cpu_index);

/* The functions of struct source_ops. */
int must_check file_source_seek(struct source *source, size_t cpu_index, uint64_t ts, struct fail *fail);
int must_check file_source_restart(struct source *source, uint64_t ts, struct fail *fail);
int must_check file_source_time_at(struct source *source, size_t cpu_index, uint64_t part, uint64_t parts,
				   uint64_t *ret, struct fail *fail);

#endif
