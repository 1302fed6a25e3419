// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/rig.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/number.h"
#include "lib/kernel/record/clock_sampler.h"
#include "lib/kernel/setup/tracer.h"
#include "lib/kernel/undo/change.h"
#include "lib/kernel/undo/instance_open.h"
#include "lib/kernel/undo/shared.h"
#include "lib/kernel/undo/undo.h"

int rig_find(struct rig *rig, struct plan *plan, struct fail *fail)
{
	int err = tracing_find(&rig->tracing, fail);

	rig->tracing.plan = plan;
	return err ? err : undo_new(&rig->tracing, NULL, &rig->undo, fail);
}

static int make_targets(struct rig *rig, size_t nr, struct fail *fail)
{
	rig->targets = calloc(nr, sizeof(*rig->targets));
	return rig->targets ? 0 : fail_memory(fail);
}

static int set_up_target(struct target *target, const struct setup_context *context, bool stays, struct fail *fail)
{
	int err;

	if (!stays)
		return target_open(target, context, fail);
	err = setup_open(context, target->wanted, &target->instance, fail);
	return err ? err : setup_apply(context, target->wanted, target->instance, &target->events, fail);
}

static int set_up_targets(struct rig *rig, const struct rig_options *options, struct fail *fail)
{
	const struct setup *setup = options->setup;
	const struct setup_context context = {
		.tracing = &rig->tracing,
		.undo = rig->undo,
		.catalog = rig->catalog,
		.setup = setup,
		.manner = options->manner,
		.probes = &rig->probes,
		.command = options->command,
		.late = &rig->late,
	};
	int err = make_targets(rig, setup->nr_instances, fail);

	for (size_t i = 0; !err && i < setup->nr_instances; i++) {
		struct target *target = &rig->targets[rig->nr_targets];

		if (!(options->uses ? options->uses : setup_uses)(setup, i))
			continue;
		rig->nr_targets++;
		target->wanted = &setup->instances[i];
		target->index = (uint32_t)i;
		err = set_up_target(target, &context, options->stays, fail);
		if (!err && options->check)
			err = options->check(options->arg, fail);
	}
	return err ? err : late_disarm(&rig->late, fail);
}

/*
 * Raises saved_cmdlines_size for start and set. The size stays after weft has ended; the journal has the old value. It
 * is never lowered, because a change empties the cache of names, which others may need.
 */
static int set_cmdlines(struct rig *rig, uint32_t entries, struct fail *fail)
{
	static const char file[] = "saved_cmdlines_size";
	struct instance *top = NULL;
	char value[16], now[32];
	int err = instance_open_top(&rig->tracing, rig->undo, &top, fail);

	if (err)
		return err;
	err = instance_read_word(top, file, now, sizeof(now), fail);
	snprintf(value, sizeof(value), "%" PRIu32, entries);
	if (!err && number_of(now, 0) < entries)
		err = instance_set(top, file, value, fail);
	instance_close(top, NULL);
	return err;
}

static int set_up(struct rig *rig, const struct rig_options *options, struct fail *fail)
{
	uint32_t cmdlines = options->setup->cmdlines;
	int err = setup_probes_make(&rig->tracing, rig->undo, options->setup, &rig->probes, fail);

	/* The process of the command was forked before and keeps its own limit of open files. */
	if (!options->stays)
		io_many_files();
	/* The probes were made before, so the catalog contains their events. */
	if (!err)
		err = catalog_new(&rig->tracing, &rig->catalog, fail);
	if (!err)
		err = set_up_targets(rig, options, fail);
	if (err || !cmdlines)
		return err;
	return options->stays ? set_cmdlines(rig, cmdlines, fail) :
				shared_cmdlines_raise(&rig->tracing, NULL, cmdlines, &rig->cmdlines, fail);
}

int rig_set_up(struct rig *rig, const struct rig_options *options, struct fail *fail)
{
	int err;

	/* The kernel patches the code of each event: a second for some hundred of them. */
	setup_step(options->setup, "setting up tracing");
	err = set_up(rig, options, fail);
	setup_step(options->setup, NULL);
	return err;
}

static int take_target(struct rig *rig, struct target *target, const char *name, struct fail *fail)
{
	struct instance *instance;
	int err = name ? instance_open(&rig->tracing, name, false, rig->undo, &instance, fail) :
			 instance_open_top(&rig->tracing, rig->undo, &instance, fail);

	return err ? err : target_take(target, instance, fail);
}

