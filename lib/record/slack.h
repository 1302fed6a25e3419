/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_SLACK_H
#define WEFT_RECORD_SLACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Whether the recorder of a CPU has time to compress its pages, or must store them as they are. It must store in two cases:
 *  - it was scheduled late: the buffer was much fuller than the mark at which the kernel wakes readers;
 *  - the buffer would run full, at the rate at which it is being filled, if the recorder were scheduled late the next time. This case is a
 *    forecast, and ends once `spare` bytes were stored: stored pages are copied once more when the recording ends, while the user waits.
 * The input is what the recorder knows anyway: how many bytes it took, and when. After a turn without time a recorder does not compress again at once.
 * Times are now_ns().
 */
struct slack {
	uint64_t size; /* bytes of the CPU's buffer; 0: unknown, there is always time */
	uint64_t mark; /* bytes: more in the buffer at once is too much */
	uint64_t spare;
	uint64_t empty_ns; /* when the buffer was last found empty */
	uint64_t taken;    /* since then */
	uint64_t hold_ns;  /* no time before this */
};

/* For a buffer that wakes its reader at `percent`. */
struct slack slack_of(uint64_t size, unsigned percent, uint64_t spare, uint64_t now_ns);

/* The buffer gave `len` bytes at once. Whether there is time to compress them. */
bool slack_took(struct slack *slack, size_t len, uint64_t now_ns);

/*
 * Whether so much was taken since the buffer was last empty that, if it is not nearly empty now, it fills as fast as it is emptied;
 * slack_is_none() says that it does, slack_empty() that it is empty.
 */
bool slack_is_doubtful(const struct slack *slack);
void slack_stored(struct slack *slack, size_t len);
void slack_is_none(struct slack *slack, uint64_t now_ns);
void slack_empty(struct slack *slack, uint64_t now_ns);

#endif
