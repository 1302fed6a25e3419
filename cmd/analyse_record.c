// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/analyse_record.h"

#include "cmd/command.h"
#include "cmd/options/output_options.h"
#include "cmd/options/reading.h"
#include "cmd/options/setup_for.h"
#include "cmd/options/setup_options.h"
#include "cmd/terminal/paste.h"
#include "cmd/terminal/progress.h"
#include "lib/base/fail.h"
#include "lib/record/session.h"
#include "lib/record/workload.h"
#include "lib/trace/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER_SIZE = 4 << 20, FASTEST = 1 };

static void warn(const char *text, void *data)
{
	(void)data;
	command_warn("warning: %s", text);
}

int analyse_record_describe(const struct analysis_ops *const *ops, size_t nr, bool only, struct record_options *options,
			    struct fail *fail)
{
	struct setup_instance *wanted;

	*options = (struct record_options){
		.mode = OUTPUT_MODE,
		.version = 7,
		.compress = true,
		.level = FASTEST,
		.path = getenv("PATH"),
		.setup = { .cmdlines = SETUP_CMDLINES,
			   .warn = warn,
			   .step = progress_step,
			   .only_command = only,
			   .follow = only },
	};
	wanted = setup_add_instance(&options->setup, NULL);
	if (!wanted)
		return fail_memory(fail);
	for (size_t i = 0; i < nr; i++)
		if (!setup_for_analysis(wanted, ops[i]))
			return fail_memory(fail);
	wanted->size = BUFFER_SIZE;
	return 0;
}

int analyse_record_dir(char **ret, struct fail *fail)
{
	const char *parent = getenv("TMPDIR");
	cleanup_free char *dir = NULL;

	if (asprintf(&dir, "%s/weft-XXXXXX", parent && *parent == '/' ? parent : "/tmp") < 0) {
		dir = NULL;
		return fail_memory(fail);
	}
	if (!mkdtemp(dir))
		return fail_set(fail, -errno, "cannot make the directory '%s' for the recording: %s", dir,
				strerror(errno));
	*ret = take(dir);
	return 0;
}

void analyse_record_remove(const char *file, const char *dir)
{
	if (file)
		(void)unlink(file);
	/* rmdir() fails if the directory still has parts in it, and so keeps them. */
	if (dir)
		(void)rmdir(dir);
}

/* If the recording cannot be finished, its parts stay, so that weft recover can read them. */
static int record(const struct record_options *options, struct analyse_recorded *recorded, struct fail *fail)
{
	cleanup_buf struct buf pasted = BUF_INIT;
	struct record_result result;
	int r = session_run(options, &result, fail);

	result.has_status |= workload_wait(result.command, &result.status);
	if (!r)
		recorded->status = result.has_status ? result.status : EXIT_OK;
	else
		recorded->status = result.has_status && !result.ran ? result.status : EXIT_RECORD_FAILED;
	recorded->time_ns = result.time_ns;
	if (result.parts)
		command_warn("the recorded data is in '%s'; 'weft recover %s -o FILE' makes a file of it", result.parts,
			     paste_file(&pasted, result.parts));
	record_result_release(&result);
	return r;
}

int analyse_record(const struct analyse_command *command, const struct analysis_ops *ops, struct trace **ret,
		   struct analyse_recorded *recorded, struct fail *fail)
{
	struct record_options options;
	cleanup_free char *dir = NULL, *file = NULL;
	struct trace *trace = NULL;
	int r = analyse_record_describe(&ops, 1, command->only, &options, fail);

	*recorded = (struct analyse_recorded){ .status = EXIT_RECORD_FAILED };
	if (!r)
		r = analyse_record_dir(&dir, fail);
	if (!r && asprintf(&file, "%s/trace.dat", dir) < 0) {
		file = NULL;
		r = fail_memory(fail);
	}
	options.output = file;
	options.argv = command->argv;
	if (!r)
		r = record(&options, recorded, fail);
	if (!r)
		r = trace_new(file, &trace, fail);
	analyse_record_remove(file, dir);
	setup_release(&options.setup);
	return r ? r : reading_load(trace, command->reading, ret, fail);
}
