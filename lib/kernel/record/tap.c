// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/tap.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/now.h"
#include "lib/kernel/buffer/cpu_pipe.h"
#include "lib/kernel/record/assembly_internal.h"
#include "lib/kernel/record/clock_sampler.h"
#include "lib/kernel/record/facts_internal.h"
#include "lib/kernel/record/parts.h"
#include "lib/kernel/record/rig.h"
#include "lib/kernel/record/tap_buffer.h"
#include "lib/kernel/record/tap_trace_internal.h"
#include "lib/kernel/record/type_facts_internal.h"
#include "lib/kernel/record/wake.h"
#include "lib/kernel/record/workload.h"
#include "lib/kernel/tracefs/settings.h"
#include "lib/pages/trace/trace.h"

int tap_trace_new(const struct rig *rig, const struct target *targets, size_t nr, bool tasks, struct trace **ret,
		  struct fail *fail)
{
	struct parts_file file = parts_file_here(7, false, 0, &targets[0].shape, targets[0].nr_cpus);
	cleanup_fd int fd = memfd_create("weft-tap", MFD_CLOEXEC);
	/* The buffer of an existing instance may already hold events of any type. */
	bool all_formats = false;
	struct parts *parts = NULL;
	int err;

	if (fd < 0)
		return fail_set(fail, -errno, "cannot make a file in memory: %s", strerror(errno));
	for (size_t i = 0; i < nr; i++)
		all_formats |= targets[i].instance->kind == INSTANCE_EXISTING;
	err = parts_new_in_memory(&parts, fail);
	if (!err)
		err = parts_describe(parts, &file, fail);
	if (!err)
		err = facts_at_start(parts->ledger, "record", &rig->tracing, targets, nr, all_formats, fail);
	if (!err)
		err = facts_of_self(parts->ledger, rig, 0, fail);
	if (!err && tasks)
		err = facts_of_tasks(parts->ledger, NULL, false, fail);
	if (!err)
		err = facts_of_types(parts->ledger, fail);
	if (!err)
		err = assembly_describe(parts, fd, fail);
	if (!err)
		err = trace_open_fd(fd, "what is traced", ret, fail);
	parts_free(parts);
	return err;
}

struct tap {
	const struct tap_options *options;
	struct tap_result *result;
	struct rig rig;
	struct wake wake;
	struct workload workload;
	struct tap_buffer *buffers; /* the buffers of the rig's targets, in the same order */
	size_t nr_buffers;
	struct trace *trace;
	/* the first WAKE_FDS of wake_poll(), the output, and one for each CPU of each buffer */
	struct pollfd *fds;
	bool on;
	uint64_t started_ns;
	enum wall_why why; /* the next sample is taken */
};

struct trace *tap_trace(const struct tap *tap)
{
	return tap->trace;
}

struct tap_buffer *tap_buffer(const struct tap *tap, size_t index)
{
	return index < tap->nr_buffers ? &tap->buffers[index] : NULL;
}

static int fork_command(struct tap *tap, struct fail *fail)
{
	const struct tap_options *options = tap->options;
	struct workload_options workload = {
		.argv = options->argv,
		.user = options->user,
		.path = options->path,
		.mask = tap->wake.old_mask,
		.stdout_to_stderr = true,
	};

	return options->argv ? workload_fork(&workload, &tap->workload, fail) : 0;
}

static const char *called(const struct target *target)
{
	return target->wanted->name ? target->wanted->name : "the main instance";
}

static int compare_clocks(const struct tap *tap, struct fail *fail)
{
	const struct target *first = &tap->rig.targets[0];

	for (size_t i = 1; i < tap->rig.nr_targets; i++) {
		const struct target *other = &tap->rig.targets[i];

		if (strcmp(first->clock, other->clock))
			return fail_set(fail, -EINVAL,
					"events of different clocks cannot be merged by time: %s uses the clock %s, "
					"%s uses %s; -C before the first -B sets the clock of all instances",
					called(first), first->clock, called(other), other->clock);
	}
	return 0;
}

