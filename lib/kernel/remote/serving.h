/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_REMOTE_SERVING_H
#define WEFT_KERNEL_REMOTE_SERVING_H

#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct fail;

/*
 * The far side of wire_internal.h: makes one recording with the words that the near side sends, and sends what it
 * records. A process of its own records; this one reads its parts (lib/kernel/record/forward.h), and sends as much as
 * the near side has given credit for. Another command is run in the same way: it has no parts, only what it prints.
 *
 * Invariant: when the input has ended, or the process of the recording was killed, tracing is as it was before, and
 * both processes are gone within two seconds. If this process is killed, the recording ends by itself. A near side that
 * was killed ends the input; a cut of the network ends nothing, but the near side becomes silent (link_internal.h).
 * Meanwhile the recording goes on; what it cannot keep the kernel counts.
 */
struct serving_options {
	const char *dir;     /* the parts lie there */
	uint64_t silence_ns; /* who has said nothing for so long is gone */
	/*
	 * Called in the process that records. outcome_fd: for what outcome_add() makes; ping_fd: of record_options.
	 * Both are -1 for another command. Returns its exit status.
	 */
	int (*run)(int argc, char **argv, int outcome_fd, int ping_fd, void *arg);
	void *arg;
};

/* The descriptors are closed. 0: the near side has got all of a recording, or the message why there is none. */
int must_check serving_run(int in, int out, const struct serving_options *options, struct fail *fail);

#endif
