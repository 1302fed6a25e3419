/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_FLIGHT_PERSISTENT_H
#define WEFT_KERNEL_FLIGHT_PERSISTENT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "lib/ground/base/cleanup.h"

struct fail;

/*
 * An instance whose buffer lies in memory that a reset leaves as it is, so that the next kernel finds there what this
 * one has traced: trace_instance=NAME@MEMORY on the kernel's command line. The kernel gives these instances the file
 * last_boot_info (tracing_last_boot_open() of kernel/trace/trace.c).
 */
struct persistent {
	char *name;    /* owned */
	uint64_t size; /* of the buffers of all CPUs, in bytes; nothing can change it */
	bool current;  /* what it holds is of this boot, for sure: Linux 6.12 to 6.14 do not tell */
};

/*
 * Finds the instance of this name; "": the only one that there is. -ENOENT: the text says what to put on the kernel's
 * command line.
 */
int must_check persistent_find(const char *name, struct persistent *ret, struct fail *fail);

static inline void persistent_release(struct persistent *persistent)
{
	free(persistent->name);
}

#endif
