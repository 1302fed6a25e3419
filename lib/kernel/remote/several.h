/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_REMOTE_SEVERAL_H
#define WEFT_KERNEL_REMOTE_SEVERAL_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct fail;

/*
 * Recordings of several machines at a time: each in a process of its own, so that none waits for another one, and what
 * ends one ends no other. The signals that end a recording are passed on to all; if this process is killed, so are
 * they.
 */
enum { SEVERAL_WHY = 512 };

/* What became of one: filled by its process. */
struct several_report {
	bool failed, has_file, at_most, skipped;
	int status; /* the exit status of its process */
	uint64_t events, lost;
	char why[SEVERAL_WHY]; /* it failed */
};

/*
 * record() runs in the process of number `index`, and returns its exit status. `mask` is the signal mask for programs
 * that it starts. *ret_reports has `nr` reports; that of a process that was killed says so.
 */
int must_check several_run(size_t nr,
			   int (*record)(void *arg, size_t index, const sigset_t *mask, struct several_report *ret),
			   void *arg, struct several_report *ret_reports, struct fail *fail);

#endif
