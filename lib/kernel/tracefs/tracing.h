/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_TRACEFS_TRACING_H
#define WEFT_KERNEL_TRACEFS_TRACING_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/ground/base/cleanup.h"

struct buf;
struct fail;
struct plan;

/*
 * The mounted tracefs. tracing_release() frees its path; no borrower may use it after that. Not supported: two tracefs
 * mounts with different contents (a kernel has only one tracefs).
 */
struct tracing {
	char *dir;          /* "/sys/kernel/tracing", no slash at the end */
	dev_t device;       /* the device number of that directory */
	bool mounted_here;  /* weft mounted it, and tells the user so */
	bool mounted_again; /* tracing_stay() mounted it again */
	/* borrowed; not NULL: changes are not written, but become lines of this plan (plan.h) */
	struct plan *plan;
};

/*
 * Finds tracefs, mounts it at /sys/kernel/tracing if it is not mounted, and checks that this process may use it.
 * -EACCES, -EPERM: the text says what is missing and how to get it. -ENODEV: the kernel has no tracefs.
 */
int must_check tracing_find(struct tracing *ret, struct fail *fail);

/*
 * Makes tracefs available for restoring settings: if it was unmounted after tracing_find(), it is mounted at the same
 * place until tracing_release(). Files that are open stay open.
 */
int must_check tracing_stay(struct tracing *tracing, struct fail *fail);
/*
 * Whether tracefs is no longer mounted at its directory. Its files are then missing, which says nothing about the
 * kernel's settings.
 */
bool tracing_is_gone(const struct tracing *tracing);
/* Whether its directory is in tracefs, with a kernel behind it: directories of tests and packed files are not. */
bool tracing_is_tracefs(const struct tracing *tracing);

/* Accepts any directory that looks like tracefs; for tests. */
int must_check tracing_at(const char *dir, struct tracing *ret, struct fail *fail);
void tracing_release(struct tracing *tracing);

/*
 * The CPUs that are online (/sys/devices/system/cpu/online), those that are there, online or not (`present`), and those
 * that this machine can ever have (`possible`).
 */
struct cpus;
int must_check tracing_online_cpus(struct cpus *ret, struct fail *fail);
int must_check tracing_present_cpus(struct cpus *ret, struct fail *fail);
int must_check tracing_possible_cpus(struct cpus *ret, struct fail *fail);

/*
 * A number that changes when a CPU is added to the machine or removed, as for any other device
 * (/sys/kernel/uevent_seqnum). 0: unknown.
 */
uint64_t tracing_uevents(void);

/*
 * Appends a whole file of tracefs, /proc or /sys; the size of such a file is not known before it is read. `fail` may be
 * NULL if the file may be missing. Never read `trace` of a live buffer with it: that text can be endless.
 */
int must_check tracing_read_path(const char *path, struct buf *buf, struct fail *fail);

/* The folder of the type information of the kernel ("vmlinux") and of its modules. */
#define BTF_FOLDER "/sys/kernel/btf/"

/* The type information of the next module, from that folder, which is open, or NULL. False: there are no more. */
bool tracing_next_btf(DIR *folder, struct buf *into);

/*
 * Calls fail_set() with the reason for `err` on a file of tracefs: permission, lockdown, or strerror(). `doing` is the
 * verb of the message. Returns err.
 */
int tracing_refused(const char *path, int err, const char *doing, struct fail *fail);

#endif
