/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_EVENT_LATENCY_FACTS_H
#define WEFT_MEANING_EVENT_LATENCY_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/meaning/event/latency_head.h"

struct context;
struct fail;

/*
 * Facts that only the text of `trace` with the option latency-format shows: when the buffer was reset, the kernel's
 * preemption model, the buffer's CPU (print_trace_header(), lat_print_timestamp() of kernel/trace), and the other facts
 * of its head. Each time in that text is rounded to a microsecond and so bounds the time of the reset; all lines
 * together bound it to some ns, and any value between these bounds reproduces the text.
 */
struct latency_facts {
	bool time_start_known;
	uint64_t time_start; /* in the units of event::ts */
	uint64_t lines;      /* lines with a time */
	uint64_t samples;    /* lines with the time of an event: time_start follows from them */
	struct latency_head head;
};

/*
 * Sets time_start, buffer_cpu, preempt_model and the head of the context from the sample in the recording
 * ("weft/latency_sample", or "weft/section" for the pages of a latency tracer). Does nothing when there is no sample,
 * or time_start is already known. A fact that the sample does not show stays unknown.
 */
int must_check latency_facts_learn(struct context *context, struct fail *fail);

/* Reads the text and compares it with the events of the buffer. A text without facts is not an error. */
int must_check latency_facts_read(struct context *context, const char *text, size_t len, struct latency_facts *ret,
				  struct fail *fail);

#endif
