// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/session.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/number.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/record/assembly_internal.h"
#include "lib/kernel/record/clock_sampler.h"
#include "lib/kernel/record/counters_internal.h"
#include "lib/kernel/record/facts_internal.h"
#include "lib/kernel/record/ledger_internal.h"
#include "lib/kernel/record/maps_copy_internal.h"
#include "lib/kernel/record/parts.h"
#include "lib/kernel/record/parts_name.h"
#include "lib/kernel/record/progress.h"
#include "lib/kernel/record/quiet_internal.h"
#include "lib/kernel/record/result.h"
#include "lib/kernel/record/rig.h"
#include "lib/kernel/record/symbol_choice_internal.h"
#include "lib/kernel/record/symbol_copy_internal.h"
#include "lib/kernel/record/sync_internal.h"
#include "lib/kernel/record/target.h"
#include "lib/kernel/record/type_facts_internal.h"
#include "lib/kernel/record/wake.h"
#include "lib/kernel/record/workload.h"
#include "lib/kernel/setup/tracer.h"
#include "lib/kernel/tracefs/task_scan.h"
#include "lib/kernel/undo/change.h"
#include "lib/kernel/undo/instance_open.h"
#include "lib/kernel/undo/undo.h"
#include "lib/meaning/event/own_formats.h"

/* How often a wakeup is tried, and how long this thread sleeps for one. */
enum { TRIES = 50, NAP_NS = 1000000 };

static const char max[] = "tracing_max_latency";

/* A tracer that measures when a task with a real-time priority wakes up. */
static const char *next_tracer(const char *tracer)
{
	return strcmp(tracer, "wakeup_rt") ? "wakeup_rt" : "wakeup";
}

/*
 * For kernels whose only latency tracers are wakeup, wakeup_rt and wakeup_dl: moves the longest section into the live
 * buffer. Another of these tracers keeps the snapshot as it is, and begins to measure even if tracing is off in its
 * instance, as long as it is on in the top instance (start_func_tracer() of kernel/trace/trace_sched_wakeup.c). The
 * first wakeup that it measures swaps the live buffer, which is empty, with the snapshot, and because tracing is off,
 * nothing is written to either (update_max_tr() of kernel/trace/trace.c).
 */

/* Whether the conditions for that are met. */
static bool section_swap_can(const struct target *target, const char *tracer)
{
	struct instance top = instance_top(target->instance->tracing);
	char thresh[32], on[8], own[8];

	/* The top instance would trace if tracing were turned on there. */
	if (target->instance->kind == INSTANCE_TOP || strncmp(tracer, "wakeup", strlen("wakeup")) ||
	    !tracer_offered(target->instance, next_tracer(tracer)))
		return false;
	return !instance_read_word(&top, "tracing_thresh", thresh, sizeof(thresh), NULL) && !strcmp(thresh, "0") &&
	       !instance_read_word(&top, "tracing_on", on, sizeof(on), NULL) && *on == '1' &&
	       !instance_read_word(target->instance, "tracing_on", own, sizeof(own), NULL) && *own == '0';
}

static void nap(void)
{
	const struct timespec time = { .tv_nsec = NAP_NS };

	(void)nanosleep(&time, NULL);
}

static int is_live(struct target *target, bool *ret, struct fail *fail)
{
	int err = target_count(target, target->stop, fail);

	*ret = false;
	for (uint32_t cpu = 0; !err && cpu < target->nr_cpus; cpu++)
		*ret |= target->stop[cpu].entries != 0;
	return err;
}

/* One more longest wakeup swaps the buffers, a second one swaps them back. */
static int wake_up(struct target *target, bool *ret_there, struct fail *fail)
{
	int err = 0;

	for (unsigned i = 0; !err && !*ret_there && i < TRIES; i++) {
		err = instance_set(target->instance, max, "0", fail);
		if (!err)
			nap();
		if (!err)
			err = instance_set(target->instance, max, "9223372036854775", fail);
		/* What was just being measured comes to its end. */
		if (!err)
			nap();
		if (!err)
			err = is_live(target, ret_there, fail);
	}
	return err;
}

/* *ret_there: the live buffer has the events of the section, and does not change any more. */
static int section_swap(struct target *target, const char *tracer, bool *ret_there, struct fail *fail)
{
	const struct sched_param first = { .sched_priority = 1 };
	struct sched_param old_param;
	int old = sched_getscheduler(0), err = 0;

	/* Functions are of no use, and the kernel would change the code of all of them. */
	if (option_get(target->instance, "function-trace") == 1)
		err = option_set(target->instance, "nofunction-trace", fail);
	if (!err)
		err = instance_write(target->instance, "current_tracer", next_tracer(tracer), fail);
	if (err)
		return err;
	/* Without this right the loop ends in vain, or other tasks with such a priority wake up. */
	if (old < 0 || sched_getparam(0, &old_param) || sched_setscheduler(0, SCHED_FIFO, &first))
		old = -1;
	err = wake_up(target, ret_there, fail);
	if (old >= 0)
		(void)!sched_setscheduler(0, old, &old_param);
	return err;
}

