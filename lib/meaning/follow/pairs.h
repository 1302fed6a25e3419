/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_FOLLOW_PAIRS_H
#define WEFT_MEANING_FOLLOW_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/u64_map.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/place.h"

/*
 * The one table of pairs of events that begin and end something: which events they are, and which fields both have in
 * common. Activities of one CPU may be inside one another, and a task that waits for one lock is interrupted and waits
 * for another; requests for the same sector may go to two disks. So what is open has all its keys.
 */
enum { PAIRS_KEYS_MAX = 3, PAIRS_NAME = 80 };

struct pair_kind {
	const char *name; /* of the pair: "irq"; NULL: none. Some kinds have the same one */
	/* "SYSTEM:EVENT", or an event of any system but ftrace. A '*' stands for the same text in both. */
	const char *begin, *end;
	const char *match; /* the fields that are equal: "common_cpu,irq"; "pid=next_pid", of the first and second */
	enum pair_how {
		PAIR_KNOWN,
		PAIR_GUESSED, /* by the names of the events: most such events are pairs, and some are not */
		PAIR_GOES_ON, /* where it begins once more, it goes on: it lasts from the first begin */
	} how;
};

/* The kind with this name: the first one; NULL: there is none. */
const struct pair_kind *pairs_named(const char *name);

/* The kind that begins with an event of the one format and ends with one of the other; NULL: there is none. */
const struct pair_kind *pairs_between(const struct format *begin, const struct format *end);

/* What an event is of a pair. A sched_switch begins a run; that it ends a wakeup and a run, only pairs_fits() tells. */
struct pair_end {
	const struct pair_kind *kind; /* NULL: it is of no pair */
	bool begins;
	const char *stem; /* the text for which '*' stands, else the event's name up to the last '_'; without a NUL */
	size_t stem_len;
	struct pair_key {
		enum { PAIR_KEY_FIELD, PAIR_KEY_CPU, PAIR_KEY_TASK } of;
		struct place place;
	} keys[PAIRS_KEYS_MAX]; /* a field that the event lacks is 0 */
	unsigned nr_keys;
	bool on_cpu;  /* both events are on one CPU */
	bool of_task; /* both events are of one task */
	uint16_t own; /* pairs_bind(): the number of its kind and stem */
};

/* Borrows the type's format. False: the event is of no pair. */
bool pair_end_find(struct pair_end *ret, const struct event_type *type);
/* The values of its keys. */
void pair_end_values(const struct pair_end *end, const struct event *event, uint64_t values[PAIRS_KEYS_MAX]);
/* The name of the event at the other end. */
void pair_end_partner(const struct pair_end *end, char into[PAIRS_NAME]);
/*
 * Whether events of this type can be the other end. Then *ret is that end, with the keys in the same order, so that two
 * events are a pair when their values are equal and no such event is between them.
 */
bool pair_end_fits(const struct pair_end *end, const struct event_type *type, struct pair_end *ret);

/* The pairs that are open, for a consumer that sees all events in order. */
struct pairs {
	struct pairs_own {
		const struct pair_kind *kind;
		const char *stem;
		size_t stem_len;
	} * owns;
	size_t nr_owns;
	struct u64_map open; /* by a hash of its keys: struct pair_open */
	bool rest;           /* EVENT_LOST_REST: no pair is known of which the ends may be on two CPUs */
	bool starved;        /* memory ran out: pairs are missing */
};

void pairs_init(struct pairs *pairs);
void pairs_release(struct pairs *pairs);

/* Call it with the first event of each type. False: its events are of no pair, or memory ran out. */
bool pairs_bind(struct pairs *pairs, const struct event_type *type, struct pair_end *ret);

void pairs_begin(struct pairs *pairs, const struct pair_end *end, const struct event *event);
/* False: when it began is not known. *ret_pid: in which task. */
bool pairs_end(struct pairs *pairs, const struct pair_end *end, const struct event *event, uint64_t *ret_start,
	       int32_t *ret_pid);
/* Events of a CPU were lost, as this EVENT_LOST says: what it did is forgotten, and what may have ended there. */
void pairs_lose(struct pairs *pairs, const struct event *gap);

static inline bool pairs_starved(const struct pairs *pairs)
{
	return pairs->starved || pairs->open.starved;
}

#endif
