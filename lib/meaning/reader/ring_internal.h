/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_READER_RING_INTERNAL_H
#define WEFT_MEANING_READER_RING_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/meaning/event/event.h"

struct block;
struct fail;
struct reader;

/*
 * The batches of events between the thread that reads and those that work on what it has read: batch number n lies in
 * the place of batch n - RING_BATCHES, when all are done with that one. Who reads, and who has read how far, is known
 * to the owner, who also has the lock.
 */

/*
 * A core that has read memory keeps it in its cache, from which another one is slow to take it back for writing; and
 * with few batches the threads wait for each other more often. But all batches are memory that is mapped, and many
 * leave the caches. With 32 batches of 28 KB, `syscalls` takes 8 % less CPU time than with 16, and `summary` 2 % less
 * than with 16 or 128.
 */
enum { RING_EVENTS = 512, RING_BATCHES = 32 };

struct ring {
	struct reader *reader;
	uint64_t given_back;    /* batches whose blocks the reader has again */
	size_t held;            /* bytes of blocks of all others */
	struct block **retired; /* of all batches */
	struct ring_batch {
		struct block **retired; /* for each buffer: the blocks to give back when no event is in use */
		size_t held;            /* their bytes */
		int len;
		struct event events[RING_EVENTS];
	} * batches;
};

/* Release it also after a failure. */
int must_check ring_init(struct ring *ring, struct reader *reader, struct fail *fail);
void ring_release(struct ring *ring);

static inline struct ring_batch *ring_at(const struct ring *ring, uint64_t number)
{
	return &ring->batches[number % RING_BATCHES];
}

/* Gives back the blocks of all batches before `done`. */
void ring_give_back(struct ring *ring, uint64_t done);

/* Whether a batch can be filled, after ring_give_back(). `waiting`: the batches that are filled and not done. */
bool ring_has_room(const struct ring *ring, uint64_t waiting);

/* Reads events until the batch is full or holds too much: 1, 0 at the end of the stream, -errno. */
int ring_fill(struct ring *ring, uint64_t number, struct fail *fail);

#endif
