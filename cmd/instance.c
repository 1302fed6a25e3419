// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/options/kernel.h"
#include "cmd/terminal/terminal.h"
#include "lib/ground/base/cpus.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/buffer/ring_buffer.h"
#include "lib/kernel/tracefs/remote.h"
#include "lib/kernel/undo/change.h"
#include "lib/kernel/undo/instance_open.h"
#include "lib/kernel/undo/undo.h"

struct instances {
	struct kernel kernel;
	char **words; /* list|create|remove, then names */
	int nr_words;
	struct cpus online;
	bool headed;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct instances *instances = state->input;

	(void)arg;
	if (key != ARGP_KEY_ARGS)
		return ARGP_ERR_UNKNOWN;
	instances->words = state->argv + state->next;
	instances->nr_words = state->argc - state->next;
	return 0;
}

static const struct options command_options = {
	.parser = parse_option,
	.args_doc = "[list|create|remove] [NAME...]",
	.doc = "Lists the instances of tracefs, makes some, or removes some. An instance is a ring buffer of its own, "
	       "with its own events, tracer and settings; -B NAME of other commands uses it.\v"
	       "What was created goes away with remove, with 'weft reset', or when the machine is booted.",
};

static void print_row(struct instances *instances, const struct instance *instance, const char *name)
{
	/* A remote has no tracer and no counts. */
	char tracer[64] = "-", on[8] = "?", size[TEXT_HUMAN], count[TEXT_HUMAN];
	cleanup_free char *shown = terminal_line(name);
	uint64_t entries = 0;
	bool counted = false;

	(void)!instance_read_word(instance, "current_tracer", tracer, sizeof(tracer), NULL);
	(void)!instance_read_word(instance, "tracing_on", on, sizeof(on), NULL);
	for (int cpu = cpus_next(&instances->online, 0); cpu >= 0; cpu = cpus_next(&instances->online, cpu + 1)) {
		struct ring_buffer_stats stats;

		if (ring_buffer_stats(instance, (uint32_t)cpu, &stats, NULL))
			continue;
		counted = true;
		entries += stats.entries;
	}
	if (!instances->headed)
		printf("%-24s %-8s %-16s %12s %16s\n", "INSTANCE", "TRACING", "TRACER", "SIZE PER CPU", "EVENTS HELD");
	instances->headed = true;
	printf("%-24s %-8s %-16s %12s %16s\n", shown, on[0] == '1' ? "on" : "off", tracer,
	       text_size(size, ring_buffer_size(instance)), counted ? text_count(count, entries) : "-");
}

static int list_one(const char *name, void *data)
{
	struct instances *instances = data;
	struct instance *instance;

	/* The instance has been removed meanwhile. */
	if (instance_open(&instances->kernel.tracing, name, false, NULL, &instance, NULL))
		return 0;
	print_row(instances, instance, name);
	return instance_close(instance, NULL);
}

static int list_remote(const char *name, void *data)
{
	struct instances *instances = data;
	cleanup_free char *dir = NULL, *row = NULL;

	if (asprintf(&dir, "%s/remotes/%s", instances->kernel.tracing.dir, name) < 0)
		dir = NULL;
	if (asprintf(&row, "remotes/%s", name) < 0)
		row = NULL;
	if (!dir || !row)
		return -ENOMEM;
	print_row(instances,
		  &(struct instance){
			  .tracing = &instances->kernel.tracing, .kind = INSTANCE_EXISTING, .name = row, .dir = dir },
		  row);
	return 0;
}

static int list(struct instances *instances, int nr, char **names, struct fail *fail)
{
	struct instance *top;
	int err;

	if (tracing_online_cpus(&instances->online, NULL))
		cpus_add(&instances->online, 0);
	for (int i = 0; i < nr; i++) {
		struct instance *instance;

		err = instance_open(&instances->kernel.tracing, names[i], false, NULL, &instance, fail);
		if (err)
			return err;
		print_row(instances, instance, names[i]);
		instance_close(instance, NULL);
	}
	if (nr)
		return 0;
	err = instance_open_top(&instances->kernel.tracing, NULL, &top, fail);
	if (err)
		return err;
	print_row(instances, top, "(top)");
	instance_close(top, NULL);
	err = instance_each(&instances->kernel.tracing, list_one, instances, fail);
	if (err)
		return err;
	return remote_each(&instances->kernel.tracing, list_remote, instances) ? fail_memory(fail) : 0;
}

