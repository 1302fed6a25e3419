// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/extraction.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/vec.h"
#include "lib/kernel/record/assembly_internal.h"
#include "lib/kernel/record/clock_sampler.h"
#include "lib/kernel/record/counters_internal.h"
#include "lib/kernel/record/event_count_internal.h"
#include "lib/kernel/record/facts_internal.h"
#include "lib/kernel/record/ledger_internal.h"
#include "lib/kernel/record/maps_copy_internal.h"
#include "lib/kernel/record/parts.h"
#include "lib/kernel/record/parts_name.h"
#include "lib/kernel/record/rig.h"
#include "lib/kernel/record/symbol_choice_internal.h"
#include "lib/kernel/record/symbol_copy_internal.h"
#include "lib/kernel/record/type_facts_internal.h"
#include "lib/kernel/setup/tracer.h"
#include "lib/kernel/tracefs/kconfig.h"
#include "lib/kernel/undo/claim.h"
#include "lib/kernel/undo/undo.h"
#include "lib/pages/codec/frame.h"

enum { HEAD_SIZE = 4096, PAGES_MORE = 2, KEEP_FREE = 1 << 20 };

struct names {
	const char **at;
	size_t nr;
};

struct work {
	const struct extraction_options *options;
	struct extraction *result;
	struct rig rig;
	struct names names;
	struct setup_instance *wanted; /* only the names of the instances */
	struct parts *parts;
	struct symbol_copy *symbols;
	bool taken; /* pages have left the kernel */
	bool texts; /* a latency tracer's text stands for the events of a buffer */
};

static int check_snapshot(const struct instance *instance, struct fail *fail)
{
	char tracer[64];

	if (!instance_has(instance, "snapshot"))
		return kconfig_no_file("snapshot", fail);
	if (!instance_read_word(instance, "current_tracer", tracer, sizeof(tracer), NULL) &&
	    tracer_is_max_latency(tracer))
		return fail_set(
			fail, -EBUSY,
			"the tracer '%s' keeps its worst case in the snapshot, which the kernel gives as text only: "
			"'weft show snapshot' prints it",
			tracer);
	return 0;
}

static int add_name(const char *name, void *data)
{
	struct names *names = data;
	const char **added = vec_push(names->at, names->nr);

	return added && (*added = strdup(name)) ? 0 : -ENOMEM;
}

static int find_names(struct work *work, struct fail *fail)
{
	const struct extraction_options *options = work->options;
	int err = options->all || !options->nr_instances ? add_name("", &work->names) : 0;

	for (size_t i = 0; !err && !options->all && i < options->nr_instances; i++)
		err = add_name(options->instances[i], &work->names);
	if (!err && options->all)
		err = instance_each(&work->rig.tracing, add_name, &work->names, fail);
	return err == -ENOMEM ? fail_memory(fail) : err;
}

static int claim(struct work *work, struct fail *fail)
{
	int err = 0;

	for (size_t i = 0; !err && i < work->names.nr; i++)
		err = undo_claim(work->rig.undo, work->names.at[i], &(const struct claim_manner){ .waits = false },
				 fail);
	return err;
}

static int open_targets(struct work *work, struct fail *fail)
{
	int err = rig_find(&work->rig, NULL, fail);

	if (!err)
		err = find_names(work, fail);
	if (!err && work->options->alone)
		err = claim(work, fail);
	if (err)
		return err;
	work->wanted = calloc(work->names.nr, sizeof(*work->wanted));
	if (!work->wanted)
		return fail_memory(fail);
	for (size_t i = 0; i < work->names.nr; i++)
		work->wanted[i].name = *work->names.at[i] ? work->names.at[i] : NULL;
	err = rig_take(&work->rig, work->wanted, work->names.nr, fail);
	for (size_t i = 0; !err && work->options->snapshot && i < work->rig.nr_targets; i++)
		err = check_snapshot(work->rig.targets[i].instance, fail);
	return err;
}

static bool is_on(const struct target *target)
{
	char on[8];

	return !instance_read_word(target->instance, "tracing_on", on, sizeof(on), NULL) && *on != '0';
}

