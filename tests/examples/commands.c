// SPDX-License-Identifier: GPL-2.0-only
/* Takes the place of lib/analysis/analyses.c and cmd/commands.c, with the lists of analyses.h. */
#include "tests/examples/analyses.h"

#include "cmd/command.h"
#include "lib/analysis/analyses.c"

#define COMMAND_ENTRY(name) &name##_command,

const struct command *const commands[] = { COMMANDS(COMMAND_ENTRY) NULL };
