/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_SANDBOXED_FOLDER_H
#define WEFT_CMD_SANDBOXED_FOLDER_H

#include <sys/types.h>

struct fail;

/*
 * Makes a folder of files whose content a reader process finds (cmd/sandbox_child.h): `work` runs there, writes pieces
 * (formats/export/folder.h) into `fd`, and returns the exit status. The folder gets its name when that is EXIT_OK or
 * EXIT_DAMAGED; otherwise nothing of it remains. Returns the exit status.
 * EXIT_DAMAGED is one besides enum exit_status: the input is damaged, and what could be read of it is written.
 */
enum { EXIT_DAMAGED = 3 };

struct sandboxed_folder {
	const char *path;
	const char *partition; /* "host=NAME", or NULL: destination_folder_make() */
	const char *input;     /* what is read, for messages */
	mode_t mode;
	int (*work)(const void *arg, int fd);
	const void *arg;
	/* Before the folder gets its name, in this process: completes what is in it. May be NULL. */
	int (*complete)(const void *arg, int folder, struct fail *fail);
};

int sandboxed_folder(const struct sandboxed_folder *wanted);

#endif
