/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_TALLY_TALLY_INTERNAL_H
#define WEFT_ANSWERS_TALLY_TALLY_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/answers/tally/tally.h"
#include "lib/ground/base/samples.h"
#include "lib/meaning/event/event_copies.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/state/letters.h"

struct samples;

/*
 * A hash map of rows by their keys, which are bytes. The number of rows is fixed: when all are used, an event with a
 * new key counts as dropped, as in kernel/trace/tracing_map.c.
 */
struct tally_row {
	uint64_t hash;
	uint8_t *key;
	size_t len;
	uint32_t next;           /* the row of the same chain + 1; 0: none */
	uint64_t *sums;          /* nr_values of them */
	struct samples *samples; /* nr_samples of them; NULL: none */
	uint64_t first;          /* tally_map::now when it was added */
	uint8_t *more;           /* the caller's data, freed with the row */
	size_t more_len;
};

struct tally_map {
	struct tally_row *rows;
	size_t nr, max, nr_values, nr_samples;
	uint32_t *heads; /* by the hash: a row + 1 */
	size_t nr_heads; /* a power of two */
	uint64_t hits, dropped;
	uint64_t now; /* set by the owner: how many events came before */
	bool failed;  /* memory ran out */
};

void tally_map_init(struct tally_map *map, size_t max, size_t nr_values, size_t nr_samples);
void tally_map_release(struct tally_map *map);

/*
 * Returns the row of the key, and adds it if it is new. NULL: no row is left, or memory ran out. The row is valid until
 * the next call.
 */
struct tally_row *tally_map_add(struct tally_map *map, const uint8_t *key, size_t len);
/* Removes the rows that `drops` says. */
void tally_map_drop(struct tally_map *map, bool (*drops)(const struct tally_row *row, uint64_t arg), uint64_t arg);
struct tally_row *tally_map_find(const struct tally_map *map, const uint8_t *key, size_t len);

struct context;
struct decoder;
struct filter;

enum {
	TALLY_COLUMNS_MAX = 15,
	TALLY_MATCH_MAX = 3, /* TRACING_MAP_KEYS_MAX */
	TALLY_NAME_SIZE = 128,
	TALLY_STRING_MAX = 255,   /* MAX_FILTER_STR_VAL without its NUL */
	TALLY_STACK_MAX = 31,     /* HIST_STACKTRACE_DEPTH */
	TALLY_STACK_MAX_OLD = 16, /* before 6.3 */
	TALLY_LEVELS = 4,         /* task, softirq, hardirq, NMI */
	TALLY_STORES = 2,         /* stores of samples of each value: lib/answers/tally/tally_value.c */
};

/* The source of a column's number or text. */
enum tally_of { TALLY_HITS, TALLY_NUMBER, TALLY_STRING, TALLY_CPU, TALLY_TIME, TALLY_STACK, TALLY_TASK, TALLY_LATENCY };

enum tally_how {
	TALLY_PLAIN,
	TALLY_HEX,
	TALLY_SYM,
	TALLY_SYM_OFFSET,
	TALLY_EXECNAME,
	TALLY_SYSCALL,
	TALLY_LOG2,
	TALLY_BUCKETS,
	TALLY_USECS,
	TALLY_PERCENT,
	TALLY_GRAPH,
	TALLY_MIN,
	TALLY_MAX,
	TALLY_QUANTILE,
};

/* A key or a value. */
struct tally_column {
	enum tally_of of;
	enum tally_how how;
	char name[TALLY_NAME_SIZE];
	uint64_t buckets;   /* of TALLY_BUCKETS */
	unsigned per_mille; /* of TALLY_QUANTILE */
	uint8_t size;       /* size of the integer that sorting compares */
	bool is_signed;
	/* a pointer to a string: the kernel sorts by the bytes of the pointer as if they were the string */
	bool is_pointer;
	bool of_first;    /* a field of the first of two events */
	const char *fact; /* the name of a field that a plugin decodes from the last event; NULL: it is not one */
};

struct tally_sort {
	size_t column; /* 0: the hits; then the values; then the keys */
	bool descending;
};

struct tally_program {
	struct tally_column keys[TALLY_COLUMNS_MAX], values[TALLY_COLUMNS_MAX];
	struct tally_sort sorts[TALLY_COLUMNS_MAX];
	size_t nr_keys, nr_values, nr_sorts;
	bool usecs; /* one timestamp in us makes all of them us */
	bool timestamps, stacks, samples;
};

/* The fields of one event of one buffer that the histogram reads. */
struct tally_bound {
	const struct context *context;
	int32_t id; /* id of the event; -1: the buffer does not have it */
	struct place match[TALLY_MATCH_MAX], keys[TALLY_COLUMNS_MAX], values[TALLY_COLUMNS_MAX];
	struct place left, left_state; /* of sched_switch, if it ends a wakeup: lib/answers/tally/tally_pair.c */
	struct letters letters;        /* of left_state */
	const struct decoder *decoder; /* for columns with a fact; NULL: there is none */
	struct filter *filter;
	struct field *fields; /* the fields of `with_lat` */
	/* the event's format plus the field `lat`, which the filter may name: lib/answers/tally/tally_pair.c */
	struct format *with_lat;
};

struct tally_buffer {
	struct tally_bound first, last; /* `first` only with two events */
	struct tally_bound repeats;     /* of a histogram of ftrace:function: ftrace:func_repeats */
	struct place times;             /* the calls that one such event stands for */
	int32_t stack_id;               /* id of ftrace:kernel_stack; -1: there is none */
	struct place caller;
};