/* A sample of so many lines tells the time to some ns. */
enum { SAMPLE_MAX = 1 << 20 };

/* A tracer of the other family; NULL: the kernel has none. */
static const char *other_tracer(const struct instance *instance, const char *tracer)
{
	static const char *const wakeups[] = { "wakeup", "wakeup_rt", "wakeup_dl" }, *const offs[] = {
		"irqsoff", "preemptoff", "preemptirqsoff"
	};
	const char *const *others = strncmp(tracer, "wakeup", strlen("wakeup")) ? wakeups : offs;

	for (size_t i = 0; i < array_size(wakeups); i++)
		if (tracer_offered(instance, others[i]))
			return others[i];
	return NULL;
}

/* Weft may take the tracer away only where weft has set it. */
static bool may_take(const struct target *target)
{
	const struct instance *instance = target->instance;

	return target->keeps_worst && target->worst_entries &&
	       (instance->kind == INSTANCE_PRIVATE || target->wanted->tracer) &&
	       /* The times of a graph count from another beginning. */
	       option_get(instance, "display-graph") != 1 && instance_has(instance, "per_cpu/cpu0/snapshot_raw");
}

/* Has the tracer occupied by an instance that traces nothing. */
static int occupy(const struct target *target, const char *tracer, struct instance **ret, struct fail *fail)
{
	int err = instance_new_helper(target->instance->tracing, target->instance->undo, ret, fail);

	/* With this option the kernel would change the code of all functions. */
	if (!err && instance_has(*ret, "options/function-trace"))
		err = instance_write(*ret, "options/function-trace", "0", fail);
	/* -EBUSY: somebody else has it, which is as good. */
	if (!err)
		err = instance_write(*ret, "current_tracer", tracer, fail);
	return err == -EBUSY ? 0 : err;
}

/* The options of the text from which latency_facts_learn() of lib/meaning/event learns. */
static const char *const sample_options[] = { "latency-format", "sym-addr", "context-info", "noverbose",
					      "noraw",          "nohex",    "nobin",        "nofields" };

/*
 * Reads the beginning of `trace`, by options with which it shows when the section began, and the addresses in its head.
 * Options that it changes are restored at once.
 */
static int read_sample(const struct target *target, struct buf *into, struct fail *fail)
{
	const char *undo[array_size(sample_options)];
	struct fail later;
	size_t nr = 0;
	int err = 0;

	for (size_t i = 0; !err && i < array_size(sample_options); i++) {
		const char *option = sample_options[i], *name = strncmp(option, "no", 2) ? option : option + 2;
		int on = option_get(target->instance, name);

		if (on < 0 || on == (name == option))
			continue;
		err = option_set(target->instance, option, fail);
		if (!err)
			undo[nr++] = option;
	}
	if (!err)
		err = instance_read(target->instance, "trace", into, fail);
	while (into->len > SAMPLE_MAX || (into->len && into->data[into->len - 1] != '\n'))
		into->len = into->len > SAMPLE_MAX ? SAMPLE_MAX : into->len - 1;
	while (nr--) {
		char back[64];
		int failed;

		if (strncmp(undo[nr], "no", 2))
			snprintf(back, sizeof(back), "no%s", undo[nr]);
		else
			snprintf(back, sizeof(back), "%s", undo[nr] + 2);
		failed = option_set(target->instance, back, &later);
		err = fail_first(err, failed, fail, &later);
	}
	return err;
}

/* Takes the tracer away from the snapshot: see section.h. */
static int uncover(struct target *target, const char *taken, struct instance **ret_other, bool *ret_there,
		   struct fail *fail)
{
	char now[64];
	int err = occupy(target, taken, ret_other, fail);

	if (err)
		return err;
	/* The kernel refuses it: only what is set then shows how far it came. */
	(void)!instance_write(target->instance, "current_tracer", taken, NULL);
	*ret_there =
		!instance_read_word(target->instance, "current_tracer", now, sizeof(now), NULL) && !strcmp(now, "nop");
	return 0;
}

static int drain_cpu(struct target *target, struct parts *parts, uint32_t cpu, bool live,
		     const struct spool_options *spool, const struct recorder_options *options, struct fail *fail)
{
	struct recorder_options how = *options;
	struct recorder *recorder;
	int err;

	how.buffer_size = 0;
	err = target_add_recorder(target, parts, cpu, spool, &how, &recorder, fail);
	if (!err)
		err = (live ? cpu_pipe_open : cpu_pipe_open_snapshot)(target->instance, cpu, target->shape.size,
								      &recorder->pipe, fail);
	if (!err)
		err = recorder_drain(recorder, fail);
	cpu_pipe_close(&recorder->pipe);
	return err;
}

