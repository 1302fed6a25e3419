/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_SCREEN_VIEW_VCPU_ROWS_INTERNAL_H
#define WEFT_SCREEN_VIEW_VCPU_ROWS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/meaning/state/vcpus.h"

struct context;
struct fail;
struct host_job;
struct guest_host;

/* Reads the host of a guest by a thread of its own. Borrows all. */
int must_check host_job_start(const struct guest_host *host, const struct context *guest, struct host_job **ret,
			      struct fail *fail);
void host_job_free(struct host_job *job);
/* Whether it has ended; then either *ret_vcpus or, without the host's threads, *ret_why is not NULL. */
bool host_job_ended(struct host_job *job, const struct vcpus **ret_vcpus, const char **ret_why);

/* A mode, and how long a column is in it. */
struct vcpu_most {
	enum vcpu_mode mode;
	uint64_t time;
};

/* What a vCPU did in a column: the mode with the most of its time but halts, else halted, else unknown. */
struct vcpu_most vcpu_rows_most(const struct vcpus *vcpus, uint32_t cpu, uint64_t from, uint64_t to);
/*
 * Whether the vCPU did not run for half of the column and more while a task of the guest had it, as tasks had it for
 * the time `busy`: surely, in the mode that *ret has with the time of all such modes, or (*ret_sure false) perhaps,
 * because that much is unsure.
 */
bool vcpu_rows_off(const struct vcpus *vcpus, uint32_t cpu, uint64_t from, uint64_t to, uint64_t busy,
		   struct vcpu_most *ret, bool *ret_sure);

#endif
