// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/compress_or_store_internal.h"

enum {
	/* on a busy CPU the thread gets the CPU after the next tick, which is mostly 4 ms */
	LATE_NS = 5 * 1000 * 1000,
	HOLD_NS = 50 * 1000 * 1000,
};

struct compress_or_store compress_or_store_of(uint64_t size, unsigned percent, uint64_t spare, uint64_t now_ns)
{
	return (struct compress_or_store){
		.size = size, .mark = size / 200 * (100 + percent), .spare = spare, .empty_ns = now_ns
	};
}

void compress_or_store_stored(struct compress_or_store *slack, size_t len)
{
	slack->spare -= len < slack->spare ? len : slack->spare;
}

void compress_or_store_is_none(struct compress_or_store *slack, uint64_t now_ns)
{
	slack->hold_ns = now_ns + HOLD_NS;
}

/* Whether the buffer becomes full within LATE_NS at this rate. */
static bool fills_fast(const struct compress_or_store *slack, uint64_t now_ns)
{
	double span = (double)(now_ns - slack->empty_ns);

	return (double)slack->taken * (double)LATE_NS > (double)slack->size * span;
}

bool compress_or_store_took(struct compress_or_store *slack, size_t len, uint64_t now_ns)
{
	if (!slack->size)
		return true;
	slack->taken += len;
	if (len > slack->mark || (slack->spare && slack->taken > slack->size / 8 && fills_fast(slack, now_ns)))
		compress_or_store_is_none(slack, now_ns);
	return now_ns >= slack->hold_ns;
}

bool compress_or_store_is_doubtful(const struct compress_or_store *slack)
{
	return slack->size && slack->taken > slack->size / 2;
}

void compress_or_store_empty(struct compress_or_store *slack, uint64_t now_ns)
{
	slack->empty_ns = now_ns;
	slack->taken = 0;
}
