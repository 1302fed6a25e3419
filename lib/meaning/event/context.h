/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_EVENT_CONTEXT_H
#define WEFT_MEANING_EVENT_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/meaning/event/cpu_stats.h"
#include "lib/meaning/event/latency_head.h"
#include "lib/meaning/schema/format.h"
#include "lib/meaning/schema/program.h"

struct comms;
struct fail;
struct foreign;
struct functions;
struct maps;
struct out;
struct plugins;
struct symbols;
struct tasks;
struct trace;
struct types;
struct wall;

/*
 * The data, besides the events, on which the text of one ring buffer depends: formats, tasks, symbols, the clock, the
 * tracer and its options at the time of the recording. Built once from a file; immutable afterwards except for parts
 * that load on first use. These lock themselves, so any thread may use the context. Consumers
 * see a const context. It borrows the trace.
 */
enum clock_unit {
	CLOCK_UNIT_NS,    /* printed as seconds and microseconds */
	CLOCK_UNIT_COUNT, /* counter, uptime, x86-tsc: the raw number */
};

/* What a room above makes of the context when it is first asked, and the context frees. It begins with this. */
struct context_later {
	void (*free)(struct context_later *made);
};
struct context_slot {
	struct context_later *_Atomic made; /* NULL: nothing yet */
};

