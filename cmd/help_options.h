/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_HELP_OPTIONS_H
#define WEFT_CMD_HELP_OPTIONS_H

#include <stdbool.h>

struct argp;
struct argp_option;

/* Whether this is the end of a table of options. */
bool options_is_end(const struct argp_option *option);

/*
 * Returns the options as --help shows them: an argument that is one of many words, "a|b|c", is named WORD there, and
 * the words follow in the text, where lines can be broken. The option tables keep them in one word for completion. For
 * a process that ends soon: nothing is freed. Returns `argp` itself without memory.
 */
const struct argp *help_options(const struct argp *argp);

#endif
