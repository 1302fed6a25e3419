// SPDX-License-Identifier: GPL-2.0-only
#include "tests/examples/commands.h"

const struct command *const commands[] = { &events_per_task_command, &help_command, NULL };
