/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_COMPRESS_OR_STORE_INTERNAL_H
#define WEFT_KERNEL_RECORD_COMPRESS_OR_STORE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Decides whether the recorder of a CPU has time to compress its pages, or must store them uncompressed. It must store
 * them in two cases:
 *  - the recorder was scheduled late: the buffer was much fuller than the mark at which the kernel wakes readers;
 *  - at its present rate, the buffer would become full if the recorder were scheduled late the next time. This forecast
 *    counts only until `spare` bytes were stored, because stored pages are copied once more at the end of the
 *    recording, while the user waits.
 * The input is what the recorder knows anyway: how many bytes it took, and when. After a decision to store, it stores
 * for a while, until `hold_ns`. Times are those of now_ns().
 */
struct compress_or_store {
	uint64_t size; /* bytes of the CPU's buffer; 0: unknown, then there is always time */
	uint64_t mark; /* more bytes than this in the buffer mean that the recorder was late */
	uint64_t spare;
	uint64_t empty_ns; /* when the buffer was last found empty */
	uint64_t taken;    /* bytes taken since then */
	uint64_t hold_ns;  /* pages are stored until this time */
};

/* For a buffer of `size` bytes whose reader is woken at `percent`. */
struct compress_or_store compress_or_store_of(uint64_t size, unsigned percent, uint64_t spare, uint64_t now_ns);

/* Notes that `len` bytes were taken at once. Returns whether there is time to compress them. */
bool compress_or_store_took(struct compress_or_store *slack, size_t len, uint64_t now_ns);

/*
 * Whether the buffer may fill as fast as it is emptied: much was taken since it was last empty. The caller then checks
 * how full it is, and calls compress_or_store_empty() if it is nearly empty, or compress_or_store_is_none() if it is
 * not.
 */
bool compress_or_store_is_doubtful(const struct compress_or_store *slack);
void compress_or_store_stored(struct compress_or_store *slack, size_t len);
void compress_or_store_is_none(struct compress_or_store *slack, uint64_t now_ns);
void compress_or_store_empty(struct compress_or_store *slack, uint64_t now_ns);

#endif
