/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_FLIGHT_OPTIONS_H
#define WEFT_CMD_OPTIONS_FLIGHT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/ground/base/cleanup.h"

struct argp_state;
struct condition;
struct fail;
struct flight_options;
struct persistent;
struct setup;

/* Where a flight holds its history: the value of --keep-in. Ends with a message at a wrong one. */
void flight_keep_in(const char *arg, struct flight_options *flight, struct argp_state *state);

/* Gives the buffers of the kernel their size, if they hold the history: together they have the memory. */
void flight_share(const struct flight_options *flight, struct setup *setup, struct argp_state *state);

/* Finds the instance that survives a reset, if one shall hold the history. The caller releases *ret. */
int must_check flight_find_place(struct flight_options *flight, struct setup *setup, struct persistent *ret,
				 struct fail *fail);

/* Says where the history is held. */
void flight_tell_place(const struct flight_options *flight);

/* The conditions of `weft flight start --when`. Each function ends with a message if something is wrong. */
void flight_add_condition(const char *text, struct condition **conditions, size_t *nr, struct argp_state *state);
/* The tracer of such a condition stops every instance that has it, also one of the flight. */
void flight_check_tracers(const struct condition *conditions, size_t nr, const struct setup *setup,
			  struct argp_state *state);

#endif
