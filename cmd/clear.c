// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>

#include "cmd/command.h"
#include "cmd/options/buffers.h"
#include "cmd/options/option_value.h"
#include "lib/ground/base/cpus.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/undo/change.h"

struct arguments {
	struct buffers buffers;
	struct cpus cpus; /* none: all */
	bool errors;
};

static const struct option_row options[] = {
	{ "cpu", 0, "CPULIST", 0, "Throw away only what the buffers of these CPUs hold, such as 0-3,7", 0,
	  OPTION_CPUS(struct arguments, cpus) },
	{ "errors", 0, NULL, 0, "Throw away the log of what the kernel refused (error_log) instead", 0,
	  OPTION_FLAG(struct arguments, errors) },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	(void)arg;
	if (key != ARGP_KEY_END)
		return ARGP_ERR_UNKNOWN;
	if (arguments->errors && cpus_count(&arguments->cpus))
		argp_error(state, "--cpu and --errors cannot be combined: the log is one for all CPUs");
	return 0;
}

static const struct options command_options = {
	.rows = options,
	.parser = parse,
	.children = OPTIONS_OF(buffers_options, struct arguments, buffers),
	.doc = "Throw away what the buffers hold. Nothing else changes, and tracing goes on if it was on.",
};

/* A write to the file `trace` of a CPU empties the buffer of this CPU. */
static int clear_cpus(struct instance *instance, const struct cpus *cpus, struct fail *fail)
{
	char file[64];
	int err = 0;

	/* All are looked for before the first one is emptied. */
	for (int cpu = cpus_next(cpus, 0); cpu >= 0; cpu = cpus_next(cpus, cpu + 1)) {
		snprintf(file, sizeof(file), "per_cpu/cpu%d/trace", cpu);
		if (!instance_has(instance, file))
			return fail_set(fail, -ENOENT, "this machine has no CPU %d", cpu);
	}
	for (int cpu = cpus_next(cpus, 0); !err && cpu >= 0; cpu = cpus_next(cpus, cpu + 1)) {
		snprintf(file, sizeof(file), "per_cpu/cpu%d/trace", cpu);
		err = instance_write(instance, file, "", fail);
	}
	return err;
}

static int clear_one(struct instance *instance, void *data, struct fail *fail)
{
	const struct cpus *cpus = data;
	uint32_t nr = cpus_count(cpus);

	return nr && nr < CPUS_MAX ? clear_cpus(instance, cpus, fail) : instance_clear(instance, fail);
}

static int clear_errors(struct instance *instance, void *data, struct fail *fail)
{
	(void)data;
	return instance_write(instance, "error_log", "", fail);
}

static int run(int argc, char **argv)
{
	struct arguments arguments = { .errors = false };

	command_parse(&clear_command, argc, argv, 0, &arguments);
	return buffers_run(&arguments.buffers, arguments.errors ? clear_errors : clear_one, &arguments.cpus);
}

const struct command clear_command = {
	.name = "clear",
	.summary = "empty the buffers",
	.brief = "empty buffers",
	.examples = "  weft clear\n"
		    "  weft clear -B io --cpu 0,2",
	.group = "trace",
	.options = &command_options,
	.run = run,
};
