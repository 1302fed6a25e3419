/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_CHUNK_HISTORY_INTERNAL_H
#define WEFT_KERNEL_RECORD_CHUNK_HISTORY_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

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
struct chunk_history;
struct chunk_history_cpu;

enum { CHUNK_HISTORY_OVER = 2 }; /* how many times `max` may be held while a file is written */

int must_check chunk_history_new(uint64_t span, uint64_t max, bool overwrites, struct chunk_history **ret,
				 struct fail *fail);
void chunk_history_free(struct chunk_history *held);

/*
 * Adds a CPU of a buffer before its recorder starts. `fd` is its spool, borrowed. The result belongs to `held`. The
 * events from `since` on will be there.
 */
int must_check chunk_history_add_cpu(struct chunk_history *held, uint32_t buffer, uint32_t cpu, int fd, uint64_t since,
				     struct chunk_history_cpu **ret, struct fail *fail);

/* A descriptor that is readable when somebody asks the recorder for something: chunk_history_cpu_heed(). */
int chunk_history_cpu_fd(const struct chunk_history_cpu *cpu);

/* What the recorder is asked for. CHUNK_HISTORY_FLUSH: it empties its buffer and calls chunk_history_cpu_flushed(). */
enum chunk_history_request { CHUNK_HISTORY_NOTHING, CHUNK_HISTORY_FLUSH, CHUNK_HISTORY_STOP };
enum chunk_history_request chunk_history_cpu_heed(struct chunk_history_cpu *cpu);
void chunk_history_cpu_flushed(struct chunk_history_cpu *cpu);

/*
 * A chunk of `size` bytes at `offset` of the spool. It begins with the page `first`, and ends with the page `last`. Of
 * a chunk_history_new() that `overwrites`, events that were lost before `first` are such as were too old.
 */
int must_check chunk_history_cpu_add(struct chunk_history_cpu *cpu, uint64_t offset, uint32_t size, uint32_t raw,
				     const struct page_shape *shape, const void *first, const void *last,
				     struct fail *fail);

/*
 * Appends a chunk to the spool, with its header, and adds it as chunk_history_cpu_add() does. If the file system of the
 * spool, or the machine, has no memory left, the oldest chunks of all CPUs are dropped for it, after it has waited for
 * those that are being written. If that is not enough, the chunk is lost: what is held of its CPU begins after it.
 */
int must_check chunk_history_cpu_append(struct chunk_history_cpu *cpu, struct spool *spool, const void *chunk,
					uint32_t size, uint32_t raw, const void *first, const void *last,
					struct fail *fail);

/* Asks all recorders to empty their buffers, and waits for them. False: one did not do so in time. */
bool chunk_history_flush(struct chunk_history *held, unsigned timeout_ms);
/* Asks all recorders to end. */
void chunk_history_stop(struct chunk_history *held);

/* Keeps what is not older than `from`, beyond the span, within the bytes. UINT64_MAX: only the span counts. */
void chunk_history_keep_from(struct chunk_history *held, uint64_t from);

/* What is held of one CPU. */
struct chunk_history_piece {
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
 * until chunk_history_written() is called. *from becomes the time from which on every event of all CPUs is held, if
 * that is later; `ragged`: the pieces have what is held of their CPU before that time, too. The caller frees *ret.
 */
int must_check chunk_history_take(struct chunk_history *held, uint64_t *from, uint64_t to, bool ragged,
				  struct chunk_history_piece **ret, size_t *ret_nr, struct fail *fail);
void chunk_history_written(struct chunk_history *held);

/* All that is held. The caller frees *ret. */
int must_check chunk_history_look(struct chunk_history *held, struct chunk_history_piece **ret, size_t *ret_nr,
				  struct fail *fail);

#endif
