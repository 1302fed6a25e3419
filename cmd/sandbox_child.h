/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_SANDBOX_CHILD_H
#define WEFT_CMD_SANDBOX_CHILD_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Splits work between two processes: the reader process reads what strangers wrote, and this process makes files from
 * the result. A signal that ends weft first ends the reader process; this one then removes incomplete files, so that no
 * file with a temporary name stays behind.
 */
enum { SANDBOX_CHILD_SIGNAL = 128 };

/*
 * Forks the reader process. From then on SIGINT, SIGHUP and SIGTERM, unless they are ignored, go to the reader process
 * and no longer end this one. A reader process that has not ended after a second is killed. System calls of this
 * process are interrupted (EINTR).
 */
pid_t sandbox_child_fork(void);

/*
 * Memory of zeros that a reader process forked later shares, as long as both live: for figures that this process tells
 * when the file has its name. Returns NULL when there is none, which it has told. What a reader process writes there is
 * not to be trusted.
 */
void *sandbox_child_share(size_t size);

/* Kills the reader process. */
void sandbox_child_kill(void);

/* The signal that asked weft to end; 0: none did. */
int sandbox_child_signal(void);

/*
 * Waits for the reader process and returns its exit status. If a signal ended it, that is reported, with `input` as the
 * name of what it read, unless the user sent the signal or the output was closed (SIGPIPE). The status is then
 * SANDBOX_CHILD_SIGNAL + the signal.
 */
int sandbox_child_end(pid_t pid, const char *input);

#endif
