// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/terminal/color.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool color_auto(void)
{
	/* See https://no-color.org. Dumb terminals get no colours, either. */
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(no_color && *no_color) && !(term && !strcmp(term, "dumb"));
}

void color_take(const struct option_row *row, void *wanted, char *when, struct argp_state *state)
{
	bool is_auto = !strcmp(when, "auto");

	(void)row;
	if (!is_auto && strcmp(when, "always") && strcmp(when, "never"))
		argp_error(state, "--color: unknown value '%s'; use auto, always or never", when);
	*(bool *)wanted = is_auto ? color_auto() : !strcmp(when, "always");
}
