/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_KERNEL_LATENCY_INTERNAL_H
#define WEFT_FORMATS_KERNEL_LATENCY_INTERNAL_H

struct columns;
struct context;
struct event;
struct frame_note;
struct out;

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

#endif
