/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_KERNEL_COLUMNS_H
#define WEFT_FORMATS_KERNEL_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

struct context;
struct event;
struct face;
struct out;

/*
 * The columns in front of every line: task, thread group, CPU, flags, time. trace_print_context() and
 * trace_print_lat_fmt() of kernel/trace/trace_output.c. The set of flags depends on the kernel that wrote the file:
 * columns_init() looks at the common fields of its formats and at its release.
 * The hot path of every report: one out_need() for a whole head.
 */
struct columns {
	const struct context *context;
	bool info;               /* option context-info */
	bool tgid;               /* option record-tgid */
	bool flags;              /* option irq-info */
	bool nanoseconds;        /* of --nanoseconds: nine digits where the kernel prints six */
	bool counts;             /* the clock does not count ns */
	const struct face *face; /* NULL: times are the trace clock's; borrowed */
	/* PREEMPT_RT before 6.12: columns for need-resched-lazy and preempt_lazy_disable() */
	bool lazy_columns;
	uint8_t lazy_bit;        /* the bit of need-resched-lazy in the flags byte, if it has a column */
	bool whole_depth;        /* before 5.15: the whole byte of the preempt count is its depth */
	uint32_t migrate_offset; /* offset of common_migrate_disable, which only 5.10-rt has */
	/* 5.15 and later: the upper half of the preempt count is the migrate-disable depth */
	bool migrate;
	bool bh_off;      /* 5.19 and later: EVENT_BH_OFF is known */
	bool bh_named;    /* the header names it, too */
	bool lazy_flag;   /* 6.13 and later: EVENT_NEED_RESCHED_LAZY instead of IRQS_NOSUPPORT */
	uint8_t nr_flags; /* characters of the flags column: 4, 5 or 7 */
	uint8_t pid_width;
	bool verbose;               /* of latency-format: option verbose */
	bool old_marks;             /* of latency-format: the marks of delays before 3.19 */
	uint64_t time_start;        /* latency-format: the origin of its times; set by latency_start() */
	uint32_t lazy_depth_offset; /* offset of common_preempt_lazy_count in the record */
	bool tgid_late;             /* the thread group is behind the CPU, as from 4.13 to 4.17 */
	bool heads;                 /* tasks are printed by task_head() */
	bool usual;                 /* all columns are as a kernel of 5.15 or later has them by default */
	char flags_text[256][4];    /* the characters that depend on the flags byte alone */
	char counts_text[256][2];   /* the characters of the preempt count: lower half, upper half */
};

enum { COLUMNS_FLAGS_MAX = 12 };

void columns_init(struct columns *columns, const struct context *context, bool nanoseconds, const struct face *face);

/* "TASK-PID [(TGID)] [CPU] FLAGS TIME: ", or nothing with nocontext-info. */
void columns_write(const struct columns *columns, const struct event *event, struct out *out);

/*
 * Writes the flags column alone, nr_flags characters, and returns its end. The caller provides room for
 * COLUMNS_FLAGS_MAX.
 */
char *columns_flags(const struct columns *columns, const struct event *event, char *at);

/* Prints a time as trace_print_time() does: a blank, then seconds and microseconds, or the count. */
void columns_time(const struct columns *columns, uint64_t ts, struct out *out);

#endif
