/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FORMATS_DURATION_H
#define WEFT_FORMATS_DURATION_H

#include <stdint.h>

struct out;

/*
 * Durations as trace_print_graph_duration() and trace_find_mark() of kernel/trace print them: microseconds and as many
 * decimals as fit in seven digits, cut and not rounded.
 */
enum { DURATION_MAX = 32 };

/* "1.234 us    ": twelve characters, or more from 10^8 us on. Returns the end; room for DURATION_MAX is the caller's. */
char *duration_write(uint64_t ns, char *at);

/* How long is too long: "$@*#!+ " from a second down to ten microseconds. */
char duration_mark(uint64_t ns);

#endif
