/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_KERNEL_RENDERERS_INTERNAL_H
#define WEFT_FORMATS_KERNEL_RENDERERS_INTERNAL_H

#include "formats/kernel/function_internal.h"
#include "formats/kernel/graph.h"
#include "formats/kernel/stack_internal.h"

/* The renderers and tracers that have files of their own: the tables of ftrace_sink.c list them. */
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

#endif
