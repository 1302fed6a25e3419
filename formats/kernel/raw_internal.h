/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_KERNEL_RAW_INTERNAL_H
#define WEFT_FORMATS_KERNEL_RAW_INTERNAL_H

#include <stdint.h>

#include "formats/kernel/ftrace.h"

/*
 * The lines of the options raw, hex and bin: print_raw_fmt(), print_hex_fmt(), print_bin_fmt() of kernel/trace/trace.c.
 * A type is printed by its renderer's callback of that name; for a type without one the line shows the type's number,
 * as trace_nop_print() does. These lines have only the task's id, the CPU and the time as columns; with nocontext-info
 * none.
 */
enum layout {
	LAYOUT_TEXT,
	LAYOUT_RAW, /* numbers in decimal or hexadecimal, depending on the type */
	LAYOUT_HEX, /* each number in as many digits as it has bytes, and a blank after it */
	LAYOUT_BIN, /* the bytes of the record, with nothing between or after them */
};

/* The layout for the options that are set: like the kernel, bin before hex before raw. */
enum layout layout_of(const struct ftrace *ftrace);

/* Prints a whole line in a layout other than LAYOUT_TEXT. */
void layout_line(enum layout layout, const struct ftrace *ftrace, const struct event *event, struct out *out);

typedef void put_fn(const struct ftrace *ftrace, uint64_t value, unsigned size, struct out *out);

/*
 * Print one number of a record: SEQ_PUT_HEX_FIELD(), SEQ_PUT_FIELD(). `size` is 1, 2, 4 or 8 bytes; 0 prints nothing.
 */
put_fn put_hex, put_bin;

/*
 * Print the places [0] to [count - 1] of a binding, one after the other: callbacks of types that print all their
 * fields.
 */
void put_hex_places(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
		    unsigned count, struct out *out);
void put_bin_places(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
		    unsigned count, struct out *out);

/* The callbacks of types that the kernel does not register: their entries are unknown to it. */
render_fn raw_unknown, put_nothing;

#endif
