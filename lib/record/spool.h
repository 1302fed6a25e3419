/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_SPOOL_H
#define WEFT_RECORD_SPOOL_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fail;

/*
 * A spool holds the pages of one CPU of one buffer while they are recorded, as they will stand in the trace.dat: chunks
 * { u32 size, u32 usize, frame } or whole raw pages, behind a head of one block that says where the kept bytes begin.
 * Invariant: after a kill at any byte everything but the last, torn chunk or page can be found (spool_scan).
 * With a cap the oldest chunks are given back to the filesystem (holes), and counted: head first, hole second.
 * `dir` is borrowed by each call; the file is this spool's own. Not supported: two writers.
 */
enum {
	SPOOL_HEAD_SIZE = 4096,
	SPOOL_CHUNK_PAGES = 32, /* trace-cmd writes 10, and reads any number; more pack better and faster */
	SPOOL_CHUNK_HEAD = 8,
};

struct spool_options {
	bool compressed; /* chunks; otherwise raw pages */
	bool swap;       /* the file's byte order is not this machine's */
	uint32_t page_size;
	uint64_t cap; /* bytes to keep at most; 0: all */
};

struct spool {
	int fd;
	struct spool_options options;
	uint64_t begin;   /* offset of the first kept byte */
	uint64_t end;     /* behind the last whole chunk or page */
	uint32_t chunks;  /* kept */
	uint64_t raw;     /* bytes of pages kept */
	uint64_t dropped; /* bytes of pages given up for the cap */
	uint64_t torn;    /* bytes behind `end` that spool_open() found */
};

/* "BUFFER.CPU", the name of the file. */
enum { SPOOL_NAME = 32 };
const char *spool_name(char into[SPOOL_NAME], uint32_t buffer, uint32_t cpu);

int must_check spool_new(int dir, uint32_t buffer, uint32_t cpu, const struct spool_options *options, struct spool *ret,
			 struct fail *fail);

/* Opens and scans a spool that a dead recorder left: every frame is decompressed. -ENOENT when there is none. */
int must_check spool_open(int dir, uint32_t buffer, uint32_t cpu, const struct spool_options *options,
			  struct spool *ret, struct fail *fail);
void spool_release(struct spool *spool);

/*
 * Appends whole chunks, each with its head, or whole pages; they stand for `raw` bytes of pages. On an error (-ENOSPC)
 * nothing was appended: the torn bytes are cut off.
 */
int must_check spool_append(struct spool *spool, const void *data, size_t len, uint32_t chunks, uint64_t raw,
			    struct fail *fail);

/* The same for `len` bytes of whole raw pages that were moved to the end of the file without our help. */
int must_check spool_moved(struct spool *spool, size_t len, struct fail *fail);

/*
 * A chunk of stored pages, written piece by piece to the end of the file: those that are in memory with spool_put(), the pages without
 * our help. Then either spool_stored() with the bytes of all pieces and those of the pages among them, or, after an error,
 * spool_cut(): nothing was appended.
 */
/* Bytes of pages for such a chunk: at most `max`, and little beside the cap, which is kept by giving up whole chunks. */
size_t spool_stored_max(const struct spool_options *options, size_t max);
int must_check spool_put(struct spool *spool, const void *data, size_t len, struct fail *fail);
int must_check spool_stored(struct spool *spool, size_t len, uint64_t raw, struct fail *fail);
void spool_cut(struct spool *spool);

/* Head of a chunk in the file's byte order, 8 bytes. */
void spool_chunk_head(const struct spool_options *options, uint32_t size, uint32_t usize, void *into);

static inline uint64_t spool_size(const struct spool *spool)
{
	return spool->end - spool->begin;
}

#endif
