// SPDX-License-Identifier: GPL-2.0-only
#include "lib/record/tap.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/base/now.h"
#include "lib/kernel/cpu_pipe.h"
#include "lib/kernel/settings.h"
#include "lib/kernel/setup_probes.h"
#include "lib/kernel/shared.h"
#include "lib/kernel/tasks.h"
#include "lib/kernel/undo.h"
#include "lib/record/assembly.h"
#include "lib/record/facts.h"
#include "lib/record/parts.h"
#include "lib/record/restoring.h"
#include "lib/record/switches.h"
#include "lib/record/tap_buffer.h"
#include "lib/record/target.h"
#include "lib/record/type_facts.h"
#include "lib/record/wake.h"
#include "lib/record/workload.h"
#include "lib/trace/trace.h"

struct tap {
	const struct tap_options *options;
	struct tap_result *result;
	struct tracing tracing;
	struct undo *undo;
	struct catalog *catalog;
	struct setup_probes probes;
	struct shared *cmdlines;
	struct wake wake;
	struct switches switches;
	struct workload workload;
	struct tap_buffer *buffers;
	struct target *targets;         /* of the buffers */
	size_t nr_buffers;
	struct trace *trace;
	struct pollfd *fds;             /* WAKE_FDS, the output, one for each CPU of each buffer */
	bool on;
	uint64_t started_ns;
};

struct trace *tap_trace(const struct tap *tap)
{
	return tap->trace;
}

struct tap_buffer *tap_buffer(const struct tap *tap, size_t index)
{
	return index < tap->nr_buffers ? &tap->buffers[index] : NULL;
}

static int choose(struct tap *tap, struct fail *fail)
{
	const struct setup *setup = tap->options->setup;

	tap->buffers = calloc(setup->nr_instances, sizeof(*tap->buffers));
	tap->targets = calloc(setup->nr_instances, sizeof(*tap->targets));
	if (!tap->buffers || !tap->targets)
		return fail_memory(fail);
	for (size_t i = 0; i < setup->nr_instances; i++) {
		struct target *target = &tap->targets[tap->nr_buffers];

		if (!setup_uses(setup, i))
			continue;
		target->wanted = &setup->instances[i];
		target->index = (uint32_t)tap->nr_buffers++;
	}
	return 0;
}

static int fork_command(struct tap *tap, struct fail *fail)
{
	const struct tap_options *options = tap->options;
	struct workload_options workload = {
		.argv = options->argv, .user = options->user, .mask = tap->wake.old_mask, .stdout_to_stderr = true,
	};

	return options->argv ? workload_fork(&workload, &tap->workload, fail) : 0;
}

static const char *called(const struct target *target)
{
	return target->wanted->name ? target->wanted->name : "the main one";
}

static int compare_clocks(const struct tap *tap, struct fail *fail)
{
	const struct target *first = &tap->targets[0];

	for (size_t i = 1; i < tap->nr_buffers; i++) {
		const struct target *other = &tap->targets[i];

		if (strcmp(first->clock, other->clock))
			return fail_set(fail, -EINVAL, "events of different clocks have no order: %s has the clock %s, %s has %s; "
					"-C in front of the first -B is for all", called(first), first->clock, called(other),
					other->clock);
	}
	return 0;
}

static int set_kernel_up(struct tap *tap, struct fail *fail)
{
	const struct setup *setup = tap->options->setup;
	struct setup_context context = { .tracing = &tap->tracing, .setup = setup, .manner = SETUP_PRIVATE };
	int err = tracing_find(&tap->tracing, fail);

	if (!err)
		err = undo_new(&tap->tracing, NULL, &tap->undo, fail);
	if (!err)
		err = setup_probes_make(&tap->tracing, tap->undo, setup, &tap->probes, fail);
	if (!err)
		err = catalog_new(&tap->tracing, &tap->catalog, fail);
	context.undo = tap->undo;
	context.catalog = tap->catalog;
	context.probes = &tap->probes;
	context.command = tap->workload.pid;
	for (size_t i = 0; !err && i < tap->nr_buffers; i++)
		err = target_open(&tap->targets[i], &context, fail);
	if (!err)
		err = compare_clocks(tap, fail);
	if (!err && setup->cmdlines)
		err = shared_cmdlines_raise(&tap->tracing, NULL, setup->cmdlines, &tap->cmdlines, fail);
	return err;
}

/* One thread does it all. */
static int name_ourselves(struct ledger *ledger, struct fail *fail)
{
	cleanup_buf struct buf pid = BUF_INIT;

	return buf_addf(&pid, "%d\n", (int)getpid()) ? facts_of_self(ledger, buf_str(&pid), fail) : fail_memory(fail);
}

/* What a recording's file would tell, as a file without pages. */
static int describe(struct tap *tap, struct fail *fail)
{
	struct parts_file file = parts_file_here(7, false, 0, tap->targets[0].page_size, tap->targets[0].nr_cpus);
	cleanup_fd int fd = memfd_create("weft-tap", MFD_CLOEXEC);
	/* What somebody's instance holds already may be of any type. */
	bool all_formats = false;
	struct parts *parts = NULL;
	int err;

	if (fd < 0)
		return fail_set(fail, -errno, "cannot make a file in memory: %s", strerror(errno));
	for (size_t i = 0; i < tap->nr_buffers; i++)
		all_formats |= tap->targets[i].instance->kind == INSTANCE_EXISTING;
	err = parts_new_in_memory(&parts, fail);
	if (!err)
		err = parts_describe(parts, &file, fail);
	if (!err)
		err = facts_at_start(parts->ledger, "record", &tap->tracing, tap->targets, tap->nr_buffers, all_formats, fail);
	if (!err)
		err = name_ourselves(parts->ledger, fail);
	if (!err)
		err = facts_of_types(parts->ledger, fail);
	if (!err)
		err = assembly_describe(parts, fd, fail);
	if (!err)
		err = trace_open_fd(fd, "what is traced", &tap->trace, fail);
	parts_free(parts);
	return err;
}

