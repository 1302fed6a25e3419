/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_FLIGHT_CONDITIONS_H
#define WEFT_CMD_OPTIONS_FLIGHT_CONDITIONS_H

#include <stddef.h>

struct argp_state;
struct condition;
struct setup;

/* The conditions of `weft flight start --when`. Each function ends with a message if something is wrong. */
void flight_add_condition(const char *text, struct condition **conditions, size_t *nr, struct argp_state *state);
/* The tracer of such a condition stops every instance that has it, also one of the flight. */
void flight_check_tracers(const struct condition *conditions, size_t nr, const struct setup *setup,
			  struct argp_state *state);

#endif
