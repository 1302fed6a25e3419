/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TESTS_EXAMPLES_COMMANDS_H
#define WEFT_TESTS_EXAMPLES_COMMANDS_H

#include "cmd/command.h"

/* `make examples` builds a weft whose only commands are these: build/tests/examples/weft. */
extern const struct command events_per_task_command;

#endif