struct context {
	struct trace *trace;
	size_t buffer;        /* index of trace_buffer() */
	const char *instance; /* its name; "" for the top one */
	struct schema *schema;
	struct schema_abi abi;
	struct tasks *tasks;
	struct comms *comms;           /* lib/meaning/event/comms.h: the names of tasks that events say */
	const struct u64_map *renamed; /* tasks of which the file tells several names (comms.h); NULL: none */
	struct context_slot *who;      /* lib/meaning/follow/who.h: whom a task belongs to */
	struct context_slot *files;    /* lib/meaning/follow/files.h: what is behind descriptors */
	struct context_slot *marked;   /* lib/meaning/follow/mark_at.h: in which spans threads were */
	struct symbols *symbols;
	struct types *types;  /* the kernel's type information in the file */
	struct maps *maps;    /* the maps of processes, for the option sym-userobj */
	struct maps *watched; /* executable maps of processes, also of those that ended; NULL: nothing is known */
	struct functions *functions; /* of programs and libraries; NULL: the recording has none */
	struct functions *unwind;    /* in the place of names the rules of lib/meaning/names/unwind.h; NULL: none */
	/* lib/meaning/plugin: what a command with --decode knows besides; it sets and frees them. NULL: nothing */
	struct plugins *plugins;
	struct foreign *foreign; /* lib/meaning/plugin: the user's plugins of libtraceevent; borrowed; NULL: none */
	struct program_env env;
	const char *clock; /* the selected one: "local" */
	struct wall *wall; /* lib/meaning/clock/wall.h: the time of day; NULL: the file does not tell it */
	enum clock_unit unit;
	/* current_tracer; guessed from the first entries when the file lacks it; "nop" when they do not show it */
	const char *tracer;
	bool tracer_known;             /* the file has current_tracer */
	uint64_t trace_flags;          /* enum trace_option bits, from the file's trace_options or their defaults */
	const char *release;           /* "6.12.0-1-amd64", or "" */
	char machine[64];              /* the traced machine as uname -m names it, "x86_64"; "" when unknown */
	bool preempt_rt;               /* a PREEMPT_RT kernel: old ones have two more flag columns */
	const struct cpu_stats *stats; /* NULL when unknown */
	size_t nr_stats;
	/* sums over stats: events in the buffer or read from it into the file; and these plus the overwritten ones */
	uint64_t entries, written;
	/* number of online CPUs of the traced machine; 0 when unknown */
	uint32_t online_cpus;
	uint64_t hz; /* 0 when unknown */
	/*
	 * weft recorded while tracing was on, or imported a text with the loss: a gap at the start is also a loss
	 */
	bool recorded;
	/* copied from a buffer while tracing was off: overwritten events are not lost events */
	bool frozen;
	/* the kernel wrote to the buffer during the copy: gaps after a CPU's first page are losses */
	bool went_on;
	/* imported lines of a log or spans, which name tasks but no CPUs: nobody saw the kernel there */
	bool told;
	const char *self;    /* PIDs of the recorder's own tasks, with blanks between; NULL: unknown */
	const char *latency; /* the text of `trace` with a max-latency tracer; NULL when the file has none */
	/* the file set_event, the enabled events: "system:event" lines; NULL when unknown */
	const char *switched_on;
	/*
	 * PIDs of set_event_pid at the start and at the end of the recording: events of other tasks are missing. Both
	 * NULL: there was no such filter. The kernel removes tasks from the list when they end if event-fork is set.
	 */
	const char *event_pids, *event_pids_left;
	bool event_fork; /* the option event-fork: the children of the tasks of the list are also on it */
	/* lines "SYSTEM:EVENT FILTER" of the events that had a filter; NULL: none had, or it is unknown */
	const char *filters;
	const char *selected; /* what the file was made without: lines of query_put_choice(); NULL: nothing */
	/* of a file that was merged from several: the name of the one that the buffer is from; NULL: it was not */
	const char *recording;
	bool compared;              /* and its times with those of other machines: lib/meaning/clock/apart.h */
	uint64_t clock_error_ns;    /* so many they may be off */
	const char *cpumask;        /* tracing_cpumask: the recorded CPUs, as a hexadecimal mask; NULL when unknown */
	const char *dynamic_events; /* the file of that name; NULL when unknown */
	/* Only the text of the option latency-format shows these: lib/meaning/event/latency_facts.h. */
	/* "preempt_rt"; from the kernel's version or "unknown" when the file does not say it */
	const char *preempt_model;
	/* the time when the buffer was last reset, from which the time column counts; in units of event::ts */
	uint64_t time_start;
	bool time_start_known;
	uint32_t buffer_cpu; /* the CPU on which the function tracer was last switched on; 0 when unknown */
	/*
	 * The pages are those of a latency tracer's snapshot: only events since section_since are of its longest
	 * section, and events_open() hands out no others (lib/meaning/event/section_internal.h).
	 */
	bool section;
	uint64_t section_since; /* in units of event::ts; 0: all */
	/* all "" when unknown; preempt_model points into it when the file has the model */
	struct latency_head latency_head;
	unsigned release_major, release_minor; /* 0, 0 when unknown */
	unsigned release_patch;
	bool before_4_15; /* the release is unknown, and the formats are those of an older kernel */
	/* The columns of an imported text; 0: what the release says. In its flags need-resched-lazy is 0x02. */
	struct context_columns {
		uint8_t flags, pid_width;
		bool has_x, no_bh, tgid_late, old_marks;
	} columns;
};

/* Whether both are buffers of one recording, and so of one machine. */
bool context_is_beside(const struct context *context, const struct context *other);
/* And of one clock: a time in one is the same moment in the other. */
bool context_shares_times(const struct context *context, const struct context *other);

/* The next PID of context::self; `at` begins as that. False: there is no more. */
bool context_next_self(const char **at, int32_t *ret);

/* Whether the buffer was recorded with a PID filter. */
static inline bool context_has_pids(const struct context *context)
{
	return context->event_pids || context->event_pids_left;
}

/*
 * Whether a gap before a record, the first one of its CPU or a later one, is a loss. In a buffer that was copied while
 * tracing was off, pages have the number of events overwritten or read before them. The kernel counts these in the
 * header and prints no line for them in `trace`. Files without overrun counts have them only in the pages.
 */
static inline bool context_is_loss(const struct context *context, bool first)
{
	return context->frozen ? context->went_on && !first : !first || context->recorded;
}