static int drain(struct target *target, struct parts *parts, bool live, const struct spool_options *spool,
		 const struct recorder_options *options, struct fail *fail)
{
	int err = 0;

	for (uint32_t cpu = 0; !err && cpu < target->nr_cpus; cpu++) {
		char file[64];

		snprintf(file, sizeof(file), "per_cpu/cpu%" PRIu32 "/snapshot_raw", cpu);
		if (cpus_has(&target->cpus, cpu) && instance_has(target->instance, file))
			err = drain_cpu(target, parts, cpu, live, spool, options, fail);
	}
	return err;
}

static int add_facts(struct target *target, struct parts *parts, const struct buf *sample, struct fail *fail)
{
	char text[64];
	int len =
		snprintf(text, sizeof(text), "%" PRIu64 "/%" PRIu64 "\n", target->worst_entries, target->worst_written);
	struct ledger_item item = {
		.kind = LEDGER_SETTING, .buffer = target->index, .key = "weft/entries", .data = text, .len = (size_t)len
	};
	int err = ledger_add(parts->ledger, &item, fail);

	item.key = "weft/section";
	item.data = sample->data;
	item.len = sample->len;
	return err ? err : ledger_add(parts->ledger, &item, fail);
}

/*
 * The events of a max-latency tracer's longest section. They are in the snapshot, and the kernel gives its pages to
 * nobody while such a tracer is set; any other tracer frees the snapshot. But tracing_set_tracer() of
 * kernel/trace/trace.c removes the old tracer before it starts the new one, and keeps the snapshot if the new one is
 * also such a tracer. If that one cannot start, the tracer is nop, and the snapshot is as it was. It cannot start while
 * another instance has it: wakeup, wakeup_rt and wakeup_dl exclude each other; so do irqsoff, preemptoff and
 * preemptirqsoff. So a private instance gets a tracer of the family that is not the target's, and the target asks for
 * the same one.
 */

/*
 * Takes the pages of the longest section, and adds what the pages do not have ("weft/section", "weft/entries"). Call it
 * when tracing is off and all other facts are saved: the tracer is gone afterwards. Without an error nothing is taken
 * if the target keeps no section, or if the kernel gives no pages: then the text is all there is (facts_of_buffers()).
 */
static int section_take(struct target *target, struct parts *parts, const struct spool_options *spool,
			const struct recorder_options *options, struct fail *fail)
{
	cleanup_buf struct buf sample = BUF_INIT;
	struct instance *other = NULL;
	bool live = false, there = false;
	char tracer[64];
	const char *taken;
	struct fail later;
	int err, closed;

	if (!may_take(target) || instance_read_word(target->instance, "current_tracer", tracer, sizeof(tracer), NULL))
		return 0;
	taken = other_tracer(target->instance, tracer);
	if (!taken && !section_swap_can(target, tracer))
		return 0;
	err = read_sample(target, &sample, fail);
	if (!err)
		err = instance_remember(target->instance, "current_tracer", fail);
	if (!err && taken)
		err = uncover(target, taken, &other, &there, fail);
	else if (!err)
		err = section_swap(target, tracer, &there, fail);
	live = !taken;
	if (!err && there)
		err = drain(target, parts, live, spool, options, fail);
	if (!err && there)
		err = add_facts(target, parts, &sample, fail);
	/* The next tracer would not free it. */
	if (!err && there && !live && target->instance->kind != INSTANCE_PRIVATE)
		err = instance_write(target->instance, "snapshot", "0", fail);
	closed = other ? instance_close(other, &later) : 0;
	return fail_first(err, closed, fail, &later);
}

/*
 * Runs rig_restore() on a thread while the recording ends. When an instance is removed, the kernel waits for all CPUs,
 * for tens of milliseconds; in this time the remaining pages can be saved and the file finished. Invariant: after
 * restoring_end() everything that can be undone is undone; `err` and `fail` have the first failure.
 */
struct restoring {
	struct rig *rig; /* borrowed */
	bool started;
	pthread_t thread;
	sem_t drained;
	int err;
	struct fail fail;
};

static void restore(struct restoring *restoring)
{
	restoring->err = rig_restore(restoring->rig, &restoring->fail);
}

static void *restoring_main(void *data)
{
	struct restoring *restoring = data;
	struct fail fail;

	clock_sampler_free(take(restoring->rig->sampler));
	/* An error is ignored: events that stay enabled disappear with their instance. */
	for (size_t i = 0; i < restoring->rig->nr_targets; i++)
		if (target_quiet(&restoring->rig->targets[i], &fail))
			break;
	(void)io_again(sem_wait(&restoring->drained));
	restore(restoring);
	return NULL;
}

