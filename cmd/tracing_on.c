// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"
#include "cmd/options/buffers.h"
#include "lib/kernel/undo/change.h"

static const struct options_child children[] = { { &buffers_options, 0, 0, NULL }, { 0 } };

static const struct options stop_options = {
	.children = children,
	.doc = "Stop tracing (tracing_on). Everything stays set up, and the buffers keep what they hold.",
};

static const struct options restart_options = {
	.children = children,
	.doc = "Go on tracing (tracing_on) after stop, or after a trigger has stopped it.",
};

static int stop_one(struct instance *instance, void *data, struct fail *fail)
{
	(void)data;
	return instance_turn(instance, false, fail);
}

static int restart_one(struct instance *instance, void *data, struct fail *fail)
{
	(void)data;
	return instance_turn(instance, true, fail);
}

static int stop_run(int argc, char **argv)
{
	struct buffers buffers = { .all = false };

	command_parse(&stop_command, argc, argv, 0, &buffers);
	return buffers_run(&buffers, stop_one, NULL);
}

static int restart_run(int argc, char **argv)
{
	struct buffers buffers = { .all = false };

	command_parse(&restart_command, argc, argv, 0, &buffers);
	return buffers_run(&buffers, restart_one, NULL);
}

const struct command stop_command = {
	.name = "stop",
	.summary = "stop tracing; the buffers keep what they hold",
	.brief = "keep buffers",
	.examples = "  weft stop\n"
		    "  weft stop -B io",
	.group = "trace",
	.options = &stop_options,
	.run = stop_run,
};

const struct command restart_command = {
	.name = "restart",
	.summary = "go on tracing after stop",
	.brief = "trace again",
	.examples = "  weft restart\n"
		    "  weft restart -B io",
	.group = "trace",
	.options = &restart_options,
	.run = restart_run,
};
