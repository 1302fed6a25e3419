/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_HELP_OPTIONS_H
#define WEFT_CMD_OPTIONS_HELP_OPTIONS_H

struct argp;

/*
 * Returns the options as --help shows them: in the order of cmd/options/option_order.h, and an argument that is one
 * of many words, "a|b|c", is named WORD, and the words follow in the text, where lines can be broken. The option
 * tables keep them in one word for completion. For a process that ends soon: nothing is freed. Returns `argp` itself
 * without memory.
 */
const struct argp *help_options(const struct argp *argp);

#endif
