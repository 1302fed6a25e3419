// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"
#include "cmd/options/output_options.h"
#include "cmd/terminal/paste.h"
#include "cmd/terminal/progress.h"
#include "lib/base/text.h"
#include "lib/record/parts_name.h"
#include "lib/record/recovery.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct arguments {
	const char *what;
	const char *output;
	mode_t mode;
	bool quiet;
};

enum { OPT_MODE = 0x100 };

static const struct argp_option table[] = {
	{ "output", 'o', "FILE", 0, "Write FILE (default: the one that was to be recorded, unless it exists)", 0 },
	{ "mode", OPT_MODE, "MODE", 0, OUTPUT_MODE_HELP, 0 },
	{ "quiet", 'q', NULL, 0, "Show no progress", 0 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case 'o':
		arguments->output = arg;
		return 0;
	case 'q':
		arguments->quiet = true;
		return 0;
	case OPT_MODE:
		arguments->mode = output_mode(arg, state);
		return 0;
	case ARGP_KEY_ARG:
		if (arguments->what)
			argp_error(state, "one recording at a time");
		arguments->what = arg;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	.options = table,
	.parser = parse,
	.args_doc = "[FILE|DIR]",
	.doc = "Make a file of what a killed `weft record` left beside FILE (default trace.dat) or in DIR, "
	       "and put back the tracing settings that it had changed.",
};

struct found {
	char *path;
	unsigned nr;
};

static int count_parts(const char *path, void *data)
{
	struct found *found = data;

	if (!found->nr++)
		found->path = strdup(path);
	else
		command_warn("also left: '%s'", path);
	return 0;
}

/* Returns the parts directory: `what` itself, or the one beside that output. NULL: there is none. */
static char *find_parts(const char *what, unsigned *ret_nr)
{
	struct found found = { .path = NULL };
	struct stat st;

	*ret_nr = 1;
	if (!stat(what, &st) && S_ISDIR(st.st_mode))
		return strdup(what);
	if (parts_each(what, count_parts, &found))
		return NULL;
	*ret_nr = found.nr;
	return found.path;
}

static void print_recovered(const struct recovery *recovery)
{
	char raw[TEXT_HUMAN], file[TEXT_HUMAN], drained[TEXT_HUMAN], torn[TEXT_HUMAN];

	command_warn("recovered '%s': %s of pages of %u CPUs in a file of %s", recovery->output,
		     text_size(raw, recovery->raw), recovery->cpus, text_size(file, recovery->file_size));
	if (recovery->drained)
		command_warn("%s of them were still in the kernel's buffers", text_size(drained, recovery->drained));
	if (recovery->torn)
		command_warn("%s at the end of parts were torn and left out", text_size(torn, recovery->torn));
	if (recovery->gaps)
		command_warn("note: %u recorder%s taking pages out of the kernel when %s killed; the file lacks these",
			     recovery->gaps, recovery->gaps == 1 ? " was" : "s were",
			     recovery->gaps == 1 ? "it was" : "they were");
	if (recovery->unread)
		command_warn("note: the instance of that recording exists no more or cannot be used: "
			     "the file lacks what the kernel still held when the recording was killed");
}

/* Parts that a killed recording left anywhere, as its journal names them. A command recovers once. */
static struct found waiting;

/* Parts that are not where they were: only the user can know where they are now. */
static void tell_moved(const char *parts, uint64_t events)
{
	command_warn("note: the kernel still holds %" PRIu64
		     " event%s of a killed recording whose parts are not at '%s' "
		     "any more; 'weft recover DIR' with their new place saves them, 'weft reset' gives them up",
		     events, events == 1 ? "" : "s", parts);
}

static void note_waiting(const char *parts, uint64_t events)
{
	if (events)
		tell_moved(parts, events);
	else
		(void)count_parts(parts, &waiting);
}

static void tell_waiting(const char *parts, uint64_t events)
{
	cleanup_buf struct buf pasted = BUF_INIT;

	if (events) {
		tell_moved(parts, events);
		return;
	}
	command_warn(
		"note: 'weft recover %s' makes a file of what is there and in the kernel's buffers; "
		"until then the tracing settings of that recording stay changed ('weft reset' puts them back without)",
		paste_file(&pasted, parts));
}

/* Anybody can recover a trace, but only root can restore tracefs: without `must`, missing rights are no failure. */
static int undo(bool must, const struct recovery *done, recovery_waits *waits)
{
	struct fail fail = FAIL_INIT;
	unsigned nr = 0;
	int err = recovery_undo(done, waits, &nr, &fail);

	if (err && (must || (err != -EACCES && err != -EPERM && err != -ENODEV)))
		return command_failed(&fail);
	if (nr)
		command_warn("put back the tracing settings of %u killed recording%s", nr, nr == 1 ? "" : "s");
	return nr ? EXIT_OK : -1;
}

static int recover_parts(const char *path, const struct arguments *arguments, struct recovery *recovery)
{
	struct fail fail = FAIL_INIT;
	int err;

	if (!arguments->quiet)
		progress_prepare("recover", false);
	progress_start(progress_tree(path));
	err = recovery_run(path, arguments->output, arguments->mode, recovery, &fail);
	progress_end();

	if (err)
		return command_failed(&fail);
	print_recovered(recovery);
	return EXIT_OK;
}

static int run(int argc, char **argv)
{
	struct arguments arguments = { .mode = OUTPUT_MODE };
	struct recovery recovery = { .output = NULL };
	int status = EXIT_OK, undone = -1;
	cleanup_free char *path = NULL;
	const char *what;
	unsigned nr = 0;

	command_parse(&recover_command, argc, argv, 0, &arguments);
	what = arguments.what ? arguments.what : "trace.dat";
	path = find_parts(what, &nr);
	if (!path && !arguments.what) {
		undone = undo(false, NULL, note_waiting);
		path = waiting.path;
		nr = waiting.nr;
	} else if (!path) {
		undone = undo(true, NULL, tell_waiting);
	}
	if (nr > 1) {
		command_warn("there are %u recordings that were killed; name the directory of one, such as '%s'", nr,
			     path);
		return EXIT_FAILED;
	}
	/*
	 * The data comes first, because restoring the settings removes the instance together with the events still in
	 * it. If recovering the data failed, its parts still exist, and their settings are left as they are.
	 */
	if (path) {
		status = recover_parts(path, &arguments, &recovery);
		undone = undo(false, status ? NULL : &recovery, tell_waiting);
		recovery_release(&recovery);
	}
	if (status)
		return status;
	if (undone > 0)
		return undone;
	if (!path && undone < 0) {
		command_warn("nothing to recover: no parts of '%s', no settings to put back", what);
		return EXIT_FAILED;
	}
	return EXIT_OK;
}

const struct command recover_command = {
	.name = "recover",
	.summary = "finish the file of a recording that was killed",
	.brief = "after a kill",
	.examples = "  weft recover trace.dat\n"
		    "  weft recover -o saved.dat trace.dat",
	.group = "record",
	.argp = &argp,
	.run = run,
};
