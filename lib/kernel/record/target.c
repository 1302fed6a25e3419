// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/target.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/vec.h"
#include "lib/kernel/record/assembly_internal.h"
#include "lib/kernel/record/chunk_history_internal.h"
#include "lib/kernel/record/intake_internal.h"
#include "lib/kernel/record/ledger_internal.h"
#include "lib/kernel/record/page_staging_internal.h"
#include "lib/kernel/record/parts.h"
#include "lib/kernel/setup/tracer.h"
#include "lib/kernel/undo/change.h"

/*
 * How full a buffer is when the kernel wakes its recorder. The rest of the buffer must last until the recorder gets a
 * CPU; on a busy machine half of a small buffer is not always enough.
 */
enum { WAKE_PERCENT = 25 };

static bool was_used(const struct ring_buffer_stats *stats)
{
	return stats->entries || stats->read || stats->overrun || stats->dropped;
}

/* A buffer that weft did not make may have events of CPUs that were removed from the machine. */
static int count_used(struct target *target, const struct cpus *possible, struct fail *fail)
{
	struct cpus present = target->cpus;
	int err;

	target->cpus = *possible;
	err = target_count(target, target->start, fail);
	target->cpus = present;
	for (uint32_t cpu = 0; !err && cpu < target->nr_cpus; cpu++)
		if (was_used(&target->start[cpu]))
			(void)cpus_add(&target->cpus, cpu);
	return err;
}

static int count_start(struct target *target, struct fail *fail)
{
	struct cpus possible;
	int err = tracing_possible_cpus(&possible, fail);

	if (err)
		return err;
	for (int cpu = cpus_next(&possible, 0); cpu >= 0; cpu = cpus_next(&possible, cpu + 1))
		target->nr_cpus = (uint32_t)cpu + 1;
	target->start = calloc(target->nr_cpus, sizeof(*target->start));
	target->stop = calloc(target->nr_cpus, sizeof(*target->stop));
	if (!target->start || !target->stop)
		return fail_memory(fail);
	target->uevents = tracing_uevents();
	if (tracing_present_cpus(&target->cpus, NULL))
		target->cpus = possible;
	/* A private instance is new: nothing was counted there. */
	return target->instance->kind == INSTANCE_PRIVATE ? 0 : count_used(target, &possible, fail);
}

/*
 * Makes a max-latency tracer forget the latencies that the setup caused. The tracer measures as soon as it is set;
 * these latencies have no events, because tracing is off. Only turning tracing off makes it forget them (stop() in
 * trace_irqsoff.c and trace_sched_wakeup.c).
 */
static int forget_worst(struct target *target, struct fail *fail)
{
	static const char file[] = "tracing_max_latency";
	struct instance *instance = target->instance;
	int err = instance_turn(instance, true, fail);

	if (!err)
		err = instance_turn(instance, false, fail);
	if (!err && instance_has(instance, file))
		err = instance_set(instance, file, "0", fail);
	return err ? err : instance_clear(instance, fail);
}

int target_open(struct target *target, const struct setup_context *context, struct fail *fail)
{
	int err = setup_open(context, target->wanted, &target->instance, fail);

	target->probes = context->probes;
	if (!err)
		err = count_start(target, fail);
	if (!err && !target->wanted->has_percent)
		err = ring_buffer_set_percent(target->instance, WAKE_PERCENT, fail);
	if (!err)
		err = setup_apply(context, target->wanted, target->instance, &target->events, fail);
	if (!err)
		err = instance_read(target->instance, "set_event", &target->enabled, fail);
	if (!err)
		err = ring_buffer_clock(target->instance, target->clock, fail);
	target->keeps_worst = !err && target_is_max_latency(target);
	if (!err && target->keeps_worst && target->wanted->tracer)
		err = forget_worst(target, fail);
	if (err)
		return err;
	return ring_buffer_shape(target->instance, &target->shape, fail);
}

int target_take(struct target *target, struct instance *instance, struct fail *fail)
{
	int err;

	target->instance = instance;
	err = count_start(target, fail);
	if (!err)
		err = instance_read(instance, "set_event", &target->enabled, fail);
	if (!err)
		err = ring_buffer_clock(instance, target->clock, fail);
	return err ? err : ring_buffer_shape(instance, &target->shape, fail);
}

