/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_KERNEL_HEADER_INTERNAL_H
#define WEFT_FORMATS_KERNEL_HEADER_INTERNAL_H

#include <stdbool.h>

struct ftrace;
struct out;

/* The lines in front of the first event: s_show(), trace_default_header() of kernel/trace/trace.c. */

/* Prints "# tracer: NAME\n#\n" and the header of the tracer or, if it has none, the one that the options choose. */
void header_write(const struct ftrace *ftrace, struct out *out);

/*
 * Prints "# entries-in-buffer/entries-written: N/M   #P:C\n#\n": N is the number of events in the buffer or read from
 * it into the file, M also counts overwritten events. Prints nothing when the file lacks N and M, and no C when it
 * lacks the number of CPUs.
 */
void header_entries(const struct ftrace *ftrace, struct out *out);

/*
 * print_trace_header(): the head of the option latency-format, from "# NOP latency trace v1.1.5 on RELEASE" to the box
 * with the task. Task and latency come from tracers that keep a maximum. The texts of these tracers are saved whole, so
 * this head shows only data that such a tracer has left in the buffer, if the file has it, and else no task and 0.
 * False, and nothing, for a buffer known to be empty.
 */
bool header_latency(const struct ftrace *ftrace, struct out *out);

#endif