static int set_kernel_up(struct tap *tap, struct fail *fail)
{
	const struct rig_options options = {
		.setup = tap->options->setup,
		.manner = SETUP_PRIVATE,
		.command = tap->workload.pid,
	};
	int err = rig_find(&tap->rig, NULL, fail);

	if (!err)
		err = rig_set_up(&tap->rig, &options, fail);
	/*
	 * The trace in memory has no buffer for a main instance that is not used, so the targets are numbered without a
	 * gap.
	 */
	for (size_t i = 0; i < tap->rig.nr_targets; i++)
		tap->rig.targets[i].index = (uint32_t)i;
	return err ? err : compare_clocks(tap, fail);
}

static int open_buffers(struct tap *tap, struct fail *fail)
{
	size_t nr = 0;
	int err = 0;

	tap->buffers = calloc(tap->rig.nr_targets, sizeof(*tap->buffers));
	if (!tap->buffers)
		return fail_memory(fail);
	tap->nr_buffers = tap->rig.nr_targets;
	for (size_t i = 0; !err && i < tap->nr_buffers; i++) {
		err = tap_buffer_open(&tap->buffers[i], &tap->rig.targets[i], fail);
		nr += tap->buffers[i].nr_cpus;
	}
	if (err)
		return err;
	tap->fds = calloc(nr + WAKE_FDS + 1, sizeof(*tap->fds));
	return tap->fds ? 0 : fail_memory(fail);
}

static int hold_switches(struct tap *tap, struct fail *fail)
{
	tap->wake.switches = &tap->rig.switches;
	return rig_hold(&tap->rig, false, fail);
}

static int prepare(struct tap *tap, struct fail *fail)
{
	int err = wake_init(&tap->wake, fail);

	if (!err)
		err = fork_command(tap, fail);
	if (!err)
		err = set_kernel_up(tap, fail);
	if (!err)
		err = tap_trace_new(&tap->rig, tap->rig.targets, tap->rig.nr_targets, tap->options->tasks, &tap->trace,
				    fail);
	if (!err)
		err = open_buffers(tap, fail);
	if (!err && tap->options->time_of_day) {
		rig_sample(&tap->rig);
		wake_for_clocks(&tap->wake);
	}
	return err ? err : hold_switches(tap, fail);
}

int tap_open(const struct tap_options *options, struct tap_result *ret_result, struct tap **ret, struct fail *fail)
{
	struct tap *tap = calloc(1, sizeof(*tap));
	struct fail later;
	int err;

	*ret_result = (struct tap_result){ .has_status = false };
	if (!tap)
		return fail_memory(fail);
	*tap = (struct tap){
		.options = options,
		.result = ret_result,
		.workload = { .pid_fd = -1, .go_fd = -1, .errno_fd = -1 },
		.wake = WAKE_NONE,
	};
	sigprocmask(SIG_SETMASK, NULL, &tap->wake.old_mask);
	err = prepare(tap, fail);
	if (err) {
		/* The user is told the first error only. */
		tap_close(tap, &later);
		return err;
	}
	*ret = tap;
	return 0;
}

int tap_start(struct tap *tap, struct fail *fail)
{
	const struct tap_options *options = tap->options;
	int err = options->duration_ns ? wake_after(&tap->wake, options->duration_ns, fail) : 0;

	if (!err && !options->argv)
		err = wake_tasks(&tap->wake, options->setup, fail);
	tap->on = true;
	tap->started_ns = now_ns();
	if (err)
		return err;
	if (!options->argv) {
		err = switches_turn(&tap->rig.switches, true, fail);
	} else {
		rig_give_marker(&tap->rig);
		err = workload_go(&tap->workload, &tap->rig.switches, fail);
		/* A reader of the output reacts to its text, so an error of the command is reported before any text. */
		if (!err)
			err = workload_executed(&tap->workload, options->argv[0], &tap->result->status, fail);
		tap->result->has_status = err;
	}
	tap->result->ran = !err;
	return err;
}

