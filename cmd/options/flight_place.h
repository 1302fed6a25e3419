/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_FLIGHT_PLACE_H
#define WEFT_CMD_OPTIONS_FLIGHT_PLACE_H

#include "lib/base/cleanup.h"

#include <stdbool.h>

struct argp_state;
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

#endif
