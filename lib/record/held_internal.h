/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_RECORD_HELD_INTERNAL_H
#define WEFT_RECORD_HELD_INTERNAL_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fail;
struct page_shape;
struct spool;

/*
 * What a recording without a file holds: the compressed chunks of the last seconds of each CPU, in spools that lie in
 * memory. A recorder appends a chunk to its spool and tells its times here; the oldest chunks are given back to the
 * kernel as holes of the spool.
 *
 * Limits: a chunk is dropped when every event in it is older than `span` before the newest event of all CPUs. If all
 * chunks together exceed `max` bytes, the chunk with the oldest end is dropped earlier. Chunks that are being written
 * to a file are never dropped; if then twice `max` is held, the recorders wait, and the kernel counts what it loses.
 *
 * Times are those of the trace clock. All functions may be called from any thread; held_cpu_*() from the recorder of
 * that CPU.
 */
struct held;
struct held_cpu;

enum { HELD_OVER = 2 }; /* how many times `max` may be held while a file is written */

int must_check held_new(uint64_t span, uint64_t max, bool overwrites, struct held **ret, struct fail *fail);
void held_free(struct held *held);

/*
 * Adds a CPU of a buffer before its recorder starts. `fd` is its spool, borrowed. The result belongs to `held`. The
 * events from `since` on will be there.
 */
int must_check held_add_cpu(struct held *held, uint32_t buffer, uint32_t cpu, int fd, uint64_t since,
			    struct held_cpu **ret, struct fail *fail);

/* A descriptor that is readable when somebody asks the recorder for something: held_cpu_heed(). */
int held_cpu_fd(const struct held_cpu *cpu);

/* What the recorder is asked for. HELD_FLUSH: it empties its buffer and calls held_cpu_flushed(). */
enum held_request { HELD_NOTHING, HELD_FLUSH, HELD_STOP };
enum held_request held_cpu_heed(struct held_cpu *cpu);
void held_cpu_flushed(struct held_cpu *cpu);

/*
 * A chunk of `size` bytes at `offset` of the spool. It begins with the page `first`, and ends with the page `last`. Of
 * a held_new() that `overwrites`, events that were lost before `first` are such as were too old.
 */
int must_check held_cpu_add(struct held_cpu *cpu, uint64_t offset, uint32_t size, uint32_t raw,
			    const struct page_shape *shape, const void *first, const void *last, struct fail *fail);

/*
 * Appends a chunk to the spool, with its header, and adds it as held_cpu_add() does. If the file system of the spool,
 * or the machine, has no memory left, the oldest chunks of all CPUs are dropped for it, after it has waited for those
 * that are being written. If that is not enough, the chunk is lost: what is held of its CPU begins after it.
 */
int must_check held_cpu_append(struct held_cpu *cpu, struct spool *spool, const void *chunk, uint32_t size,
			       uint32_t raw, const void *first, const void *last, struct fail *fail);

/* Asks all recorders to empty their buffers, and waits for them. False: one did not do so in time. */
bool held_flush(struct held *held, unsigned timeout_ms);
/* Asks all recorders to end. */
void held_stop(struct held *held);

/* Keeps what is not older than `from`, beyond the span, within the bytes. UINT64_MAX: only the span counts. */
void held_keep_from(struct held *held, uint64_t from);

/* What is held of one CPU. */
struct held_piece {
	uint32_t buffer, cpu;
	int fd;
	uint64_t offset, size; /* in the spool */
	uint64_t last_offset;  /* of the last chunk */
	uint64_t raw;          /* bytes of pages */
	uint32_t chunks;
	uint64_t first, last; /* times of the first and of the last event; valid if there are chunks */
	/* every event after this time is held, except those that the kernel lost */
	uint64_t since;
	uint64_t crowded; /* bytes of pages, of all CPUs, that were dropped early or lost because memory was full */
};

/*
 * The chunks that have events of the time from *from to `to`, a piece for each CPU, also if it has none. They stay
 * until held_written() is called. *from becomes the time from which on every event of all CPUs is held, if that is
 * later; `ragged`: the pieces have what is held of their CPU before that time, too. The caller frees *ret.
 */
int must_check held_take(struct held *held, uint64_t *from, uint64_t to, bool ragged, struct held_piece **ret,
			 size_t *ret_nr, struct fail *fail);
void held_written(struct held *held);

/* All that is held. The caller frees *ret. */
int must_check held_look(struct held *held, struct held_piece **ret, size_t *ret_nr, struct fail *fail);

#endif
