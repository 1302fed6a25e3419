// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/memo.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct memo_text) == 64, "a text is one cache line");

struct memo *memo_new(void)
{
	/* calloc() gets large blocks zeroed from the kernel; aligned_alloc() and memset() would touch all of it. */
	return calloc(1, sizeof(struct memo));
}

void memo_add(struct memo *memo, uint64_t key, const char *text, size_t len)
{
	struct memo_text *slot;

	if (!memo || !memo_keeps(key) || len > MEMO_TEXT_MAX)
		return;
	slot = &memo->texts[memo_slot(key)];
	for (unsigned i = 0; i < MEMO_PROBES; i++, slot++) {
		memo_key found = 0;

		if (atomic_compare_exchange_strong_explicit(&slot->key, &found, MEMO_BUSY, memory_order_acquire,
							    memory_order_acquire)) {
			slot->len = (uint8_t)len;
			memcpy(slot->text, text, len);
			atomic_store_explicit(&slot->key, (memo_key)key, memory_order_release);
			return;
		}
		if (found == key)
			return;
	}
}
