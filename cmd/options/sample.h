/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_SAMPLE_H
#define WEFT_CMD_OPTIONS_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/options/option_rows.h"
#include "lib/kernel/record/result.h"

/* --sample 1/N: N, a uint32_t. */
void sample_take(const struct option_row *row, void *member, char *arg, struct argp_state *state);

/* Whether such a recording is made now (lib/kernel/record/sampling.h). If not, a line says why unless `quiet`. */
enum record_skip sample_skips(uint32_t of, bool quiet);

#endif
