// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/session.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
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
#include "lib/kernel/record/section_internal.h"
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
#include "lib/kernel/undo/undo.h"
#include "lib/meaning/event/own_formats.h"
#include "lib/pages/trace/trace.h"

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
	uint64_t cpu_started_ns; /* how long the threads of this process had run then */
	uint64_t top_written;    /* what was written to the top buffer, if only trace_marker writes there */
	uint64_t nr_late;        /* tasks that came into a control group that is recorded, while it was */
	bool follows;            /* looks for such tasks */
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

/* Saves a line of a word and a number. */
static int note(struct session *session, const char *setting, const char *word, uint64_t number, struct fail *fail)
{
	char text[64];
	int len = snprintf(text, sizeof(text), "%s%" PRIu64 "\n", word, number);

	return ledger_add(session->parts->ledger,
			  &(struct ledger_item){
				  .kind = LEDGER_SETTING, .key = setting, .data = text, .len = (size_t)len },
			  fail);
}

static int note_spent(struct session *session, struct fail *fail)
{
	const struct record_options *options = session->options;

	if (session->result->spent == RECORD_SPENT_EVENTS)
		return note(session, SETTING_ENDED, "max-events ", options->max_events, fail);
	if (session->result->spent == RECORD_SPENT_CPU)
		return note(session, SETTING_ENDED, "max-cpu ", options->max_cpu_ns, fail);
	return 0;
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
	if (!err && options->sample_of)
		err = note(session, SETTING_SAMPLE, "1/", options->sample_of, fail);
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

/* For how long the threads of this process have run. */
static uint64_t cpu_ns(void)
{
	struct timespec time;

	return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) ?
		       0 :
		       (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
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
	session->cpu_started_ns = cpu_ns();
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

/* How often it is looked whether a budget is used up. */
enum { BUDGET_MS = 250 };

static bool has_budget(const struct record_options *options)
{
	return options->max_events || options->max_cpu_ns;
}

static enum record_spent what_is_spent(const struct session *session)
{
	const struct record_options *options = session->options;
	struct progress progress;

	if (options->max_cpu_ns && cpu_ns() - session->cpu_started_ns >= options->max_cpu_ns)
		return RECORD_SPENT_CPU;
	if (!options->max_events)
		return RECORD_SPENT_NOTHING;
	progress_read(session->rig.targets, session->rig.nr_targets, session->started_ns, &progress);
	return progress.events >= options->max_events ? RECORD_SPENT_EVENTS : RECORD_SPENT_NOTHING;
}

/* How long may be slept, in ms; -1: until something happens. */
static int nap_ms(const struct session *session)
{
	const struct record_options *options = session->options;
	int ms = options->look ? (int)options->look_ms : -1;

	if (has_budget(options) && (ms < 0 || ms > BUDGET_MS))
		ms = BUDGET_MS;
	return session->follows ? FOLLOW_MS : ms;
}

/* wake_wait() with calls of options->look, and looks at the budget. */
static int wait_and_look(struct session *session, enum wake_reason *ret, struct fail *fail)
{
	const struct record_options *options = session->options;
	struct pollfd fds[WAKE_FDS];
	struct progress progress;
	uint64_t looked = 0, counted = 0;
	int r;

	while (!(r = wake_poll(&session->wake, &session->workload, fds, WAKE_FDS, nap_ms(session), ret,
			       &session->result->status, fail))) {
		if (session->follows)
			follow_groups(session);
		if (has_budget(options) && now_ns() - counted >= BUDGET_MS * (uint64_t)NS_PER_MS) {
			counted = now_ns();
			session->result->spent = what_is_spent(session);
			*ret = WAKE_BUDGET;
			if (session->result->spent)
				return 0;
		}
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
		err = session->options->look || session->follows || has_budget(session->options) ?
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
		err = note_spent(session, fail);
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
