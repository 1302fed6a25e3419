/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FILES_REWRITE_EXCERPT_H
#define WEFT_FILES_REWRITE_EXCERPT_H

#include <stddef.h>
#include <stdint.h>

#include "lib/files/rewrite/recast.h"
#include "lib/ground/base/cleanup.h"

struct buf;
struct event;
struct fail;
struct trace;

/*
 * An excerpt is a trace.dat with some of the events of a trace, and with the trace's texts, settings, byte order and
 * time stamps. A text about the whole trace is left out (as for a latency tracer), or is made for the excerpt
 * (per_cpu/cpuN/stats). Time stamps of a TSC are ns in the excerpt. The events of each CPU are added in their order.
 * Borrows the trace.
 */
struct excerpt;

int must_check excerpt_new(struct trace *trace, const struct recast_options *form, struct excerpt **ret,
			   struct fail *fail);
void excerpt_free(struct excerpt *excerpt);

/*
 * Adds an event of a buffer of the trace, or of another trace with the same buffers and formats. `lost`: the number of
 * events of its CPU lost just before it, or PAGE_LOST_*.
 */
int must_check excerpt_add(struct excerpt *excerpt, size_t buffer, const struct event *event, int64_t lost,
			   struct fail *fail);

/* Notes which events of the trace are left out, as lines of query_put_choice(). Borrows the text. */
void excerpt_selected(struct excerpt *excerpt, const char *lines);

/* The same as a whole, in place of what the trace says of itself: for all buffers. Copies the text. */
int must_check excerpt_selected_in_all(struct excerpt *excerpt, const char *lines, struct fail *fail);

/*
 * Notes that the events of the trace were divided among several files: this one is number `part` in the order of time,
 * or, with 0, has some of the `events`.
 */
void excerpt_divided(struct excerpt *excerpt, uint64_t part, uint64_t events);

/* Symbols in place of those of the trace. Copies the text. */
int must_check excerpt_symbols(struct excerpt *excerpt, const char *text, size_t len, struct fail *fail);

/*
 * Texts of the kernel that are newer than those of the trace: saved_cmdlines and kallsyms, of which the symbols are
 * kept that the events need. NULL: that of the trace. Borrows them.
 */
struct excerpt_newer {
	const struct buf *cmdlines, *kallsyms;
};
void excerpt_newer(struct excerpt *excerpt, const struct excerpt_newer *newer);

/* Events added so far, and the bytes of their pages. */
uint64_t excerpt_count(const struct excerpt *excerpt);
uint64_t excerpt_size(const struct excerpt *excerpt);

/* Writes the file. Afterwards the excerpt can only be freed. */
int must_check excerpt_write(struct excerpt *excerpt, int fd, uint64_t *ret_size, struct fail *fail);

#endif
