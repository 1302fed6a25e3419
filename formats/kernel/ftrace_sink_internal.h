/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_KERNEL_FTRACE_SINK_INTERNAL_H
#define WEFT_FORMATS_KERNEL_FTRACE_SINK_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/kernel/ftrace.h"
#include "lib/ground/base/cleanup.h"

struct sink_seam_ops;

/* The parts of the sink that have files of their own: bind.c, entry_text.c, latency.c, seam.c. */

/*
 * Makes the array of bindings, and the binding of unknown types; -ENOMEM. ftrace_bind_first() of
 * formats/kernel/ftrace.h adds bindings.
 */
int must_check bind_init(struct ftrace *ftrace, renderer_of_fn *renderer_of);
void bind_release(struct ftrace *ftrace);

/* With sink_options::one_line: escapes the newlines in what was printed from there on, but not the last one. */
void entry_seal(const struct ftrace *ftrace, size_t from, struct out *out);

/* Adds the text of a plugin to the end of the line. */
void entry_decode(const struct decoder *decoder, const struct event *event, struct out *out);

/*
 * Sets the origin of the time column: the time of the buffer's reset or, if the file lacks it, of the first of all its
 * events, selected or not. The context is needed to read the events.
 */
void latency_start(struct columns *columns, const struct context *context);

/*
 * Prints the columns of the option latency-format: the time since the buffer was reset, with a mark for the time until
 * the next event: trace_print_lat_context() of kernel/trace/trace_output.c. Prints nothing with nocontext-info.
 */
void latency_write(const struct columns *columns, const struct event *event, const struct frame_note *note,
		   struct out *out);

/*
 * What the lines of a slice need of the lines before it: whether each CPU has started, and the function graph's state.
 */
extern const struct sink_seam_ops ftrace_seam;

/* Guesses whether a CPU had started before the slice, at its first line there. */
bool ftrace_seam_started(struct ftrace *ftrace, uint16_t cpu_index);

#endif
