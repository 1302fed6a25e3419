// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/frame/vcpu_times.h"

#include <stdlib.h>

#include "lib/answers/frame/findings.h"
#include "lib/answers/frame/pass.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"

static struct vcpu_task *task_of(struct vcpu_times *times, uint32_t task)
{
	while (times->nr <= task)
		if (!vec_push(times->tasks, times->nr)) {
			times->pass->failed = true;
			return NULL;
		}
	return &times->tasks[task];
}

static uint64_t key_of(uint32_t task, unsigned reason)
{
	return (uint64_t)task << 8 | reason;
}

/* Adds a task's time on a CPU as far as it has not been added. */
static void add(struct vcpu_times *times, uint32_t id, uint32_t cpu, uint64_t from, uint64_t to)
{
	struct vcpu_task *task = task_of(times, id);
	uint64_t exits[VCPU_REASONS + 1] = { 0 };

	if (!task)
		return;
	from = from > task->until ? from : task->until;
	if (to <= from)
		return;
	vcpus_time(times->pass->filter.vcpus, cpu, from, to, &task->time, exits);
	task->until = to;
	for (unsigned i = 0; i <= VCPU_REASONS; i++) {
		uint64_t *sum = exits[i] ? u64_map_add(&times->exits, key_of(id, i)) : NULL;

		times->pass->failed |= exits[i] && !sum;
		if (sum)
			*sum += exits[i];
	}
}

static void see_spent(void *arg, const struct state_task *task, unsigned mode, uint64_t from, uint64_t to)
{
	struct vcpu_times *times = arg;

	if (mode == TASK_RUNNING && !task->idle)
		add(times, (uint32_t)(task - times->pass->state.tasks), task->cpu, from, to);
}

void vcpu_times_follow(struct vcpu_times *times, struct pass *pass)
{
	*times = (struct vcpu_times){ .pass = pass };
	u64_map_init(&times->exits, sizeof(uint64_t));
	if (pass->filter.vcpus)
		state_follow_spent(&pass->state, see_spent, times);
}

void vcpu_times_release(struct vcpu_times *times)
{
	free(times->tasks);
	u64_map_release(&times->exits);
}

struct vcpu_time vcpu_times_now(struct vcpu_times *times, uint32_t id)
{
	const struct state *state = &times->pass->state;
	const struct state_task *task = &state->tasks[id];
	const struct vcpu_task *of;

	if (task->mode == TASK_RUNNING && !task->idle)
		add(times, id, task->cpu, task->since, state->now);
	of = task_of(times, id);
	return of ? of->time : (struct vcpu_time){ .unsure = 0 };
}

const char *vcpu_times_most(const struct vcpu_times *times, uint32_t task)
{
	unsigned most = VCPU_REASONS;
	uint64_t longest = 0;

	for (unsigned i = 0; i < VCPU_REASONS; i++) {
		const uint64_t *sum = u64_map_find(&times->exits, key_of(task, i));

		if (sum && *sum > longest) {
			longest = *sum;
			most = i;
		}
	}
	return vcpus_reason(times->pass->filter.vcpus, most);
}

bool vcpu_is_exact(const struct vcpus *vcpus)
{
	uint64_t error;

	return vcpus_error(vcpus, &error);
}

#define EXIT_COLUMNS(X)                                                            \
	X("EXIT", TEXT, "reason", 0, table_cell, *reason ? reason : "(not known)") \
	X("TIME", TIME, NULL, 0, table_cell_u64, spent[i])

static const struct table_column exit_columns[] = COLUMNS(EXIT_COLUMNS);

static void put_exits(const struct vcpu_times *times, struct findings *findings)
{
	struct table *table = findings_table(
		findings, "vcpu_exits",
		"exits: what the host did while the guest's tasks had its CPUs, by the reason of the exit", "time",
		exit_columns);
	const struct vcpus *vcpus = times->pass->filter.vcpus;
	uint64_t spent[VCPU_REASONS + 1] = { 0 }, key;
	const uint64_t *sum;

	for (size_t at = 0; (sum = u64_map_next(&times->exits, &at, &key));)
		if (pass_wants(times->pass, &times->pass->state.tasks[key >> 8]))
			spent[key & VCPU_REASONS] += *sum;
	for (unsigned i = 0; table && i <= VCPU_REASONS; i++) {
		const char *reason = vcpus_reason(vcpus, i);

		if (!spent[i])
			continue;
		EXIT_COLUMNS(CELL)
	}
}

#define THREAD_COLUMNS(X)                                                       \
	X("CPU", NUMBER, NULL, 0, table_cell_u64, i)                            \
	X("THREAD", NUMBER, "host_pid", 0, table_cell_known_s64, pid != 0, pid) \
	VCPU_COLUMNS(X, &time)

static const struct table_column thread_columns[] = COLUMNS(THREAD_COLUMNS);

static void put_threads(const struct pass *pass, struct findings *findings)
{
	struct table *table = findings_table(
		findings, "vcpus",
		"CPUs of the guest: the thread of the host that is each, and what that did in the time of the trace",
		NULL, thread_columns);
	const struct vcpus *vcpus = pass->filter.vcpus;
	const struct state *state = &pass->state;

	for (uint32_t i = 0; table && i < state->nr_cpus; i++) {
		struct vcpu_time time = { .unsure = 0 };
		int32_t pid = vcpus_thread(vcpus, i);

		if (!state->cpus[i].seen || !pass_wants_cpu(pass, i))
			continue;
		vcpus_time(vcpus, i, state->start, state->now, &time, NULL);
		THREAD_COLUMNS(CELL)
	}
}

static void tell(const struct vcpus *vcpus, struct findings *findings)
{
	char text[TEXT_HUMAN];
	uint64_t error;

	if (!vcpus_error(vcpus, &error))
		findings_note(findings,
			      "host: nobody knows how exactly the times of host and guest agree, so the parts may be "
			      "wrong by as much as they do not");
	else if (error)
		findings_note(
			findings,
			"host: the times of host and guest agree to +-%s: so near to a change of the vCPU it is not "
			"sure which part a time belongs to (UNSURE)",
			text_time(text, error));
	if (!vcpus_have_exits(vcpus))
		findings_note(
			findings,
			"host: without kvm_entry and kvm_exit, exits count as the guest's time (GUEST RAN), and a "
			"vCPU whose thread sleeps as halted");
}

void vcpu_times_put(const struct pass *pass, const struct vcpu_times *times, struct findings *findings)
{
	put_threads(pass, findings);
	if (times)
		put_exits(times, findings);
	if (pass->filter.vcpus)
		tell(pass->filter.vcpus, findings);
}
