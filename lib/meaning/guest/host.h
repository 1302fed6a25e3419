/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_GUEST_HOST_H
#define WEFT_MEANING_GUEST_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct context;
struct fail;
struct trace;
struct vcpus;

/* What a user says of a guest's host, in a file that weft merge made of the recordings of both. */
enum { GUEST_HOST_THREADS = 1024 };
struct guest_host {
	const char *buffer; /* the host's; NULL: it is not asked for. Borrowed */
	int32_t threads[GUEST_HOST_THREADS];
	size_t nr_threads; /* 0: they are found (lib/meaning/state/vcpus.h) */
};

/* The host's buffer. -ENOENT: there is none of this name; -EINVAL: it is the guest itself, whose buffer `guest` is. */
int must_check guest_host_find(const struct guest_host *host, const struct trace *trace, size_t guest, size_t *ret,
			       struct fail *fail);
/*
 * The guest's buffer: that with this name, or the only one besides the host's. -EINVAL: there are several; -ENOENT:
 * there is no such one.
 */
int must_check guest_find(const struct guest_host *host, const struct trace *trace, const char *name, size_t *ret,
			  struct fail *fail);

/*
 * Reads the host's buffer from its begin to its end. begin() opens it, and asks `guest` for its buffer and its clock.
 * run(), which may be on another thread, asks `stops`, unless it is NULL, now and then; what has been stopped is
 * incomplete. It fails as vcpus_end(): -ENOENT, -EEXIST. vcpus() is NULL until it has succeeded. end() frees all.
 */
struct guest_host_reading;
int must_check guest_host_begin(const struct guest_host *host, const struct context *guest,
				struct guest_host_reading **ret, struct fail *fail);
int must_check guest_host_run(struct guest_host_reading *reading, bool (*stops)(void *arg), void *arg,
			      struct fail *fail);
const struct vcpus *guest_host_vcpus(const struct guest_host_reading *reading);
void guest_host_end(struct guest_host_reading *reading);

#endif
