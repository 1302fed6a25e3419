// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"
#include "cmd/options/buffers.h"
#include "lib/undo/change.h"

static error_t parse(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	state->child_inputs[0] = state->input;
	return 0;
}

static const struct argp_child children[] = { { &buffers_argp, 0, NULL, 0 }, { NULL, 0, NULL, 0 } };

static const struct argp stop_argp = {
	.parser = parse,
	.children = children,
	.doc = "Stop tracing (tracing_on). Everything stays set up, and the buffers keep what they hold.",
};

static const struct argp restart_argp = {
	.parser = parse,
	.children = children,
	.doc = "Go on tracing (tracing_on) after stop, or after a trigger has stopped it.",
};

static int stop_one(struct instance *instance, struct fail *fail)
{
	return instance_turn(instance, false, fail);
}

static int restart_one(struct instance *instance, struct fail *fail)
{
	return instance_turn(instance, true, fail);
}

static int stop_run(int argc, char **argv)
{
	struct buffers buffers = { .all = false };

	command_parse(&stop_command, argc, argv, 0, &buffers);
	return buffers_run(&buffers, stop_one);
}

static int restart_run(int argc, char **argv)
{
	struct buffers buffers = { .all = false };

	command_parse(&restart_command, argc, argv, 0, &buffers);
	return buffers_run(&buffers, restart_one);
}

const struct command stop_command = {
	.name = "stop",
	.summary = "stop tracing; the buffers keep what they hold",
	.brief = "keep buffers",
	.examples = "  weft stop\n"
		    "  weft stop -B io",
	.group = "trace",
	.argp = &stop_argp,
	.run = stop_run,
};

const struct command restart_command = {
	.name = "restart",
	.summary = "go on tracing after stop",
	.brief = "trace again",
	.examples = "  weft restart\n"
		    "  weft restart -B io",
	.group = "trace",
	.argp = &restart_argp,
	.run = restart_run,
};