int rig_take(struct rig *rig, const struct setup_instance *wanted, size_t nr, struct fail *fail)
{
	/*
	 * The first buffer of a file is the top buffer, with or without pages. The others are numbered after it without
	 * a gap.
	 */
	uint32_t named = 0;
	int err = catalog_new(&rig->tracing, &rig->catalog, fail);

	io_many_files();
	if (!err)
		err = make_targets(rig, nr, fail);
	for (size_t i = 0; !err && i < nr; i++) {
		struct target *target = &rig->targets[rig->nr_targets++];

		*target = (struct target){ .wanted = &wanted[i],
					   .index = wanted[i].name ? ++named : 0,
					   .events = { .catalog = rig->catalog } };
		err = take_target(rig, target, wanted[i].name, fail);
	}
	return err;
}

int rig_hold_late(struct rig *rig, struct fail *fail)
{
	return switches_arm_late(&rig->switches, &rig->late, fail);
}

int rig_hold(struct rig *rig, bool keeps_worst, struct fail *fail)
{
	int err = 0;

	for (size_t i = 0; !err && i < rig->nr_targets; i++)
		err = switches_add(&rig->switches, rig->targets[i].instance, keeps_worst && rig->targets[i].keeps_worst,
				   fail);
	return err ? err : rig_hold_late(rig, fail);
}

void rig_give_marker(struct rig *rig)
{
	const struct instance *instance = rig->nr_targets ? rig->targets[0].instance : NULL;
	const struct instance top = instance_top(&rig->tracing);

	if (instance && instance->kind == INSTANCE_PRIVATE && option_get(instance, "copy_trace_marker") > 0)
		switches_mark(&rig->switches, &top);
	else if (instance && instance->kind != INSTANCE_PRIVATE)
		switches_mark(&rig->switches, instance);
}

void rig_sample(struct rig *rig)
{
	rig->sampler = clock_sampler_new(&rig->tracing, rig->undo, rig->targets, rig->nr_targets);
}

int rig_stop(struct rig *rig, struct fail *fail)
{
	struct fail later;
	int err = tracing_stay(&rig->tracing, fail);

	if (err)
		return err;
	err = switches_turn(&rig->switches, false, fail);
	for (size_t i = 0; i < rig->nr_targets; i++) {
		struct target *target = &rig->targets[i];
		int failed = switches_limit(&rig->switches, i, SWITCHES_MAX_LATENCY, &target->max_latency, &later);

		err = fail_first(err, failed, fail, &later);
		failed = switches_limit(&rig->switches, i, SWITCHES_THRESH, &target->thresh, &later);
		err = fail_first(err, failed, fail, &later);
	}
	return err;
}

int rig_missed(const struct rig *rig, uint64_t *ret, char **ret_lines, struct fail *fail)
{
	cleanup_buf struct buf lines = BUF_INIT;
	int err = setup_probes_missed(&rig->tracing, &rig->probes, &lines, ret, fail);

	if (!err && lines.len)
		*ret_lines = buf_take(&lines, NULL);
	return err;
}

int rig_restore(struct rig *rig, struct fail *fail)
{
	struct fail later;
	int first = 0, err;

	for (size_t i = 0; i < rig->nr_targets; i++)
		target_close_pipes(&rig->targets[i]);
	clock_sampler_free(take(rig->sampler));
	switches_release(&rig->switches);
	if (rig->kept)
		first = undo_unhold(rig->undo, fail);
	else if (rig->undo)
		first = undo_restore(rig->undo, fail);
	for (size_t i = 0; i < rig->nr_targets; i++) {
		if (!rig->targets[i].instance)
			continue;
		err = instance_close(take(rig->targets[i].instance), &later);
		first = fail_first(first, err, fail, &later);
	}
	err = shared_cmdlines_leave(take(rig->cmdlines), &later);
	return fail_first(first, err, fail, &later);
}

int rig_keep(struct rig *rig, struct fail *fail)
{
	int err = undo_hold(rig->undo, fail);

	for (size_t i = 0; !err && i < rig->nr_targets; i++)
		instance_leave(rig->targets[i].instance);
	rig->kept = !err;
	return err;
}

void rig_release(struct rig *rig)
{
	switches_release(&rig->switches);
	clock_sampler_free(rig->sampler);
	for (size_t i = 0; i < rig->nr_targets; i++) {
		instance_close(rig->targets[i].instance, NULL);
		target_release(&rig->targets[i]);
	}
	free(rig->targets);
	catalog_free(rig->catalog);
	setup_probes_release(&rig->probes);
	late_release(&rig->late);
	undo_free(rig->undo);
	tracing_release(&rig->tracing);
}