/* Reads the counts in the header of `snapshot`. False: the text has none, like that of function_graph. */
static bool read_counts(const struct target *target, uint64_t *entries, uint64_t *written)
{
	cleanup_fd int fd = -1;
	char head[HEAD_SIZE + 1];
	const char *at;
	ssize_t len;

	if (instance_open_file(target->instance, "snapshot", O_RDONLY, &fd, NULL))
		return false;
	len = read(fd, head, HEAD_SIZE);
	if (len <= 0)
		return false;
	head[len] = '\0';
	at = strstr(head, "entries-in-buffer/entries-written: ");
	if (at)
		return sscanf(at, "entries-in-buffer/entries-written: %" SCNu64 "/%" SCNu64, entries, written) == 2;
	at = strstr(head, " us, #");
	return at && sscanf(at, " us, #%" SCNu64 "/%" SCNu64, entries, written) == 2;
}

/*
 * Adds the counts of the snapshot. per_cpu/cpuN/stats counts the live buffer; only the text of the snapshot has counts,
 * as a sum over all CPUs.
 */
static int add_counts(struct work *work, const struct target *target, struct fail *fail)
{
	uint64_t entries = 0, written = 0;
	char text[64];
	int len;

	if (!read_counts(target, &entries, &written))
		return 0;
	work->result->overwritten += written - entries;
	len = snprintf(text, sizeof(text), "%" PRIu64 "/%" PRIu64 "\n", entries, written);
	return ledger_add(work->parts->ledger,
			  &(struct ledger_item){ .kind = LEDGER_SETTING,
						 .buffer = target->index,
						 .key = "weft/entries",
						 .data = text,
						 .len = (size_t)len },
			  fail);
}

/* A snapshot may have events of a CPU whose live buffer has none. */
static bool has_cpu(const struct work *work, const struct target *target, uint32_t cpu)
{
	char file[64];

	snprintf(file, sizeof(file), "per_cpu/cpu%" PRIu32 "/stats", cpu);
	return (work->options->snapshot || cpus_has(&target->cpus, cpu)) && instance_has(target->instance, file);
}

static int add_snapshot_facts(struct work *work, struct fail *fail)
{
	int err = 0;

	for (size_t i = 0; !err && i < work->rig.nr_targets; i++) {
		const struct target *target = &work->rig.targets[i];

		err = add_counts(work, target, fail);
		/*
		 * Without the option latency-format the text gives no information: only function_graph prints a
		 * snapshot with it.
		 */
		if (!err)
			err = facts_latency_sample(work->parts->ledger, target, "snapshot", false, fail);
	}
	return err;
}

/*
 * What the kernel's `trace` shows under a latency tracer is its worst case. The live buffer has the events since then:
 * they would stand under the head of the worst case, so they stay where they are.
 */
static void leave_live(struct work *work, const struct target *target)
{
	work->texts = true;
	for (uint32_t cpu = 0; cpu < target->nr_cpus; cpu++)
		work->result->left += target->stop[cpu].entries;
}

static int add_buffer_facts(struct work *work, struct fail *fail)
{
	struct ledger *ledger = work->parts->ledger;
	int err = facts_of_buffers(ledger, work->rig.targets, work->rig.nr_targets, fail);

	for (size_t i = 0; !err && i < work->rig.nr_targets; i++) {
		struct target *target = &work->rig.targets[i];

		err = facts_latency_sample(ledger, target, "trace", true, fail);
		target->keeps_worst = target_is_max_latency(target);
		if (target->keeps_worst) {
			leave_live(work, target);
			continue;
		}
		for (uint32_t cpu = 0; !err && cpu < target->nr_cpus; cpu++) {
			work->result->overwritten += target->stop[cpu].overrun;
			work->result->dropped += target->stop[cpu].dropped + target->stop[cpu].commit_overrun;
		}
	}
	return err;
}

/* One sample is all there is: how the clock ran before is not known. */
static void add_samples(struct work *work)
{
	rig_sample(&work->rig);
	clock_sampler_zone(work->parts->ledger);
	clock_sampler_take(work->rig.sampler, work->parts->ledger, WALL_END);
}

