/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_FRAME_SLOWEST_H
#define WEFT_ANSWERS_FRAME_SLOWEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct buf;
struct findings;
struct row_options;
struct table;
struct table_column;

/*
 * The longest cases of an analysis one by one, the longest first: for who asks what was going on in one of them. The
 * first member of an item is its time, a uint64_t.
 */
struct slowest {
	void *items; /* owned */
	size_t nr, size, most;
	uint64_t longer; /* ns; only cases that lasted longer are kept; 0: all, also those that lasted no time */
	uint64_t found;  /* how many slowest_wants() has said yes to */
};

enum { SLOWEST_MAX = 1000 };

/* `most` 0: none is kept. */
void slowest_init(struct slowest *slowest, size_t size, size_t most, uint64_t longer);
/* As the options say; NULL: none is kept. */
void slowest_init_rows(struct slowest *slowest, size_t size, const struct row_options *rows);
void slowest_release(struct slowest *slowest);

/* Counts a case that ended: whether it lasted longer than asked for. Once for each case. */
static inline bool slowest_wants(struct slowest *slowest, uint64_t lasted)
{
	bool wanted = __builtin_expect(slowest->most != 0, 0) && (!slowest->longer || lasted > slowest->longer);

	slowest->found += wanted;
	return wanted;
}

/* Whether such a case is among the longest up to now: for who has to find out much about it. */
bool slowest_room(const struct slowest *slowest, uint64_t lasted);

/*
 * Makes room for a case: returns an item of zeros but for its time, valid until the next one is added. NULL: it is not
 * among the longest, or memory ran out, and then *ret_failed is set.
 */
void *slowest_add(struct slowest *slowest, uint64_t lasted, bool *ret_failed);

/* The table "slowest" for them, as findings_table(). NULL also if nobody asked for it. */
struct table *slowest_table(const struct slowest *slowest, struct findings *findings, const char *title,
			    const struct table_column *columns);
/* With a time that was asked for: adds a note that says how many cases, as "wait", lasted longer. */
void slowest_tell(const struct slowest *slowest, struct findings *findings, const char *what);

/*
 * For analysis_slow::tell(): what part of the time a column of the case has, and in words. Adds those as "; TIME WORDS"
 * that are more than a hundredth of it: less explains nothing. The table of parts ends with a key of NULL.
 */
struct slow_part {
	const char *key, *says;
};
bool must_check slowest_put_parts(const struct table *table, size_t row, const struct slow_part *parts,
				  struct buf *into);
/* Adds a task as "; BEFORE COMM-PID", unless it is not known; `comm` and `pid` are keys. */
bool must_check slowest_put_task(const struct table *table, size_t row, const char *before, const char *comm,
				 const char *pid, struct buf *into);

static inline const void *slowest_at(const struct slowest *slowest, size_t index)
{
	return (const char *)slowest->items + index * slowest->size;
}

#endif
