// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/analyse_by.h"

error_t analyse_by_only(int key, char *arg, struct argp_state *state)
{
	struct analyse_by_arguments *arguments = state->input;

	if (key == ARGP_KEY_INIT)
		state->child_inputs[0] = &arguments->analyse;
	else if (key == OPT_ANALYSE_BY)
		arguments->by = analyse_by(arguments->choices, arguments->nr, arg, state);
	else
		return ARGP_ERR_UNKNOWN;
	return 0;
}
