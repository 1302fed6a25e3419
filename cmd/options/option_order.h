/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_OPTION_ORDER_H
#define WEFT_CMD_OPTIONS_OPTION_ORDER_H

#include <stdbool.h>

struct argp;
struct argp_option;

/* Whether this is the end of a table of options. */
bool option_is_end(const struct argp_option *option);

/*
 * Returns the options of a command in the order in which they are shown: sorted by group, and those of a child that
 * several commands share among the parent's own options of the child's group. A child with titles or groups of its own
 * stays a child. For a process that ends soon: nothing is freed. Returns `argp` itself without memory.
 */
const struct argp *option_order(const struct argp *argp);

#endif
