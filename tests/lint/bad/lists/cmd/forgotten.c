// SPDX-License-Identifier: GPL-2.0-only
const struct command forgotten_command = {
	.name = "forgotten",
};
