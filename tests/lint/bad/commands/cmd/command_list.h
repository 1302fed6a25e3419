/* SPDX-License-Identifier: GPL-2.0-only */
#define COMMANDS(X) \
	X(one)
