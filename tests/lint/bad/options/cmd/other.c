// SPDX-License-Identifier: GPL-2.0-only
static const struct argp_option options[] = {
	{ "no-sandbox", 256, NULL, 0, "Keep the privileges", 1 },
	{ 0 },
};
