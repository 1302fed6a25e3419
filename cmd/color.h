/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_COLOR_H
#define WEFT_CMD_COLOR_H

#include <argp.h>
#include <stdbool.h>

#define COLOR_VALUES "auto|always|never"
#define COLOR_HELP \
	"Colour tasks, events, flags, times, errors and losses (auto, the default: on a terminal, unless NO_COLOR is set)"

/* What standard output gets as long as nobody says. */
bool color_auto(void);

/* Of --color; another word is an error of usage. */
bool color_wanted(const char *when, struct argp_state *state);

#endif
