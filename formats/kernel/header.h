/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FORMATS_KERNEL_HEADER_H
#define WEFT_FORMATS_KERNEL_HEADER_H

#include <stdbool.h>

struct ftrace;
struct out;

/* The lines in front of the first event: s_show(), trace_default_header() of kernel/trace/trace.c. */

/* "# tracer: NAME\n#\n" and what the tracer or, without one of its own, the options ask for. */
void header_write(const struct ftrace *ftrace, struct out *out);

/*
 * "# entries-in-buffer/entries-written: N/M   #P:C\n#\n": N events are in the buffer or were taken out of it into the file, M also
 * counts those overwritten. Nothing when the file does not tell; C only where it tells the CPUs.
 */
void header_entries(const struct ftrace *ftrace, struct out *out);

/*
 * print_trace_header(): the head of the option latency-format, "# NOP latency trace v1.1.5 on RELEASE" to the task's box. That
 * task, and the latency, are those of tracers that keep a maximum: their texts are saved whole, so here they are what such a tracer
 * has left behind if the file tells it, and else none and 0.
 * False, and nothing, for a buffer known to be empty.
 */
bool header_latency(const struct ftrace *ftrace, struct out *out);

#endif
