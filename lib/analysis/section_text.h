/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_ANALYSIS_SECTION_TEXT_H
#define WEFT_ANALYSIS_SECTION_TEXT_H

#include "lib/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The kernel's text of a tracer that keeps the longest section it has met (irqsoff, preemptoff, preemptirqsoff, wakeup
 * and its like): with the option latency-format, and with display-graph as a graph. Times count from the section's
 * beginning, for there the buffer's time starts (__update_max_tr() of kernel/trace/trace.c). Any bytes may stand in it;
 * what is no entry is passed over.
 * Not supported: the option verbose, and texts without the column of the time.
 */
enum section_context {
	SECTION_NMI,
	SECTION_IRQ,
	SECTION_SOFTIRQ,
	SECTION_IDLE,
	SECTION_TASK,
	SECTION_UNKNOWN,
	SECTION_CONTEXTS
};

/* Texts are borrowed. */
struct section_entry {
	uint64_t us;
	uint32_t cpu;
	int32_t pid;
	uint8_t context; /* enum section_context, by the flags */
	bool stack;      /* frames follow it */
	struct text_word comm;
	struct text_word what;   /* a function, the name of an event, "}" where a function ends, or the line as it is */
	struct text_word caller; /* empty: unknown */
	/* Of a graph: */
	bool opens, closes; /* "what() {", "}" */
	uint32_t depth;
};

/* The next entry of the text; false at its end. */
bool section_next(const char **text, size_t *left, struct section_entry *ret);

/* A frame of a stack, " => what"; false for other lines. */
bool section_frame(struct text_word line, struct text_word *ret);

#endif