/*
 * Starts the thread. Call it after tracing was turned off; from then on the targets of the rig are used only to read
 * their buffers. This call may be left out.
 */
static void restoring_start(struct restoring *restoring)
{
	sem_init(&restoring->drained, 0, 0);
	restoring->started = !pthread_create(&restoring->thread, NULL, restoring_main, restoring);
	if (!restoring->started)
		sem_destroy(&restoring->drained);
}

/* Call it after the buffers were read. */
static void restoring_go(struct restoring *restoring)
{
	if (restoring->started)
		sem_post(&restoring->drained);
	else
		restore(restoring);
}

static void restoring_end(struct restoring *restoring)
{
	if (!restoring->started)
		return;
	pthread_join(restoring->thread, NULL);
	sem_destroy(&restoring->drained);
	restoring->started = false;
}

/* Bytes that a file needs besides its pages: metadata, formats, symbols (as text if nothing is compressed). */
enum { KEEP_FREE = 4 << 20, KEEP_FREE_TEXT = 16 << 20 };

/* No recording fits into less: its formats and symbols alone take more while it is made. */
enum { FULL = 1 << 20 };

/*
 * The bytes that all recorders together may store uncompressed because their buffers fill fast. Copying these bytes at
 * the end of the recording takes less than a fifth of a second.
 */
enum { STORE_SPARE = 300 << 20 };

/*
 * How often per interval of --sync recorders flush and files are synced. Twice, because a sync may happen just before a
 * flush.
 */
enum { SYNC_STEPS = 2 };

struct session {
	const struct record_options *options;
	struct record_result *result;
	struct rig rig;
	struct wake wake;
	struct workload workload;
	struct parts *parts;
	struct symbol_copy *symbols;
	struct maps_copy *maps;
	struct spool_options spool;
	struct recorder_options recorder;
	uint64_t started_ns, stopped_ns;
	uint64_t top_written; /* what was written to the top buffer, if only trace_marker writes there */
	uint64_t nr_late;     /* tasks that came into a control group that is recorded, while it was */
	bool follows;         /* looks for such tasks */
};

static int fork_command(struct session *session, struct fail *fail)
{
	const struct record_options *options = session->options;
	struct workload_options workload = {
		.argv = options->argv,
		.user = options->user,
		.path = options->path,
		.mask = session->wake.old_mask,
		.stdout_to_stderr = options->stdout_to_stderr || !strcmp(options->output, "-"),
		.mute = options->mute,
	};

	return options->argv ? workload_fork(&workload, &session->workload, fail) : 0;
}

static int describe_parts(struct session *session, struct fail *fail)
{
	const struct record_options *options = session->options;
	const struct target *first = &session->rig.targets[0];
	struct parts_file file =
		parts_file_here(options->version, options->compress, options->level, &first->shape, first->nr_cpus);

	return parts_describe(session->parts, &file, fail);
}

static bool is_copied_there(const struct session *session)
{
	cleanup_buf struct buf path = BUF_INIT;
	const char *output = session->options->output, *slash = strrchr(output, '/');
	struct stat there, here;

	if (!strcmp(output, "-") || fstat(session->parts->dir, &here))
		return false;
	if (!buf_add(&path, output, slash ? (size_t)(slash - output) + 1 : 0) || (!slash && !buf_add_str(&path, ".")))
		return false;
	return !stat(buf_str(&path), &there) && there.st_dev == here.st_dev;
}

/* The space that must stay free to save what the buffers hold when a full disk is noticed. */
static uint64_t keep_free(const struct session *session, const struct cpus *online)
{
	bool compress = session->options->compress;
	uint64_t free_bytes = compress ? KEEP_FREE : KEEP_FREE_TEXT;

	for (size_t i = 0; i < session->rig.nr_targets; i++) {
		uint64_t size = ring_buffer_size(session->rig.targets[i].instance) * cpus_count(online);

		free_bytes += compress ? size / 4 : size;
	}
	return free_bytes;
}

/* A disk that is already full is an error before the kernel is set up, which may take seconds. */
static int check_room(const struct session *session, struct fail *fail)
{
	struct statvfs vfs;

	if (fstatvfs(session->parts->dir, &vfs) || (uint64_t)vfs.f_bavail * vfs.f_frsize >= FULL)
		return 0;
	return fail_set(fail, -ENOSPC,
			"'%s': the disk is full: there is less than %d MiB of space left; nothing was recorded, "
			"--temp-dir names another place",
			parts_name_place(session->options->output, session->options->temp_dir), FULL >> 20);
}