static int open_buffers(struct tap *tap, struct fail *fail)
{
	size_t nr = 0;
	int err = 0;

	for (size_t i = 0; !err && i < tap->nr_buffers; i++) {
		err = tap_buffer_open(&tap->buffers[i], &tap->targets[i], fail);
		nr += tap->buffers[i].nr_cpus;
	}
	if (err)
		return err;
	tap->fds = calloc(nr + WAKE_FDS + 1, sizeof(*tap->fds));
	return tap->fds ? 0 : fail_memory(fail);
}

static int hold_switches(struct tap *tap, struct fail *fail)
{
	int err = 0;

	for (size_t i = 0; !err && i < tap->nr_buffers; i++)
		err = switches_add(&tap->switches, tap->targets[i].instance, false, fail);
	tap->wake.switches = &tap->switches;
	return err;
}

static int prepare(struct tap *tap, struct fail *fail)
{
	int err = choose(tap, fail);

	if (!err)
		err = wake_init(&tap->wake, fail);
	if (!err)
		err = fork_command(tap, fail);
	if (!err)
		err = set_kernel_up(tap, fail);
	if (!err)
		err = describe(tap, fail);
	if (!err)
		err = open_buffers(tap, fail);
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
		.options = options, .result = ret_result,
		.workload = { .pid_fd = -1, .go_fd = -1, .errno_fd = -1 },
		.wake = { .signal_fd = -1, .timer_fd = -1, .failed_fd = -1, .sync_fd = -1 },
	};
	sigprocmask(SIG_SETMASK, NULL, &tap->wake.old_mask);
	err = prepare(tap, fail);
	if (err) {
		/* The first failure is what the user is told. */
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

	tap->on = true;
	tap->started_ns = now_ns();
	if (err)
		return err;
	if (!options->argv) {
		err = switches_turn(&tap->switches, true, fail);
	} else {
		err = workload_go(&tap->workload, &tap->switches, fail);
		/* The reader writes what it gets; that it could not be executed must be told before. */
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
		[WAKE_SIGNAL] = TAP_SIGNAL, [WAKE_TIME] = TAP_TIME, [WAKE_COMMAND] = TAP_COMMAND,
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
	if (r && reason == WAKE_COMMAND) {
		tap->result->has_status = true;
		tap->result->status = status;
	}
	return 0;
}

/* The kernel forgets it with the probes. */
static int count_missed(struct tap *tap, struct fail *fail)
{
	cleanup_buf struct buf lines = BUF_INIT;
	int err = setup_probes_missed(&tap->tracing, &tap->probes, &lines, &tap->result->missed, fail);

	if (!err && lines.len)
		tap->result->missed_probes = buf_take(&lines, NULL);
	return err;
}

int tap_stop(struct tap *tap, struct fail *fail)
{
	int err;

	if (!tap->on)
		return 0;
	tap->on = false;
	/* Its end was told, or does not matter any more. */
	cleanup_fd_close(&tap->wake.timer_fd);
	tap->wake.timer_fd = -1;
	err = tracing_stay(&tap->tracing, fail);
	if (!err)
		err = switches_turn(&tap->switches, false, fail);
	tap->result->time_ns = now_ns() - tap->started_ns;
	return err ? err : count_missed(tap, fail);
}

int tap_tasks(const struct tap *tap, struct buf *names, struct buf *tgids, struct fail *fail)
{
	struct instance top = instance_top(&tap->tracing);
	int err = instance_read(&top, "saved_cmdlines", names, fail);

	return err ? err : instance_read(&top, "saved_tgids", tgids, fail);
}

int tap_dynamic_events(const struct tap *tap, struct buf *buf, struct fail *fail)
{
	struct instance top = instance_top(&tap->tracing);

	return instance_read(&top, "dynamic_events", buf, fail);
}

int tap_symbols(const struct tap *tap, struct buf *buf, struct fail *fail)
{
	bool hidden;

	(void)tap;
	return settings_kallsyms(buf, &hidden, fail);
}

static int restore(struct tap *tap, struct fail *fail)
{
	struct restoring restoring = {
		.targets = tap->targets, .nr_targets = tap->nr_buffers, .undo = tap->undo, .cmdlines = tap->cmdlines,
		.switches = &tap->switches,
	};

	for (size_t i = 0; i < tap->nr_buffers; i++)
		tap_buffer_close(&tap->buffers[i]);
	restoring_go(&restoring);
	return fail_first(0, restoring.err, fail, &restoring.fail);
}

static void release_buffers(struct tap *tap)
{
	for (size_t i = 0; i < tap->nr_buffers; i++) {
		target_release(&tap->targets[i]);
		tap_buffer_release(&tap->buffers[i]);
	}
	free(tap->targets);
	free(tap->buffers);
}

int tap_close(struct tap *tap, struct fail *fail)
{
	struct fail later;
	int err, first;

	if (!tap)
		return 0;
	first = tap_stop(tap, fail);
	err = restore(tap, &later);
	first = fail_first(first, err, fail, &later);
	trace_free(tap->trace);
	release_buffers(tap);
	catalog_free(tap->catalog);
	setup_probes_release(&tap->probes);
	undo_free(tap->undo);
	tracing_release(&tap->tracing);
	tap->result->command = tap->workload.pid;
	workload_release(&tap->workload);
	wake_release(&tap->wake);
	free(tap->fds);
	free(tap);
	return first;
}
