// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/command.h"
#include "cmd/options/answer.h"
#include "cmd/options/output_options.h"
#include "cmd/terminal/paste.h"
#include "cmd/terminal/progress.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/cpus.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/record/parts_name.h"
#include "lib/kernel/record/recovery.h"

struct arguments {
	const char *what;
	const char *output;
	mode_t mode;
	bool quiet;
	struct answer answer;
};

static const struct option_row table[] = {
	{ "output", 'o', "FILE", 0, "Write FILE (default: the one that was to be recorded, unless it exists)", 0,
	  OPTION_TEXT(struct arguments, output) },
	{ "mode", 0, "MODE", 0, OUTPUT_MODE_HELP, 0, OPTION_CALL(struct arguments, mode, output_take_mode) },
	{ "quiet", 'q', NULL, 0, "Show no progress", 0, OPTION_FLAG(struct arguments, quiet) },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (arguments->what)
			argp_error(state, "one recording at a time");
		arguments->what = arg;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct options command_options = {
	.rows = table,
	.parser = parse,
	.children = OPTIONS_OF(answer_options, struct arguments, answer),
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

static int tell_other(const char *path, void *data)
{
	cleanup_buf struct buf pasted = BUF_INIT;

	(void)data;
	command_warn("note: 'weft recover %s' makes a file of the parts that another recording left here",
		     paste_file(&pasted, path));
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

static void tell_lost(const struct recovery *recovery)
{
	cleanup_buf struct buf list = BUF_INIT;

	if (cpus_count(&recovery->lost) && cpus_list(&recovery->lost, &list))
		command_warn("lost: CPU%s %s had been recorded, and %s not among the parts; the file lacks what was in "
			     "%s",
			     cpus_count(&recovery->lost) == 1 ? "" : "s", buf_str(&list),
			     cpus_count(&recovery->lost) == 1 ? "its data is" : "their data is",
			     cpus_count(&recovery->lost) == 1 ? "it" : "them");
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
	tell_lost(recovery);
	if (recovery->gaps)
		command_warn("note: %u recorder%s taking pages out of the kernel when %s killed; the file lacks these",
			     recovery->gaps, recovery->gaps == 1 ? " was" : "s were",
			     recovery->gaps == 1 ? "it was" : "they were");
	if (recovery->unread)
		command_warn("note: the instance of that recording exists no more or cannot be used: "
			     "the file lacks what the kernel still held when the recording was killed");
}

static int put_recovered(const struct recovery *recovery, struct answer *answer, struct fail *fail)
{
	struct json *json = &answer->json;
	int r = answer_begin(answer, fail);

	if (r)
		return r;
	answer_text(json, "file", recovery->output);
	answer_number(json, "file_bytes", recovery->file_size);
	answer_number(json, "pages_bytes", recovery->raw);
	answer_number(json, "cpus", recovery->cpus);
	answer_number(json, "from_kernel_bytes", recovery->drained);
	answer_number(json, "torn_bytes", recovery->torn);
	answer_number(json, "recorders_interrupted", recovery->gaps);
	answer_bool(json, "kernel_unread", recovery->unread);
	json_key(json, "cpus_lost");
	json_array(json);
	for (int cpu = cpus_next(&recovery->lost, 0); cpu >= 0; cpu = cpus_next(&recovery->lost, cpu + 1))
		json_put_u64(json, (uint64_t)cpu);
	json_end(json);
	return answer_end(answer, fail);
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

static int recover_parts(const char *path, struct arguments *arguments, struct recovery *recovery)
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
	if (arguments->answer.is_json && put_recovered(recovery, &arguments->answer, &fail))
		return command_failed(&fail);
	if (!arguments->answer.is_json)
		print_recovered(recovery);
	return cpus_count(&recovery->lost) ? EXIT_FAILED : EXIT_OK;
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
		undone = undo(false, recovery.output ? &recovery : NULL, tell_waiting);
		recovery_release(&recovery);
	}
	if (status)
		return status;
	if (undone > 0)
		return undone;
	if (!path && undone < 0) {
		command_warn("nothing to recover: no parts of '%s', no settings to put back", what);
		(void)!parts_each("./", tell_other, NULL);
		return EXIT_FAILED;
	}
	return EXIT_OK;
}

/* clang-format off */
static const struct json_member members[] = {
	{ "file", "string", "what was made" },
	{ "file_bytes", "number", "its size" },
	{ "pages_bytes", "number", "of the recorded sub-buffers, before compression" },
	{ "cpus", "number", "how many have sub-buffers" },
	{ "from_kernel_bytes", "number", "what the kernel still held and was read now" },
	{ "torn_bytes", "number", "at the ends of parts, left out because a write had not ended" },
	{ "recorders_interrupted", "number", "CPUs that may lack events where their recorder ended" },
	{ "kernel_unread", "boolean", "the kernel held more that could not be read" },
	{ "cpus_lost[]", "number", "whose recorded data is gone" },
	{ 0 },
};
/* clang-format on */

const struct command recover_command = {
	.name = "recover",
	.summary = "finish the file of a recording that was killed",
	.brief = "after a kill",
	.examples = "  weft recover trace.dat\n"
		    "  weft recover -o saved.dat trace.dat",
	.group = "record",
	.options = &command_options,
	.answer = members,
	.run = run,
};
