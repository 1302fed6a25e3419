// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/record/section_internal.h"

#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/record/ledger_internal.h"
#include "lib/record/parts.h"
#include "lib/record/section_swap_internal.h"
#include "lib/record/target.h"
#include "lib/setup/tracer.h"
#include "lib/undo/change.h"
#include "lib/undo/instance_open.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
	int err = instance_new_private(target->instance->tracing, target->instance->undo, ret, fail);

	/* With this option the kernel would change the code of all functions. */
	if (!err && instance_has(*ret, "options/function-trace"))
		err = instance_write(*ret, "options/function-trace", "0", fail);
	/* -EBUSY: somebody else has it, which is as good. */
	if (!err)
		err = instance_write(*ret, "current_tracer", tracer, fail);
	return err == -EBUSY ? 0 : err;
}

/* The options of the text from which latency_facts_learn() of lib/event learns. */
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