static int start_recorders(struct session *session, struct fail *fail)
{
	const struct record_options *options = session->options;
	struct cpus online = { .bits = { 0 } };
	int err = tracing_online_cpus(&online, fail);

	session->spool = (struct spool_options){ .compressed = options->compress, .cap = options->max_size };
	session->recorder = (struct recorder_options){
		.stop_fd = eventfd(0, EFD_CLOEXEC),
		.failed_fd = session->wake.failed_fd,
		.level = options->level,
		.keep_free = keep_free(session, &online),
		.copied_there = !options->forward_room && is_copied_there(session),
		.flush_ms = (int)(options->sync_ns / SYNC_STEPS / 1000000),
		.run_on = options->has_recorder_cpus ? &options->recorder_cpus : NULL,
		.priority = options->priority,
		.room = options->forward_room,
	};
	if (!err)
		session->recorder.store_spare = STORE_SPARE / (cpus_count(&online) * session->rig.nr_targets);
	if (!err && session->recorder.stop_fd < 0)
		err = fail_set(fail, -errno, "cannot make an eventfd: %s", strerror(errno));
	for (size_t i = 0; !err && i < session->rig.nr_targets; i++)
		err = target_record(&session->rig.targets[i], session->parts, &online, &session->spool,
				    &session->recorder, fail);
	return err;
}

static int set_kernel_up(struct session *session, struct fail *fail)
{
	const struct rig_options options = {
		.setup = &session->options->setup,
		.manner = SETUP_PRIVATE,
		.command = session->workload.pid,
	};
	int err = undo_mark(session->rig.undo, session->parts->secret, session->parts->path, fail);

	return err ? err : rig_set_up(&session->rig, &options, fail);
}

/* The calls whose buffers the kernel copies (check_faultable_syscall() of kernel/trace/trace_syscalls.c, Linux 7.3). */
static bool is_write(const struct catalog_event *event)
{
	static const char *const names[] = { "sys_enter_write", "sys_enter_pwrite64", "sys_enter_mq_timedsend" };

	for (size_t i = 0; i < array_size(names); i++)
		if (!strcmp(event->system, "syscalls") && !strcmp(event->name, names[i]))
			return true;
	return false;
}

/*
 * How much of each buffer that programs give to system calls the events of calls that write have, by the kernel's
 * setting (Linux 6.19): a user may not think of that.
 */
static uint64_t user_data(const struct session *session)
{
	uint64_t most = 0;

	for (size_t i = 0; i < session->rig.nr_targets; i++) {
		const struct target *target = &session->rig.targets[i];
		const struct catalog *catalog = target->events.catalog;
		char size[16];

		if (target->wanted->has_user_size || target->wanted->no_user_data ||
		    instance_read_word(target->instance, "syscall_user_buf_size", size, sizeof(size), NULL))
			continue;
		for (size_t j = 0; catalog && j < catalog->nr; j++)
			if (event_set_has(&target->events, j) && is_write(&catalog->events[j]) &&
			    number_of(size, 0) > most)
				most = number_of(size, 0);
	}
	return most;
}

static int hold_switches(struct session *session, struct fail *fail)
{
	session->wake.switches = &session->rig.switches;
	return rig_hold(&session->rig, true, fail);
}

/* Whether only what programs write to trace_marker goes to the top buffer, and no buffer of the recording gets it. */
static bool marks_go_elsewhere(const struct session *session)
{
	const struct instance top = instance_top(&session->rig.tracing);
	cleanup_buf struct buf events = BUF_INIT;
	char word[64];

	for (size_t i = 0; i < session->rig.nr_targets; i++)
		if (session->rig.targets[i].instance->kind == INSTANCE_TOP ||
		    option_get(session->rig.targets[i].instance, "copy_trace_marker") > 0)
			return false;
	return !instance_read(&top, "set_event", &events, NULL) && !events.len &&
	       !instance_read_word(&top, "current_tracer", word, sizeof(word), NULL) && !strcmp(word, "nop");
}

/* The number of entries that were written to the top buffer since it was emptied. */
static uint64_t count_top(const struct session *session)
{
	const struct instance top = instance_top(&session->rig.tracing);
	struct ring_buffer_stats stats;
	uint64_t written = 0;
	struct cpus online;

	if (tracing_online_cpus(&online, NULL))
		return 0;
	for (int cpu = cpus_next(&online, 0); cpu >= 0; cpu = cpus_next(&online, cpu + 1))
		if (!ring_buffer_stats(&top, (uint32_t)cpu, &stats, NULL))
			written += stats.entries + stats.overrun + stats.read;
	return written;
}

/* The first sample is the last thing before tracing begins. */
static void begin_samples(struct session *session)
{
	clock_sampler_zone(session->parts->ledger);
	clock_sampler_take(session->rig.sampler, session->parts->ledger, WALL_START);
	wake_for_clocks(&session->wake);
	session->wake.ping_fd = clock_sampler_answer_first(session->rig.sampler, session->options->ping_fd);
}

