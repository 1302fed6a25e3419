/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FILES_PACK_FOLDER_INTERNAL_H
#define WEFT_FILES_PACK_FOLDER_INTERNAL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/ground/base/cleanup.h"

struct fail;

/*
 * A directory with plain copies that may come from a stranger. Each part of a name is opened separately, relative to
 * the part before, and no link is followed: nothing outside is ever reached, even if the directory changes meanwhile.
 * Only regular files are read, so nothing blocks. The total amount is counted and bounded. Names are relative, without
 * ".."; "" is the directory itself.
 */
struct folder {
	int dir;
	char *path;            /* for messages */
	size_t files;          /* number of files opened so far */
	uint64_t texts, pages; /* bytes read so far */
};

#define FOLDER_INIT       \
	{                 \
		.dir = -1 \
	}

enum { FOLDER_FILES_MAX = 1 << 18, FOLDER_NAMES_MAX = 1 << 16, FOLDER_TEXTS_MAX = 512 << 20 };
#define FOLDER_PAGES_MAX (64ULL << 30)

int must_check folder_open(const char *path, struct folder *ret, struct fail *fail);
void folder_release(struct folder *folder);

/*
 * The type of what has that name: S_IFREG, S_IFDIR, ...; S_IFLNK also for a name behind a link; 0 when nothing has it.
 */
int must_check folder_type(const struct folder *folder, const char *name, mode_t *ret, struct fail *fail);

/* 1: the file is open for reading; 0: there is none; -EPERM: it is a link, behind a link, or not a regular file. */
int must_check folder_file(struct folder *folder, const char *name, int *ret_fd, struct fail *fail);

/* Reads the whole file; 1, 0 and -errno as above. -EFBIG: one file, or all together, are too large. */
int must_check folder_text(struct folder *folder, const char *name, char **ret, size_t *ret_len, struct fail *fail);

/* Counts the file's pages; -EFBIG: the total is too large. */
int must_check folder_take_pages(struct folder *folder, int fd, const char *name, struct fail *fail);

/*
 * The names in a directory, sorted, without those that begin with a dot; empty when the directory does not exist. The
 * caller frees each name and the list.
 */
int must_check folder_list(const struct folder *folder, const char *name, char ***ret, size_t *ret_count,
			   struct fail *fail);
void folder_list_free(char **names, size_t count);

#endif
