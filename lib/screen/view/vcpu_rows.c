// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/screen/view/vcpu_rows_internal.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "lib/ground/base/fail.h"
#include "lib/meaning/guest/host.h"

struct host_job {
	struct guest_host_reading *reading;
	pthread_t thread;
	bool runs;
	atomic_bool ending, ended;
	/* Of the reader, once it has ended: */
	struct fail fail;
	int r;
};

static bool stops(void *arg)
{
	struct host_job *job = arg;

	return atomic_load(&job->ending);
}

static void *run(void *arg)
{
	struct host_job *job = arg;

	job->r = guest_host_run(job->reading, stops, job, &job->fail);
	atomic_store(&job->ended, true);
	return NULL;
}

int host_job_start(const struct guest_host *host, const struct context *guest, struct host_job **ret, struct fail *fail)
{
	struct host_job *job = calloc(1, sizeof(*job));
	int r;

	if (!job)
		return fail_memory(fail);
	r = guest_host_begin(host, guest, &job->reading, fail);
	job->runs = !r && !pthread_create(&job->thread, NULL, run, job);
	if (!r && !job->runs)
		r = fail_set(fail, -EAGAIN, "no thread can be started");
	if (r)
		host_job_free(job);
	else
		*ret = job;
	return r;
}

void host_job_free(struct host_job *job)
{
	if (!job)
		return;
	atomic_store(&job->ending, true);
	if (job->runs)
		pthread_join(job->thread, NULL);
	guest_host_end(job->reading);
	free(job);
}

bool host_job_ended(struct host_job *job, const struct vcpus **ret_vcpus, const char **ret_why)
{
	bool ended = atomic_load(&job->ended);

	*ret_vcpus = ended ? guest_host_vcpus(job->reading) : NULL;
	*ret_why = ended && job->r ? job->fail.text : NULL;
	return ended;
}

/* The mode with the most time from `first` to `last`; of several the first. */
static enum vcpu_mode longest(const struct vcpu_time *time, enum vcpu_mode first, enum vcpu_mode last)
{
	enum vcpu_mode best = first;

	for (enum vcpu_mode mode = first; mode <= last; mode++)
		if (time->in[mode] > time->in[best])
			best = mode;
	return best;
}

struct vcpu_most vcpu_rows_most(const struct vcpus *vcpus, uint32_t cpu, uint64_t from, uint64_t to)
{
	struct vcpu_time time = { .unsure = 0 };
	enum vcpu_mode mode;

	vcpus_time(vcpus, cpu, from, to, &time, NULL);
	mode = longest(&time, VCPU_RAN, VCPU_EXIT);
	if (!time.in[mode])
		mode = time.in[VCPU_HALTED] ? VCPU_HALTED : VCPU_UNKNOWN;
	return (struct vcpu_most){ mode, time.in[mode] };
}

bool vcpu_rows_off(const struct vcpus *vcpus, uint32_t cpu, uint64_t from, uint64_t to, uint64_t busy,
		   struct vcpu_most *ret, bool *ret_sure)
{
	uint64_t width = to - from, idle = busy < width ? width - busy : 0, off;
	struct vcpu_time time = { .unsure = 0 };

	vcpus_time(vcpus, cpu, from, to, &time, NULL);
	off = time.in[VCPU_WAITED] + time.in[VCPU_EXIT] + time.in[VCPU_HALTED];
	*ret = (struct vcpu_most){ longest(&time, VCPU_WAITED, VCPU_HALTED), off };
	/* At worst all that is unsure, and all the time in which no task had the CPU, are parts of it. */
	*ret_sure = off > time.unsure + idle && (off - time.unsure - idle) * 2 >= width;
	return *ret_sure || (time.unsure > idle && (time.unsure - idle) * 2 >= width);
}
