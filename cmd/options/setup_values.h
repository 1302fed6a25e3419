/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_SETUP_VALUES_H
#define WEFT_CMD_OPTIONS_SETUP_VALUES_H

#include <argp.h>
#include <stdint.h>

#include "lib/kernel/setup/setup.h"

/* Usage errors and values of options that set something up: they exit with EXIT_USAGE. */
__attribute__((format(printf, 2, 3))) void setup_usage(struct argp_state *state, const char *format, ...);
uint64_t setup_number(const char *what, const char *text, uint64_t min, uint64_t max, struct argp_state *state);
uint64_t setup_size(const char *what, const char *text, struct argp_state *state);
/* A bare number counts microseconds, as in the kernel's files; with a unit it is a time. */
uint64_t setup_microseconds(const char *what, const char *text, struct argp_state *state);
/* KEY=VALUE of --hwlat and --osnoise. */
enum setup_keys { SETUP_HWLAT, SETUP_OSNOISE };
struct setup_file setup_file_of(const char *what, enum setup_keys keys, const char *arg, struct argp_state *state);

#endif
