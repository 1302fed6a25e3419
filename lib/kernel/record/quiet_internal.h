/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_QUIET_INTERNAL_H
#define WEFT_KERNEL_RECORD_QUIET_INTERNAL_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Waits until every thread of a process except `except` (0: none) sleeps, so that its later activity is caused only by
 * later events. Waits only for a moment: on a busy machine a thread may wait long for a CPU. False: a thread did not
 * sleep in that time, or cannot be seen (/proc hides the processes of other users).
 */
bool quiet_wait(pid_t process, pid_t except);

#endif
