// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/reader/ring_internal.h"

#include <stdlib.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/populate.h"
#include "lib/meaning/reader/reader.h"

/*
 * Events borrow from blocks of pages. A batch ends when the blocks that no later event needs are this large, and no
 * batch is filled while the blocks of all batches are larger than HELD_MAX.
 */
enum { HELD = 512 << 10, HELD_MAX = 8 << 20 };

int ring_init(struct ring *ring, struct reader *reader, struct fail *fail)
{
	*ring = (struct ring){ .reader = reader,
			       .batches = calloc(RING_BATCHES, sizeof(*ring->batches)),
			       .retired = calloc(RING_BATCHES * (reader->nr_buffers + 1), sizeof(*ring->retired)) };
	if (!ring->batches || !ring->retired)
		return fail_memory(fail);
	return 0;
}

/* Only what is filled takes memory: a small file needs one batch. */
static void begin_batch(const struct ring *ring, struct ring_batch *batch, uint64_t number)
{
	populate(batch, sizeof(*batch));
	batch->retired = ring->retired + number * (ring->reader->nr_buffers + 1);
}

void ring_release(struct ring *ring)
{
	free(ring->retired);
	free(ring->batches);
}

void ring_give_back(struct ring *ring, uint64_t done)
{
	for (; ring->given_back < done; ring->given_back++) {
		struct ring_batch *batch = ring_at(ring, ring->given_back);

		reader_give_back(ring->reader, batch->retired);
		ring->held -= batch->held;
	}
}

bool ring_has_room(const struct ring *ring, uint64_t waiting)
{
	return !waiting || (waiting < RING_BATCHES && ring->held <= HELD_MAX);
}

int ring_fill(struct ring *ring, uint64_t number, struct fail *fail)
{
	struct ring_batch *batch = ring_at(ring, number);
	struct reader *reader = ring->reader;
	int r = 1;

	if (number < RING_BATCHES)
		begin_batch(ring, batch, number);
	batch->len = 0;
	while (batch->len < RING_EVENTS && reader_held_merged(reader) <= HELD) {
		r = reader_batch(reader, &batch->events[batch->len], (size_t)(RING_EVENTS - batch->len), fail);
		if (r <= 0)
			break;
		batch->len += r;
	}
	batch->held = reader_held_merged(reader);
	ring->held += batch->held;
	reader_retired(reader, batch->retired);
	return r < 0 ? r : r > 0;
}
