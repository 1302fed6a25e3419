// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/export_folder.h"

#include "formats/export/folder.h"
#include "lib/base/destination_folder.h"
#include "lib/base/fail.h"
#include "lib/base/io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

int export_folder_fill(const struct destination_folder *folder, int pipe, struct fail *fail)
{
	cleanup_free char *chunk = malloc(CHUNK);
	int r;

	if (!chunk)
		return fail_memory(fail);
	while ((r = take_piece(folder, pipe, chunk, fail)) > 0)
		;
	return r;
}
