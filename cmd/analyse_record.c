// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/analyse_record.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/options/output_options.h"
#include "cmd/options/setup_for.h"
#include "cmd/options/setup_options.h"
#include "cmd/terminal/paste.h"
#include "cmd/terminal/progress.h"
#include "lib/ground/base/dir.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/random.h"
#include "lib/kernel/record/session.h"
#include "lib/kernel/record/workload.h"
#include "lib/pages/trace/trace.h"

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

int analyse_dir_make(struct analyse_dir *ret, struct fail *fail)
{
	const char *parent = getenv("TMPDIR");
	struct analyse_dir dir = ANALYSE_DIR_INIT;
	int err;

	parent = parent && *parent == '/' ? parent : "/tmp";
	if (asprintf(&dir.path, "%s/weft-%016" PRIx64, parent, random_number()) < 0) {
		dir.path = NULL;
		return fail_memory(fail);
	}
	err = dir_above(AT_FDCWD, dir.path, dir.path, &dir.above, &dir.leaf, fail);
	if (!err) {
		err = dir_make(dir.above, dir.leaf, &dir.fd);
		if (err)
			fail_set(fail, err, "cannot make the directory '%s' for the recording: %s", dir.path,
				 dir_error(err));
	}
	*ret = dir;
	if (err)
		analyse_dir_remove(ret);
	return err;
}

static bool is_recording(const char *name)
{
	size_t len = strlen(name);

	return len > 4 && !strcmp(name + len - 4, ".dat");
}

void analyse_dir_remove(struct analyse_dir *dir)
{
	if (dir->fd >= 0) {
		(void)!dir_clear(dir->fd, is_recording, 0);
		(void)!dir_remove(dir->above, dir->leaf, dir->fd, AT_REMOVEDIR);
	}
	cleanup_fd_close(&dir->fd);
	cleanup_fd_close(&dir->above);
	free(dir->leaf);
	free(dir->path);
	*dir = (struct analyse_dir)ANALYSE_DIR_INIT;
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
	struct analyse_dir dir = ANALYSE_DIR_INIT;
	cleanup_free char *file = NULL;
	int r = analyse_record_describe(&ops, 1, command->only, &options, fail);

	*recorded = (struct analyse_recorded){ .status = EXIT_RECORD_FAILED };
	if (!r)
		r = analyse_dir_make(&dir, fail);
	if (!r && asprintf(&file, "%s/trace.dat", dir.path) < 0) {
		file = NULL;
		r = fail_memory(fail);
	}
	options.output = file;
	options.argv = command->argv;
	/* Standard output is the answer's. */
	options.stdout_to_stderr = true;
	if (!r)
		r = record(&options, recorded, fail);
	if (!r)
		r = trace_new(file, ret, fail);
	analyse_dir_remove(&dir);
	setup_release(&options.setup);
	return r;
}
