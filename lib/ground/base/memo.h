/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_MEMO_H
#define WEFT_GROUND_BASE_MEMO_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/out.h"

/*
 * A cache of short texts by number: names of addresses are rendered once and then copied. A text takes one cache line
 * or two; any number of threads use the memo at a time without locks. A memo may forget: a text that finds no place, is
 * too long, or is added while another thread adds one is dropped, and the caller renders it again. free() releases the
 * memo.
 * Invariant: a text is published after it was written, and never changes.
 */
enum {
	MEMO_BITS = 15,
	MEMO_PROBES = 8,
	MEMO_TEXT_MAX = 55,
	MEMO_BUSY = 1, /* being written; 0 is empty: these two numbers are never stored */
};

/*
 * Some machines of 32 bits (mips, older arm) have no atomic operations on 64 bits. Their addresses have 32; what has
 * more, of a file from another machine, is rendered each time.
 */
#if ATOMIC_LLONG_LOCK_FREE == 2
typedef uint64_t memo_key;
#else
typedef uint32_t memo_key;
#endif

struct memo_text {
	_Alignas(8) _Atomic(memo_key) key;
	uint8_t len;
	char text[MEMO_TEXT_MAX];
};

struct memo {
	/*
	 * 48 bytes and the 16 bytes that malloc() puts in front of a large block make 64, so no text crosses a cache
	 * line
	 */
	atomic_uint nr; /* texts */
	char begin[48 - sizeof(atomic_uint)];
	struct memo_text texts[(1 << MEMO_BITS) + MEMO_PROBES];
};

/* NULL without memory. The memory pages of a memo of few texts that hold none of them are never touched. */
struct memo *memo_new(void);

static inline size_t memo_slot(uint64_t key)
{
	return (size_t)(key * 0x9e3779b97f4a7c15u >> (64 - MEMO_BITS));
}

/* 0 and MEMO_BUSY are marks of the memo itself. */
static inline bool memo_keeps(uint64_t key)
{
	return key > MEMO_BUSY && (memo_key)key == key;
}

/* Prefetches the text of a number that is printed soon. `memo` may be NULL. */
static inline void memo_prefetch(const struct memo *memo, uint64_t key)
{
	if (memo)
		__builtin_prefetch(&memo->texts[memo_slot(key)]);
}

/* Appends the text of a number; false and no change when the memo does not hold it. `memo` may be NULL. */
static inline bool memo_print(const struct memo *memo, uint64_t key, struct out *out)
{
	const struct memo_text *text;

	if (!memo || !memo_keeps(key))
		return false;
	text = &memo->texts[memo_slot(key)];
	for (unsigned i = 0; i < MEMO_PROBES; i++, text++) {
		memo_key found = atomic_load_explicit(&text->key, memory_order_acquire);

		if (found == key) {
			/* A copy of constant size is a few moves. It also writes bytes after the text. */
			out_need(out, MEMO_TEXT_MAX);
			memcpy(out->at, text->text, MEMO_TEXT_MAX);
			out->at += text->len;
			return true;
		}
		if (!found)
			return false;
	}
	return false;
}

/* Stores a text if possible. The same number must always come with the same text. */
void memo_add(struct memo *memo, uint64_t key, const char *text, size_t len);

#endif
