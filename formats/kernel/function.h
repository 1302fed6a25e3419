/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FORMATS_KERNEL_FUNCTION_H
#define WEFT_FORMATS_KERNEL_FUNCTION_H

#include <stdint.h>

struct binding;
struct ftrace;
struct out;
struct renderer;

/* The data of a binding whose renderer prints addresses by function_print_ip(); NULL without memory, which is no harm. */
void *function_names(void);

/* symbol_print_ip(), with the text kept for the next time. */
void function_print_ip(const struct ftrace *ftrace, const struct binding *binding, uint64_t ip, struct out *out);

/* Entries of the function tracer. */
extern const struct renderer function_renderer;

#endif
