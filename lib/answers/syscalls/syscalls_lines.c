// SPDX-License-Identifier: LGPL-2.1-or-later
/* The lines of single calls and losses: which are wanted, and what they say. */
#include "lib/answers/syscalls/syscalls_internal.h"

#include <inttypes.h>

#include "lib/ground/base/out.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/uapi/descriptors.h"
#include "lib/meaning/uapi/names.h"

/* Returns where to print the lines of this task's calls; NULL if they are not wanted. */
static struct out *lines_of(const struct syscalls_analysis *syscalls, const struct event *event, struct open_call *call,
			    uint32_t task, uint64_t since)
{
	const struct pass *pass = syscalls->pass;

	if (!syscalls_wants(syscalls, call, &pass->state.tasks[task], since) || !pass_wants_cpu(pass, event->cpu))
		return NULL;
	return pass->lines;
}

static struct syscalls_who who_of(const struct syscalls_analysis *syscalls, const struct event *event, uint32_t task)
{
	const struct state_task *of = &syscalls->pass->state.tasks[task];

	return (struct syscalls_who){ .task = task,
				      .cpu = event->cpu,
				      .pid = of->pid,
				      .comm = pass_comm(syscalls->pass, of),
				      .at = syscalls->pass->state.now };
}

void syscalls_line_enter(struct syscalls_analysis *syscalls, const struct event *event, int64_t number,
			 const char *name, struct open_call *call, uint32_t task)
{
	struct out *out = lines_of(syscalls, event, call, task, UINT64_MAX);
	const struct call_kind *kind = out ? syscalls_kind(syscalls, number, name) : NULL;
	struct syscalls_who who;
	char text[SYSCALLS_NAME];

	if (!kind)
		return;
	who = who_of(syscalls, event, task);
	if (!syscalls_trace_enter(&syscalls->trace, out, &who, syscalls_name(syscalls, number, text), event, !name))
		syscalls->pass->failed = true;
}

void syscalls_line_exit(struct syscalls_analysis *syscalls, const struct event *event, int64_t number, int64_t returned,
			const char *name, struct open_call *call, uint32_t task, const struct slow_call *done)
{
	struct out *out = lines_of(syscalls, event, call, task, done ? call->since : UINT64_MAX);
	const struct call_kind *kind = out ? syscalls_kind(syscalls, number, name) : NULL;
	bool error = kind && returned_error(returned) && !kind->restores;
	struct syscalls_end end = { .returned = returned,
				    .known = done,
				    .split = syscalls->pass->state.events[STATE_SWITCH] };
	struct syscalls_who who;
	char text[SYSCALLS_NAME];

	if (!kind)
		return;
	if (error) {
		end.error = error_name(syscalls->pass->machine, -returned);
		end.restarts = !returned_failure(returned);
	}
	if (!error && kind->name && descriptor_is_result(kind->name))
		end.file = syscalls_file(event, returned);
	if (done) {
		end.lasted = done->time.wall;
		end.blocked = done->time.blocked;
		end.waiting = done->time.waiting;
	}
	end.wanted = !syscalls->options.failures || (end.error && !end.restarts);
	who = who_of(syscalls, event, task);
	syscalls_trace_exit(&syscalls->trace, out, &who, syscalls_name(syscalls, number, text), &end);
}

void syscalls_line_loss(struct syscalls_analysis *syscalls, const struct event *event)
{
	struct out *out = syscalls->options.trace ? syscalls->pass->lines : NULL;

	if (!out)
		return;
	syscalls_trace_break(&syscalls->trace, out);
	if (event->lost > 0)
		out_f(out, "# CPU %" PRIu32 " lost %" PRId64 " events\n", event->cpu, (int64_t)event->lost);
	else
		out_f(out, "# CPU %" PRIu32 " lost events\n", event->cpu);
}