/* Creates an instance as the kernel does, with tracing on. The journal lets `weft reset` remove it. */
static int create_one(struct instances *instances, struct undo *undo, const char *name, struct instance **ret,
		      struct fail *fail)
{
	struct instance *instance;
	int err = instance_open(&instances->kernel.tracing, name, true, undo, &instance, fail);

	if (err)
		return err;
	if (instance->kind == INSTANCE_EXISTING) {
		instance_close(instance, NULL);
		return fail_set(fail, -EEXIST, "the instance '%s' exists already", name);
	}
	err = instance_turn(instance, true, fail);
	if (err) {
		instance_close(instance, NULL);
		return err;
	}
	*ret = instance;
	return 0;
}

static int create(struct instances *instances, int nr, char **names, struct fail *fail)
{
	cleanup_free struct instance **made = calloc((size_t)nr, sizeof(struct instance *));
	struct undo *undo;
	int err = made ? undo_new(&instances->kernel.tracing, NULL, &undo, fail) : fail_memory(fail), held;

	if (err)
		return err;
	for (int i = 0; !err && i < nr; i++)
		err = create_one(instances, undo, names[i], &made[i], fail);
	held = undo_hold(undo, err ? NULL : fail);
	/* Without a journal nobody would know that these instances are weft's, so they are removed. */
	for (int i = 0; i < nr && made[i]; i++) {
		if (!held)
			instance_leave(made[i]);
		instance_close(made[i], NULL);
	}
	undo_free(undo);
	return err ? err : held;
}

static int remove_one(struct instances *instances, const char *name, struct fail *fail)
{
	struct instance *instance;
	struct undo_sum sum;
	int err = instance_open(&instances->kernel.tracing, name, false, NULL, &instance, fail);

	if (err)
		return err;
	/* Closing a private instance removes it. */
	instance->kind = INSTANCE_PRIVATE;
	err = instance_close(instance, fail);
	/*
	 * Journals may have entries about this instance: they must not be applied to a later instance with the same
	 * name.
	 */
	return err ? err : undo_reset(&instances->kernel.tracing, NULL, name, &sum, fail);
}

static int remove_all(struct instances *instances, int nr, char **names, struct fail *fail)
{
	int err = 0;

	for (int i = 0; !err && i < nr; i++)
		err = remove_one(instances, names[i], fail);
	return err;
}

static const struct verb {
	const char *name;
	int (*run)(struct instances *instances, int nr, char **names, struct fail *fail);
	bool named; /* the verb needs names */
} verbs[] = {
	{ "list", list, false },
	{ "create", create, true },
	{ "remove", remove_all, true },
};

static const struct verb *find_verb(const char *name)
{
	struct near near = near_to(name);
	struct fail fail = FAIL_INIT;

	for (size_t i = 0; i < array_size(verbs); i++) {
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
		near_offer(&near, verbs[i].name);
	}
	near_fail(&near, &fail, -EINVAL, "unknown action '%s' of 'weft instance'; use list, create or remove", name);
	command_failed(&fail);
	return NULL;
}

static int instance_run(int argc, char **argv)
{
	struct instances instances = { .words = NULL };
	const struct verb *verb = &verbs[0];
	struct fail fail = FAIL_INIT;
	int err, nr;

	command_parse(&instance_command, argc, argv, 0, &instances);
	if (instances.nr_words)
		verb = find_verb(instances.words[0]);
	if (!verb)
		return EXIT_USAGE;
	nr = instances.nr_words ? instances.nr_words - 1 : 0;
	if (verb->named && !nr) {
		fail_set(&fail, -EINVAL, "no instance given to %s", verb->name);
		command_failed(&fail);
		return EXIT_USAGE;
	}
	err = kernel_find(&instances.kernel, &fail);
	if (!err)
		err = verb->run(&instances, nr, instances.words + 1, &fail);
	return kernel_finish(&instances.kernel, err, &fail);
}

const struct command instance_command = {
	.name = "instance",
	.summary = "list, create and remove instances: ring buffers of their own",
	.brief = "more buffers",
	.examples = "  weft instance create net disk\n"
		    "  weft instance remove net disk",
	.group = "kernel",
	.options = &command_options,
	.run = instance_run,
};
