/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_EVENT_LATENCY_FACTS_H
#define WEFT_EVENT_LATENCY_FACTS_H

#include "lib/base/cleanup.h"
#include "lib/event/latency_head.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct context;
struct fail;

/*
 * What no file of tracefs tells but the text of `trace` with the option latency-format: when the buffer was reset, the
 * kernel's preemption model, the buffer's CPU (print_trace_header(), lat_print_timestamp() of kernel/trace), and its head. Each time
 * in that text is rounded to a microsecond and so bounds the time of the reset; all together bound it to some ns, and any value between
 * reproduces the text.
 */
struct latency_facts {
	bool time_start_known;
	uint64_t time_start; /* in the units of event::ts */
	uint64_t lines;      /* that show a time */
	uint64_t samples;    /* those of them that belong to an event: time_start follows from them */
	struct latency_head head;
};

/*
 * Learns from the sample that a recording keeps ("weft/latency_sample") what the context does not know yet: time_start,
 * buffer_cpu, preempt_model and the head. Does nothing where there is none, or where it does not fit the events.
 */
int must_check latency_facts_learn(struct context *context, struct fail *fail);

/* Reads the text beside the events of the buffer that it shows. A text that tells nothing is no error. */
int must_check latency_facts_read(struct context *context, const char *text, size_t len, struct latency_facts *ret,
				  struct fail *fail);

#endif
