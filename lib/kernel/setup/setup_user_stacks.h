/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_SETUP_SETUP_USER_STACKS_H
#define WEFT_KERNEL_SETUP_SETUP_USER_STACKS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/ground/base/cleanup.h"

struct fail;
struct setup;

/*
 * What has to be traced so that a file has stacks of programs without frame pointers
 * (lib/meaning/follow/user_stacks.h): probes, in an instance of weft's own, that copy a program's registers and the
 * innermost words of its stack where its task leaves the CPU, and where a tick interrupts it. The registers lie at the
 * top of the task's kernel stack.
 */
enum { SETUP_USER_STACKS_PROBES = 2, SETUP_USER_STACKS_WORDS = 128, SETUP_USER_STACKS_WORDS_MAX = 320 };

struct setup_user_stacks {
	unsigned words; /* 0: none of this */
	bool switches, ticks;
	char *probes[SETUP_USER_STACKS_PROBES]; /* the setup borrows them */
	char *filter;                           /* so this */
	size_t nr_probes;
};

/*
 * Adds the instance to the setup, with the clock of the first one; `words` and what is wanted are set before.
 * -EOPNOTSUPP: this kernel cannot tell; the text says what it lacks.
 */
int must_check setup_user_stacks_add(struct setup *setup, struct setup_user_stacks *stacks, struct fail *fail);
/* After setup_release(). */
void setup_user_stacks_release(struct setup_user_stacks *stacks);

#endif
