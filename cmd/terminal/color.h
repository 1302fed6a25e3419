/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_TERMINAL_COLOR_H
#define WEFT_CMD_TERMINAL_COLOR_H

#include <stdbool.h>

#include "cmd/options/option_rows.h"

#define COLOR_VALUES "auto|always|never"
#define COLOR_HELP                                                                   \
	"Colour tasks, events, flags, times, errors and losses (auto, the default: " \
	"on a terminal, unless NO_COLOR is set)"

/* Returns whether standard output gets colours without the option. */
bool color_auto(void);

/* Returns the value of --color. An unknown word is a usage error. */
void color_take(const struct option_row *row, void *wanted, char *when, struct argp_state *state);

#endif
