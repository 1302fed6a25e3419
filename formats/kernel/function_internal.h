/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_KERNEL_FUNCTION_INTERNAL_H
#define WEFT_FORMATS_KERNEL_FUNCTION_INTERNAL_H

#include <stdint.h>

struct binding;
struct ftrace;
struct out;
struct renderer;

/*
 * The data of a binding whose renderer calls function_print_ip(). NULL without memory, which only makes printing
 * slower.
 */
void *function_names(void);

/* Like symbol_print_ip(), with a cache of the texts. */
void function_print_ip(const struct ftrace *ftrace, const struct binding *binding, uint64_t ip, struct out *out);

/* Entries of the function tracer. */
extern const struct renderer function_renderer;

#endif
