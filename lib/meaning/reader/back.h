/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_READER_BACK_H
#define WEFT_MEANING_READER_BACK_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The way back through a file, which can only be read forward: windows of time before a place, each before the one that
 * was read last. So each event is read once, and what is kept of a window bounds the memory.
 *
 * A place stands before an event and stays the same whenever the same buffers are read: the time of the event and its
 * number among the events of this time.
 */
struct walk_place {
	uint64_t ts;  /* in units of event::ts */
	uint64_t nth; /* of the events of this time, from 0 */
};

static inline int walk_compare(struct walk_place a, struct walk_place b)
{
	if (a.ts != b.ts)
		return a.ts < b.ts ? -1 : 1;
	return a.nth < b.nth ? -1 : a.nth > b.nth;
}

/* Before the first event, and behind the last one. */
#define WALK_START ((struct walk_place){ 0, 0 })
#define WALK_END ((struct walk_place){ UINT64_MAX, UINT64_MAX })

/* The place of the next event, from that of the event before it, or WALK_END before the first one. */
static inline struct walk_place walk_next_place(struct walk_place last, uint64_t ts)
{
	return (struct walk_place){ ts, ts == last.ts ? last.nth + 1 : 0 };
}

struct back {
	uint64_t first;           /* the time of the first event of all */
	struct walk_place before; /* everything from here on was read: the next window ends before it */
	uint64_t length;          /* of the next window */
	bool at_start;            /* there is nothing before it */
};

/* A window that is as long as the events of a screen often take: `counts` for a clock that does not count ns. */
void back_init(struct back *back, uint64_t first, bool counts);

/* Where the next window begins; it ends before back->before. */
uint64_t back_since(const struct back *back);

/* The window from this place on was read. */
void back_to(struct back *back, struct walk_place place);

/* The next window shall be longer, because this one had too little; or shorter. */
void back_longer(struct back *back);
void back_shorter(struct back *back);

#endif
