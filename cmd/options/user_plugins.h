/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_USER_PLUGINS_H
#define WEFT_CMD_OPTIONS_USER_PLUGINS_H

#include "cmd/options/option_value.h"
#include "lib/base/cleanup.h"

#include <stdbool.h>

struct fail;
struct foreign;

/* The user's own plugins of libtraceevent: lib/plugin/foreign.h. */
struct user_plugins {
	bool wanted;
	/*
	 * NULL: $TRACEEVENT_PLUGIN_DIR and ~/.local/lib/traceevent/plugins, where libtraceevent looks after its own
	 * directory
	 */
	const char *dir;
	struct option_words values; /* options of plugins */
	struct foreign *foreign;    /* once started; NULL: there are none */
};

/* Starts them before the right to open files is given up. `must`: it is an error if there are none. */
int must_check user_plugins_start(struct user_plugins *plugins, bool must, struct fail *fail);

/* Ends them. A note on standard error tells what users must know. */
void user_plugins_end(struct user_plugins *plugins);

#endif