/* Bits of context::trace_flags: one for each option that the text depends on; names in context_option.c. */
enum trace_option {
	OPTION_PRINT_PARENT,
	OPTION_SYM_OFFSET,
	OPTION_SYM_ADDR,
	OPTION_VERBOSE,
	OPTION_RAW,
	OPTION_HEX,
	OPTION_BIN,
	OPTION_FIELDS,
	OPTION_ANNOTATE,
	OPTION_SYM_USEROBJ,
	OPTION_CONTEXT_INFO,
	OPTION_LATENCY_FORMAT,
	OPTION_RECORD_TGID,
	OPTION_IRQ_INFO,
	OPTION_HASH_PTR,
	OPTION_TRACE_PRINTK,
	OPTION_PRINTK_MSG_ONLY,
	OPTION_DISPLAY_GRAPH,
	OPTION_STACKTRACE,
	OPTION_USERSTACKTRACE,
	OPTION_FUNC_STACK_TRACE,
	OPTION_FUNC_ARGS,
	OPTION_FGRAPH_OVERRUN,
	OPTION_FGRAPH_CPU,
	OPTION_FGRAPH_OVERHEAD,
	OPTION_FGRAPH_PROC,
	OPTION_FGRAPH_DURATION,
	OPTION_FGRAPH_ABSTIME,
	OPTION_FGRAPH_IRQS,
	OPTION_FGRAPH_TAIL,
	OPTION_FGRAPH_RETVAL,
	OPTION_FGRAPH_RETVAL_HEX,
	OPTION_FGRAPH_RETADDR,
	OPTION_FGRAPH_ARGS,
	OPTION_SLEEP_TIME,
	OPTION_GRAPH_TIME,
	OPTION_BLK_CLASSIC,
	OPTION_BLK_CGROUP,
	OPTION_BLK_CGNAME,
	OPTION_BITMASK_LIST,
	OPTION_NR,
};

static inline bool context_option(const struct context *context, enum trace_option option)
{
	return context->trace_flags >> option & 1;
}

/* The text that `trace` printed for this buffer with a max-latency tracer; NULL when the file has none. */
const char *context_latency(struct trace *trace, size_t buffer);

/* "NAME" or "noNAME" as in trace_options; -EINVAL when weft knows no such option. */
int must_check context_set_option(struct context *context, const char *text, struct fail *fail);

/*
 * Replaces the names of tasks by those of newer texts of saved_cmdlines and saved_tgids: for printing during a
 * recording. No other thread may use the context meanwhile. After a failure the old names stay.
 */
int must_check context_set_tasks(struct context *context, const char *names, size_t names_len, const char *tgids,
				 size_t tgids_len, struct fail *fail);

/*
 * Whether the traced kernel is of this release or a later one; when the release is unknown, true if the formats do not
 * say that it is older.
 */
static inline bool context_since(const struct context *context, unsigned major, unsigned minor)
{
	if (!context->release_major)
		return !context->before_4_15 || major < 4 || (major == 4 && minor < 15);
	return context->release_major > major || (context->release_major == major && context->release_minor >= minor);
}

/* Whether %p prints a hash, since 4.15, and not the address (lib/vsprintf.c: ptr_to_id()). */
static inline bool context_hashes_pointers(const struct context *context)
{
	return context_option(context, OPTION_HASH_PTR) && context_since(context, 4, 15);
}

/* Like context_since(), but false when the release is unknown. */
static inline bool context_knows(const struct context *context, unsigned major, unsigned minor)
{
	return context->release_major && context_since(context, major, minor);
}

int must_check context_new(struct trace *trace, size_t buffer, struct context **ret, struct fail *fail);
void context_free(struct context *context);

/* Notes that memory ran out and the text is incomplete; trace_damage() reports it. May be called from any thread. */
void context_lacks_memory(const struct context *context);

#endif
