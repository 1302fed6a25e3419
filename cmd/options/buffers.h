/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_BUFFERS_H
#define WEFT_CMD_OPTIONS_BUFFERS_H

#include "lib/base/cleanup.h"
#include "lib/setup/setup.h"
#include "lib/tracefs/instance.h"

#include <argp.h>
#include <stdbool.h>

struct fail;

/*
 * The ring buffers to which a command applies: `-B INSTANCE` (repeatable), `--all` instances, and `--top`; without any
 * of these the top one. The input of the argp child is a struct buffers that is zero.
 */
struct buffers {
	struct setup_list names;
	bool all, top;
};

extern const struct argp buffers_argp;

/*
 * Finds tracefs and calls `each` for all of them. Changes (instance_set()) are kept, with a held journal; after an
 * error they are undone. Frees the list. Reports failures and returns an exit status.
 */
int buffers_run(struct buffers *buffers, int (*each)(struct instance *instance, struct fail *fail));

#endif
