// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/syscalls/syscalls_internal.h"

#include <stdlib.h>

#include "lib/answers/frame/vcpu_times.h"
#include "lib/ground/base/vec.h"

struct syscalls_host {
	struct vcpu_times times;
	struct vcpu_time *begun; /* by the task's index, when its call began */
	size_t nr_begun;
	struct u64_map rows; /* by number: struct host_row */
};

struct syscalls_host *syscalls_host_new(struct pass *pass)
{
	struct syscalls_host *host = calloc(1, sizeof(*host));

	if (!host)
		return NULL;
	vcpu_times_follow(&host->times, pass);
	u64_map_init(&host->rows, sizeof(struct host_row));
	return host;
}

void syscalls_host_free(struct syscalls_host *host)
{
	if (!host)
		return;
	vcpu_times_release(&host->times);
	u64_map_release(&host->rows);
	free(host->begun);
	free(host);
}

void syscalls_host_enter(struct syscalls_analysis *syscalls, uint32_t task)
{
	struct syscalls_host *host = syscalls->host;

	while (host->nr_begun <= task)
		if (!vec_push(host->begun, host->nr_begun)) {
			syscalls->pass->failed = true;
			return;
		}
	host->begun[task] = vcpu_times_now(&host->times, task);
}

void syscalls_host_exit(struct syscalls_analysis *syscalls, const struct slow_call *call)
{
	struct syscalls_host *host = syscalls->host;
	struct host_row *row = u64_map_add(&host->rows, (uint64_t)call->number);
	struct vcpu_time now = vcpu_times_now(&host->times, call->task);

	syscalls->pass->failed |= !row;
	if (!row || call->task >= host->nr_begun)
		return;
	row->number = call->number;
	row->calls++;
	row->time.wall += call->time.wall;
	row->time.blocked += call->time.blocked;
	row->time.waiting += call->time.waiting;
	for (size_t i = 0; i < VCPU_MODES; i++)
		row->parts.in[i] += now.in[i] - host->begun[call->task].in[i];
	row->parts.unsure += now.unsure - host->begun[call->task].unsure;
}

const struct host_row *syscalls_host_next(const struct syscalls_host *host, size_t *at)
{
	uint64_t key;

	return u64_map_next(&host->rows, at, &key);
}
