/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TRACE_FOLDER_H
#define WEFT_TRACE_FOLDER_H

#include "lib/base/cleanup.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct fail;

/*
 * A directory of plain copies that may be a stranger's. Each part of a name is opened by itself, below the part before, and no
 * link is followed: nothing outside is ever reached, whatever changes meanwhile. What is read as a file is a regular
 * file, so nothing blocks. How much is taken in all is counted and bounded.
 * Names are relative, without ".."; "" is the directory itself.
 */
struct folder {
	int dir;
	char *path;            /* for messages */
	size_t files;          /* opened so far */
	uint64_t texts, pages; /* bytes taken so far */
};

#define FOLDER_INIT       \
	{                 \
		.dir = -1 \
	}

enum { FOLDER_FILES_MAX = 1 << 18, FOLDER_NAMES_MAX = 1 << 16, FOLDER_TEXTS_MAX = 512 << 20 };
#define FOLDER_PAGES_MAX (64ULL << 30)

int must_check folder_open(const char *path, struct folder *ret, struct fail *fail);
void folder_release(struct folder *folder);

/* What is there by that name: S_IFREG, S_IFDIR, ...; S_IFLNK behind a link, too; 0 where nothing is. */
mode_t folder_type(const struct folder *folder, const char *name);

/* 1: it is open for reading; 0: there is none; -EPERM: it is a link, behind one, or no regular file. */
int must_check folder_file(struct folder *folder, const char *name, int *ret_fd, struct fail *fail);

/* The whole file; 1, 0 and -errno as above. -EFBIG: one file, or all, are too large. */
int must_check folder_text(struct folder *folder, const char *name, char **ret, size_t *ret_len, struct fail *fail);

/* Counts the file's pages; -EFBIG: all are too many. */
int must_check folder_take_pages(struct folder *folder, int fd, const char *name, struct fail *fail);

/* The names in a directory, sorted, without those that begin with a dot; none where there is no such directory. The caller
 * frees each and the list. */
int must_check folder_list(const struct folder *folder, const char *name, char ***ret, size_t *ret_count,
			   struct fail *fail);
void folder_list_free(char **names, size_t count);

#endif
