// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"
#include "cmd/options/buffers.h"
#include "lib/undo/change.h"

struct arguments {
	struct buffers buffers;
	bool errors;
};

enum { KEY_ERRORS = 0x100 };

static const struct argp_option options[] = {
	{ "errors", KEY_ERRORS, NULL, 0, "Throw away the log of what the kernel refused (error_log) instead", 0 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->buffers;
		return 0;
	case KEY_ERRORS:
		arguments->errors = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_child children[] = { { &buffers_argp, 0, NULL, 0 }, { NULL, 0, NULL, 0 } };

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.children = children,
	.doc = "Throw away what the buffers hold. Nothing else changes, and tracing goes on if it was on.",
};

static int clear_one(struct instance *instance, struct fail *fail)
{
	return instance_clear(instance, fail);
}

static int clear_errors(struct instance *instance, struct fail *fail)
{
	return instance_write(instance, "error_log", "", fail);
}

static int run(int argc, char **argv)
{
	struct arguments arguments = { .errors = false };

	command_parse(&clear_command, argc, argv, 0, &arguments);
	return buffers_run(&arguments.buffers, arguments.errors ? clear_errors : clear_one);
}

const struct command clear_command = {
	.name = "clear",
	.summary = "empty the buffers",
	.brief = "empty buffers",
	.examples = "  weft clear\n"
		    "  weft clear -B io",
	.group = "trace",
	.argp = &argp,
	.run = run,
};
