// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options/user_plugins.h"

#include "cmd/command.h"
#include "lib/base/fail.h"
#include "lib/plugin/foreign.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int user_plugins_start(struct user_plugins *plugins, bool must, struct fail *fail)
{
	const char *home = getenv("HOME"), *set = getenv("TRACEEVENT_PLUGIN_DIR");
	const char *dirs[2];
	struct foreign_options options = {
		.dirs = dirs,
		.values = plugins->values.at,
		.nr_values = plugins->values.len,
	};
	cleanup_free char *own = NULL;
	int r = 0;

	if (!plugins->dir && home && asprintf(&own, "%s/.local/lib/traceevent/plugins", home) < 0)
		return fail_memory(fail);
	if (plugins->dir)
		dirs[options.nr_dirs++] = plugins->dir;
	else if (set)
		dirs[options.nr_dirs++] = set;
	if (own)
		dirs[options.nr_dirs++] = own;
	if (foreign_any(&options))
		r = foreign_new(&options, &plugins->foreign, fail);
	else if (must)
		r = fail_set(fail, -ENOENT, "there is no plugin of libtraceevent in '%s'",
			     plugins->dir ? plugins->dir :
			     own          ? own :
					    "~");
	return r;
}

void user_plugins_end(struct user_plugins *plugins)
{
	const char *why = plugins->foreign ? foreign_failure(plugins->foreign) : NULL;

	if (why)
		command_warn("note: %s", why);
	foreign_free(plugins->foreign);
	plugins->foreign = NULL;
}
