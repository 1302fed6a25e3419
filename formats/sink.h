/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_SINK_H
#define WEFT_FORMATS_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/meaning/event/event.h"

struct context;
struct events;
struct face;
struct fail;
struct out;
struct tracecmd_options;

/*
 * A sink turns the merged stream into the bytes of an output format. The same events give the same bytes, for any
 * number of threads: no locale, no wall clock, no pointers.
 * settle() gets every event in order, on one thread. It stores in the event's note everything besides the event on
 * which the text depends (depth of a graph, the task before, whether the CPU started). It may look ahead with
 * events_peek() and take the next event of the CPU with events_skip(); it returns false to leave the event out.
 * format() gets each event that settle() accepted, on any thread, in any order of batches: it must not change the sink.
 * Every event passed to settle() and format() is the first member of a struct sink_event of the driver.
 */
struct sink {
	const struct sink_ops *ops;
	const struct context *context;
};

/* An event between settle() and format(), with the note that settle() writes for format(). */
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

/* The times of the first event of a text and of the previous event: for sinks that print differences. Zero at first. */
struct sink_times {
	bool started, has_origin;
	/* `first` is fixed once started; with has_origin its creator has set it before */
	uint64_t first, last;
};

struct sink_options {
	bool nanoseconds; /* full time stamps */
	/* how times are shown (lib/meaning/clock/face.h); borrowed; NULL: as the trace clock has them */
	const struct face *face;
	bool raw;                  /* field=value instead of the print fmt */
	const uint64_t *raw_types; /* limits `raw` to some types: a bit for each id; borrowed; NULL: all types */
	bool differences;          /* print the time since the previous line, in lines with the kernel's columns */
	bool color;                /* for a terminal: use the format's colours */
	/* for a terminal: newlines in names and strings are escaped (escape_newlines()) */
	bool one_line;
	unsigned width;           /* width of the terminal, for formats that cut lines; 0: no limit */
	struct sink_times *times; /* shared by the sinks of one text; borrowed; NULL: the sink has its own */
	/* the number of weft's own events left out, read after the last settle(); borrowed; NULL: none */
	const uint64_t *left_out;
	/* the trace goes on while it is printed: the text has no head lines about its end (its longest latency) */
	bool goes_on;
	/* bits of enum trace_option that the sink ignores even if the file has them set */
	uint64_t without;
	/*
	 * Tells of an event that ends something how long that lasted, and which event began it (data NULL: not known),
	 * for sinks that do not see all events; or NULL.
	 */
	bool (*ended)(void *arg, const struct event *event, uint64_t *ret_lasted, struct event *ret_begin);
	void *ended_arg;
	/* of the format trace-cmd: formats/tracecmd/tracecmd.h; borrowed; NULL: none */
	const struct tracecmd_options *tracecmd;
};

/*
 * Guesses on which a few bytes of a slice's text depend, in the order in which settle() made them and format() wrote
 * their lines. A wrong one is mended in the text.
 */
struct sink_patch {
	size_t text, at; /* the number of a piece of text, and the place in it */
	char *missing;   /* what is missing there if the guess was wrong; NULL: nothing */
	size_t len;
	bool wrong;
};

struct sink_patches {
	struct sink_patch *at;
	size_t nr;
	size_t text;      /* the number of the piece that format() writes to now */
	uint32_t guesses; /* those that settle() has made */
	bool failed;      /* memory was short: the text cannot be mended */
};

/* For format(): the guess was wrong if `missing` is missing at the end of the text so far. */
void sink_patch_add(struct sink_patches *patches, const struct out *out, const char *missing, size_t len);
void sink_patches_release(struct sink_patches *patches);

/*
 * For texts whose slices of time are made apart (formats/slices.h), each by a sink of its own: what the lines of a
 * slice need of the lines before it is its seam. A sink that begins in the middle guesses what it needs; its guesses
 * are checked when the slice before has ended. Each function is called on the thread that uses the sink then.
 */
struct sink_seam_ops {
	/* False: a line may need more of the lines before it than a seam tells. */
	bool (*can)(const struct sink *sink);
	size_t (*size)(const struct sink *sink); /* bytes of a seam */
	/*
	 * What was before is unknown from now on; false without memory. The sink then settles some events before the
	 * slice, the last ones of each CPU, before begin(); their lines are not printed.
	 */
	bool (*forget)(struct sink *sink);
	void (*begin)(struct sink *sink, struct sink_patches *patches);
	bool (*patches)(const struct sink *sink); /* whether it uses patches: its text must stay as it is then */
	/* Writes a seam: what was guessed since begin(), and what is known now. */
	void (*save)(const struct sink *sink, void *seam);
	/* The lines before are known: they left this seam, in which nothing is guessed. */
	void (*load)(struct sink *sink, const void *seam);
	/*
	 * Whether the guesses in `seam` are what the slice before left in `before`, in which nothing is guessed; those
	 * that can be mended are only marked. Then nothing in `seam` is guessed any more.
	 */
	bool (*join)(const void *before, void *seam, size_t size, struct sink_patches *patches);
};

struct sink_ops {
	const char *name;    /* for --format NAME */
	const char *summary; /* one line for the help */
	const char *schema;  /* what a line looks like, as a line of JSON Schema; NULL: it is a text for people */
	/* with the option `color` it writes escape sequences of its own, and escapes all others */
	bool colors;
	bool columns;         /* its lines have the kernel's columns: formats/painted.h can colour them */
	bool leaves_out_self; /* weft's own events are printed only on request */
	bool durations;      /* settle() asks where the data of a CPU ends early (EVENT_LOST_REST), and leaves it out */
	bool relative;       /* its times count from sink_times::first */
	bool tells_instance; /* each line names its instance, so it needs no prefix */
	int (*create)(const struct context *context, const struct sink_options *options, struct sink **ret,
		      struct fail *fail);
	void (*free)(struct sink *sink);
	void (*begin)(struct sink *sink, struct out *out);
	bool (*settle)(struct sink *sink, struct events *events, struct event *event);
	/* an event between others of the same functions that is left out; may be NULL */
	void (*pass_over)(struct sink *sink, const struct event *event);
	void (*format)(const struct sink *sink, const struct event *event, struct out *out);
	void (*end)(struct sink *sink, struct out *out);
	const struct sink_seam_ops *seam; /* NULL: each line may need all lines before */
};

/* Lists the sinks; NULL after the last. */
const struct sink_ops *sink_at(size_t index);
const struct sink_ops *sink_find(const char *name);

#endif