static int prepare(struct session *session, struct fail *fail)
{
	const struct record_options *options = session->options;
	int err = wake_init(&session->wake, fail);

	/* Whoever may not trace learns that first: it is no news then that a file cannot be written here. */
	if (!err)
		err = rig_find(&session->rig, NULL, fail);
	if (!err)
		err = fork_command(session, fail);
	if (!err)
		err = parts_new(options->output, options->temp_dir, &session->parts, fail);
	if (!err)
		err = check_room(session, fail);
	if (!err)
		err = symbol_copy_start(session->parts->ledger, &session->symbols, fail);
	if (!err)
		err = set_kernel_up(session, fail);
	if (!err)
		session->result->user_data = user_data(session);
	if (!err)
		err = describe_parts(session, fail);
	/* What it has to wait for happens while the facts are read. */
	if (!err)
		rig_sample(&session->rig);
	if (!err)
		err = facts_at_start(session->parts->ledger, "record", &session->rig.tracing, session->rig.targets,
				     session->rig.nr_targets, options->all_formats, fail);
	if (!err && options->all_symbols)
		err = symbol_choice_keep_all(session->parts->ledger, fail);
	if (!err)
		err = start_recorders(session, fail);
	if (!err)
		err = maps_copy_start(session->rig.targets, session->rig.nr_targets, true, session->workload.pid,
				      &session->maps, fail);
	if (!err)
		err = facts_of_self(session->parts->ledger, &session->rig, maps_copy_tid(session->maps), fail);
	if (!err)
		err = facts_of_tasks(session->parts->ledger,
				     &(struct task_scan_command){ session->workload.pid,
								  options->argv ? options->argv[0] : "" },
				     false, fail);
	if (!err && setup_has_own(&options->setup, OWN_BUFFER_FILES))
		err = facts_of_files(session->parts->ledger, fail);
	if (!err)
		err = facts_of_withheld(session->parts->ledger, false, fail);
	if (!err)
		session->top_written = marks_go_elsewhere(session) ? count_top(session) : UINT64_MAX;
	if (!err)
		err = hold_switches(session, fail);
	if (!err)
		err = symbol_copy_wait(session->symbols, fail);
	if (!err)
		begin_samples(session);
	return err;
}

/* Begins to trace. The process of the command turns tracing on; without a command this process does. */
static int begin(struct session *session, struct fail *fail)
{
	const struct record_options *options = session->options;
	int err;

	/* The result is ignored: the recording starts even if a recorder does not sleep yet. */
	quiet_wait(getpid(), getpid());
	err = options->duration_ns ? wake_after(&session->wake, options->duration_ns, fail) : 0;
	if (!err && options->sync_ns)
		err = wake_every(&session->wake, options->sync_ns / SYNC_STEPS, fail);
	if (!err && !options->argv)
		err = wake_tasks(&session->wake, &options->setup, fail);
	session->started_ns = now_ns();
	if (err)
		return err;
	if (options->argv)
		rig_give_marker(&session->rig);
	return options->argv ? workload_go(&session->workload, &session->rig.switches, fail) :
			       switches_turn(&session->rig.switches, true, fail);
}

/* How often control groups are looked at, and how many tasks are told that came into them. */
enum { FOLLOW_MS = 5, LATE_TOLD = 8 };

static void tell_late(pid_t pid, const char *name, void *arg)
{
	struct session *session = arg;
	char time[TEXT_HUMAN];
	struct fail told;

	if (session->nr_late++ >= LATE_TOLD)
		return;
	fail_set(&told, 0, "%s-%d came into it later: what it did is recorded from %s after the start on", name,
		 (int)pid, text_time(time, now_ns() - session->started_ns));
	setup_warn(&session->options->setup, &told);
}

static void follow_groups(struct session *session)
{
	const struct setup *setup = &session->options->setup;
	struct fail fail = FAIL_INIT, told;
	int err = 0;

	for (size_t i = 0; !err && i < session->rig.nr_targets; i++)
		err = setup_follow_groups(setup, session->rig.targets[i].wanted, session->rig.targets[i].instance,
					  tell_late, session, &fail);
	if (!err)
		return;
	session->follows = false;
	fail_set(&told, 0, "tasks that come into it from now on are not recorded: %s", fail.text);
	setup_warn(setup, &told);
}

