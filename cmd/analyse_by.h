/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_ANALYSE_BY_H
#define WEFT_CMD_ANALYSE_BY_H

#include "cmd/analyse.h"

/* For commands of an analysis whose only own option is --by, which chooses the rows of the first table. */
enum { OPT_ANALYSE_BY = 512 };

struct analyse_by_arguments {
	struct analyse analyse;
	const char *const *choices; /* the values of --by */
	size_t nr;
	size_t by; /* index of the chosen value */
};

/* The argp parser of such a command. Its input is a struct analyse_by_arguments. */
error_t analyse_by_only(int key, char *arg, struct argp_state *state);

#endif
