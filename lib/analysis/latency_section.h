/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_ANALYSIS_LATENCY_SECTION_H
#define WEFT_ANALYSIS_LATENCY_SECTION_H

#include "lib/analysis/section_text.h"
#include "lib/base/cleanup.h"
#include "lib/event/latency_head.h"

#include <stddef.h>
#include <stdint.h>

struct fail;
struct findings;
struct pass;

/*
 * The longest section that a tracer has met, from the kernel's text of it: what its CPU did from entry to entry, in
 * parts that add up to it. The time between two entries of the CPU belongs to the first of them.
 */
enum { SECTION_STACK = 256, SECTION_OPEN = 64 };

struct section {
	struct latency_head head;
	uint64_t us;                      /* the latency */
	uint64_t entries, written;        /* by the text's head; more written than there are: the first are lost */
	uint64_t parts[SECTION_CONTEXTS]; /* us */
	uint64_t seen;                    /* entries in the section */
	int32_t pid;                      /* of its task; -1: unknown */
	struct section_entry first;       /* of the text, whichever CPU */
	char comm[LATENCY_TASK_MAX];
	char stack[SECTION_STACK]; /* the last in the text: "a <- b <- c" */
	struct section_most {
		struct text_word what;
		uint64_t us, entries;
	} most; /* the function or event with the most time */
	struct section_gap {
		uint64_t us, from;
		struct section_entry entry;
		struct text_word next; /* empty: the end of the section */
	} * gaps;                      /* the longest first */
	size_t nr_gaps;
};

/* Reads the text, which is borrowed; the `worst` longest gaps. -ENODATA: it is that of no such tracer. */
int must_check section_read(struct section *section, const char *text, size_t len, size_t worst, struct fail *fail);
void section_release(struct section *section);

/* Tables of all sections that the buffers of a pass hold. How many there are, or -errno. */
int must_check sections_put(const struct pass *pass, size_t worst, struct findings *findings, struct fail *fail);

#endif
