// SPDX-License-Identifier: GPL-2.0-only
const struct command *const commands[] = {
	&listed_command,
	0,
};
