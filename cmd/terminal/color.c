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

bool color_wanted(const char *when, struct argp_state *state)
{
	if (!strcmp(when, "auto"))
		return color_auto();
	if (strcmp(when, "always") && strcmp(when, "never"))
		argp_error(state, "--color: unknown value '%s'; use auto, always or never", when);
	return !strcmp(when, "always");
}
