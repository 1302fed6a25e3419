/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_TRACECMD_TRACECMD_INTERNAL_H
#define WEFT_FORMATS_TRACECMD_TRACECMD_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/sink.h"
#include "formats/tracecmd/tracecmd.h"
#include "lib/ground/base/u64_map.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/place.h"

/*
 * The text of trace-cmd report: a line for each event, with columns of its own, and the texts of its plugins for some
 * events. What a print format says is printed by the programs of lib/meaning/schema, as everywhere.
 * Threads: bind and settle run on one thread, in the order of the events; text runs on any thread.
 */
struct events;
struct fail;
struct out;
struct tracecmd;
struct tracecmd_binding;
struct memo;
struct raw_field;

enum { TRACECMD_PLACES = 8, TRACECMD_NAME = 128 };

/* sink_event::note: what a line needs besides its event. */
struct tracecmd_note {
	const char *comm; /* the task's name, learned from an event before this one; NULL: the file's */
	int64_t lost;     /* events lost before this one on its CPU; 0: none */
	uint64_t value;   /* of the text: the duration of a call, the depth of a function; -w: the latency */
	uint64_t delta;   /* --ts-diff: since the line before */
	bool leaf;        /* the entry of a graph has its exit with it: `value` is the duration */
	bool has_delta, has_latency;
};
_Static_assert(sizeof(struct tracecmd_note) <= SINK_NOTE_SIZE, "the note has room for it");

static inline struct tracecmd_note *tracecmd_note(struct event *event)
{
	return (struct tracecmd_note *)sink_note(event);
}

static inline const struct tracecmd_note *tracecmd_note_of(const struct event *event)
{
	return (const struct tracecmd_note *)sink_note_of(event);
}

/* Prints the text of an event; false: the print format follows, as if there were no plugin. */
typedef bool tracecmd_text_fn(const struct tracecmd *tracecmd, const struct tracecmd_binding *binding,
			      const struct event *event, struct out *out);
/* Like sink_ops::settle. */
typedef bool tracecmd_settle_fn(struct tracecmd *tracecmd, const struct tracecmd_binding *binding,
				struct events *events, struct event *event);

/* A text that is not the print format's: of trace-cmd itself or of a plugin of libtraceevent. */
struct tracecmd_text {
	const char *system, *name;
	bool builtin;              /* what its print format means: also with -N */
	bool symbols;              /* prints addresses as names */
	bool lines;                /* several lines, without untrusted text */
	const char *const *fields; /* become binding->places[], in order; NULL ends */
	tracecmd_text_fn *text;
	tracecmd_settle_fn *settle; /* may be NULL */
};

/* The tables of texts: one for each file that has some; the end has no system. */
extern const struct tracecmd_text tracecmd_sched_texts[];
extern const struct tracecmd_text tracecmd_function_texts[];
extern const struct tracecmd_text tracecmd_graph_texts[];
extern const struct tracecmd_text tracecmd_print_texts[];
extern const struct tracecmd_text tracecmd_kvm_texts[];
extern const struct tracecmd_text tracecmd_blk_text; /* of the tracer blk, which has no format */
extern const struct tracecmd_text tracecmd_other_texts[];

struct tracecmd_binding {
	const struct tracecmd_text *text; /* NULL: the print format alone */
	const struct format *format;      /* NULL: unknown type */
	const struct program *program;    /* NULL: none */
	struct place places[TRACECMD_PLACES];
	bool raw;
	bool foreign;                       /* event::added is the text, if there is one */
	const struct raw_field *raw_fields; /* of -R: freed with the binding */
	char states[33];                    /* sched_switch: the letter of each bit of prev_state */
	uint32_t name_len;
	char name[TRACECMD_NAME]; /* "sched_switch:         " */
};

struct tracecmd {
	struct sink sink; /* first */
	const struct context *context;
	struct sink_options options;
	struct tracecmd_options own;
	struct tracecmd_binding **bindings; /* by event_type::index */
	size_t nr_bindings;
	bool counts;       /* the clock does not count ns */
	bool moves;        /* shown times are others than those of the events */
	double scale;      /* --ts2secs: ns for each unit */
	char *prefix;      /* before each event: the name of its instance; NULL: none */
	bool extra_fields; /* the flags of -l end with the counts of two more common fields */
	struct place migrate_disable, lock_depth;
	int32_t exit_id; /* of funcgraph_exit */
	struct place exit_func, exit_rettime, exit_calltime;
	struct sink_times own_times, *times;
	struct program_env env;
	struct memo *names; /* of addresses, as tracecmd_function() prints them; NULL: none */
	/* Written in settle for each event: in cache lines that formatting threads do not read. */
	char apart[64];
	int64_t *lost; /* by CPU index: not yet told */
	size_t nr_lost;
	struct u64_map comms;  /* pid -> name that events told, of tasks that the file does not name */
	struct u64_map stacks; /* CPU -> struct function_stack */
	char end[64];
};

/* The binding of an event's type; NULL without memory. */
const struct tracecmd_binding *tracecmd_bind(struct tracecmd *tracecmd, const struct event_type *type);
void tracecmd_unbind(struct tracecmd *tracecmd);

/* The text of the print format. */
void tracecmd_pretty(const struct tracecmd *tracecmd, const struct tracecmd_binding *binding, const struct event *event,
		     struct out *out);

enum { TRACECMD_HEAD_MAX = 192 }; /* of all columns without the names */

/* The time column, with the blanks before it and without the colon after it. */
void tracecmd_time(const struct tracecmd *tracecmd, uint64_t ts, struct out *out);

/*
 * The name of a kernel address, with the option ftrace:offset also its distance from the name's start; false and
 * nothing if it has none.
 */
bool tracecmd_function(const struct tracecmd *tracecmd, uint64_t address, struct out *out);
/* The same without the distance. */
bool tracecmd_name(const struct tracecmd *tracecmd, uint64_t address, struct out *out);

/* The fields of an event as -R prints them. */
int must_check tracecmd_raw_bind(const struct tracecmd *tracecmd, struct tracecmd_binding *binding);
void tracecmd_raw(const struct tracecmd *tracecmd, const struct tracecmd_binding *binding, const struct event *event,
		  struct out *out);

/* Fills the letters of prev_state from the print format of sched_switch. */
void tracecmd_states(struct tracecmd_binding *binding);

void tracecmd_stacks_release(struct tracecmd *tracecmd);

#endif
