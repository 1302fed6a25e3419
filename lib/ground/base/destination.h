/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_DESTINATION_H
#define WEFT_GROUND_BASE_DESTINATION_H

#include <stdbool.h>
#include <sys/types.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/draft.h"

struct fail;

/*
 * The place where a finished file goes. A regular file is written as a draft and gets its name when it is complete, so
 * a link that somebody puts at the final name in between leads nowhere. The kind of the destination is decided when it
 * is opened: "-" and other names of standard output mean standard output; devices, FIFOs and sockets are written to
 * directly; a symbolic link is followed if this user or root made it, and refused otherwise.
 */
struct destination {
	enum destination_kind { DESTINATION_FILE, DESTINATION_STDOUT, DESTINATION_SPECIAL } kind;
	bool exists; /* a file of that name exists */
	int dir;     /* the directory of the name, after links were followed */
	char *leaf;  /* the name in it */
	char *path;  /* as the user wrote it */
};

#define DESTINATION_INIT  \
	{                 \
		.dir = -1 \
	}

int must_check destination_open(const char *path, struct destination *ret, struct fail *fail);
void destination_release(struct destination *destination);

/*
 * Opens a device, FIFO or socket for writing. A FIFO of another user is refused, and so is one that nobody reads: it
 * would block for ever.
 */
int must_check destination_special(const struct destination *destination, int *ret_fd, struct fail *fail);

/* What destination_special() can refuse before there is anything to write; nothing is opened for writing. */
int must_check destination_special_check(const struct destination *destination, struct fail *fail);

/* Makes an empty file of mode 0600 in the destination's directory. */
int must_check destination_draft(const struct destination *destination, struct draft *ret, struct fail *fail);

/*
 * Gives a complete file its mode and the destination's name; with `keep` only if that name is free (-EEXIST). -EXDEV:
 * the file is on another filesystem.
 */
int must_check destination_place(const struct destination *destination, struct draft *draft, mode_t mode, bool keep,
				 struct fail *fail);

/*
 * Writes a destination of any kind: calls `write` with an open file, and names the file when that has returned 0.
 * Nothing remains of a file that was not completed.
 */
int must_check destination_write(const struct destination *destination, mode_t mode, bool keep,
				 int (*write)(void *arg, int fd, struct fail *fail), void *arg, struct fail *fail);

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
