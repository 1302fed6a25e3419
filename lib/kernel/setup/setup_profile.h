/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_SETUP_SETUP_PROFILE_H
#define WEFT_KERNEL_SETUP_SETUP_PROFILE_H

#include "lib/ground/base/cleanup.h"

struct fail;
struct setup;

/*
 * What has to be traced so that a file tells on what CPUs spent their time: the event of the timer that makes the ticks
 * of a CPU, HZ times a second, with the stacks of the kernel and of the program that it interrupts. It needs no probes.
 * It goes to an instance of weft's own, so no other event gets stacks.
 */
struct setup_profile {
	char *filter; /* the setup borrows it */
};

/*
 * Adds the instance to the setup, with the clock of the first one. -EOPNOTSUPP: this kernel cannot tell; the text says
 * what it lacks.
 */
int must_check setup_profile_add(struct setup *setup, struct setup_profile *ret, struct fail *fail);
/* After setup_release(). */
void setup_profile_release(struct setup_profile *profile);

#endif
