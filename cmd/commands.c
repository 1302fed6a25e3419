// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"

#include <stddef.h>

#define COMMAND_ENTRY(name) &name##_command,

const struct command *const commands[] = { COMMANDS(COMMAND_ENTRY) NULL };
