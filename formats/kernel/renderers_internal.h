/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_KERNEL_RENDERERS_INTERNAL_H
#define WEFT_FORMATS_KERNEL_RENDERERS_INTERNAL_H

#include "formats/kernel/function_internal.h"
#include "formats/kernel/graph.h"

struct format;
struct renderer;

/* The renderers and tracers that have files of their own: renderer_list.c and ftrace_sink.c list them. */

/*
 * Entries of the blk tracer, which have no format: TRACE_BLK is the type after that of user_stack
 * (kernel/trace/trace.h).
 */
extern const struct renderer blk_renderer;
extern const struct renderer branch_renderer;
extern const struct renderer text_line_renderer;
extern const struct renderer context_switch_renderer;
extern const struct renderer func_repeats_renderer;
extern const struct renderer hwlat_renderer;
extern const struct renderer mmiotrace_map_renderer;
extern const struct renderer mmiotrace_rw_renderer;
extern const struct renderer osnoise_renderer;
extern const struct renderer timerlat_renderer;
extern const struct renderer wakeup_renderer;

extern const struct tracer blk_tracer;
extern const struct tracer branch_tracer;
extern const struct tracer mmiotrace_tracer;
extern const struct tracer osnoise_tracer;
extern const struct tracer timerlat_tracer;

/*
 * Entries written by programs and by the kernel's printk-like functions: trace_marker, trace_printk() and its
 * relatives, trace_marker_raw.
 */
extern const struct renderer print_renderer;
extern const struct renderer bputs_renderer;
extern const struct renderer bprint_renderer;
extern const struct renderer raw_data_renderer;

extern const struct renderer kernel_stack_renderer;
extern const struct renderer user_stack_renderer;

/*
 * Events defined by users, which the kernel does not print by their print fmt: probes of functions and their returns
 * (trace_kprobe.c, trace_uprobe.c, trace_fprobe.c: the address as a symbol, "(fault)" for a string that could not be
 * read), and user_events (trace_events_user.c: by their fields).
 */

/* The renderer of such a format; NULL for other formats. */
const struct renderer *probe_renderer(const struct format *format);

/*
 * Synthetic events: their print fmt has commas where the kernel prints none. print_synth_event() of
 * kernel/trace/trace_events_synth.c.
 * Not supported: fields of gfp_t; such an event is left to its print fmt.
 */

/* The renderer of such a format; NULL for other formats. */
const struct renderer *synth_renderer(const struct format *format);

/*
 * sys_enter_NAME and sys_exit_NAME, which the kernel does not print by their print fmt: print_syscall_enter(),
 * print_syscall_exit() of kernel/trace/trace_syscalls.c.
 */

/* The renderer of such a format; NULL for other formats. */
const struct renderer *syscall_renderer(const struct format *format);

/* The renderer of any format that the kernel prints in C; NULL: its print fmt prints it. */
const struct renderer *renderer_of(const struct format *format);

#endif
