/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_FLIGHT_UPLOAD_INTERNAL_H
#define WEFT_KERNEL_FLIGHT_UPLOAD_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/flight/spawn_internal.h"
#include "lib/kernel/flight/upload.h"

struct fail;

/* More files than these do not wait: the others are told and counted as failed. */
enum { UPLOAD_WAITING = 16 };

/*
 * Gives finished files to a command, one at a time and in order, while the flight goes on. Nothing here waits but
 * upload_end().
 */
struct upload {
	const struct upload_options *options;
	void (*tell)(const char *text);
	uid_t uid;
	gid_t gid;
	struct upload_file {
		char *path;
		int fd; /* opened when the file was finished: the command gets this file, whatever its name is then */
	} files[UPLOAD_WAITING];
	size_t nr_files; /* [0] is the one that is uploaded now, if there is a process */
	struct spawn spawn;
	uint64_t until; /* when it is killed: CLOCK_MONOTONIC */
	bool killed;
	uint64_t done, failed;
};

#define UPLOAD_NONE                 \
	{                           \
		.spawn = SPAWN_NONE \
	}

/* -EINVAL: there is no such user, or it is root. Without a command nothing is ever uploaded. */
int must_check upload_init(struct upload *upload, const struct upload_options *options, void (*tell)(const char *text),
			   struct fail *fail);
void upload_add(struct upload *upload, const char *path);
/* Looks at the process, begins the next one, and kills one that takes too long. */
void upload_look(struct upload *upload);
/* The descriptor that becomes readable when upload_look() has to be called; -1: none. And the time until then. */
int upload_fd(const struct upload *upload);
uint64_t upload_ms(const struct upload *upload);
/* Waits until every file is uploaded, for the time that one may take; what is left then is told. */
void upload_end(struct upload *upload);

/*
 * The command with "$1" in place of each "{}": the path is the shell's first argument, so that no name is read as code.
 * NULL: no memory.
 */
char *upload_command(const char *command);

#endif