/* Recovery can then tell a spool that somebody removed from a CPU that was never online. */
static int note_spool(struct parts *parts, uint32_t buffer, uint32_t cpu, struct fail *fail)
{
	char key[16];

	snprintf(key, sizeof(key), "%" PRIu32, cpu);
	return ledger_add(parts->ledger,
			  &(struct ledger_item){ .kind = LEDGER_SPOOL, .buffer = buffer, .key = key, .data = "" },
			  fail);
}

int target_add_recorder(struct target *target, struct parts *parts, uint32_t cpu, const struct spool_options *spool,
			const struct recorder_options *options, struct recorder **ret, struct fail *fail)
{
	struct recorder *recorder = calloc(1, sizeof(*recorder));
	struct recorder **added = recorder ? vec_push(target->recorders, target->nr_recorders) : NULL;
	struct spool_options with_shape = *spool;
	int err;

	if (!added) {
		free(recorder);
		return fail_memory(fail);
	}
	*recorder = (struct recorder){ .buffer = target->index,
				       .cpu = cpu,
				       .options = *options,
				       .pipe = CPU_PIPE_INIT,
				       .watch = RING_WATCH_INIT,
				       .spool = { .fd = -1 } };
	recorder->options.nr_cpus = cpus_count(&target->cpus);
	*added = recorder;
	*ret = recorder;
	with_shape.shape = target->shape;
	err = parts ? spool_new(parts->dir, target->index, cpu, &with_shape, &recorder->spool, fail) :
		      spool_new_in_memory(&with_shape, &recorder->spool, fail);
	if (!err && parts)
		err = note_spool(parts, target->index, cpu, fail);
	if (err || !options->held)
		return err;
	err = page_staging_new(parts ? parts->dir : -1, target->index, cpu, target->shape.size,
			       intake_landing_size(target->shape.size, recorder->options.nr_cpus), &recorder->staging,
			       fail);
	if (err)
		return err;
	return chunk_history_add_cpu(options->held, target->index, cpu, recorder->spool.fd, options->since,
				     &recorder->held, fail);
}

/* All threads have been started, and each takes its place while the next ones are started. */
static int await_recorders(struct target *target, struct fail *fail)
{
	int err = 0;

	for (size_t i = 0; !err && i < target->nr_recorders; i++)
		err = recorder_await(target->recorders[i], fail);
	return err;
}

/* Starts the recorder of one CPU. The recorder owns its pipe and its spool and releases them. */
static int record_cpu(struct target *target, struct parts *parts, uint32_t cpu, const struct spool_options *spool,
		      const struct recorder_options *options, struct fail *fail)
{
	struct recorder_options with_buffer = *options;
	struct recorder *recorder;
	int err;

	if (!with_buffer.buffer_size)
		with_buffer.buffer_size = ring_buffer_cpu_size(target->instance, cpu);
	with_buffer.percent = target->wanted->has_percent ? target->wanted->percent : WAKE_PERCENT;
	err = target_add_recorder(target, parts, cpu, spool, &with_buffer, &recorder, fail);
	if (!err)
		err = cpu_pipe_open(target->instance, cpu, target->shape.size, &recorder->pipe, fail);
	if (err)
		return err;
	recorder->watch = ring_watch_open(target->instance, cpu, &target->start[cpu]);
	recorder->pipe.watch = &recorder->watch;
	return recorder_start(recorder, fail);
}

static bool is_recorded(const struct target *target, uint32_t cpu)
{
	for (size_t i = 0; i < target->nr_recorders; i++)
		if (target->recorders[i]->cpu == cpu)
			return true;
	return false;
}

int target_record(struct target *target, struct parts *parts, const struct cpus *cpus,
		  const struct spool_options *spool, const struct recorder_options *options, struct fail *fail)
{
	struct recorder_options with_size = *options;
	int err = 0;

	with_size.buffer_size = ring_buffer_same_size(target->instance);
	for (int cpu = cpus_next(cpus, 0); !target->keeps_worst && !err && cpu >= 0; cpu = cpus_next(cpus, cpu + 1))
		if ((uint32_t)cpu < target->nr_cpus && !is_recorded(target, (uint32_t)cpu))
			err = record_cpu(target, parts, (uint32_t)cpu, spool, &with_size, fail);
	return err ? err : await_recorders(target, fail);
}

int target_record_rest(struct target *target, struct parts *parts, const struct spool_options *spool,
		       const struct recorder_options *options, struct fail *fail)
{
	for (uint32_t cpu = 0; !target->keeps_worst && cpu < target->nr_cpus; cpu++) {
		int err = 0;

		if (target->stop[cpu].entries && !is_recorded(target, cpu))
			err = record_cpu(target, parts, cpu, spool, options, fail);
		if (err)
			return err;
	}
	return await_recorders(target, fail);
}

