/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FORMATS_KERNEL_RAW_H
#define WEFT_FORMATS_KERNEL_RAW_H

#include "formats/kernel/ftrace.h"

#include <stdint.h>

/*
 * The lines of the options raw, hex and bin: print_raw_fmt(), print_hex_fmt(), print_bin_fmt() of kernel/trace/trace.c. A
 * type prints itself by the callback of that name in its renderer; one without says its number, as trace_nop_print() does.
 * These lines have no columns, only the task's id, the CPU and the time; with nocontext-info not even them.
 */
enum layout {
	LAYOUT_TEXT,
	LAYOUT_RAW, /* numbers in decimal or hexadecimal, as each type likes */
	LAYOUT_HEX, /* each number in as many digits as it has bytes, and a blank behind it */
	LAYOUT_BIN, /* the bytes of the record, with nothing between or behind them */
};

/* Of several the kernel takes bin before hex before raw. */
enum layout layout_of(const struct ftrace *ftrace);

/* The whole line in such a layout; LAYOUT_TEXT is not among them. */
void layout_line(enum layout layout, const struct ftrace *ftrace, const struct event *event, struct out *out);

typedef void put_fn(const struct ftrace *ftrace, uint64_t value, unsigned size, struct out *out);

/* One number of a record: SEQ_PUT_HEX_FIELD(), SEQ_PUT_FIELD(). `size` is 1, 2, 4 or 8 bytes; 0 prints nothing. */
put_fn put_hex, put_bin;

/* The places [0] to [count - 1] of a binding, one behind the other: callbacks of types that print all they have. */
void put_hex_places(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
		    unsigned count, struct out *out);
void put_bin_places(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
		    unsigned count, struct out *out);

/* The callbacks of types that the kernel does not register: their entries are unknown to it. */
render_fn raw_unknown, put_nothing;

#endif
