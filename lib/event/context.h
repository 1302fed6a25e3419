/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_EVENT_CONTEXT_H
#define WEFT_EVENT_CONTEXT_H

#include "lib/base/cleanup.h"
#include "lib/event/latency_head.h"
#include "lib/schema/format.h"
#include "lib/schema/program.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fail;
struct maps;
struct out;
struct symbols;
struct tasks;
struct trace;
struct types;

/*
 * All that the text of one ring buffer depends on besides its events: formats, tasks, symbols, the clock, the tracer and
 * its options as they were. Built once from a file; immutable afterwards but for the lazy parts, which lock themselves,
 * so any thread may use it, the schema excepted. It is const for whoever prints or counts events. It borrows the trace.
 */
enum clock_unit {
	CLOCK_UNIT_NS,    /* printed as seconds and microseconds */
	CLOCK_UNIT_COUNT, /* counter, uptime, x86-tsc: the raw number */
};

struct cpu_stats {
	uint32_t cpu;
	uint64_t entries, overrun, commit_overrun, dropped, read;
};

struct context {
	struct trace *trace;
	size_t buffer;        /* index of trace_buffer() */
	const char *instance; /* its name; "" for the top one */
	struct schema *schema;
	struct schema_abi abi;
	struct tasks *tasks;
	struct symbols *symbols;
	struct types *types; /* what the file keeps of the kernel's type information */
	struct maps *maps;   /* of processes, for the option sym-userobj */
	struct program_env env;
	const char *clock; /* the selected one: "local" */
	enum clock_unit unit;
	const char *tracer;   /* from the first entries when the file does not tell; "nop" when they do not, either */
	bool tracer_known;    /* the file tells */
	uint64_t trace_flags; /* enum trace_option bits, from the file's trace_options or their defaults */
	const char *release;  /* "6.12.0-1-amd64", or "" */
	char machine[64];     /* the traced one, as uname -m names it, "x86_64"; "" when unknown */
	bool preempt_rt;      /* of a PREEMPT_RT kernel: two more flag columns on old ones */
	const struct cpu_stats *stats; /* NULL when unknown */
	size_t nr_stats;
	uint64_t entries,
		written; /* by the stats: in the buffer or read out of it into the file; and with those overwritten */
	uint32_t online_cpus; /* those of the machine where only they are known; 0 when not even they are */
	uint64_t hz;          /* 0 when unknown */
	bool recorded;        /* weft recorded it as it ran: gaps at the start are losses, too */
	bool frozen;          /* copied from a buffer that stood still: what was overwritten is no loss of the file's */
	bool went_on; /* but for that it was written to while it was read out: gaps behind a first page are losses */
	const char *self;    /* PIDs of the recorder's own tasks, with blanks between; NULL: unknown */
	const char *latency; /* what `trace` printed under a max-latency tracer; NULL when there is no such text */
	const char *dynamic_events; /* the file of that name; NULL when unknown */
	/* What only the text of the option latency-format tells: lib/event/latency_facts.h. */
	const char
		*preempt_model; /* "preempt_rt"; from the kernel's version or "unknown" when the file does not tell */
	uint64_t time_start;    /* of the time column, in the units of event::ts; when the buffer was last reset */
	bool time_start_known;
	uint32_t buffer_cpu;              /* on which the function tracer was last switched on; 0 when unknown */
	struct latency_head latency_head; /* all "" when unknown; preempt_model points into it once that was learnt */
	unsigned release_major, release_minor; /* 0, 0 when unknown */
	unsigned release_patch;
};

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

/* What `trace` printed under a max-latency tracer in this buffer; NULL when there is no such text. */
const char *context_latency(struct trace *trace, size_t buffer);

/* "NAME" or "noNAME" as in trace_options; -EINVAL when weft knows no such option. */
int must_check context_set_option(struct context *context, const char *text, struct fail *fail);

/*
 * The names of tasks anew, from texts such as saved_cmdlines and saved_tgids: for whoever prints while it is traced. Not while another
 * thread uses the context. On failure the old ones stay.
 */
int must_check context_set_tasks(struct context *context, const char *names, size_t names_len, const char *tgids,
				 size_t tgids_len, struct fail *fail);

/* Whether it is of that kernel or a later one; true when nothing is known of it. */
static inline bool context_since(const struct context *context, unsigned major, unsigned minor)
{
	if (!context->release_major)
		return true;
	return context->release_major > major || (context->release_major == major && context->release_minor >= minor);
}

/* The same, and false when nothing is known of it. */
static inline bool context_knows(const struct context *context, unsigned major, unsigned minor)
{
	return context->release_major && context_since(context, major, minor);
}

int must_check context_new(struct trace *trace, size_t buffer, struct context **ret, struct fail *fail);
void context_free(struct context *context);

/* The text is not what it should be for want of memory: trace_damage() tells. Any thread. */
void context_lacks_memory(const struct context *context);

#endif