/* wake_wait() with calls of options->look. */
static int wait_and_look(struct session *session, enum wake_reason *ret, struct fail *fail)
{
	const struct record_options *options = session->options;
	struct pollfd fds[WAKE_FDS];
	struct progress progress;
	uint64_t looked = 0;
	int r;

	while (!(r = wake_poll(&session->wake, &session->workload, fds, WAKE_FDS,
			       session->follows ? FOLLOW_MS : (int)options->look_ms, ret, &session->result->status,
			       fail))) {
		if (session->follows)
			follow_groups(session);
		if (!options->look || now_ns() - looked < options->look_ms * UINT64_C(1000000))
			continue;
		looked = now_ns();
		progress_read(session->rig.targets, session->rig.nr_targets, session->started_ns, &progress);
		options->look(&progress);
	}
	return r < 0 ? r : 0;
}

static int wait_for_end(struct session *session, enum wake_reason *ret, struct fail *fail)
{
	int err;

	session->follows = session->options->setup.nr_groups;
	do {
		err = session->options->look || session->follows ?
			      wait_and_look(session, ret, fail) :
			      wake_wait(&session->wake, &session->workload, ret, &session->result->status, fail);
		if (!err && *ret == WAKE_SYNC)
			err = sync_parts(session->parts, fail);
		else if (!err && *ret == WAKE_CLOCK)
			clock_sampler_take(session->rig.sampler, session->parts->ledger,
					   clock_timer_taken(&session->wake.clock));
		else if (!err && *ret == WAKE_PING)
			session->wake.ping_fd = clock_sampler_answer(session->rig.sampler, session->wake.ping_fd);
	} while (!err && (*ret == WAKE_SYNC || *ret == WAKE_CLOCK || *ret == WAKE_PING));
	return err;
}

static void count_marks(struct session *session)
{
	uint64_t written = marks_go_elsewhere(session) ? count_top(session) : 0;

	if (written > session->top_written)
		session->result->marks_elsewhere = written - session->top_written;
}

/* Traces from the first event to the last. */
static int trace(struct session *session, struct fail *fail)
{
	const struct record_options *options = session->options;
	struct record_result *result = session->result;
	enum wake_reason reason = WAKE_FAILED;
	struct fail later;
	int err = begin(session, fail), failed = 0, stopped;

	result->ran = !err;
	if (!err)
		err = wait_for_end(session, &reason, fail);
	result->has_status = !err && reason == WAKE_COMMAND;
	result->times = session->workload.times;
	/* Until the process of the command has executed it, it may turn tracing on. */
	if (result->ran && options->argv)
		failed = workload_executed(&session->workload, options->argv[0], &result->status, &later);
	result->has_status |= failed != 0;
	result->ran &= !failed;
	err = fail_first(err, failed, fail, &later);
	/* A trigger may have turned tracing on again, so it is turned off once more. */
	stopped = rig_stop(&session->rig, &later);
	session->stopped_ns = now_ns();
	clock_sampler_take(session->rig.sampler, session->parts->ledger, WALL_END);
	return fail_first(err, stopped, fail, &later);
}

/* Counts the missed hits before the probes are removed, because the kernel then forgets the counts. */
static int count_missed(struct session *session, struct fail *fail)
{
	struct record_result *result = session->result;
	int err = rig_missed(&session->rig, &result->missed, &result->missed_probes, fail);

	if (err || !result->missed_probes)
		return err;
	return ledger_add(session->parts->ledger,
			  &(struct ledger_item){ .kind = LEDGER_SETTING,
						 .key = "weft/missed",
						 .data = result->missed_probes,
						 .len = strlen(result->missed_probes) },
			  fail);
}

/* Tells the recorders to take the rest, and saves facts about the kernel that hold only now. */
static int collect(struct session *session, struct fail *fail)
{
	struct ledger *ledger = session->parts->ledger;
	const uint64_t one = 1;
	int err = facts_of_buffers(ledger, session->rig.targets, session->rig.nr_targets, fail);

	if (!err)
		err = facts_of_texts(ledger, &session->rig.tracing, session->rig.targets, session->rig.nr_targets,
				     session->options->texts, fail);
	for (size_t i = 0; !err && i < session->rig.nr_targets; i++)
		err = target_record_rest(&session->rig.targets[i], session->parts, &session->spool, &session->recorder,
					 fail);
	for (size_t i = 0; !err && i < session->rig.nr_targets; i++)
		err = section_take(&session->rig.targets[i], session->parts, &session->spool, &session->recorder, fail);
	if (write(session->recorder.stop_fd, &one, sizeof(one)) < 0 && !err)
		err = fail_set(fail, -errno, "cannot stop the recorders: %s", strerror(errno));
	if (!err)
		err = count_missed(session, fail);
	if (!err)
		err = facts_of_kernel(ledger, &session->rig.tracing, fail);
	if (!err)
		err = facts_of_tasks(ledger, NULL, true, fail);
	if (!err)
		err = facts_of_withheld(ledger, true, fail);
	return err ? err : facts_of_types(ledger, fail);
}

