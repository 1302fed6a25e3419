/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_BASE_DESTINATION_FOLDER_H
#define WEFT_BASE_DESTINATION_FOLDER_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <sys/types.h>

struct fail;

/*
 * The place where a finished folder goes. The folder is filled under a temporary name beside that place, with a mode
 * that lets nobody else enter, and renamed when it is complete: so its name shows the whole folder or nothing. The name
 * must be free or name an empty folder; a symbolic link is not followed. Names in the folder are words, or two words
 * with a slash between them; no word begins with ".".
 * A folder of the partition "host=NAME" lies in the folder of the path. That folder is made if it does not exist, and
 * may hold only folders of the same key.
 */
struct destination_folder {
	int above;         /* the directory of the name */
	bool made_above;   /* `above` was also made */
	int dir;           /* the folder itself */
	char *leaf, *path; /* the name in it; as the user wrote it */
	char name[64];     /* the temporary name */
};

#define DESTINATION_FOLDER_INIT        \
	{                              \
		.above = -1, .dir = -1 \
	}

/* The reason why a text is not a partition; NULL when it is one. */
const char *destination_folder_fault(const char *partition);

/* Makes an empty folder. `partition` is NULL for a folder at the path itself. */
int must_check destination_folder_make(const char *path, const char *partition, struct destination_folder *ret,
				       struct fail *fail);
void destination_folder_release(struct destination_folder *folder);

/* Opens a file in the folder for appending, and creates it if it does not exist. -EINVAL: the name is not allowed. */
int must_check destination_folder_open(const struct destination_folder *folder, const char *name, int *ret_fd,
				       struct fail *fail);

/* Gives the folder its final name. Its files get the mode; whoever may read the files may also enter the folders. */
int must_check destination_folder_place(const struct destination_folder *folder, mode_t mode, struct fail *fail);

/* Removes the folder and its content. */
void destination_folder_discard(const struct destination_folder *folder);

#endif
