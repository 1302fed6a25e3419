/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FILES_IMPORT_HEAD_INTERNAL_H
#define WEFT_FILES_IMPORT_HEAD_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What precedes an event in the kernel's text: the task, the CPU, flags, the time (kernel/trace/trace_output.c:
 * trace_print_context(), trace_print_lat_context()); and in the text of perf script. What mails and logs put in front
 * of it is gone (prefix.h), or is cut off here, because a task's name has at most 15 bytes. The bytes may come from
 * anywhere: nothing outside the line is read.
 * Not supported: the option context-info off.
 */
struct head {
	const char *comm; /* borrowed from the line */
	size_t comm_len;
	int32_t pid, tgid; /* tgid 0: the column is empty or missing */
	uint32_t cpu;
	uint64_t ts;           /* in ns */
	uint64_t since, until; /* verbose: the time since the buffer's beginning, and until the next event */
	uint8_t flags, preempt_count, lazy_count;
	bool has_tgid, has_flags; /* the line has these columns */
	bool has_lazy;            /* lazy_count has a column, as with PREEMPT_RT before 6.12 */
	bool has_x;               /* the flag X: whether interrupts are off is not known (IRQS_NOSUPPORT) */
	bool is_latency;          /* the line has the form of the option latency-format */
	bool is_verbose;          /* and that of the option verbose: flags and preempt_count are the bytes themselves */
	char mark;                /* of the time until the next event: ' ', '+'; 0 if the line has none */
	bool is_perf;             /* the line is one of perf script, whose events have a system: it is not in `body` */
	bool tgid_late;           /* the thread group is behind the CPU, as from 4.13 to 4.17 */
	bool has_unit; /* the time has a unit; without one, it is the number of a clock that counts something else */
	unsigned nr_flags, pid_width, tgid_width; /* how wide these columns are; 0: unknown */
	/*
	 * For a function graph (graph.h): `ts` is the record's time; `pid` is a stand-in for a PID that is not known
	 * yet.
	 */
	bool is_placed, is_guess;
	const char *body;
	size_t body_len;
};

enum { HEAD_CPU_MAX = 4096 };

/* Parses the head of a line without its newline. Returns false if the line does not begin with an event. */
bool head_parse(const char *line, size_t len, struct head *ret);

/*
 * Where the next event begins in the body of a line whose own event ends without a newline, as a trace_printk() may:
 * its head has the columns of this one, and no earlier time. NULL: there is none.
 */
const char *head_next(const struct head *head);

/* Parses only the columns of flags, "d.h2.", at *at, and moves *at behind them. */
bool head_flags(const char **at, const char *end, struct head *head);

#endif
