/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_EVENT_LATENCY_HEAD_H
#define WEFT_EVENT_LATENCY_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PREEMPT_MODEL_MAX = 32, LATENCY_TASK_MAX = 128, LATENCY_SYMBOL_MAX = 640 };

/*
 * What print_trace_header() of kernel/trace/trace.c says of the kernel, the buffer and the longest section. A tracer that looks for such a
 * section leaves it there, in parts and until the next boot, and it then stands in the texts of other tracers, too. Each is "" where the
 * text does not say it, or says more than fits.
 */
struct latency_head {
	char preempt_model[PREEMPT_MODEL_MAX];
	bool cpu_known;
	uint32_t cpu;                /* of the buffer */
	char latency[24];            /* in us */
	char task[LATENCY_TASK_MAX]; /* "bash-1234 (uid:0 nice:0 policy:0 rt_prio:0)" */
	char started[LATENCY_SYMBOL_MAX],
		ended[LATENCY_SYMBOL_MAX]; /* functions, in the form that the options of the text gave them */
};

/* Takes what a line of the text says, without its newline, if it is one of these. */
void latency_head_take(struct latency_head *head, const char *line, size_t len);

#endif