int tap_wait(struct tap *tap, int out_fd, bool pages, int timeout_ms, enum tap_news *ret, struct fail *fail)
{
	static const enum tap_news news[] = {
		[WAKE_SIGNAL] = TAP_SIGNAL,
		[WAKE_TIME] = TAP_TIME,
		[WAKE_COMMAND] = TAP_COMMAND,
		[WAKE_CLOCK] = TAP_CLOCK,
	};
	enum wake_reason reason;
	size_t nr = WAKE_FDS;
	int status, r;

	tap->fds[nr++] = (struct pollfd){ .fd = out_fd, .events = POLLOUT };
	for (size_t i = 0; pages && i < tap->nr_buffers; i++)
		for (size_t j = 0; j < tap->buffers[i].nr_cpus; j++) {
			const struct cpu_pipe *pipe = &tap->buffers[i].pipes[j];

			if (!pipe->absent)
				tap->fds[nr++] = (struct pollfd){ .fd = pipe->fd, .events = POLLIN };
		}
	r = wake_poll(&tap->wake, &tap->workload, tap->fds, nr, timeout_ms, &reason, &status, fail);
	if (r < 0)
		return r;
	*ret = r ? news[reason] : TAP_READY;
	if (*ret == TAP_CLOCK)
		tap->why = clock_timer_taken(&tap->wake.clock);
	if (r && reason == WAKE_COMMAND) {
		tap->result->has_status = true;
		tap->result->status = status;
		tap->result->made_tasks = tap->workload.times.made_tasks;
	}
	return 0;
}

int tap_stop(struct tap *tap, struct fail *fail)
{
	int err;

	if (!tap->on)
		return 0;
	tap->on = false;
	/* The timer of the duration has run out, or is not needed any more. */
	cleanup_fd_close(&tap->wake.timer_fd);
	tap->wake.timer_fd = -1;
	err = rig_stop(&tap->rig, fail);
	tap->result->time_ns = now_ns() - tap->started_ns;
	/* The kernel forgets the counts when the probes are removed. */
	return err ? err : rig_missed(&tap->rig, &tap->result->missed, &tap->result->missed_probes, fail);
}

int tap_tasks(const struct tap *tap, struct buf *names, struct buf *tgids, struct fail *fail)
{
	struct instance top = instance_top(&tap->rig.tracing);
	int err = instance_read(&top, "saved_cmdlines", names, fail);

	return err ? err : instance_read(&top, "saved_tgids", tgids, fail);
}

int tap_dynamic_events(const struct tap *tap, struct buf *buf, struct fail *fail)
{
	struct instance top = instance_top(&tap->rig.tracing);

	return instance_read(&top, "dynamic_events", buf, fail);
}

int tap_symbols(const struct tap *tap, struct buf *buf, struct fail *fail)
{
	bool hidden;

	(void)tap;
	return settings_kallsyms(buf, &hidden, fail);
}

bool tap_sample(const struct tap *tap, size_t index, struct buf *into)
{
	return index < tap->rig.nr_targets && clock_sampler_line(tap->rig.sampler, index, tap->why, into);
}

static void close_buffers(struct tap *tap)
{
	for (size_t i = 0; i < tap->nr_buffers; i++)
		tap_buffer_close(&tap->buffers[i]);
}

static void release_buffers(struct tap *tap)
{
	for (size_t i = 0; i < tap->nr_buffers; i++)
		tap_buffer_release(&tap->buffers[i]);
	free(tap->buffers);
}

int tap_close(struct tap *tap, struct fail *fail)
{
	struct fail later;
	int err, first;

	if (!tap)
		return 0;
	first = tap_stop(tap, fail);
	close_buffers(tap);
	setup_step(tap->options->setup, "restoring the settings of tracing");
	err = rig_restore(&tap->rig, &later);
	setup_step(tap->options->setup, NULL);
	first = fail_first(first, err, fail, &later);
	trace_free(tap->trace);
	release_buffers(tap);
	rig_release(&tap->rig);
	tap->result->command = tap->workload.pid;
	workload_release(&tap->workload);
	wake_release(&tap->wake);
	free(tap->fds);
	free(tap);
	return first;
}
