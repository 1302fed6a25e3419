// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options/buffers.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/options/kernel.h"
#include "cmd/options/option_value.h"
#include "lib/kernel/undo/instance_open.h"
#include "lib/kernel/undo/undo.h"

static const struct option_row options[] = {
	{ "instance", 'B', "INSTANCE", 0, "Act on INSTANCE instead of the top instance; repeatable", 0,
	  OPTION_LIST(struct buffers, names) },
	{ "all", 'a', NULL, 0, "Act on all instances except the top one", 0, OPTION_FLAG(struct buffers, all) },
	{ "top", 't', NULL, 0, "Act on the top instance too", 0, OPTION_FLAG(struct buffers, top) },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	argp_error(state, "unexpected argument '%s': only options are allowed", arg);
	return 0;
}

const struct options buffers_options = { .rows = options, .parser = parse };

struct walk {
	const struct tracing *tracing;
	struct undo *undo;
	int (*each)(struct instance *instance, void *data, struct fail *fail);
	void *data;
	struct fail *fail;
};

static int run_one(const struct walk *walk, const char *name)
{
	struct instance *instance = NULL;
	int err;

	if (name)
		err = instance_open(walk->tracing, name, false, walk->undo, &instance, walk->fail);
	else
		err = instance_open_top(walk->tracing, walk->undo, &instance, walk->fail);
	if (!err)
		err = walk->each(instance, walk->data, walk->fail);
	instance_close(instance, NULL);
	return err;
}

static int run_named(const char *name, void *data)
{
	return run_one(data, name);
}

static int run_all(const struct buffers *buffers, struct walk *walk)
{
	int err = 0;

	if (buffers->top || (!buffers->all && !buffers->names.nr))
		err = run_one(walk, NULL);
	for (size_t i = 0; !err && i < buffers->names.nr; i++)
		err = run_one(walk, buffers->names.items[i]);
	if (!err && buffers->all)
		err = instance_each(walk->tracing, run_named, walk, walk->fail);
	return err;
}

int buffers_run(struct buffers *buffers, int (*each)(struct instance *instance, void *data, struct fail *fail),
		void *data)
{
	struct fail fail = FAIL_INIT;
	struct tracing tracing = { .dir = NULL };
	struct walk walk = { .tracing = &tracing, .each = each, .data = data, .fail = &fail };
	int err = tracing_find(&tracing, &fail);

	if (!err)
		err = undo_new(&tracing, NULL, &walk.undo, &fail);
	if (!err)
		err = run_all(buffers, &walk);
	err = kernel_keep(walk.undo, err, &fail);
	undo_free(walk.undo);
	tracing_release(&tracing);
	free(buffers->names.items);
	return err ? command_failed(&fail) : EXIT_OK;
}
