/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FORMATS_KERNEL_LATENCY_H
#define WEFT_FORMATS_KERNEL_LATENCY_H

struct columns;
struct context;
struct event;
struct frame_note;
struct out;

/*
 * Where the file does not tell when the buffer was reset, the column counts from the first of all its events, whichever are
 * selected. The context is for reading them.
 */
void latency_start(struct columns *columns, const struct context *context);

/*
 * The columns of the option latency-format, which tell the time since the buffer was reset and mark the time until the next
 * event: trace_print_lat_context() of kernel/trace/trace_output.c. Nothing with nocontext-info.
 */
void latency_write(const struct columns *columns, const struct event *event, const struct frame_note *note,
		   struct out *out);

#endif
