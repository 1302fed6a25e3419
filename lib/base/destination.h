/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_BASE_DESTINATION_H
#define WEFT_BASE_DESTINATION_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <sys/types.h>

struct fail;

/*
 * The place where a finished file goes. A regular file is written under another name and renamed when it is complete,
 * so a link that somebody puts at the final name in between leads nowhere. The kind of the destination is decided when
 * it is opened: "-" and other names of standard output mean standard output; devices, FIFOs and sockets are written to
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

enum { DESTINATION_NAME = 64 };

int must_check destination_open(const char *path, struct destination *ret, struct fail *fail);
void destination_release(struct destination *destination);

/* Opens a device, FIFO, socket or standard output for writing. */
int must_check destination_special(const struct destination *destination, int *ret_fd, struct fail *fail);

/* Creates an empty file of mode 0600 under a new random name in the destination's directory. */
int must_check destination_create(const struct destination *destination, char ret_name[DESTINATION_NAME], int *ret_fd,
				  struct fail *fail);

/*
 * Gives a complete file its mode and the destination's name; with `keep` only if that name is free (-EEXIST). -EXDEV:
 * the file is on another filesystem.
 */
int must_check destination_place(const struct destination *destination, int from_dir, const char *name, int fd,
				 mode_t mode, bool keep, struct fail *fail);

#endif