static int add_facts(struct work *work, struct fail *fail)
{
	const struct extraction_options *options = work->options;
	struct ledger *ledger = work->parts->ledger;
	const struct target *first = &work->rig.targets[0];
	struct parts_file file =
		parts_file_here(options->version, options->compress, options->level, &first->shape, first->nr_cpus);
	struct maps_copy *maps = NULL;
	int err = parts_describe(work->parts, &file, fail);

	if (!err)
		err = symbol_copy_start(ledger, &work->symbols, fail);
	if (!err && options->all_symbols)
		err = symbol_choice_keep_all(ledger, fail);
	/* The buffer may hold events that are disabled now, so all formats are saved. */
	if (!err)
		err = facts_at_start(ledger, "extract", &work->rig.tracing, work->rig.targets, work->rig.nr_targets,
				     true, fail);
	if (!err)
		err = facts_of_tasks(ledger, NULL, true, fail);
	if (!err)
		err = facts_of_texts(ledger, &work->rig.tracing, work->rig.targets, work->rig.nr_targets,
				     options->texts, fail);
	if (!err)
		err = options->snapshot ? add_snapshot_facts(work, fail) : add_buffer_facts(work, fail);
	if (!err)
		err = facts_of_types(ledger, fail);
	if (!err)
		add_samples(work);
	if (!err)
		err = maps_copy_start(work->rig.targets, work->rig.nr_targets, false, 0, &maps, fail);
	return err ? err : maps_copy_finish(maps, ledger, &work->rig.tracing, fail);
}

/*
 * Notes that the buffer was written to while it was read: events lost meanwhile are missing from the file
 * (lib/meaning/event/context.h).
 */
static int note_went_on(struct work *work, const struct target *target, struct fail *fail)
{
	work->result->went_on = true;
	return ledger_add(
		work->parts->ledger,
		&(struct ledger_item){
			.kind = LEDGER_SETTING, .buffer = target->index, .key = "weft/went_on", .data = "1", .len = 1 },
		fail);
}

/*
 * The counters that were saved are of a moment before the pages were taken: what they say becomes true of the file. The
 * first page tells what was overwritten since the buffer was last read, the others what was overwritten meanwhile.
 */
static int count_taken(struct work *work, const struct target *target, uint32_t cpu, uint64_t overrun,
		       const struct event_count *kept, struct fail *fail)
{
	uint64_t before = overrun > kept->first ? overrun : kept->first, all = before + kept->lost - kept->first;

	if (all > target->stop[cpu].overrun)
		work->result->overwritten += all - target->stop[cpu].overrun;
	return counters_taken(work->parts->ledger, target->index, cpu, kept->events, all, fail);
}

static int drain_cpu(struct work *work, struct target *target, uint32_t cpu, bool goes_on, struct fail *fail)
{
	const struct extraction_options *options = work->options;
	struct spool_options spool = { .compressed = options->compress };
	struct recorder_options how = { .stop_fd = -1, .failed_fd = -1, .level = options->level };
	struct ring_buffer_stats before = { .overrun = 0 };
	struct recorder *recorder;
	struct event_count kept;
	int err;

	if (goes_on)
		how.rest_max = ring_buffer_cpu_size(target->instance, cpu) + PAGES_MORE * target->shape.size;
	err = target_add_recorder(target, work->parts, cpu, &spool, &how, &recorder, fail);
	if (!err)
		err = (options->snapshot ? cpu_pipe_open_snapshot : cpu_pipe_open)(target->instance, cpu,
										   target->shape.size, &recorder->pipe,
										   fail);
	if (!err && goes_on)
		err = ring_buffer_stats(target->instance, cpu, &before, fail);
	if (!err) {
		work->taken = true;
		err = recorder_drain(recorder, fail);
	}
	cpu_pipe_close(&recorder->pipe);
	if (!err)
		err = event_count_count(&recorder->spool, &kept, fail);
	if (!err && goes_on)
		err = count_taken(work, target, cpu, before.overrun, &kept, fail);
	if (err)
		return err;
	work->result->events += kept.events;
	work->result->raw += recorder->spool.raw;
	work->result->cpus += recorder->spool.raw > 0;
	return 0;
}

/*
 * Checks the free space on the disk before anything is taken, because pages without space would be lost. The file is
 * made from the parts, so the disk may need twice the size of the data, unless the data is compressed.
 */
