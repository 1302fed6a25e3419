/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_IMPORT_HEAD_H
#define WEFT_IMPORT_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What stands in front of an event in the kernel's text: the task, the CPU, flags, the time
 * (kernel/trace/trace_output.c: trace_print_context(), trace_print_lat_context()). In front of it may be what printk
 * and syslog put there. Bytes of any origin: nothing outside the line is read. Not supported: the options context-info
 * off and verbose.
 */
struct head {
	const char *comm; /* borrowed from the line */
	size_t comm_len;
	int32_t pid, tgid; /* a tgid of 0: the column is there and empty, or not there */
	uint32_t cpu;
	uint64_t ts; /* ns */
	uint8_t flags, preempt_count, lazy_count;
	bool has_tgid, has_flags; /* the columns are there */
	bool has_lazy;            /* lazy_count has a column: PREEMPT_RT before 6.12 */
	bool has_unit; /* the time has a unit; otherwise it is a number of a clock that counts something else */
	/* Of a function graph (graph.h): the time is the record's; the PID stands for one that is not known yet. */
	bool is_placed, is_guess;
	const char *body;
	size_t body_len;
};

enum { HEAD_CPU_MAX = 4096 };

/* A line without its newline; false: no event begins with it. */
bool head_parse(const char *line, size_t len, struct head *ret);

/* The columns of flags alone, "d.h2.", at *at, which moves behind them. */
bool head_flags(const char **at, const char *end, struct head *head);

#endif
