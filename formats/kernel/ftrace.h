/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FORMATS_KERNEL_FTRACE_H
#define WEFT_FORMATS_KERNEL_FTRACE_H

#include "formats/kernel/columns.h"
#include "formats/sink.h"
#include "lib/base/bytes.h"
#include "lib/event/context.h"
#include "lib/event/event.h"
#include "lib/event/place.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The kernel's own text of a trace: what the `trace` file printed. Private to formats/: shared by the renderers of single
 * entry types and by those tracers that print every line in their own way. The shape is that of print_trace_line() in
 * kernel/trace/trace.c: the current tracer is asked first, then the context columns and the type's own renderer.
 *
 * Threads: bind and settle run on one thread, in the order of the events; format and line on any, so they see a const
 * ftrace and what settle left in the event's note. What they read must not change once an event was settled.
 */
struct binding;
struct decoder;
struct events;
struct fail;
struct ftrace;
struct out;

enum {
	/* sink_event::note: the first bytes are the renderer's or the tracer's, the rest is the frame's (columns, annotations). */
	NOTE_RENDERER_SIZE = 24,
	BINDING_PLACES = 12,
	BINDING_NAME = 116,
};

/* Behind the renderer's part of the note: what the columns in front depend on besides the event. */
struct frame_note {
	uint64_t delta; /* until the next event of the whole stream; 0 before the end. Only with latency-format */
	uint32_t index; /* lines before this one; only with latency-format */
	bool started;   /* the first line of its CPU, to be announced */
};

static inline struct frame_note *frame_note(struct event *event)
{
	return (struct frame_note *)(sink_note(event) + NOTE_RENDERER_SIZE);
}

static inline const struct frame_note *frame_note_of(const struct event *event)
{
	return (const struct frame_note *)(sink_note_of(event) + NOTE_RENDERER_SIZE);
}

typedef void render_fn(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
		       struct out *out);

/* Like sink_ops::settle. The binding is that of the event. */
typedef bool settle_fn(struct ftrace *ftrace, const struct binding *binding, struct events *events,
		       struct event *event);

/* Prints one type of internal entry: `struct trace_event_functions` of the kernel. */
struct renderer {
	const char *format_name;   /* of system "ftrace": "function", "funcgraph_entry", "kernel_stack" */
	bool plain;                /* prints no addresses: the symbols need not be read for it */
	bool lines;                /* prints several lines, of nothing that a stranger wrote */
	const char *const *fields; /* names that become binding->places[], in order; NULL ends; may be NULL */
	/*
	 * Looks at the places; false when the format is not one it can print: its fields are then printed as name=value.
	 * May be NULL.
	 */
	bool (*bind)(struct ftrace *ftrace, struct binding *binding);
	/* Like sink_ops::settle; only asked when the current tracer has no settle of its own. May be NULL: keep. */
	settle_fn *settle;
	/* What follows the context columns, the newline included. */
	render_fn *format;
	/* The same with the option of that name, by formats/kernel/raw.h: NULL where the kernel's type has no callback for it. */
	render_fn *raw;
	render_fn *hex; /* without the newline */
	render_fn *bin;
};

/* An event type as this sink prints it: ftrace->bindings has it at event_type::index. Never moves. */
struct binding {
	const struct renderer *renderer; /* NULL: by its program */
	settle_fn *settle;               /* the tracer's or the renderer's; NULL: keep */
	const struct format *format;     /* NULL: unknown type */
	const struct program *program;
	const struct decoder *decoder; /* of a plugin; NULL */
	char name[BINDING_NAME];       /* "sched_switch: ", cut if need be */
	uint32_t name_len;
	struct place places[BINDING_PLACES];
	uint32_t words_size; /* see has_words() */
	bool usual;          /* the current tracer has no line of its own for it */
	const void *data;    /* the renderer's: malloc()ed in bind, freed with the binding; or NULL */
};

