/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_FLIGHT_SPAWN_INTERNAL_H
#define WEFT_KERNEL_FLIGHT_SPAWN_INTERNAL_H

#include <stdbool.h>
#include <sys/types.h>

#include "lib/ground/base/cleanup.h"

struct fail;

/*
 * A process of a flight, which leads a process group of its own, so that what it starts ends with it. It has the
 * signals of an ordinary process, and no terminal.
 */
struct spawn {
	pid_t pid; /* 0: none */
	int fd;    /* a pidfd: readable when the process has ended */
};

#define SPAWN_NONE       \
	{                \
		.fd = -1 \
	}

/*
 * Starts argv[0] with its standard output in out_fd; -1: that is /dev/null, too. The program finds others where the
 * system has them, and has no other variable than `more` (NULL: none).
 */
int must_check spawn_start(struct spawn *spawn, char *const argv[], const char *more, int out_fd, struct fail *fail);
/* The same with a child that leads a process group already. After an error it has ended. */
int must_check spawn_adopt(struct spawn *spawn, pid_t pid, struct fail *fail);
bool spawn_has_ended(const struct spawn *spawn);
/* Kills the process, if it runs, and all of its group. */
void spawn_kill(const struct spawn *spawn);
/* The same, and waits for its end: the status as of waitpid(). Without a process it does nothing. */
int spawn_end(struct spawn *spawn);

#endif
