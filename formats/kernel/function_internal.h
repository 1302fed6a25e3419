/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_KERNEL_FUNCTION_INTERNAL_H
#define WEFT_FORMATS_KERNEL_FUNCTION_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

struct binding;
struct event;
struct ftrace;
struct out;
struct place;
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

/*
 * The arguments of a function after its name: print_function_args() of kernel/trace/trace_output.c. A record has
 * arguments if it is longer than its fixed fields: they begin at the place of `args[]`.
 */
static inline bool has_call_args(uint32_t args_offset, uint32_t len)
{
	return args_offset && len > args_offset;
}

/* Prints "(...)"; false, and nothing, when the record has no arguments. */
bool call_args_print(const struct ftrace *ftrace, const struct place *args, const struct event *event, uint64_t func,
		     struct out *out);

/* Prints "(...)" as an imported text had it. */
void call_args_print_text(const struct place *text, const struct event *event, struct out *out);

#endif
