/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FORMATS_SINK_H
#define WEFT_FORMATS_SINK_H

#include "lib/base/cleanup.h"
#include "lib/event/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct context;
struct events;
struct fail;
struct out;
struct plugins;

/*
 * A sink turns the merged stream into somebody's bytes. Same events, same bytes: no locale, no wall clock, no pointers,
 * whatever the number of threads.
 * settle() sees every event in order, on one thread: it leaves in the event's note what the text depends on besides the event
 * itself (depth of a graph, the task before, whether the CPU started), may look ahead with events_peek() and take
 * the next event of the CPU with events_skip(); it returns false to leave the event out.
 * Every event that settle() and format() are given is the first member of a struct sink_event of its driver.
 * format() is then called for each event kept, from any thread, in any order of batches: it must not change the sink.
 */
struct sink {
	const struct sink_ops *ops;
	const struct context *context;
};

/* An event on its way from settle() to format(), with what the one leaves for the other. */
enum { SINK_NOTE_SIZE = 40 };

struct sink_event {
	struct event event; /* first */
	_Alignas(8) uint8_t note[SINK_NOTE_SIZE];
};

static inline uint8_t *sink_note(struct event *event)
{
	return ((struct sink_event *)event)->note;
}

static inline const uint8_t *sink_note_of(const struct event *event)
{
	return ((const struct sink_event *)event)->note;
}

/* When the first event of a text was, and the one before: for sinks that print what lies between. Zero at first. */
struct sink_times {
	bool started, has_origin;
	uint64_t first, last; /* `first` is fixed once started; with has_origin before, by whoever made this */
};

struct sink_options {
	bool nanoseconds; /* full time stamps */
	bool raw;         /* field=value instead of the print fmt */
	bool color;       /* for a terminal, where a format has colours */
	bool one_line;    /* for a terminal: names and strings make no lines of their own (escape_newlines()) */
	struct sink_times *
		times; /* shared by sinks whose events are settled in one order, for one text; borrowed; NULL: its own */
	const uint64_t *left_out; /* events of weft itself, read when all were settled; borrowed; NULL: none were */
	uint64_t without;         /* bits of enum trace_option that the file may have and the sink has no use for */
	struct plugins *plugins;  /* say what the event's text does not; NULL: none; borrowed */
};

struct sink_ops {
	const char *name;    /* of --format NAME */
	const char *summary; /* one line for the help */
	bool colors; /* with the option `color` it has escape sequences of its own, and lets none of others through */
	bool leaves_out_self; /* what weft itself did is not printed unless asked for */
	bool relative;        /* its times count from sink_times::first */
	bool tells_instance;  /* each line says which instance it is of: no line in front of it shall */
	int (*new)(const struct context *context, const struct sink_options *options, struct sink **ret,
		   struct fail *fail);
	void (*free)(struct sink *sink);
	void (*begin)(struct sink *sink, struct out *out);
	bool (*settle)(struct sink *sink, struct events *events, struct event *event);
	void (*format)(const struct sink *sink, const struct event *event, struct out *out);
	void (*end)(struct sink *sink, struct out *out);
};

/* All of them; NULL behind the last. */
const struct sink_ops *sink_at(size_t index);
const struct sink_ops *sink_find(const char *name);

#endif
