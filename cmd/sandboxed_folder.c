// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/sandboxed_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/sandbox_child.h"
#include "formats/export/folder.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/destination.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"

enum { CHUNK = 1 << 16 };

/* Reads all of `size` bytes. Returns 1; 0 at the end of the pipe, if that comes before the first byte. */
static int take_bytes(int pipe, void *into, size_t size)
{
	size_t got = 0;

	while (got < size) {
		ssize_t r = io_read(pipe, (char *)into + got, size - got);

		if (r <= 0)
			return r < 0 ? (int)r : got ? -EPIPE : 0;
		got += (size_t)r;
	}
	return 1;
}

static int copy(int pipe, int fd, uint64_t len, char *chunk)
{
	while (len) {
		size_t part = len < CHUNK ? (size_t)len : CHUNK;
		int r = take_bytes(pipe, chunk, part);

		if (r <= 0)
			return r ? r : -EPIPE;
		r = io_write(fd, chunk, part);
		if (r)
			return r;
		len -= part;
	}
	return 0;
}

/* Returns 1 after a piece, 0 at the end. */
static int take_piece(const struct destination_folder *folder, int pipe, char *chunk, struct fail *fail)
{
	char name[FOLDER_NAME_MAX + 1];
	struct folder_piece piece;
	cleanup_fd int fd = -1;
	int r = take_bytes(pipe, &piece, sizeof(piece));

	if (r <= 0)
		return r ? fail_set(fail, r, "cannot read what is to be written: %s", strerror(-r)) : 0;
	if (piece.magic != FOLDER_MAGIC || !piece.name_len || piece.name_len > FOLDER_NAME_MAX)
		return fail_set(fail, -EINVAL, "what is to be written has no name");
	r = take_bytes(pipe, name, piece.name_len);
	if (r <= 0)
		return fail_set(fail, r ? r : -EPIPE, "cannot read what is to be written: %s",
				strerror(r ? -r : EPIPE));
	name[piece.name_len] = '\0';
	r = destination_folder_open(folder, name, &fd, fail);
	if (r)
		return r;
	r = copy(pipe, fd, piece.len, chunk);
	return r ? fail_set(fail, r, "cannot write '%s' in '%s': %s", name, folder->path, strerror(-r)) : 1;
}

/*
 * Reads the pieces of formats/export/folder.h from a pipe and writes each into its file, until the pipe ends. The
 * pieces come from a process that has read what strangers wrote, so nothing in them is trusted: a name must be one that
 * a folder accepts.
 */
static int fill(const struct destination_folder *folder, int pipe, struct fail *fail)
{
	cleanup_free char *chunk = malloc(CHUNK);
	int r;

	if (!chunk)
		return fail_memory(fail);
	while ((r = take_piece(folder, pipe, chunk, fail)) > 0)
		;
	return r;
}

static pid_t start_apart(const struct sandboxed_folder *wanted, const int ends[2])
{
	pid_t pid = sandbox_child_fork();

	if (pid)
		return pid;
	close(ends[0]);
	_exit(wanted->work(wanted->arg, ends[1]));
}

/* The reader process cannot make files: it writes pieces into a pipe, and this process makes the files from them. */
static int fill_apart(const struct sandboxed_folder *wanted, const struct destination_folder *folder)
{
	struct fail fail = FAIL_INIT;
	int ends[2], status, r;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC)) {
		command_warn("cannot make a pipe: %s", strerror(errno));
		return EXIT_FAILED;
	}
	pid = start_apart(wanted, ends);
	close(ends[1]);
	r = pid > 0 ? fill(folder, ends[0], &fail) : 0;
	/*
	 * If filling the folder has failed, closing the pipe ends the reader process with SIGPIPE. That is not
	 * reported.
	 */
	close(ends[0]);
	status = pid > 0 ? sandbox_child_end(pid, wanted->input) : EXIT_FAILED;
	if (r)
		return status > SANDBOX_CHILD_SIGNAL && status != SANDBOX_CHILD_SIGNAL + SIGPIPE ?
			       status :
			       command_failed(&fail);
	if (status != EXIT_OK && status != EXIT_DAMAGED)
		return status;
	if ((wanted->complete && wanted->complete(wanted->arg, folder->dir, &fail)) ||
	    destination_folder_place(folder, wanted->mode, &fail))
		return command_failed(&fail);
	return status;
}

int sandboxed_folder(const struct sandboxed_folder *wanted)
{
	struct destination_folder folder = DESTINATION_FOLDER_INIT;
	struct fail fail = FAIL_INIT;
	int status;

	if (destination_folder_make(wanted->path, wanted->partition, &folder, &fail))
		return command_failed(&fail);
	status = fill_apart(wanted, &folder);
	if (status != EXIT_OK && status != EXIT_DAMAGED)
		destination_folder_discard(&folder);
	destination_folder_release(&folder);
	return status;
}
