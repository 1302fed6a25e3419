/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_FLIGHT_PLACE_H
#define WEFT_CMD_OPTIONS_FLIGHT_PLACE_H

#include <stdbool.h>
#include <stdint.h>

struct argp_state;
struct flight_options;
struct setup;

/*
 * Where a flight holds its history: the value of --keep-in. Whether it is the kernel; ends with a message at a wrong
 * one.
 */
bool flight_is_in_kernel(const char *arg, struct argp_state *state);
/* The size of a CPU's buffer, so that those of all CPUs and instances together have the memory. */
uint64_t flight_kernel_share(const struct flight_options *flight, const struct setup *setup);

#endif
