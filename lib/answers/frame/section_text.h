/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_FRAME_SECTION_TEXT_H
#define WEFT_ANSWERS_FRAME_SECTION_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/text.h"

/*
 * Reads the kernel's text of a tracer that keeps the longest section it has met (irqsoff, preemptoff, preemptirqsoff,
 * the wakeup tracers): with the option latency-format, and with display-graph as a graph. Times count from the
 * beginning of the section, because the time of the tracer's buffer starts there (__update_max_tr() of
 * kernel/trace/trace.c). The text may contain any bytes; lines that are no entries are skipped.
 * Not supported: the option verbose, and texts without the column of times.
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

/* All texts are borrowed. */
struct section_entry {
	uint64_t us;
	uint32_t cpu;
	int32_t pid;
	uint8_t context; /* enum section_context, from the flags */
	bool stack;      /* its frames follow */
	struct text_word comm;
	struct text_word what;   /* a function, the name of an event, "}" where a function ends, or the whole line */
	struct text_word caller; /* empty: unknown */
	/* For a graph: */
	bool opens, closes; /* "what() {", "}" */
	uint32_t depth;
};

/* Reads the next entry of the text. Returns false at its end. */
bool section_next(const char **text, size_t *left, struct section_entry *ret);

/* Reads a frame of a stack, " => what". Returns false for other lines. */
bool section_frame(struct text_word line, struct text_word *ret);

#endif
