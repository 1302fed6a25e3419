/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PAGES_TRACE_INPUT_H
#define WEFT_PAGES_TRACE_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct fail;

/*
 * A file that is read by offset. A file that cannot be seeked is copied to an unlinked temporary file first.
 * Invariant: `size` is the size at opening; nothing after it is read.
 */
struct input {
	int fd;
	uint64_t size;
	int error; /* errno of the last read that failed; atomic: other threads may also read */
};

/* Duplicates `fd`; the caller keeps its own. `path` is for messages. */
int must_check input_init(struct input *input, int fd, const char *path, struct fail *fail);
void input_release(struct input *input);

/* All `size` bytes or nothing: -EBADMSG when they reach beyond the end, -errno of pread(2). */
int must_check input_read(const struct input *input, uint64_t offset, void *data, size_t size, struct fail *fail);

/* Makes a file without a name in P_tmpdir; it is removed with its last descriptor. */
int must_check input_temporary(int *ret_fd, struct fail *fail);

/*
 * Makes temporary files for a process that may not open files itself. One that is given back may be handed out again:
 * it still has its bytes, and is written to from its beginning.
 */
struct temporaries {
	int (*make)(void *arg, int *ret_fd, struct fail *fail);
	void (*give_back)(void *arg, int fd);
	void *arg;
};

/* `from` NULL: input_temporary(). */
int must_check input_temporary_from(const struct temporaries *from, int *ret_fd, struct fail *fail);
void input_temporary_back(const struct temporaries *from, int fd);

#endif