static int join(struct session *session, struct fail *fail)
{
	int first = 0;

	for (size_t i = 0; i < session->rig.nr_targets; i++) {
		struct target *target = &session->rig.targets[i];

		for (size_t j = 0; j < target->nr_recorders; j++) {
			struct recorder *recorder = target->recorders[j];

			recorder_join(recorder);
			first = fail_first(first, recorder->err, fail, &recorder->fail);
		}
	}
	return first;
}

static void stop_recorders(struct session *session)
{
	if (session->recorder.stop_fd >= 0)
		io_nudge(session->recorder.stop_fd);
}

/* Who would have taken the parts has ended. */
static bool is_abandoned(const struct session *session)
{
	return session->options->forward_room && getppid() != session->options->forward_reader;
}

static int sum_up(struct session *session, struct fail *fail)
{
	int err = 0;

	session->result->time_ns = session->stopped_ns - session->started_ns;
	for (size_t i = 0; !err && i < session->rig.nr_targets; i++)
		err = record_result_add(session->result, &session->rig.targets[i], fail);
	for (size_t i = 0; !err && i < session->result->nr_cpus; i++)
		err = counters_dropped(session->parts->ledger, &session->result->cpus[i], fail);
	return err;
}

/* Makes the file from the parts. The parts are removed only if the file is complete, or if nothing was recorded. */
static int finish(struct session *session, struct fail *fail)
{
	struct record_result *result = session->result;
	int err;

	if (!session->parts)
		return 0;
	if (!result->ran || is_abandoned(session))
		return parts_remove(session->parts, fail);
	err = sum_up(session, fail);
	if (!err && session->options->sync_ns)
		err = sync_parts(session->parts, fail);
	if (!err && session->options->forward_room)
		return 0;
	if (!err)
		err = targets_assemble(session->rig.targets, session->rig.nr_targets, session->parts,
				       &(struct assembly_options){ .output = session->options->output,
								   .mode = session->options->mode,
								   .synced = session->options->sync_ns != 0 },
				       &result->file_size, fail);
	result->finish_ns = now_ns() - session->stopped_ns;
	if (!err) {
		result->finished = true;
		return parts_remove(session->parts, fail);
	}
	/* The reader of the pipe, such as head, has read enough. */
	if (err == -EPIPE && !strcmp(session->options->output, "-")) {
		(void)!parts_remove(session->parts, NULL);
		return fail_set(fail, err, "the reader of standard output closed it before the file was complete");
	}
	result->parts = strdup(session->parts->path);
	return err;
}

static void release(struct session *session)
{
	rig_release(&session->rig);
	parts_free(session->parts);
	if (session->recorder.stop_fd >= 0)
		close(session->recorder.stop_fd);
	session->result->command = session->workload.pid;
	workload_release(&session->workload);
	wake_release(&session->wake);
	session->result->interrupted = session->wake.interrupted;
}

int session_run(const struct record_options *options, struct record_result *ret, struct fail *fail)
{
	struct session session = {
		.options = options,
		.result = ret,
		.recorder = { .stop_fd = -1 },
		.workload = { .pid_fd = -1, .go_fd = -1, .errno_fd = -1 },
		.wake = WAKE_NONE,
	};
	struct restoring restoring = { .rig = &session.rig };
	struct fail later;
	int first, err;

	*ret = (struct record_result){ .has_status = false };
	first = prepare(&session, fail);
	if (!first) {
		first = trace(&session, fail);
		count_marks(&session);
		err = is_abandoned(&session) ? fail_set(&later, -EPIPE, "nobody takes what is recorded any more") :
					       collect(&session, &later);
		first = fail_first(first, err, fail, &later);
		restoring_start(&restoring);
		setup_step(&options->setup, "finishing the file");
	}
	stop_recorders(&session);
	err = join(&session, &later);
	first = fail_first(first, err, fail, &later);
	err = symbol_copy_finish(session.symbols, &ret->symbols_hidden, &later);
	first = fail_first(first, err, fail, &later);
	err = maps_copy_finish(session.maps, ret->ran && !is_abandoned(&session) ? session.parts->ledger : NULL,
			       &session.rig.tracing, &later);
	first = fail_first(first, err, fail, &later);
	if (!first) {
		err = ledger_add_text(session.parts->ledger, LEDGER_DRAINED, "1", &later);
		first = fail_first(first, err, fail, &later);
	}
	restoring_go(&restoring);
	err = finish(&session, &later);
	setup_step(&options->setup, "restoring the settings of tracing");
	restoring_end(&restoring);
	setup_step(&options->setup, NULL);
	first = fail_first(first, err, fail, &later);
	first = fail_first(first, restoring.err, fail, &restoring.fail);
	release(&session);
	return fail_writing(fail, first, parts_name_place(options->output, options->temp_dir));
}
