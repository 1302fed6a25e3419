// SPDX-License-Identifier: GPL-2.0-only
const struct command *const commands[] = { &one_command, NULL };
