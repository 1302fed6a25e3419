/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_LATENCY_LATENCY_SECTION_INTERNAL_H
#define WEFT_ANSWERS_LATENCY_LATENCY_SECTION_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "lib/answers/frame/section_text.h"
#include "lib/ground/base/cleanup.h"
#include "lib/meaning/event/latency_head.h"

struct fail;
struct findings;
struct pass;

/*
 * The longest section that a tracer has met, as the kernel's text reports it: what the section's CPU did from entry to
 * entry, in parts that add up to the latency. The time between two entries of the CPU belongs to the first of them.
 */
enum { SECTION_STACK = 256, SECTION_OPEN = 64 };

struct section {
	struct latency_head head;
	uint64_t us;                      /* the latency */
	uint64_t entries, written;        /* from the text's head; more written than entries: the first are lost */
	uint64_t parts[SECTION_CONTEXTS]; /* in us */
	uint64_t seen;                    /* number of entries in the section */
	int32_t pid;                      /* of the section's task; -1: unknown */
	struct section_entry first;       /* the first of the text, on any CPU */
	char comm[LATENCY_TASK_MAX];
	char stack[SECTION_STACK]; /* the last stack of the text: "a <- b <- c" */
	struct section_most {
		struct text_word what;
		uint64_t us, entries;
	} most; /* the function or event with the most time */
	struct section_gap {
		uint64_t us, from;
		struct section_entry entry;
		struct text_word next; /* empty: the section ended */
	} * gaps;                      /* the longest first */
	size_t nr_gaps;
};

/*
 * Reads the text, which it borrows, and keeps the `worst` longest gaps. Returns -ENODATA if it is not the text of such
 * a tracer.
 */
int must_check section_read(struct section *section, const char *text, size_t len, size_t worst, struct fail *fail);
void section_release(struct section *section);

/* Adds tables of all sections in the buffers of a pass. Returns the number of sections, or -errno. */
int must_check sections_put(const struct pass *pass, size_t worst, struct findings *findings, struct fail *fail);

#endif