/* An event that waits for its stack. */
struct tally_waiting {
	bool some;
	int32_t pid;
	uint8_t *key;
	size_t len, stack_at; /* stack_at: the position of the stack in the key */
	uint64_t values[TALLY_COLUMNS_MAX];
};

struct tally {
	const struct reader *reader;
	struct tally_wanted wanted;
	struct tally_program program;
	struct tally_column first_match[TALLY_MATCH_MAX], match[TALLY_MATCH_MAX]; /* the fields that must be equal */
	size_t nr_match;
	struct tally_buffer *buffers;
	size_t nr_buffers;
	/* the buffer whose events count: the first one with such an event; SIZE_MAX: none yet */
	size_t owner, first_owner;
	struct tally_map rows, begun; /* begun: first events, by the value of the matching field */
	size_t tidy_at;               /* with an alarm: so many of them are looked through for those that have ended */
	uint8_t *record;              /* a copy of the second event, with `lat` */
	struct samples_budget budget;
	struct tally_waiting *waiting; /* TALLY_LEVELS for each CPU of the owner */
	size_t nr_waiting;
	/* Of a slice of time: events that end a latency that can only have begun before, by the matching field. */
	struct event_copies ended;
	bool in_slice; /* what was before is unknown */
	bool wakeups;  /* the two events are those of a wakeup */
	uint64_t first_ts, last_ts, losses, stacks;
	bool any, failed;
};

/* The bytes of a key that is being made: lib/answers/tally/tally_key.c. */
enum { TALLY_KEY_MAX = TALLY_COLUMNS_MAX * (TALLY_STRING_MAX + 2) + 8 * TALLY_STACK_MAX + 2 };

struct tally_key {
	uint8_t data[TALLY_KEY_MAX];
	size_t len, stack_at;
};

/* Rounds as ns2usecs() of kernel/trace/trace.c does. */
static inline uint64_t tally_usecs(uint64_t ns)
{
	return (ns + 500) / 1000;
}

void tally_key_put(struct tally_key *key, const void *bytes, size_t len);
void tally_key_add(const struct tally *tally, struct tally_key *key, const struct tally_column *column,
		   const struct tally_bound *bound, const struct place *place, uint64_t lat, const struct event *event);
uint64_t tally_number(const struct tally *tally, const struct tally_column *column, const struct tally_bound *bound,
		      const struct place *place, uint64_t lat, const struct event *event);

/* lib/answers/tally/tally_count.c */
/* Adds an event that stands for `times` of them. */
void tally_add_row(struct tally *tally, const uint8_t *key, size_t len, const uint64_t *values, uint64_t times);
/* Makes the key of a row. *at and *left: the bytes that the first event has saved, and no key has used yet. */
void tally_make_key(const struct tally *tally, const struct tally_bound *bound, const uint8_t **at, size_t *left,
		    uint64_t lat, const struct event *event, struct tally_key *ret);
/* Counts an event that stands for `times` of them. `begun` is the first of two events; NULL with one event. */
void tally_count(struct tally *tally, const struct tally_bound *bound, const struct tally_row *begun, uint64_t lat,
		 const struct event *event, uint64_t times);
/* The stack of an event comes behind it: tally_stack_see() must see every event. */
void tally_stack_see(struct tally *tally, const struct tally_buffer *buffer, const struct event *event);
void tally_stack_lost(struct tally *tally, const struct event *event);
void tally_stack_end(struct tally *tally);

/* lib/answers/tally/tally_pair.c: the two events of a latency. */
int must_check tally_pair_bind(struct tally *tally, struct tally_bound *last, const struct format *format,
			       const struct format *first, struct fail *fail);
void tally_pair_see_first(struct tally *tally, const struct tally_bound *bound, const struct event *event);
void tally_pair_see_last(struct tally *tally, const struct tally_bound *bound, const struct event *event);
/* Adds the latencies that began in a slice to those that began before it. False: there are too many. */
bool must_check tally_pair_join(struct tally *into, struct tally *from);
/* With an alarm: events were lost. */
void tally_pair_lost(struct tally *tally);

/* lib/answers/tally/tally_parse.c: the keys, values and sort keys of `wanted`. `first` is NULL for one event. */
struct format;
int must_check tally_parse(struct tally *tally, const struct format *last, const struct format *first,
			   const struct context *context, struct fail *fail);

/*
 * lib/answers/tally/tally_key.c: the bytes of a row's key, one key after the other: a number as 8 bytes; a text and a
 * stack with their length.
 */
struct tally_part {
	uint64_t number;
	const uint8_t *at; /* the text, or the addresses of the stack */
	size_t len;        /* in bytes */
};
bool tally_key_part(const struct tally_program *program, const uint8_t **at, size_t *left, size_t index,
		    struct tally_part *ret);
int tally_compare(const struct tally *tally, const struct tally_row *a, const struct tally_row *b);

/* lib/answers/tally/tally_value.c */
/* Whether it is a minimum, a maximum or a percentile. The kernel has none of them. */
bool tally_is_of_samples(const struct tally_column *column);
/* Adds a value to the row's samples of a column that is of samples. */
void tally_sample(struct tally *tally, const struct tally_row *row, size_t index, uint64_t value);
/* The value of a column, index 0 being the hits; 0 if it is not known. */
uint64_t tally_value(const struct tally *tally, const struct tally_row *row, size_t index);
/* False: a percentile for which the row has too few values. */
bool tally_value_known(const struct tally *tally, const struct tally_row *row, size_t index);

#endif
