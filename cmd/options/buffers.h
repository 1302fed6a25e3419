/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_BUFFERS_H
#define WEFT_CMD_OPTIONS_BUFFERS_H

#include <stdbool.h>

#include "cmd/options/option_rows.h"
#include "lib/ground/base/cleanup.h"
#include "lib/kernel/setup/setup.h"
#include "lib/kernel/tracefs/instance.h"

struct fail;

/*
 * The ring buffers to which a command applies: `-B INSTANCE` (repeatable), `--all` instances, and `--top`; without any
 * of these the top one. The input of the child table is a struct buffers that is zero.
 */
struct buffers {
	struct setup_list names;
	bool all, top;
};

extern const struct options buffers_options;

/*
 * Finds tracefs and calls `each` for all of them, with `data`. Changes (instance_set()) are kept, with a held journal;
 * after an error they are undone. Frees the list. Reports failures and returns an exit status.
 */
int buffers_run(struct buffers *buffers, int (*each)(struct instance *instance, void *data, struct fail *fail),
		void *data);

#endif
