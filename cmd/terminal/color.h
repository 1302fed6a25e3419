/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_TERMINAL_COLOR_H
#define WEFT_CMD_TERMINAL_COLOR_H

#include <argp.h>
#include <stdbool.h>

#define COLOR_VALUES "auto|always|never"
#define COLOR_HELP                                                                   \
	"Colour tasks, events, flags, times, errors and losses (auto, the default: " \
	"on a terminal, unless NO_COLOR is set)"

/* Returns whether standard output gets colours without the option. */
bool color_auto(void);

/* Returns the value of --color. An unknown word is a usage error. */
bool color_wanted(const char *when, struct argp_state *state);

#endif
