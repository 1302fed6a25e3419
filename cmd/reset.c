// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/options/option_rows.h"
#include "cmd/options/option_value.h"
#include "cmd/terminal/paste.h"
#include "cmd/terminal/progress.h"
#include "cmd/terminal/terminal.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/record/kept_parts_dir.h"
#include "lib/kernel/record/recovery.h"
#include "lib/kernel/setup/boot.h"
#include "lib/kernel/setup/setup.h"
#include "lib/kernel/tracefs/instance.h"
#include "lib/kernel/undo/claim.h"
#include "lib/kernel/undo/instance_open.h"
#include "lib/kernel/undo/shared.h"
#include "lib/kernel/undo/undo.h"

struct arguments {
	struct setup_list instances;
	bool all, probes, yes;
};

static const struct option_row table[] = {
	{ "instance", 'B', "INSTANCE", 0, "Put back only what weft did in INSTANCE; repeatable", 0,
	  OPTION_LIST(struct arguments, instances) },
	{ "all", 'a', NULL, 0,
	  "Put all of tracefs back to its state at boot, whoever changed it; first list what that destroys", 0,
	  OPTION_FLAG(struct arguments, all) },
	{ "probes", 0, NULL, 0, "With --all: remove kprobes, uprobes and synthetic events, too", 0,
	  OPTION_FLAG(struct arguments, probes) },
	{ "yes", 'y', NULL, 0, "With --all: do not ask", 0, OPTION_FLAG(struct arguments, yes) },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument '%s': only options are allowed", arg);
		return 0;
	case ARGP_KEY_END:
		if (arguments->all && arguments->instances.nr)
			argp_error(state, "--all is for all of tracefs, -B for one instance");
		if ((arguments->probes || arguments->yes) && !arguments->all)
			argp_error(state, "--probes and --yes belong to --all");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct options command_options = {
	.rows = table,
	.parser = parse,
	.doc = "Put back what weft has changed of the kernel's tracing: by start, set and stop, and by whatever was "
	       "killed. What others have set stays.\v"
	       "Settings of recordings that still run are left alone. What a buffer held before is not put back.",
};

/* The functions below list what --all destroys. */

static int list_difference(const struct boot_difference *difference, void *data)
{
	const struct arguments *arguments = data;
	size_t left = strlen(difference->now);
	const char *at = difference->now;
	struct text_word line;
	bool kept = difference->what == BOOT_DYNAMIC && !arguments->probes;

	while (text_next_line(&at, &left, &line))
		if (line.len && *line.at != '#')
			printf("  %s: %.*s%s\n", difference->file, (int)line.len, line.at,
			       kept ? " (stays; --probes)" : "");
	return 0;
}

static int list_instance(const char *name, void *data)
{
	cleanup_free char *shown = terminal_line(name);

	(void)data;
	if (boot_instance_is(name))
		printf("  (the instance '%s' stays as it is: the kernel's command line asks for it)\n", shown);
	else
		printf("  the instance '%s', its settings, and what its buffer holds\n", shown);
	return 0;
}

static int list_all(const struct tracing *tracing, const struct arguments *arguments, struct fail *fail)
{
	struct instance *top;
	struct claim claim;
	int err = instance_open_top(tracing, NULL, &top, fail);

	if (err)
		return err;
	puts("this goes away:\n  what the top buffer holds");
	if (claim_find(NULL, "", &claim)) {
		cleanup_free char *command = terminal_line(claim.command);

		printf("  what '%s' (process %d) traces there\n", command, (int)claim.owner.pid);
	}
	err = instance_each(tracing, list_instance, NULL, fail);
	if (!err)
		err = boot_each(top, list_difference, (void *)arguments, fail);
	fflush(stdout);
	instance_close(top, NULL);
	return err;
}

static bool ask(void)
{
	char answer[16];

	fputs("Go on? [y/N] ", stdout);
	fflush(stdout);
	return fgets(answer, sizeof(answer), stdin) && (*answer == 'y' || *answer == 'Y');
}

static int reset_all(const struct tracing *tracing, const struct arguments *arguments, struct fail *fail)
{
	int err = list_all(tracing, arguments, fail);

	if (err)
		return err;
	if (!arguments->yes && !isatty(STDIN_FILENO))
		return fail_set(
			fail, -EINVAL,
			"nothing was changed: there is no terminal to ask for confirmation; --yes goes on without");
	if (!arguments->yes && !ask())
		return fail_set(fail, -ECANCELED, "nothing was changed");
	return boot_reset(tracing, NULL, arguments->probes, fail);
}

/* The functions below undo what weft did. */

static void tell(const struct undo_sum *sum)
{
	const struct {
		const char *done, *what;
		unsigned nr;
	} parts[] = {
		{ "put back", "setting", sum->entries },
		{ "removed", "instance", sum->instances },
		{ "removed", "probe", sum->probes },
	};
	cleanup_buf struct buf text = BUF_INIT;

	for (size_t i = 0; i < array_size(parts); i++) {
		if (!parts[i].nr)
			continue;
		if (text.len && !buf_add_str(&text, ", "))
			return;
		if (!buf_addf(&text, "%s %u %s%s", parts[i].done, parts[i].nr, parts[i].what,
			      parts[i].nr == 1 ? "" : "s"))
			return;
	}
	command_warn("%s", buf_str(&text));
}

/* What a killed flight held lies in memory until somebody asks for it. */
static int tell_left(const char *parts, void *data)
{
	cleanup_buf struct buf pasted = BUF_INIT;

	(void)data;
	command_warn(
		"note: '%s' still has what a flight held when it was killed: 'weft recover %s' makes a file of it, "
		"and the next flight of that name does, too; to give its memory back, remove that directory",
		parts, paste_file(&pasted, parts));
	return 0;
}

/* The killed recordings whose events a reset of this instance, or NULL: of everything, gives up. */
static bool note_given_up(const struct tracing *tracing, const char *instance, struct buf *notes)
{
	struct undo_pending pending;
	unsigned at = 0;
	bool ok = true;

	while (ok && undo_next_pending(NULL, &at, &pending, NULL) > 0) {
		cleanup_buf struct buf pasted = BUF_INIT;
		struct recovery_left left;

		if (!recovery_left(pending.path, tracing, instance, &left))
			continue;
		if (left.events && (!instance || left.of_instance))
			ok = buf_addf(
				notes,
				"note: %" PRIu64
				" event%s of a killed recording that the kernel still held %s gone; 'weft recover %s' "
				"makes a file of what had been read by then%c",
				left.events, left.events == 1 ? "" : "s", left.events == 1 ? "is" : "are",
				paste_file(&pasted, left.parts), 0);
		free(left.parts);
	}
	return ok;
}

static void tell_given_up(struct buf *notes)
{
	for (size_t at = 0; at < notes->len; at += strlen(buf_str(notes) + at) + 1)
		command_warn("%s", buf_str(notes) + at);
}

static int reset_ours(const struct tracing *tracing, const struct setup_list *instances, struct fail *fail)
{
	struct undo_sum sum = { .entries = 0 }, one;
	cleanup_buf struct buf given_up = BUF_INIT;
	int err = 0, shared = 0;

	progress_step("restoring the settings of tracing");
	for (size_t i = 0; !err && i < instances->nr; i++) {
		if (!note_given_up(tracing, instances->items[i], &given_up))
			return fail_memory(fail);
		err = undo_reset(tracing, NULL, instances->items[i], &one, fail);
		sum.entries += one.entries;
		sum.instances += one.instances;
		sum.probes += one.probes;
	}
	if (!instances->nr) {
		if (!note_given_up(tracing, NULL, &given_up))
			return fail_memory(fail);
		err = undo_reset(tracing, NULL, NULL, &sum, fail);
		if (!err)
			undo_sweep(NULL);
		shared = err ? 0 : shared_cmdlines_recover(tracing, NULL, fail);
	}
	progress_step(NULL);
	sum.entries += shared > 0;
	if (sum.entries || sum.instances || sum.probes)
		tell(&sum);
	else if (!err && shared >= 0)
		command_warn("nothing to put back");
	if (!err)
		tell_given_up(&given_up);
	if (!instances->nr)
		(void)!kept_parts_dir_each(NULL, tell_left, NULL);
	return err ? err : shared < 0 ? shared : 0;
}

static int run(int argc, char **argv)
{
	struct arguments arguments = { .all = false };
	struct tracing tracing = { .dir = NULL };
	struct fail fail = FAIL_INIT;
	int err;

	command_parse(&reset_command, argc, argv, 0, &arguments);
	err = tracing_find(&tracing, &fail);
	if (!err && arguments.all)
		err = reset_all(&tracing, &arguments, &fail);
	else if (!err)
		err = reset_ours(&tracing, &arguments.instances, &fail);
	tracing_release(&tracing);
	free(arguments.instances.items);
	return err ? command_failed(&fail) : EXIT_OK;
}

const struct command reset_command = {
	.name = "reset",
	.summary = "put back what weft has changed, or all of tracefs",
	.brief = "undo changes",
	.examples = "  weft reset\n"
		    "  weft reset --all",
	.group = "trace",
	.options = &command_options,
	.run = run,
};
