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
 * innermost words of its stack where its task leaves the CPU, where a tick interrupts it, and where one of the system
 * calls and probes of programs of the setup happens. There the registers lie at the top of the task's kernel stack, are
 * the argument of the system call's function, or are still those of the CPU. More than SETUP_USER_STACKS_CALLS system
 * calls share a probe of the tracepoint, where the kernel has such probes; where not, their stacks are not copied, and
 * a warning of the setup says so.
 */
enum { SETUP_USER_STACKS_CALLS = 64, SETUP_USER_STACKS_WORDS = 128, SETUP_USER_STACKS_WORDS_MAX = 320 };

struct setup_user_stacks {
	unsigned words; /* 0: none of this */
	bool switches, ticks;
	char **probes; /* the setup borrows them */
	char *filter;  /* so this */
	size_t nr_probes;
};

/*
 * Adds the instance to the setup, behind all others, with the clock of the first one; `words` and what is wanted are
 * set before. Switches are left out if the events of the setup are such calls and probes, and no sched_switch.
 * -EOPNOTSUPP: this kernel cannot tell; the text says what it lacks.
 */
int must_check setup_user_stacks_add(struct setup *setup, struct setup_user_stacks *stacks, struct fail *fail);
/* After setup_release(). */
void setup_user_stacks_release(struct setup_user_stacks *stacks);

#endif
