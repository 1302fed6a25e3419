// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/options/kernel.h"
#include "cmd/options/option_value.h"
#include "cmd/options/setup_values.h"
#include "lib/ground/base/buf.h"
#include "lib/kernel/measure/snapshot.h"
#include "lib/kernel/record/switches.h"
#include "lib/kernel/setup/late.h"
#include "lib/kernel/undo/undo.h"

/* weft snapshot: manages a second buffer that keeps what the first one contained at some moment. */
enum { CPU_LIMIT = 1 << 14 };

struct arguments {
	struct kernel kernel;
	const char *action; /* NULL: show the snapshot, or --on */
	const char *on;     /* the pattern of --on, or NULL */
	struct buf filter;  /* the words after "if" */
	bool in_filter;
	uint64_t count;
	int cpu;
};

static void set_action(struct arguments *arguments, const char *name, struct argp_state *state)
{
	static const char *const names[] = { "take", "free", "clear", "show" };

	for (size_t i = 0; i < array_size(names); i++) {
		if (strcmp(names[i], name))
			continue;
		if (arguments->action && strcmp(arguments->action, name))
			argp_error(state, "only one action is allowed: '%s' and '%s'", arguments->action, name);
		arguments->action = names[i];
		return;
	}
	argp_error(state, "'%s' is not one of take, free, clear and show", name);
}

static void take_action(const struct option_row *row, void *arguments, char *arg, struct argp_state *state)
{
	(void)arg;
	set_action(arguments, row->name, state);
}

static const struct option_row options[] = {
	{ "take", 's', NULL, 0, "The same as take", 1, OPTION_TAKE(take_action) },
	{ "clear", 'r', NULL, 0, "The same as clear", 1, OPTION_TAKE(take_action) },
	{ "free", 'f', NULL, 0, "The same as free", 1, OPTION_TAKE(take_action) },
	{ "cpu", 'c', "CPU", 0, "Act only on this CPU", 1, OPTION_RANGE(struct arguments, cpu, 0, CPU_LIMIT) },
	{ "on", 0, "EVENT", 0, "Take a snapshot whenever EVENT happens, or only if it matches the FILTER behind it", 1,
	  OPTION_ONCE(struct arguments, on, "event") },
	{ "count", 0, "N", 0, "--on: the first N times only", 1, OPTION_RANGE(struct arguments, count, 1, INT32_MAX) },
	{ 0 },
};

static void add_word(struct arguments *arguments, const char *word, struct argp_state *state)
{
	if (!arguments->on) {
		set_action(arguments, word, state);
		return;
	}
	if (!arguments->in_filter) {
		if (strncmp(word, "if", 2) || (word[2] && word[2] != ' '))
			argp_error(state, "'%s': a filter must begin with the word if", word);
		arguments->in_filter = true;
		word += strspn(word + 2, " ") + 2;
		if (!*word)
			return;
	}
	if (!buf_addf(&arguments->filter, "%s%s", arguments->filter.len ? " " : "", word))
		option_no_memory(state);
}

