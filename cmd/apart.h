/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_APART_H
#define WEFT_CMD_APART_H

#include <sys/types.h>

/*
 * A process of its own reads what strangers wrote, and this one makes files of what it finds. A signal that ends weft
 * ends that process first; this one then removes what is not whole, so that no file stays behind under a temporary
 * name.
 */
enum { APART_SIGNAL = 128 };

/*
 * fork() for such a process. SIGINT, SIGHUP and SIGTERM, where they are not ignored, go to it from then on, and no
 * longer end this one.
 */
pid_t apart_fork(void);

/*
 * Waits for the process; its exit status. What ended it is told, `input` being what it read, unless the user did, or
 * had enough of it (SIGPIPE): then it is APART_SIGNAL + the signal.
 */
int apart_end(pid_t pid, const char *input);

#endif
