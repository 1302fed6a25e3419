/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_SETUP_SETUP_QUOTA_H
#define WEFT_KERNEL_SETUP_SETUP_QUOTA_H

#include <stddef.h>

#include "lib/ground/base/cleanup.h"

struct fail;
struct setup;

/*
 * What has to be traced so that a file tells when control groups had used up their quota of CPU time, and what a
 * hypervisor took (lib/meaning/follow/withheld.h): probes of the functions of the kernel that stop and release a
 * group with all groups below it, of the one that counts stolen time, and of the one that puts a child into its group,
 * which no event tells if it is another than the parent's. They go to an instance of weft's own.
 */
enum { SETUP_QUOTA_PROBES = 4 };

struct setup_quota {
	char *probes[SETUP_QUOTA_PROBES]; /* the setup borrows them */
	size_t nr_probes;
};

/*
 * Adds the instance to the setup, with the clock of the first one. -EOPNOTSUPP: this kernel cannot tell; the text says
 * what it lacks.
 */
int must_check setup_quota_add(struct setup *setup, struct setup_quota *ret, struct fail *fail);
/* After setup_release(). */
void setup_quota_release(struct setup_quota *quota);

#endif
