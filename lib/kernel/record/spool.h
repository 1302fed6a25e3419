/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_SPOOL_H
#define WEFT_KERNEL_RECORD_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/pages/ring/page.h"

struct fail;

/*
 * A spool holds the pages of one CPU of one buffer during the recording, in the form of the trace.dat: chunks { u32
 * size, u32 usize, frame } or whole raw pages. A header of one block says where the kept bytes begin. Invariant: after
 * a kill at any byte, all chunks or pages except a torn one at the end can be found (spool_open()). With a cap, the
 * oldest chunks are given back to the filesystem as holes, and counted: the header is written before the hole is made.
 * `dir` is borrowed by each call; the spool owns its file. Not supported: two writers.
 */
enum {
	SPOOL_HEAD_SIZE = 4096,
	SPOOL_BLOCK = 4096, /* space is given back in such blocks */
	/* trace-cmd writes 10 and reads any number; larger chunks compress better and faster */
	SPOOL_CHUNK_PAGES = 32,
	SPOOL_CHUNK_HEAD = 8,
};

struct spool_options {
	bool compressed;         /* the file has chunks; false: raw pages */
	bool swap;               /* the file and this machine differ in their byte order */
	struct page_shape shape; /* of the pages; only the headers of chunks may be in another byte order */
	uint64_t cap;            /* the maximum number of bytes of pages to keep, uncompressed; 0: no limit */
};

struct spool {
	int fd;
	struct spool_options options;
	uint64_t begin;   /* offset of the first kept byte */
	uint64_t end;     /* offset after the last whole chunk or page */
	uint32_t chunks;  /* number of chunks kept */
	uint64_t raw;     /* bytes of pages kept, uncompressed */
	uint64_t dropped; /* bytes of pages given up because of the cap */
	uint64_t torn;    /* torn bytes after `end` that spool_open() found */
	char *last;       /* the last page of the chunks that spool_open() found; NULL: there were none */
};

/* Prints "BUFFER.CPU", the name of the file. */
enum { SPOOL_NAME = 32 };
const char *spool_name(char into[SPOOL_NAME], uint32_t buffer, uint32_t cpu);

int must_check spool_new(int dir, uint32_t buffer, uint32_t cpu, const struct spool_options *options, struct spool *ret,
			 struct fail *fail);

/* Opens and scans a spool that a dead recorder left. Every frame is decompressed. -ENOENT: there is none. */
int must_check spool_open(int dir, uint32_t buffer, uint32_t cpu, const struct spool_options *options,
			  struct spool *ret, struct fail *fail);

/*
 * Both steps of it, for a caller that reads in a sandbox what is not its own: spool_scan() changes nothing in the file,
 * where torn bytes then remain.
 */
int must_check spool_open_unread(int dir, uint32_t buffer, uint32_t cpu, const struct spool_options *options,
				 struct spool *ret, struct fail *fail);
int must_check spool_scan(struct spool *spool, struct fail *fail);

/* The same as spool_new() in memory, without a directory. */
int must_check spool_new_in_memory(const struct spool_options *options, struct spool *ret, struct fail *fail);
void spool_release(struct spool *spool);

/*
 * Appends whole chunks, each with its header, or whole pages; `raw` is their number of bytes of pages. After an error
 * (-ENOSPC) nothing is appended: torn bytes are cut off.
 */
int must_check spool_append(struct spool *spool, const void *data, size_t len, uint32_t chunks, uint64_t raw,
			    struct fail *fail);

/* Counts `len` bytes of whole raw pages that the caller has spliced to the end of the file. */
int must_check spool_moved(struct spool *spool, size_t len, struct fail *fail);

/*
 * A chunk of stored pages is written to the end of the file piece by piece: spool_put() writes pieces from memory, the
 * caller splices the pages. Then the caller calls spool_stored() with the bytes of all pieces and the bytes of pages
 * among them. After an error it calls spool_cut(), which removes the pieces.
 */
/*
 * The most bytes of pages in a chunk: at most `max`, and small compared to the cap, which is kept by giving up
 * whole chunks.
 */
size_t spool_chunk_max(const struct spool_options *options, size_t max);
/* Takes the memory for this many bytes. False: there is not enough, and nothing was taken. */
bool spool_reserve(const struct spool *spool, size_t len);
int must_check spool_put(struct spool *spool, const void *data, size_t len, struct fail *fail);
int must_check spool_stored(struct spool *spool, size_t len, uint64_t raw, struct fail *fail);
void spool_cut(struct spool *spool);

/*
 * For a spool without a cap, whose owner knows what may go: a reader of the file begins with the chunk at `begin`, and
 * the space from `from`, the same at the last call, up to there is given back. `dropped`: the bytes of pages that were
 * given up, of all calls together. May be called while another thread appends.
 */
int must_check spool_give_up(int fd, uint64_t from, uint64_t begin, uint64_t dropped, struct fail *fail);

/* The bytes from where a reader begins now, as spool_give_up() of another process has said last. */
uint64_t spool_backlog(const struct spool *spool);

/* Writes the header of a chunk in the file's byte order, 8 bytes. */
void spool_chunk_head(const struct spool_options *options, uint32_t size, uint32_t usize, void *into);

static inline uint64_t spool_size(const struct spool *spool)
{
	return spool->end - spool->begin;
}

#endif
