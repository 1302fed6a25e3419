/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_BUFFERS_H
#define WEFT_CMD_BUFFERS_H

#include "lib/base/cleanup.h"
#include "lib/setup/setup.h"
#include "lib/tracefs/instance.h"

#include <argp.h>
#include <stdbool.h>

struct fail;

/*
 * The ring buffers that a command is for: `-B INSTANCE` (repeatable), `--all` instances, and `--top`; without any of
 * them the top one. As an argp child its input is a struct buffers, zero before.
 */
struct buffers {
	struct setup_list names;
	bool all, top;
};

extern const struct argp buffers_argp;

/*
 * Finds tracefs and calls `each` for all of them. What it changes (instance_set()) stays, with a held journal; an error
 * puts it back. Frees the list. Returns an exit status, after telling what failed.
 */
int buffers_run(struct buffers *buffers, int (*each)(struct instance *instance, struct fail *fail));

#endif
