/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_KERNEL_PRINT_INTERNAL_H
#define WEFT_FORMATS_KERNEL_PRINT_INTERNAL_H

struct renderer;

/*
 * Entries written by programs and by the kernel's printk-like functions: trace_marker, trace_printk() and its
 * relatives, trace_marker_raw.
 */
extern const struct renderer print_renderer;
extern const struct renderer bputs_renderer;
extern const struct renderer bprint_renderer;
extern const struct renderer raw_data_renderer;

#endif