int target_quiet(struct target *target, struct fail *fail)
{
	if (!target->instance || target->instance->kind != INSTANCE_PRIVATE)
		return 0;
	return instance_write(target->instance, "events/enable", "0", fail);
}

bool target_is_max_latency(const struct target *target)
{
	char tracer[64];

	return !instance_read_word(target->instance, "current_tracer", tracer, sizeof(tracer), NULL) &&
	       tracer_is_max_latency(tracer);
}

static int raise(struct instance *instance, const char *file, struct buf *was, struct fail *fail)
{
	int err = instance_read(instance, file, was, fail);

	return err ? err : instance_set(instance, file, "9223372036854775", fail);
}

int target_keep_worst(struct target *target, struct fail *fail)
{
	static const char max[] = "tracing_max_latency", thresh[] = "tracing_thresh";
	struct instance top = instance_top(target->instance->tracing);
	char word[32];
	int err;

	if (target->max_latency.len || !target_is_max_latency(target) || !instance_has(target->instance, max))
		return 0;
	err = raise(target->instance, max, &target->max_latency, fail);
	/* With a threshold the tracer keeps the last latency above it, not the longest. */
	top.undo = target->instance->undo;
	if (err || instance_read_word(&top, thresh, word, sizeof(word), NULL) || !strcmp(word, "0"))
		return err;
	return raise(&top, thresh, &target->thresh, fail);
}

int target_find_cpus(struct target *target, struct fail *fail)
{
	uint64_t now = tracing_uevents();

	/* A CPU that came and went is neither present now nor was it before. */
	return now && now == target->uevents ? 0 : tracing_possible_cpus(&target->cpus, fail);
}

void target_add_cpus(struct target *target)
{
	uint64_t now = tracing_uevents();
	struct cpus present;

	if ((now && now == target->uevents) || tracing_present_cpus(&present, NULL))
		return;
	target->uevents = now;
	for (size_t i = 0; i < array_size(present.bits); i++)
		target->cpus.bits[i] |= present.bits[i];
}

int target_count(struct target *target, struct ring_buffer_stats *into, struct fail *fail)
{
	char file[64];

	for (uint32_t cpu = 0; cpu < target->nr_cpus; cpu++) {
		int err;

		snprintf(file, sizeof(file), "per_cpu/cpu%u/stats", cpu);
		if (!cpus_has(&target->cpus, cpu) || !instance_has(target->instance, file))
			continue;
		err = ring_buffer_stats(target->instance, cpu, &into[cpu], fail);
		if (err)
			return err;
	}
	return 0;
}

void target_close_pipes(struct target *target)
{
	for (size_t i = 0; i < target->nr_recorders; i++) {
		cpu_pipe_close(&target->recorders[i]->pipe);
		ring_watch_close(&target->recorders[i]->watch);
	}
}

int targets_assemble(const struct target *targets, size_t nr, struct parts *parts,
		     const struct assembly_options *options, uint64_t *ret_size, struct fail *fail)
{
	cleanup_free struct assembly_piece *pieces = NULL;
	size_t nr_pieces = 0;

	for (size_t i = 0; i < nr; i++)
		nr_pieces += targets[i].nr_recorders;
	pieces = calloc(nr_pieces + 1, sizeof(*pieces));
	if (!pieces)
		return fail_memory(fail);
	nr_pieces = 0;
	for (size_t i = 0; i < nr; i++)
		for (size_t j = 0; j < targets[i].nr_recorders; j++) {
			const struct recorder *recorder = targets[i].recorders[j];
			const struct spool *spool = &recorder->spool;

			pieces[nr_pieces++] = (struct assembly_piece){
				.buffer = recorder->buffer,
				.cpu = recorder->cpu,
				.fd = spool->fd,
				.offset = spool->begin,
				.size = spool_size(spool),
				.chunks = spool->chunks,
				.is_part = true,
			};
		}
	return assembly_write(parts, pieces, nr_pieces, options, ret_size, fail);
}

void target_release(struct target *target)
{
	for (size_t i = 0; i < target->nr_recorders; i++) {
		recorder_release(target->recorders[i]);
		free(target->recorders[i]);
	}
	free(target->recorders);
	free(target->start);
	free(target->stop);
	event_set_release(&target->events);
	buf_release(&target->enabled);
	buf_release(&target->max_latency);
	buf_release(&target->thresh);
}
