/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_EVENT_LATENCY_HEAD_H
#define WEFT_MEANING_EVENT_LATENCY_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PREEMPT_MODEL_MAX = 32, LATENCY_TASK_MAX = 128, LATENCY_SYMBOL_MAX = 640 };

/*
 * The facts in the head that print_trace_header() of kernel/trace/trace.c prints about the kernel, the buffer and the
 * longest section. A latency tracer leaves the data of its longest section in the buffer until the next boot, partly,
 * so that the texts of other tracers also show it. A field is "" when the text lacks it, or when it is too long.
 */
struct latency_head {
	char preempt_model[PREEMPT_MODEL_MAX];
	bool cpu_known;
	uint32_t cpu;                                                /* the buffer's CPU */
	char latency[24];                                            /* in us */
	char task[LATENCY_TASK_MAX];                                 /* "bash-1234 (uid:0 nice:0 policy:0 rt_prio:0)" */
	char started[LATENCY_SYMBOL_MAX], ended[LATENCY_SYMBOL_MAX]; /* functions, printed according to the options */
	/* their addresses if the text was printed with the option sym-addr; 0: unknown */
	uint64_t started_at, ended_at;
};

/* Takes the fact from a line (without its newline) if the line has one. */
void latency_head_take(struct latency_head *head, const char *line, size_t len);

#endif
