// SPDX-License-Identifier: GPL-2.0-only
#include "lib/record/tap.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/kernel/cpu_pipe.h"
#include "lib/kernel/settings.h"
#include "lib/kernel/setup_probes.h"
#include "lib/kernel/shared.h"
#include "lib/kernel/tasks.h"
#include "lib/kernel/undo.h"
#include "lib/record/assembly.h"
#include "lib/record/facts.h"
#include "lib/record/parts.h"
#include "lib/record/target.h"
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
	struct workload workload;
	struct target target;
	struct trace *trace;
	uint32_t *cpus;
	struct cpu_pipe *pipes;
	struct pollfd *fds;             /* WAKE_FDS, the output, one for each CPU */
	size_t nr_cpus;
	bool on;
	uint64_t started_ns;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

struct trace *tap_trace(const struct tap *tap)
{
	return tap->trace;
}

uint32_t tap_page_size(const struct tap *tap)
{
	return tap->target.page_size;
}

const uint32_t *tap_cpus(const struct tap *tap, size_t *ret_nr)
{
	*ret_nr = tap->nr_cpus;
	return tap->cpus;
}

/* The one instance that is asked for: the main one, or the named one that replaces it. */
static int choose(struct tap *tap, struct fail *fail)
{
	const struct setup *setup = tap->options->setup;

	for (size_t i = 0; i < setup->nr_instances; i++) {
		if (setup->nr_instances > 1 && !i && !setup_wants(&setup->instances[i]))
			continue;
		if (tap->target.wanted)
			return fail_set(fail, -EINVAL, "one instance at a time: events of several buffers are not one stream");
		tap->target.wanted = &setup->instances[i];
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
	if (!err)
		err = target_open(&tap->target, &context, fail);
	if (!err && setup->cmdlines)
		err = shared_cmdlines_raise(&tap->tracing, NULL, setup->cmdlines, &tap->cmdlines, fail);
	return err;
}

/* What a recording's file would tell, as a file without pages. */
static int describe(struct tap *tap, struct fail *fail)
{
	struct parts_file file = {
		.options = { .version = 7, .big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
			     .long_size = sizeof(long), .page_size = tap->target.page_size },
		.cpu_count = tap->target.nr_cpus,
	};
	cleanup_fd int fd = memfd_create("weft-tap", MFD_CLOEXEC);
	/* What somebody's instance holds already may be of any type. */
	bool all_formats = tap->target.instance->kind == INSTANCE_EXISTING;
	struct parts *parts = NULL;
	int err;

	if (fd < 0)
		return fail_set(fail, -errno, "cannot make a file in memory: %s", strerror(errno));
	err = parts_new_in_memory(&parts, fail);
	if (!err)
		err = parts_describe(parts, &file, fail);
	if (!err)
		err = facts_at_start(parts->ledger, "record", &tap->tracing, &tap->target, 1, all_formats, fail);
	if (!err)
		err = assembly_describe(parts, fd, fail);
	if (!err)
		err = trace_open_fd(fd, "what is traced", &tap->trace, fail);
	parts_free(parts);
	return err;
}

/* As many as the buffer has; those that are offline may come online, or have left something. */
static int open_pipes(struct tap *tap, struct fail *fail)
{
	uint32_t nr = tap->target.nr_cpus;

	tap->cpus = calloc(nr, sizeof(*tap->cpus));
	tap->pipes = calloc(nr, sizeof(*tap->pipes));
	tap->fds = calloc(nr + WAKE_FDS + 1, sizeof(*tap->fds));
	if (!tap->cpus || !tap->pipes || !tap->fds)
		return fail_memory(fail);
	for (uint32_t cpu = 0; cpu < nr; cpu++) {
		char file[64];
		int err;

		snprintf(file, sizeof(file), "per_cpu/cpu%u/trace_pipe_raw", cpu);
		if (!instance_has(tap->target.instance, file))
			continue;
		err = cpu_pipe_open(tap->target.instance, cpu, tap->target.page_size, &tap->pipes[tap->nr_cpus], fail);
		if (err)
			return err;
		tap->cpus[tap->nr_cpus++] = cpu;
	}
	return 0;
}

static int prepare(struct tap *tap, struct fail *fail)
{
	const pid_t self = getpid();
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
		err = open_pipes(tap, fail);
	return err || tap->options->trace_self ? err : target_exclude(&tap->target, &self, 1, fail);
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
		.wake = { .signal_fd = -1, .timer_fd = -1, .failed_fd = -1, .symbols_fd = -1 },
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
	int err = target_turn(&tap->target, true, fail);

	tap->on = true;
	tap->started_ns = now_ns();
	if (!err && options->argv) {
		err = workload_go(&tap->workload, options->argv[0], &tap->result->status, fail);
		tap->result->has_status = err;
	}
	if (!err && options->duration_ns)
		err = wake_after(&tap->wake, options->duration_ns, fail);
	tap->result->ran = !err;
	return err;
}

int tap_wait(struct tap *tap, int out_fd, bool pages, int timeout_ms, enum tap_news *ret, struct fail *fail)
{
	static const enum tap_news news[] = {
		[WAKE_SIGNAL] = TAP_SIGNAL, [WAKE_TIME] = TAP_TIME, [WAKE_COMMAND] = TAP_COMMAND,
	};
	enum wake_reason reason;
	int status, r;

	tap->fds[WAKE_FDS] = (struct pollfd){ .fd = out_fd, .events = POLLOUT };
	for (size_t i = 0; i < tap->nr_cpus; i++)
		tap->fds[WAKE_FDS + 1 + i] = (struct pollfd){ .fd = pages ? tap->pipes[i].fd : -1, .events = POLLIN };
	r = wake_poll(&tap->wake, &tap->workload, tap->fds, WAKE_FDS + 1 + tap->nr_cpus, timeout_ms, &reason, &status, fail);
	if (r < 0)
		return r;
	*ret = r ? news[reason] : TAP_READY;
	if (r && reason == WAKE_COMMAND) {
		tap->result->has_status = true;
		tap->result->status = status;
	}
	return 0;
}

int tap_read(void *arg, size_t cpu_index, void *into, struct fail *fail)
{
	struct tap *tap = arg;

	return cpu_pipe_read(&tap->pipes[cpu_index], into, fail);
}

int tap_overrun(void *arg, size_t cpu_index, uint64_t *ret, struct fail *fail)
{
	const struct tap *tap = arg;
	uint32_t cpu = tap->cpus[cpu_index];
	struct ring_buffer_stats stats;
	int err = ring_buffer_stats(tap->target.instance, cpu, &stats, fail);

	if (!err)
		*ret = stats.overrun - tap->target.start[cpu].overrun;
	return err;
}

bool tap_keeps_oldest(const struct tap *tap)
{
	char word[16];

	return !instance_read_word(tap->target.instance, "options/overwrite", word, sizeof(word), NULL) && !strcmp(word, "0");
}

int tap_dropped(const struct tap *tap, size_t cpu_index, uint64_t *ret, struct fail *fail)
{
	uint32_t cpu = tap->cpus[cpu_index];
	struct ring_buffer_stats stats;
	int err = ring_buffer_stats(tap->target.instance, cpu, &stats, fail);

	if (!err)
		*ret = stats.dropped - tap->target.start[cpu].dropped;
	return err;
}

int tap_stop(struct tap *tap, struct fail *fail)
{
	int err = 0;

	if (!tap->on)
		return 0;
	tap->on = false;
	/* Its end was told, or does not matter any more. */
	cleanup_fd_close(&tap->wake.timer_fd);
	tap->wake.timer_fd = -1;
	err = target_turn(&tap->target, false, fail);
	tap->result->time_ns = now_ns() - tap->started_ns;
	return err ? err : target_count(&tap->target, tap->target.stop, fail);
}

void tap_count(const struct tap *tap, size_t cpu_index, uint64_t *ret_events, uint64_t *ret_lost)
{
	const struct ring_buffer_stats *start = &tap->target.start[tap->cpus[cpu_index]];
	const struct ring_buffer_stats *stop = &tap->target.stop[tap->cpus[cpu_index]];

	*ret_events = stop->entries + stop->read - start->read;
	*ret_lost = stop->overrun - start->overrun + stop->commit_overrun - start->commit_overrun + stop->dropped -
		    start->dropped;
}

int tap_tasks(const struct tap *tap, struct buf *names, struct buf *tgids, struct fail *fail)
{
	struct instance top = { .tracing = &tap->tracing, .kind = INSTANCE_TOP, .dir = tap->tracing.dir };
	int err = instance_read(&top, "saved_cmdlines", names, fail);

	return err ? err : instance_read(&top, "saved_tgids", tgids, fail);
}

int tap_symbols(const struct tap *tap, struct buf *buf, struct fail *fail)
{
	bool hidden;

	(void)tap;
	return settings_kallsyms(buf, &hidden, fail);
}

static int first_error(int first, int err, struct fail *fail, const struct fail *later)
{
	if (first || !err)
		return first;
	return fail_set(fail, err, "%s", later->text);
}

static int restore(struct tap *tap, struct fail *fail)
{
	struct fail later;
	int first = 0, err;

	for (size_t i = 0; i < tap->nr_cpus; i++)
		cpu_pipe_close(&tap->pipes[i]);
	if (tap->undo)
		first = undo_restore(tap->undo, fail);
	if (tap->target.instance) {
		err = instance_close(tap->target.instance, &later);
		first = first_error(first, err, fail, &later);
	}
	err = shared_cmdlines_leave(tap->cmdlines, &later);
	return first_error(first, err, fail, &later);
}

int tap_close(struct tap *tap, struct fail *fail)
{
	struct fail later;
	int err, first;

	if (!tap)
		return 0;
	first = tap_stop(tap, fail);
	err = restore(tap, &later);
	first = first_error(first, err, fail, &later);
	trace_free(tap->trace);
	target_release(&tap->target);
	catalog_free(tap->catalog);
	setup_probes_release(&tap->probes);
	undo_free(tap->undo);
	tracing_release(&tap->tracing);
	tap->result->command = tap->workload.pid;
	workload_release(&tap->workload);
	wake_release(&tap->wake);
	free(tap->cpus);
	free(tap->pipes);
	free(tap->fds);
	free(tap);
	return first;
}
