/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_REMOTE_SERVING_H
#define WEFT_KERNEL_REMOTE_SERVING_H

#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct fail;

/*
 * The far side of wire_internal.h: makes one recording with the words that the near side sends, and sends what it
 * records. A process of its own records; this one reads its parts (lib/kernel/record/forward.h), and sends as much as
 * the near side has given credit for.
 *
 * Invariant: when the input has ended, or the process of the recording was killed, tracing is as it was before, and
 * both processes are gone within two seconds. If this process is killed, the recording ends by itself.
 */
struct serving_options {
	const char *dir; /* the parts lie there */
	/*
	 * Called in the process that records. outcome_fd: for what outcome_add() makes; ping_fd: of record_options.
	 * Returns its exit status.
	 */
	int (*record)(int argc, char **argv, int outcome_fd, int ping_fd, void *arg);
	void *arg;
};

/* The descriptors are closed. 0: the near side has got all of a recording, or the message why there is none. */
int must_check serving_run(int in, int out, const struct serving_options *options, struct fail *fail);

#endif
