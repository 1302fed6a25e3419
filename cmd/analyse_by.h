/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_ANALYSE_BY_H
#define WEFT_CMD_ANALYSE_BY_H

#include "cmd/analyse.h"

/* The values of an option --by, which chooses the rows of an analysis. The place of a name is the value of its enum. */
struct row_choices {
	const char *const *names;
	size_t nr;
};

/* The values of the analyses that weft diff has, too. */
extern const struct row_choices rows_of_block, rows_of_locks, rows_of_stacks, rows_of_syscalls;

/* Returns the place of `name` among the choices. An unknown name is a usage error that lists them. */
size_t analyse_by(const struct row_choices *rows, const char *name, struct argp_state *state);

/* For commands of an analysis whose only own option is --by. */
enum { OPT_ANALYSE_BY = 512 };

struct analyse_by_arguments {
	struct analyse analyse;
	const struct row_choices *rows;
	size_t by; /* place of the chosen value */
};

/* The argp parser of such a command. Its input is a struct analyse_by_arguments. */
error_t analyse_by_only(int key, char *arg, struct argp_state *state);

#endif
