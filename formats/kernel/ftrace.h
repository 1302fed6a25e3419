/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_KERNEL_FTRACE_H
#define WEFT_FORMATS_KERNEL_FTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/kernel/columns.h"
#include "formats/sink.h"
#include "lib/ground/base/bytes.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/place.h"

/*
 * The kernel's own text of a trace, as the `trace` file prints it. Private to formats/: shared by the renderers of
 * single entry types and by those tracers that print every line in their own way. The structure is that of
 * print_trace_line() in kernel/trace/trace.c: the current tracer is asked first, then come the context columns and the
 * type's own renderer.
 *
 * Threads: bind and settle run on one thread, in the order of the events. format and line run on any thread: they get a
 * const ftrace and the note that settle left in the event. Data that they read must not change after the first event
 * was settled.
 */
struct binding;
struct decoder;
struct events;
struct fail;
struct ftrace;
struct out;

enum {
	/*
	 * sink_event::note: the first bytes belong to the renderer or the tracer, the rest to the frame (columns,
	 * annotations)
	 */
	NOTE_RENDERER_SIZE = 24,
	BINDING_PLACES = 12,
	BINDING_NAME = 116,
};

/* The second part of the note: the data besides the event on which the columns depend. */
struct frame_note {
	/*
	 * With latency-format the time until the next event of the whole stream, 0 at the end; with
	 * sink_options::differences the time since the previous line.
	 */
	uint64_t delta;
	uint32_t index; /* lines before this one; only with latency-format */
	bool started;   /* the first line of its CPU, which is announced */
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

/* Like sink_ops::settle, with the binding of the event. */
typedef bool settle_fn(struct ftrace *ftrace, const struct binding *binding, struct events *events,
		       struct event *event);

/* Prints one type of internal entry: `struct trace_event_functions` of the kernel. */
struct renderer {
	const char *format_name;   /* of system "ftrace": "function", "funcgraph_entry", "kernel_stack" */
	bool plain;                /* prints no addresses, so it needs no symbols */
	bool lines;                /* prints several lines, without untrusted text */
	const char *const *fields; /* names that become binding->places[], in order; NULL ends; may be NULL */
	/*
	 * Checks the places; false when it cannot print this format: its fields are then printed as name=value. May be
	 * NULL.
	 */
	bool (*bind)(struct ftrace *ftrace, struct binding *binding);
	/*
	 * Like sink_ops::settle; called only when the current tracer has no settle of its own. NULL: the event is kept.
	 */
	settle_fn *settle;
	/* Prints the text after the context columns, newline included. */
	render_fn *format;
	/*
	 * Print the text for the option of that name (formats/kernel/raw_internal.h): NULL when the kernel's type has
	 * no such callback.
	 */
	render_fn *raw;
	render_fn *hex; /* without the newline */
	render_fn *bin;
};

/* The renderer of a format; NULL: its print fmt prints it. renderer_list.c has all of them. */
typedef const struct renderer *renderer_of_fn(const struct format *format);

/* An event type as this sink prints it: at event_type::index in ftrace->bindings. It stays in place. */
struct binding {
	const struct renderer *renderer; /* NULL: its program prints it */
	settle_fn *settle;               /* the tracer's or the renderer's; NULL: every event is kept */
	const struct format *format;     /* NULL: unknown type */
	const struct program *program;
	const struct decoder *decoder; /* of a plugin; NULL */
	char name[BINDING_NAME];       /* "sched_switch: ", cut if it is too long */
	uint32_t name_len;
	struct place places[BINDING_PLACES];
	uint32_t words_size; /* see has_words() */
	bool usual;          /* the current tracer has no line of its own for it */
	bool fields;         /* its bit in sink_options::raw_types */
	uint8_t graph_event; /* enum graph_event, of what the graph's renderers print; else 0 */
	/* data of the renderer: malloc()ed in bind, freed with the binding; or NULL */
	const void *data;
};

/* A tracer with a header or lines of its own: `struct tracer` of the kernel. */
struct tracer {
	const char *name; /* in current_tracer */
	/*
	 * The header after "# tracer: NAME\n#\n" if it differs from the usual one: printed by header(), or a text,
	 * which may differ on PREEMPT_RT.
	 */
	void (*header)(const struct ftrace *ftrace, struct out *out);
	const char *legend, *legend_rt;
	/* Like sink_ops::settle; gets every record when this tracer is current. May be NULL. */
	settle_fn *settle;
	/* Like sink_ops::pass_over. May be NULL. */
	void (*pass_over)(struct ftrace *ftrace, const struct binding *binding, const struct event *event);
	/* Prints the whole line; false, and nothing printed, when the line has the usual form. */
	bool (*line)(const struct ftrace *ftrace, const struct event *event, struct out *out);
	/* Whether line() is false for this type. May be NULL: never. */
	bool (*usual)(const struct ftrace *ftrace, const struct binding *binding);
};

struct graph;

struct ftrace {
	struct sink sink;              /* first */
	const struct context *context; /* sink.context */
	uint64_t trace_flags;          /* the context's flags, without those that the sink ignores: ftrace_option() */
	struct sink_options options;
	const struct tracer *tracer; /* NULL: prints in the usual way */
	struct columns columns;
	/* state of formats/kernel/graph.c, made with the sink by graph_new(); NULL before */
	struct graph *graph;
	renderer_of_fn *renderer_of;
	struct binding **bindings; /* by event_type::index; NULL until the type is first settled */
	size_t nr_bindings;        /* size of `bindings` */
	struct binding *unbound;   /* the binding of unknown types, also used when memory ran out */
	bool settles_plain;        /* settling a record needs only its tracer or renderer */
	bool plain;                /* every line is columns and body, without any variation */
	bool message_only;         /* options trace_printk and printk-msg-only */
	bool fields;               /* option fields, or --raw */
	/* a buffer of the last boot, whose kernel was at other addresses: pointers in print fmts are not valid now */
	bool moved;
	bool latency;   /* option latency-format */
	bool goes_on;   /* sink_options::goes_on */
	bool consuming; /* prints like trace_pipe: a line does not depend on lines after it */
	uint8_t layout; /* enum layout of formats/kernel/raw_internal.h */
	/*
	 * Against false sharing: settle writes these for every event, in cache lines that formatting threads do not
	 * read.
	 */
	char apart[64];
	uint64_t settled;  /* records so far */
	bool annotate;     /* the buffer overran: each CPU's first entry is announced */
	uint64_t *started; /* a bit for each CPU index whose first entry was announced */
	size_t started_words;
	/* formats/kernel/seam.c: which CPUs had started before a slice is guessed, from the bits `earlier` */
	bool guesses, begun_annotated;
	uint64_t *earlier, *said; /* like `started`; said: those that were guessed to have started */
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

/*
 * Makes the state of a sink that prints lines as the kernel does: for the `trace` file, or for another file with its
 * own `ops`.
 */
int must_check ftrace_new_reader(const struct sink_ops *ops, const struct context *context,
				 const struct sink_options *options, struct sink **ret, struct fail *fail);

/* Makes the binding of a type. Without memory it returns the binding of unknown types. */
const struct binding *ftrace_bind_first(struct ftrace *ftrace, const struct event_type *type);

/* The binding of an event's type, made with the first event of that type; call it only in settle. */
static inline const struct binding *ftrace_bind(struct ftrace *ftrace, const struct event_type *type)
{
	struct binding *binding = ftrace->bindings[type->index];

	return __builtin_expect(binding != NULL, 1) ? binding : ftrace_bind_first(ftrace, type);
}

/*
 * Prints the text of an entry without its context columns, with a newline at its end if the kernel prints one: for the
 * comments of the function graph. Settle must have got the event, or at least ftrace_bind() its type.
 */
void ftrace_body(const struct ftrace *ftrace, const struct event *event, struct out *out);

/*
 * Like ftrace_body(), for a text without other events: the kernel prints a call or return of the function graph only in
 * the context of others, so its text is the name of the function.
 */
void ftrace_alone(const struct ftrace *ftrace, const struct event *event, struct out *out);

/* Prints an untrusted name in the middle of a line. */
void ftrace_name(const struct ftrace *ftrace, const char *text, size_t len, struct out *out);

/* Like ftrace_body(), as a line has it after its columns: as fields if requested, and with the facts of a plugin. */
void ftrace_entry(const struct ftrace *ftrace, const struct event *event, struct out *out);

/*
 * Whether the record is one for which the places can be read directly: they have the sizes that the renderer expects,
 * are in this machine's byte order, and none is cut off. A binding without such knowledge has a words_size that no
 * record reaches.
 */
static inline bool has_words(const struct binding *binding, const struct event *event)
{
	return __builtin_expect(event->len >= binding->words_size, 1);
}

#endif
