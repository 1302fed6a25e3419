// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/buffers.h"
#include "cmd/command.h"

static error_t parse(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	state->child_inputs[0] = state->input;
	return 0;
}

static const struct argp_child children[] = { { &buffers_argp, 0, NULL, 0 }, { NULL, 0, NULL, 0 } };

static const struct argp argp = {
	.parser = parse,
	.children = children,
	.doc = "Go on tracing (tracing_on) after stop, or after a trigger has stopped it.",
};

static int restart_one(struct instance *instance, struct fail *fail)
{
	return instance_turn(instance, true, fail);
}

static int run(int argc, char **argv)
{
	struct buffers buffers = { .all = false };

	command_parse(&restart_command, argc, argv, 0, &buffers);
	return buffers_run(&buffers, restart_one);
}

const struct command restart_command = {
	.name = "restart",
	.summary = "go on tracing after stop",
	.group = "trace",
	.argp = &argp,
	.run = run,
};
