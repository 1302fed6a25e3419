// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/section_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/record/ledger_internal.h"
#include "lib/kernel/record/parts.h"
#include "lib/kernel/record/recorder.h"
#include "lib/kernel/record/target.h"
#include "lib/kernel/setup/tracer.h"
#include "lib/kernel/undo/change.h"
#include "lib/kernel/undo/instance_open.h"

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

/* Takes the tracer away from the snapshot: see the header. */
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

int section_take(struct target *target, struct parts *parts, const struct spool_options *spool,
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
