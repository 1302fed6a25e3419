// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options/kernel.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/terminal/paste.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/record/recovery.h"
#include "lib/kernel/setup/setup.h"
#include "lib/kernel/undo/instance_open.h"
#include "lib/kernel/undo/undo.h"

static const struct option_row options[] = {
	{ "instance", 'B', "INSTANCE", 0, "Act on INSTANCE instead of the top instance", 0, OPTION_BY_KEY },
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct kernel *kernel = state->input;

	if (key != 'B')
		return ARGP_ERR_UNKNOWN;
	if (kernel->name && strcmp(kernel->name, arg))
		argp_error(state, "one instance at a time: '%s' and '%s'", kernel->name, arg);
	kernel->name = arg;
	return 0;
}

const struct options kernel_options = {
	.rows = options,
	.parser = parse_option,
};

int kernel_find(struct kernel *kernel, struct fail *fail)
{
	int err = tracing_find(&kernel->tracing, fail);

	if (!err && kernel->tracing.mounted_here)
		command_warn("tracefs was not mounted; it is now, at '%s'", kernel->tracing.dir);
	return err;
}

int kernel_open(struct kernel *kernel, struct undo *undo, struct fail *fail)
{
	int err = kernel_find(kernel, fail);

	if (err)
		return err;
	if (kernel->name)
		return instance_open(&kernel->tracing, kernel->name, false, undo, &kernel->instance, fail);
	return instance_open_top(&kernel->tracing, undo, &kernel->instance, fail);
}

void kernel_close(struct kernel *kernel)
{
	instance_close(take(kernel->instance), NULL);
	tracing_release(&kernel->tracing);
}

int kernel_keep(struct undo *undo, int err, struct fail *fail)
{
	struct fail later = FAIL_INIT;

	if (!err && undo)
		err = undo_hold(undo, fail);
	if (err && undo && undo_restore(undo, &later))
		command_warn("%s; 'weft reset' tries again", later.text);
	return err;
}

const char *kernel_journal_words(const struct undo_pending *journal, char into[KERNEL_WORDS])
{
	const struct {
		const char *what;
		unsigned nr;
	} parts[] = { { "setting", journal->entries },
		      { "instance", journal->instances },
		      { "probe", journal->probes } };
	size_t len = 0;

	snprintf(into, KERNEL_WORDS, "nothing");
	for (size_t i = 0; i < array_size(parts); i++)
		if (parts[i].nr)
			len += (size_t)snprintf(into + len, KERNEL_WORDS - len, "%s%u %s%s", len ? ", " : "",
						parts[i].nr, parts[i].what, parts[i].nr == 1 ? "" : "s");
	return into;
}

bool kernel_journal_remedy(const struct undo_pending *journal, const struct tracing *tracing, struct buf *into)
{
	cleanup_buf struct buf pasted = BUF_INIT;
	struct recovery_left left;
	bool ok;

	if (journal->held || !recovery_left(journal->path, tracing, NULL, &left))
		return buf_add_str(into, "'weft reset' puts that back");
	ok = buf_addf(into,
		      "'weft recover %s' makes a file of what was recorded and puts that back, 'weft reset' puts it "
		      "back without",
		      paste_file(&pasted, left.parts));
	free(left.parts);
	return ok;
}

int kernel_finish(struct kernel *kernel, int err, struct fail *fail)
{
	if (!err)
		err = command_flush(fail);
	kernel_close(kernel);
	return err ? command_failed(fail) : EXIT_OK;
}

void kernel_tell_unseen(const struct setup *setup)
{
	struct tracing tracing;
	struct instance *instance;

	if (setup->all_pids || setup_chooses_tasks(setup) || setup->only_command || tracing_find(&tracing, NULL))
		return;
	for (size_t i = 0; i < setup->nr_instances; i++) {
		const char *name = setup->instances[i].name;

		/* weft's own instances are gone by now. */
		if (!name || instance_open(&tracing, name, false, NULL, &instance, NULL))
			continue;
		command_warn("note: no event; if all tasks of the list set_event_pid of the instance '%s' have ended, "
			     "which cannot be seen, no task is traced there: 'weft set -B %s -P \"\"' clears the list",
			     name, name);
		instance_close(instance, NULL);
	}
	tracing_release(&tracing);
}

void kernel_tell_left_out(const struct setup *setup, bool made_tasks)
{
	if (made_tasks && setup->only_command && !setup->follow)
		command_warn("note: COMMAND made threads or children, which -F leaves out; -F -c traces them, too");
}

void kernel_tell_cleared(const char *name, unsigned times)
{
	if (!times)
		return;
	command_warn(
		"%s%ssomebody else cleared the buffer meanwhile (%u time%s as far as noticed; so does the end of a "
		"module or probe whose events are recorded); the events it held then are not counted",
		name, *name ? ": " : "", times, times == 1 ? "" : "s");
}

void kernel_tell_missed(const char *lines)
{
	char probe[160], hits[TEXT_HUMAN], missed[TEXT_HUMAN];
	uint64_t made, not_made;
	int end;

	for (; lines && sscanf(lines, "%159s %" SCNu64 " %" SCNu64 "%n", probe, &made, &not_made, &end) == 3;
	     lines += end)
		command_warn(
			"probe %s made no event of %s hits (and %s of others); a return probe follows only as many "
			"calls at once as its definition says: 'r4096:NAME FUNCTION'",
			probe, text_count(missed, not_made), text_count(hits, made));
}
