/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_BASE_DESTINATION_H
#define WEFT_BASE_DESTINATION_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <sys/types.h>

struct fail;

/*
 * Where a finished file goes. A regular file takes its name when it is whole, and is never written through that name: so no
 * link that somebody puts there in between leads anywhere. What the name stands for is decided when this is opened:
 * "-" and other names of standard output are that; devices, FIFOs and sockets are written to as they are; a symbolic link
 * leads to where it points, if this user or root made it, and is refused otherwise.
 */
struct destination {
	enum destination_kind { DESTINATION_FILE, DESTINATION_STDOUT, DESTINATION_SPECIAL } kind;
	bool exists; /* a file of that name */
	int dir;     /* the directory of the name, after links */
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

/* Opens what is special for writing. */
int must_check destination_special(const struct destination *destination, int *ret_fd, struct fail *fail);

/* Makes an empty file of mode 0600 under a new random name in the destination's directory. */
int must_check destination_create(const struct destination *destination, char ret_name[DESTINATION_NAME], int *ret_fd,
				  struct fail *fail);

/* Gives a file that is whole its mode and the destination's name; with `keep` only if nothing has that name (-EEXIST). -EXDEV:
 * it is on another filesystem. */
int must_check destination_place(const struct destination *destination, int from_dir, const char *name, int fd,
				 mode_t mode, bool keep, struct fail *fail);

#endif