/* A tracer with a header or lines of its own: `struct tracer` of the kernel. */
struct tracer {
	const char *name; /* in current_tracer */
	/* Behind "# tracer: NAME\n#\n", if it is not the usual one: what header() prints, or a text, which PREEMPT_RT may change. */
	void (*header)(const struct ftrace *ftrace, struct out *out);
	const char *legend, *legend_rt;
	/* Like sink_ops::settle; sees every record when this tracer is current. May be NULL. */
	settle_fn *settle;
	/* Prints the whole line; false, and nothing printed, when it is to be printed in the usual way. */
	bool (*line)(const struct ftrace *ftrace, const struct event *event, struct out *out);
	/* Whether line() is false for this type. May be NULL: never. */
	bool (*usual)(const struct ftrace *ftrace, const struct binding *binding);
};

struct graph;

struct ftrace {
	struct sink sink;              /* first */
	const struct context *context; /* sink.context */
	uint64_t trace_flags;          /* of the context, without those that the sink has no use for: ftrace_option() */
	struct sink_options options;
	const struct tracer *tracer; /* NULL: prints in the usual way */
	struct columns columns;
	struct graph *graph;       /* of formats/kernel/graph.c, made by graph_new() with the sink; NULL before it */
	struct binding **bindings; /* by event_type::index; NULL until the type is first settled */
	size_t nr_bindings;        /* none is behind these */
	struct binding *unbound;   /* of every type for which there was no memory: it knows none */
	bool settles_plain;        /* every record is settled by the tracer or its renderer, and that is all */
	bool plain;                /* nothing of all that makes a line another than columns and body */
	bool message_only;         /* options trace_printk and printk-msg-only */
	bool fields;               /* option fields, or --raw */
	bool moved; /* the kernel lay elsewhere as this was written: what its print fmts point to is not there any more */
	bool latency;   /* option latency-format */
	bool consuming; /* as trace_pipe prints: each line knows of no line behind it */
	uint8_t layout; /* enum layout of formats/kernel/raw.h */
	/* What settle writes for every event stands in cache lines that no thread reads to format one. */
	char apart[64];
	uint64_t settled;  /* records so far */
	bool annotate;     /* announce each CPU's first entry: the buffer overran */
	uint64_t *started; /* a bit for each CPU index that was announced */
	size_t started_words;
	char end[64];
};

static inline bool ftrace_option(const struct ftrace *ftrace, enum trace_option option)
{
	return ftrace->trace_flags >> option & 1;
}

static inline const struct binding *ftrace_binding(const struct ftrace *ftrace, const struct event *event)
{
	return ftrace->bindings[event->type->index];
}

/* Makes the state of a sink that prints lines as the kernel does: `trace`, or another reader's when `ops` is not its own. */
int must_check ftrace_new_reader(const struct sink_ops *ops, const struct context *context,
				 const struct sink_options *options, struct sink **ret, struct fail *fail);

/* Makes the binding of a type. Without memory, that of unknown types. */
const struct binding *ftrace_bind_first(struct ftrace *ftrace, const struct event_type *type);

/* The binding of an event's type, made if it is the first event of it; only in settle. */
static inline const struct binding *ftrace_bind(struct ftrace *ftrace, const struct event_type *type)
{
	struct binding *binding = ftrace->bindings[type->index];

	return __builtin_expect(binding != NULL, 1) ? binding : ftrace_bind_first(ftrace, type);
}

/*
 * The text of an entry without its context columns, ending in a newline if the kernel ends it so: for the comments of
 * the function graph. Settle must have seen the event, or at least ftrace_bind() its type.
 */
void ftrace_body(const struct ftrace *ftrace, const struct event *event, struct out *out);

/* A name that a task gave itself, in the middle of a line. */
void ftrace_name(const struct ftrace *ftrace, const char *text, size_t len, struct out *out);

/* The same as a line has it behind its columns: as fields if they were asked for, and with what a plugin knows. */
void ftrace_entry(const struct ftrace *ftrace, const struct event *event, struct out *out);

/*
 * Whether what the renderer knows of its places when it is bound holds for this record: their sizes, our byte order, and that
 * none is cut off. Bindings of which nothing is known have a words_size that no record has.
 */
static inline bool has_words(const struct binding *binding, const struct event *event)
{
	return __builtin_expect(event->len >= binding->words_size, 1);
}

#endif
