/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_SETUP_FOR_H
#define WEFT_CMD_OPTIONS_SETUP_FOR_H

#include <argp.h>
#include <stdbool.h>

#include "lib/answers/frame/analysis_list.h"

struct analysis_ops;
struct setup_instance;

/* The value of --for: names of the analyses that a recording can be made for (lib/answers/frame/analysis_list.h). */
#define SETUP_FOR_NAME(name) "|" #name
#define SETUP_FOR (&ANALYSES(SETUP_FOR_NAME)[1])

/* Adds what the analysis of this name wants. An unknown name is a usage error. */
void setup_for(struct setup_instance *wanted, const char *option, const char *name, struct argp_state *state);
/* The analysis of this name for tables of intervals, of a stream. What has none is a usage error. */
const struct analysis_ops *setup_for_intervals(const char *name, struct argp_state *state);
/* Returns false when memory runs out. */
bool setup_for_analysis(struct setup_instance *wanted, const struct analysis_ops *ops);

#endif
