/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TRACEFS_TRACING_H
#define WEFT_TRACEFS_TRACING_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct buf;
struct fail;
struct plan;

/*
 * The mounted tracefs. A value: tracing_release() frees its path; everything that borrows it must be gone by then.
 * Not supported: two tracefs mounts with different contents (there is only one tracefs per kernel).
 */
struct tracing {
	char *dir;          /* "/sys/kernel/tracing", no slash at the end */
	dev_t device;       /* of that directory */
	bool mounted_here;  /* it was not mounted before: worth telling the user */
	bool mounted_again; /* by tracing_stay() */
	struct plan *plan;  /* not NULL: nothing is written, only noted there (plan.h); borrowed */
};

/*
 * Finds tracefs, mounts it at /sys/kernel/tracing where it is not mounted, and makes sure that this process may use it.
 * -EACCES, -EPERM: the text says what is missing and how to get it. -ENODEV: a kernel without tracefs.
 */
int must_check tracing_find(struct tracing *ret, struct fail *fail);

/*
 * Whoever set something must be able to put it back: where somebody has unmounted tracefs since tracing_find(), it is mounted there again
 * until tracing_release(). What is open stays open meanwhile.
 */
int must_check tracing_stay(struct tracing *tracing, struct fail *fail);
/* Then no file of it is found, and that says nothing about the kernel's settings. */
bool tracing_is_gone(const struct tracing *tracing);

/* Takes any directory that looks like tracefs; for tests. */
int must_check tracing_at(const char *dir, struct tracing *ret, struct fail *fail);
void tracing_release(struct tracing *tracing);

/* The CPUs of /sys/devices/system/cpu/online, and of `possible`: all that this machine may ever have. */
struct cpus;
int must_check tracing_online_cpus(struct cpus *ret, struct fail *fail);
int must_check tracing_possible_cpus(struct cpus *ret, struct fail *fail);

/*
 * Appends the whole of any file, of tracefs, /proc or /sys (their sizes are not known before they are read).
 * fail may be NULL: a probe whose failure is no news. Never for `trace` of a live buffer: it can be endless.
 */
int must_check tracing_read_path(const char *path, struct buf *buf, struct fail *fail);

/* fail_set() with the reason of `err` in words for a file of tracefs: permission, lockdown, or strerror(). Returns err. */
int tracing_refused(const char *path, int err, const char *doing, struct fail *fail);

#endif