static void check(const struct arguments *arguments, struct argp_state *state)
{
	if (arguments->on && arguments->action)
		argp_error(state, "--on and %s cannot be combined", arguments->action);
	if (arguments->on && arguments->cpu >= 0)
		argp_error(state, "--on and -c cannot be combined: a trigger applies to all CPUs");
	if (arguments->in_filter && !arguments->filter.len)
		argp_error(state, "the filter after 'if' is missing");
	if (arguments->count && !arguments->on)
		argp_error(state, "--count is for --on");
	if (arguments->action && !strcmp(arguments->action, "free") && arguments->cpu >= 0)
		argp_error(state, "the kernel frees the snapshots of all CPUs together");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		add_word(arguments, arg, state);
		return 0;
	case ARGP_KEY_END:
		check(arguments, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct options command_options = {
	.rows = options,
	.parser = parse_option,
	.children = OPTIONS_OF(kernel_options, struct arguments, kernel),
	.args_doc = "[take|free|clear|show]\n--on EVENT [if FILTER...]",
	.doc = "Keeps what the ring buffer holds now in a second buffer, the snapshot, and shows it.",
};

static int copy_text(int fd, struct fail *fail)
{
	char data[1 << 16];
	ssize_t got;

	while ((got = read(fd, data, sizeof(data))) > 0) {
		int err = command_write(data, (size_t)got, fail);

		if (err)
			return err;
	}
	return got < 0 ? fail_set(fail, -errno, "cannot read the snapshot: %s", strerror(errno)) : 0;
}

static int show(const struct arguments *arguments, const struct instance *instance, struct fail *fail)
{
	cleanup_fd int fd = -1;
	int err = snapshot_open(instance, arguments->cpu, &fd, fail);

	return err ? err : copy_text(fd, fail);
}

/* Tries the trigger; `late` arms it later. */
static int try_trigger(const struct arguments *arguments, struct instance *instance, struct late *late,
		       struct fail *fail)
{
	struct event_set set = { .catalog = NULL };
	struct catalog *catalog = NULL;
	int err = catalog_new(instance->tracing, &catalog, fail);

	if (!err) {
		set.catalog = catalog;
		err = event_set_add(&set, catalog, arguments->on, fail);
	}
	if (!err)
		err = snapshot_on(instance, &set, (unsigned long)arguments->count,
				  arguments->in_filter ? buf_str((struct buf *)&arguments->filter) : NULL, late, fail);
	if (!err)
		err = late_disarm(late, fail);
	event_set_release(&set);
	catalog_free(catalog);
	return err;
}

static int arm(struct switches *switches, struct undo *undo, struct fail *fail)
{
	struct fail later = FAIL_INIT;
	int err = switches_turn(switches, true, fail);

	if (err && undo_unhold(undo, &later))
		command_warn("%s; 'weft reset' tries again", later.text);
	return err;
}

static int take_one(const struct arguments *arguments, struct instance *instance, struct fail *fail)
{
	char on[8];
	int err = snapshot_take(instance, arguments->cpu, fail);

	if (!err && !instance_read_word(instance, "tracing_on", on, sizeof(on), NULL) && *on == '0')
		command_warn("note: tracing is off; latency tracers record nothing until a snapshot "
			     "is taken while it is on");
	return err;
}

/*
 * An allocated snapshot or a trigger stays, with a held journal for `weft reset`. After a failure it is removed. The
 * trigger is armed when nothing is left for weft to do that would set it off.
 */
static int change(const struct arguments *arguments, struct instance *instance, struct fail *fail)
{
	struct switches switches = { .nr = 0 };
	struct late late = { .nr = 0 };
	struct undo *undo = NULL;
	int err = undo_new(instance->tracing, NULL, &undo, fail);

	instance->undo = undo;
	if (!err)
		err = arguments->on ? try_trigger(arguments, instance, &late, fail) :
				      take_one(arguments, instance, fail);
	if (!err)
		err = switches_arm_late(&switches, &late, fail);
	err = kernel_keep(undo, err, fail);
	if (!err)
		err = arm(&switches, undo, fail);
	switches_release(&switches);
	late_release(&late);
	instance->undo = NULL;
	undo_free(undo);
	return err;
}

static int run_action(const struct arguments *arguments, struct fail *fail)
{
	struct instance *instance = arguments->kernel.instance;
	const char *action = arguments->action ? arguments->action : "show";

	if (arguments->on || !strcmp(action, "take"))
		return change(arguments, instance, fail);
	if (!strcmp(action, "free"))
		return snapshot_free(instance, fail);
	if (!strcmp(action, "clear"))
		return snapshot_clear(instance, arguments->cpu, fail);
	return show(arguments, instance, fail);
}

static int run(int argc, char **argv)
{
	struct arguments arguments = { .cpu = SNAPSHOT_ALL_CPUS };
	struct fail fail = FAIL_INIT;
	int err;

	command_parse(&snapshot_command, argc, argv, 0, &arguments);
	err = kernel_open(&arguments.kernel, NULL, &fail);
	if (!err)
		err = run_action(&arguments, &fail);
	buf_release(&arguments.filter);
	return kernel_finish(&arguments.kernel, err, &fail);
}

const struct command snapshot_command = {
	.name = "snapshot",
	.summary = "keep what the buffer holds at some moment",
	.brief = "frozen copy",
	.examples = "  weft snapshot take\n"
		    "  weft snapshot show --cpu 1",
	.group = "trace",
	.options = &command_options,
	.run = run,
};
