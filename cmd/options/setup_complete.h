/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_SETUP_COMPLETE_H
#define WEFT_CMD_OPTIONS_SETUP_COMPLETE_H

#include <argp.h>
#include <stdbool.h>

struct setup;
struct setup_instance;

/*
 * What can be said of a setup only when all options were read: what instances have of the main one, and whether it
 * makes sense. Where it does not, it exits with EXIT_USAGE. `changes`: an empty setup is allowed.
 */
void setup_complete(struct setup *setup, bool changes, struct argp_state *state);

/* An option that was given for this instance and that no other takes over; NULL: none. */
const char *setup_own_option(const struct setup_instance *wanted);

#endif
