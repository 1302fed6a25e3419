/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_QUIET_H
#define WEFT_RECORD_QUIET_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Waits until every thread of a process but `except` (0: none) sleeps, so that what it does next is due to what happens next and
 * not to what it was still about. Not for longer than a moment: a thread of a busy machine may not get a CPU for long.
 * False: some did not sleep, or that could not be seen (/proc hides other users' processes).
 */
bool quiet_wait(pid_t process, pid_t except);

#endif
