/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_KERNEL_CALL_ARGS_INTERNAL_H
#define WEFT_FORMATS_KERNEL_CALL_ARGS_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

struct event;
struct ftrace;
struct out;
struct place;

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
