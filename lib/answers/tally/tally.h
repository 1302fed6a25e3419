/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_TALLY_TALLY_H
#define WEFT_ANSWERS_TALLY_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct buf;
struct event;
struct fail;
struct reader;
struct parallel_sum_ops;

/*
 * A histogram of recorded events, specified in the language of the kernel's hist triggers
 * (kernel/trace/trace_events_hist.c), and printed as the kernel prints it. Beyond the kernel's language: any number of
 * keys and sort keys, and percentiles of values. Memory is bounded by the number of rows that `size` allows.
 * Not supported: expressions, variables and actions; fields of stacks that synthetic events have.
 */
struct tally;

struct tally_wanted {
	const char *event;  /* "system:event"; with `second` the first of the two */
	const char *second; /* NULL: a histogram of one event */
	/* with `second`: the fields that must be equal, each "FIELD" or "FIELD=FIELD", with commas; NULL: common_pid */
	const char *match;
	/* "a,b.log2"; NULL with `second`: the matching field and the time between the events */
	const char *keys;
	const char *values, *sort, *filter; /* NULL: no values; order by hits, most first, or by steps; no filter */
	unsigned size;                      /* number of rows, rounded up to a power of two; 0: 2048 */
	bool ns;                            /* the time between the two events is in ns, otherwise in us */
	/* with `second`: is told of long times, and nothing is counted; NULL: the times are counted */
	const struct tally_alarm *alarm;
};

/*
 * For events that go on for ever, as those of a live reader: memory is bounded. If very many first events wait for
 * their second one, those are forgotten that have waited ten times as long as the alarm asks for, and a minute. Where
 * events were lost, what had begun before is forgotten: it may have ended in the gap.
 */
struct tally_alarm {
	uint64_t longer; /* in the unit of the time between the events; a time below zero is not long */
	/* `event` is the second one; `fields` is " KEY=VALUE" for each key besides the time. */
	void (*told)(void *arg, const struct event *event, uint64_t lat, const char *fields);
	void *arg;
};

/*
 * Borrows the texts and the reader, whose buffers must be open. -ENOENT: the file has no such event or field; -EINVAL:
 * the kernel would also refuse the histogram: `fail` has its words, and a caret under the wrong part.
 */
int must_check tally_new(const struct reader *reader, const struct tally_wanted *wanted, struct tally **ret,
			 struct fail *fail);
void tally_free(struct tally *tally);

/* Whether the filter needs to know which task runs (lib/meaning/query/filter.h). */
bool tally_needs_task(const struct tally *tally);

/* A reader_consumer: arg is the tally. */
void tally_see(void *arg, const struct event *event);

/*
 * For slices of time (lib/meaning/reader/parallel_sum.h), whose tallies are joined: the sum is what one tally of all
 * events would be, down to the order of rows that sort the same. tally_can_join(): whether a tally of these wishes can
 * be made so.
 */
struct tally_sum {
	const struct tally_wanted *wanted;
	struct tally *tally; /* made with these wishes, and still without events */
};
extern const struct parallel_sum_ops tally_shares; /* its argument is a struct tally_sum */
bool tally_can_join(const struct tally *tally);

/* Appends the text that the kernel would print in the event's `hist` file. Call it once, after the last event. */
int must_check tally_text(struct tally *tally, struct buf *buf, struct fail *fail);

/*
 * Returns whether a key, or a value (index 0 is the hitcount), is a signed number: the text has it as if it were
 * unsigned, as the kernel prints it.
 */
bool tally_key_is_signed(const struct tally *tally, size_t index);
/* A signed key of at most 4 bytes. */
bool tally_key_is_narrow(const struct tally *tally, size_t index);
bool tally_value_is_signed(const struct tally *tally, size_t index);

/* Whether any event or gap was seen, counted or not. */
bool tally_has_events(const struct tally *tally);
/* Returns the time from the reader's first event to its last. */
uint64_t tally_span(const struct tally *tally);

/* Returns whether a percentile is an approximation (lib/ground/base/samples.h). */
bool tally_is_rough(const struct tally *tally);
/* Returns whether a stack was requested although no event of the file has one. */
bool tally_lacks_stacks(const struct tally *tally);
/* Returns the number of gaps in the events. Lost events are in no row. */
uint64_t tally_losses(const struct tally *tally);

#endif