static int check_room(const struct work *work, struct fail *fail)
{
	uint64_t need = KEEP_FREE, there;
	struct statvfs vfs;

	for (size_t i = 0; i < work->rig.nr_targets; i++)
		for (uint32_t cpu = 0; cpu < work->rig.targets[i].nr_cpus; cpu++)
			need += work->options->snapshot ?
					ring_buffer_cpu_size(work->rig.targets[i].instance, cpu) :
					work->rig.targets[i].stop[cpu].bytes * (work->options->compress ? 1 : 2);
	if (fstatvfs(work->parts->dir, &vfs))
		return 0;
	there = (uint64_t)vfs.f_bavail * vfs.f_frsize;
	if (there >= need)
		return 0;
	return fail_set(fail, -ENOSPC,
			"%" PRIu64 " MiB may be needed in '%s', and %" PRIu64 " are free; nothing was taken out of "
			"the kernel, --temp-dir names another place",
			(need >> 20) + 1, work->parts->path, there >> 20);
}

static int drain(struct work *work, struct fail *fail)
{
	int err = 0;

	for (size_t i = 0; !err && i < work->rig.nr_targets; i++) {
		struct target *target = &work->rig.targets[i];
		bool goes_on = !work->options->snapshot && is_on(target);

		if (target->keeps_worst)
			continue;
		if (goes_on)
			err = note_went_on(work, target, fail);
		for (uint32_t cpu = 0; !err && cpu < target->nr_cpus; cpu++)
			if (has_cpu(work, target, cpu))
				err = drain_cpu(work, target, cpu, goes_on, fail);
	}
	return err;
}

static int finish(struct work *work, struct fail *fail)
{
	struct extraction *result = work->result;
	int err;

	/* The text of a latency tracer is worth a file even without pages. */
	if (!result->raw && !ledger_load(work->parts->ledger, NULL) && !work->texts) {
		err = parts_remove(work->parts, fail);
		return err ? err :
			     fail_set(fail, -ENODATA, "there is nothing in %s",
				      work->options->snapshot ? "the snapshot" : "the buffer");
	}
	err = targets_assemble(work->rig.targets, work->rig.nr_targets, work->parts,
			       &(struct assembly_options){ .output = work->options->output,
							   .mode = work->options->mode },
			       &result->file_size, fail);
	return err ? err : parts_remove(work->parts, fail);
}

static void release(struct work *work)
{
	rig_release(&work->rig);
	for (size_t i = 0; i < work->names.nr; i++)
		free((char *)(uintptr_t)work->names.at[i]);
	free(work->names.at);
	free(work->wanted);
	parts_free(work->parts);
}

/* Delays signals until the file is finished, because the pages have left the kernel and are in no other place. */
static void block_signals(sigset_t *ret_old)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < array_size(signals); i++)
		sigaddset(&set, signals[i]);
	pthread_sigmask(SIG_BLOCK, &set, ret_old);
}

int extraction_run(const struct extraction_options *options, struct extraction *ret, struct fail *fail)
{
	struct work work = { .options = options, .result = ret };
	struct fail later;
	sigset_t old;
	int err, undone;

	block_signals(&old);
	*ret = (struct extraction){ .events = 0 };
	err = open_targets(&work, fail);
	if (!err)
		err = parts_new(options->output, options->temp_dir, &work.parts, fail);
	if (!err)
		err = add_facts(&work, fail);
	if (!err)
		err = check_room(&work, fail);
	if (!err)
		err = drain(&work, fail);
	undone = symbol_copy_finish(work.symbols, &ret->symbols_hidden, &later);
	err = fail_first(err, undone, fail, &later);
	undone = rig_restore(&work.rig, &later);
	if (!err)
		err = finish(&work, fail);
	else if (work.parts && !work.taken)
		(void)!parts_remove(work.parts, NULL);
	if (err && err != -ENODATA && work.taken)
		ret->parts = strdup(work.parts->path);
	err = fail_first(err, undone, fail, &later);
	release(&work);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return fail_writing(fail, err, parts_name_place(options->output, options->temp_dir));
}

struct extraction_options extraction_alone(const char *const *instance, const char *output, mode_t mode)
{
	return (struct extraction_options){
		.instances = instance,
		.nr_instances = 1,
		.alone = true,
		.output = output,
		.mode = mode,
		.version = 7,
		.compress = true,
		.level = FRAME_LEVEL_DEFAULT,
	};
}

void extraction_release(struct extraction *extraction)
{
	free(extraction->parts);
	extraction->parts = NULL;
}
