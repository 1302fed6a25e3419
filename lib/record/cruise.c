// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/record/cruise.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "lib/base/fail.h"
#include "lib/base/vec.h"
#include "lib/codec/frame.h"
#include "lib/record/assembly_internal.h"
#include "lib/record/berth.h"
#include "lib/record/edge_internal.h"
#include "lib/record/facts_internal.h"
#include "lib/record/held_internal.h"
#include "lib/record/ledger_internal.h"
#include "lib/record/parts.h"
#include "lib/record/quiet_internal.h"
#include "lib/record/rig.h"
#include "lib/record/symbol_copy_internal.h"
#include "lib/record/type_facts_internal.h"
#include "lib/undo/change.h"
#include "lib/undo/instance_open.h"
#include "lib/undo/marker.h"
#include "lib/undo/undo.h"

enum {
	FLUSH_MS = 1000, /* what is older than this is held, not only in the kernel's buffer */
	FLUSH_LEAST_MS = 50,
	FLUSH_STEPS = 4,       /* at least so many flushes in the span */
	WAIT_MS = 1000,        /* for the recorders to empty their buffers */
	READ_MS = 60000,       /* the same for large buffers that were never read */
	PARTS_ROOM = 16 << 20, /* for the metadata */
	STORE_SHARE = 4,       /* the part of the memory that may be used for pages for whose compression was no time */
};

struct cruise {
	const struct cruise_options *options;
	struct rig rig;
	struct held *held;
	struct parts *parts; /* its ledger, loaded, has what each file begins with */
	bool spools_there;   /* in the parts; false: in the memory of this process */
	clockid_t clock;
	uint64_t since;         /* when the recorders were started */
	pthread_mutex_t lock;   /* of the recorders' lists: cruise_add_cpus() */
	struct marker *markers; /* one for each target of the rig */
	size_t nr_markers;
	struct instance **adopted; /* cruise_adopt() */
	size_t nr_adopted;
};

/* The trace clocks that are also clocks of programs: trace_clocks[] of kernel/trace/trace.c. */
static const struct {
	const char *name;
	clockid_t clock;
} clocks[] = {
	{ "mono", CLOCK_MONOTONIC },
	{ "mono_raw", CLOCK_MONOTONIC_RAW },
	{ "boot", CLOCK_BOOTTIME },
	{ "tai", CLOCK_TAI },
};

bool cruise_clock_known(const char *clock)
{
	for (size_t i = 0; i < array_size(clocks); i++)
		if (!strcmp(clocks[i].name, clock))
			return true;
	return false;
}

const struct rig *cruise_rig(const struct cruise *cruise)
{
	return &cruise->rig;
}

const char *cruise_clock(const struct cruise *cruise)
{
	return cruise->rig.targets[0].clock;
}

uint64_t cruise_now(const struct cruise *cruise)
{
	struct timespec now;

	clock_gettime(cruise->clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int check_target(struct cruise *cruise, const struct target *target, struct fail *fail)
{
	const struct target *first = &cruise->rig.targets[0];

	if (target->keeps_worst)
		return fail_set(fail, -EOPNOTSUPP,
				"the tracer '%s' keeps its longest latency, no history: 'weft record -p %s' saves it",
				target->wanted->tracer, target->wanted->tracer);
	if (strcmp(target->clock, first->clock))
		return fail_set(fail, -EINVAL, "all instances need the same clock, not '%s' and '%s'", first->clock,
				target->clock);
	for (size_t i = 0; i < array_size(clocks); i++)
		if (!strcmp(clocks[i].name, target->clock)) {
			cruise->clock = clocks[i].clock;
			return 0;
		}
	return fail_set(
		fail, -EINVAL,
		"the time of a trigger cannot be told with the clock '%s'; mono, mono_raw, boot and tai (-C) can",
		target->clock);
}

/* Makes the parts, by which another process can recover what is held after a kill. */
static int begin_parts(struct cruise *cruise, struct fail *fail)
{
	const struct cruise_options *options = cruise->options;
	struct berth berth = berth_find(options->name, HELD_OVER * options->max_bytes + PARTS_ROOM);
	int err = parts_new(berth.output, NULL, &cruise->parts, fail);

	cruise->spools_there = berth.holds;
	return err ? err : undo_mark(cruise->rig.undo, cruise->parts->secret, cruise->parts->path, fail);
}

/* An instance that weft did not make can be read after a kill only if the journal knows it. */
static int lend(struct cruise *cruise, struct fail *fail)
{
	char boot[BOOT_ID];
	int err = 0;

	for (size_t i = 0; !err && i < cruise->rig.nr_targets; i++) {
		const struct target *target = &cruise->rig.targets[i];
		const struct ledger_item item = { .kind = LEDGER_INSTANCE,
						  .buffer = target->index,
						  .key = facts_boot_id(boot),
						  .data = target->instance->name,
						  .len = strlen(target->instance->name) };

		if (target->instance->kind != INSTANCE_EXISTING)
			continue;
		err = undo_remember_lent(cruise->rig.undo, target->instance->name, fail);
		if (!err)
			err = ledger_add(cruise->parts->ledger, &item, fail);
	}
	return err;
}

/* Saves what does not change from file to file. */
static int learn(struct cruise *cruise, struct fail *fail)
{
	const struct rig *rig = &cruise->rig;
	const struct target *first = &rig->targets[0];
	const struct parts_file properties =
		parts_file_here(7, true, FRAME_LEVEL_DEFAULT, &first->shape, first->nr_cpus);
	struct ledger *facts = cruise->parts->ledger;
	struct symbol_copy *symbols = NULL;
	struct fail later;
	bool hidden;
	int finished, err = parts_describe(cruise->parts, &properties, fail);

	if (!err)
		err = symbol_copy_start(facts, &symbols, fail);
	if (!err)
		err = facts_at_start(facts, "flight", &rig->tracing, rig->targets, rig->nr_targets, false, fail);
	finished = symbol_copy_finish(symbols, &hidden, &later);
	err = fail_first(err, finished, fail, &later);
	return err ? err : facts_of_types(facts, fail);
}

static unsigned flush_ms(uint64_t span_ns)
{
	uint64_t ms = span_ns / 1000000 / FLUSH_STEPS;

	return ms < FLUSH_LEAST_MS ? FLUSH_LEAST_MS : ms > FLUSH_MS ? FLUSH_MS : (unsigned)ms;
}

static struct recorder_options recorder_options(const struct cruise *cruise, const struct cpus *online)
{
	const struct cruise_options *options = cruise->options;

	return (struct recorder_options){
		.stop_fd = -1,
		.failed_fd = options->failed_fd,
		.level = FRAME_LEVEL_DEFAULT,
		.store_spare = options->max_bytes / STORE_SHARE / cpus_count(online),
		.flush_ms = options->in_kernel ? 0 : (int)flush_ms(options->span_ns),
		.when_asked = options->in_kernel,
		.held = cruise->held,
		.since = cruise->since,
	};
}

static size_t count_recorders(const struct cruise *cruise)
{
	size_t nr = 0;

	for (size_t i = 0; i < cruise->rig.nr_targets; i++)
		nr += cruise->rig.targets[i].nr_recorders;
	return nr;
}

int cruise_add_cpus(struct cruise *cruise, unsigned *ret, struct fail *fail)
{
	const struct spool_options spool = { .compressed = true };
	struct parts *parts = cruise->spools_there ? cruise->parts : NULL;
	struct cpus online = { .bits = { 0 } };
	size_t before = count_recorders(cruise);
	int err = tracing_online_cpus(&online, fail);

	if (err)
		return err;
	pthread_mutex_lock(&cruise->lock);
	for (size_t i = 0; !err && i < cruise->rig.nr_targets; i++) {
		const struct recorder_options options = recorder_options(cruise, &online);

		err = target_record(&cruise->rig.targets[i], parts, &online, &spool, &options, fail);
	}
	pthread_mutex_unlock(&cruise->lock);
	*ret = (unsigned)(count_recorders(cruise) - before);
	return err;
}

static int start_recorders(struct cruise *cruise, struct fail *fail)
{
	unsigned nr;

	/* A CPU that comes online later had no events before. */
	cruise->since = cruise_now(cruise);
	return cruise_add_cpus(cruise, &nr, fail);
}

static int open_markers(struct cruise *cruise, struct fail *fail)
{
	int err = 0;

	cruise->markers = calloc(cruise->rig.nr_targets, sizeof(*cruise->markers));
	if (!cruise->markers)
		return fail_memory(fail);
	for (size_t i = 0; !err && i < cruise->rig.nr_targets; i++) {
		cruise->markers[i] = (struct marker)MARKER_INIT;
		cruise->nr_markers++;
		err = marker_open(cruise->rig.targets[i].instance, false, &cruise->markers[i], fail);
	}
	return err;
}

static int prepare(struct cruise *cruise, struct fail *fail)
{
	const struct cruise_options *options = cruise->options;
	const struct rig_options rig = { .setup = options->setup, .manner = SETUP_PRIVATE };
	int err = rig_find(&cruise->rig, NULL, fail);

	if (!err)
		err = begin_parts(cruise, fail);
	if (!err)
		err = rig_set_up(&cruise->rig, &rig, fail);
	for (size_t i = 0; !err && i < cruise->rig.nr_targets; i++)
		err = check_target(cruise, &cruise->rig.targets[i], fail);
	if (!err)
		err = learn(cruise, fail);
	if (!err)
		err = lend(cruise, fail);
	if (!err)
		err = held_new(options->span_ns, options->max_bytes, options->in_kernel, &cruise->held, fail);
	if (!err)
		err = start_recorders(cruise, fail);
	if (!err)
		err = open_markers(cruise, fail);
	return err ? err : rig_hold(&cruise->rig, false, fail);
}

int cruise_open(const struct cruise_options *options, struct cruise **ret, struct fail *fail)
{
	struct cruise *cruise = calloc(1, sizeof(*cruise));
	int err;

	if (!cruise)
		return fail_memory(fail);
	cruise->options = options;
	pthread_mutex_init(&cruise->lock, NULL);
	err = prepare(cruise, fail);
	if (err) {
		/* The user is told the first error only. */
		cruise_close(cruise, NULL);
		return err;
	}
	*ret = cruise;
	return 0;
}

int cruise_adopt(struct cruise *cruise, struct instance *instance, struct fail *fail)
{
	struct instance **added = vec_push(cruise->adopted, cruise->nr_adopted);

	if (!added)
		return fail_memory(fail);
	*added = instance;
	return 0;
}

int cruise_start(struct cruise *cruise, struct fail *fail)
{
	/* The result is ignored: tracing starts even if a recorder does not sleep yet. */
	quiet_wait(getpid(), getpid());
	return switches_turn(&cruise->rig.switches, true, fail);
}

int cruise_mark(struct cruise *cruise, const char *text, struct fail *fail)
{
	unsigned pieces;
	int err = 0;

	for (size_t i = 0; !err && i < cruise->nr_markers; i++)
		err = marker_write(&cruise->markers[i], text, strlen(text), &pieces, fail);
	return err;
}

void cruise_keep_from(struct cruise *cruise, uint64_t from)
{
	held_keep_from(cruise->held, from);
}

static const struct target *target_of(const struct cruise *cruise, uint32_t buffer)
{
	for (size_t i = 0; i < cruise->rig.nr_targets; i++)
		if (cruise->rig.targets[i].index == buffer)
			return &cruise->rig.targets[i];
	return NULL;
}

static const struct recorder *recorder_of(const struct target *target, uint32_t cpu)
{
	for (size_t i = 0; i < target->nr_recorders; i++)
		if (target->recorders[i]->cpu == cpu)
			return target->recorders[i];
	return NULL;
}

/* What the kernel says about the buffer of this CPU. */
static void add_stats(const struct cruise *cruise, const struct target *target, struct cruise_cpu *cpu)
{
	const struct recorder *recorder = recorder_of(target, cpu->cpu);
	struct ring_buffer_stats stats;

	if (!recorder || ring_buffer_stats(target->instance, cpu->cpu, &stats, NULL))
		return;
	cpu->kernel = stats.bytes;
	cpu->lost = ring_watch_lost(&recorder->watch, &stats);
	if (!cruise->options->in_kernel)
		return;
	cpu->lost -= ring_watch_overrun(&recorder->watch, &stats);
	if (stats.overrun != __atomic_load_n(&recorder->overrun, __ATOMIC_RELAXED) && stats.oldest > cpu->since)
		cpu->since = stats.oldest;
}

static int list_cpus(struct cruise *cruise, const struct held_piece *pieces, size_t nr, struct cruise_cpus *ret,
		     struct fail *fail)
{
	struct cruise_cpu *cpus = calloc(nr + 1, sizeof(*cpus));

	if (!cpus)
		return fail_memory(fail);
	for (size_t i = 0; i < nr; i++) {
		const struct held_piece *piece = &pieces[i];
		const struct target *target = target_of(cruise, piece->buffer);
		const char *name = target->wanted->name;

		cpus[i] = (struct cruise_cpu){ .instance = name ? name : "",
					       .cpu = piece->cpu,
					       .chunks = piece->chunks,
					       .bytes = piece->size,
					       .raw = piece->raw,
					       .first = piece->first,
					       .last = piece->last,
					       .since = piece->since,
					       .crowded = piece->crowded };
		pthread_mutex_lock(&cruise->lock);
		add_stats(cruise, target, &cpus[i]);
		pthread_mutex_unlock(&cruise->lock);
	}
	*ret = (struct cruise_cpus){ cpus, nr };
	return 0;
}

int cruise_look(struct cruise *cruise, struct cruise_cpus *ret, struct fail *fail)
{
	cleanup_free struct held_piece *pieces = NULL;
	size_t nr;
	int err = held_look(cruise->held, &pieces, &nr, fail);

	return err ? err : list_cpus(cruise, pieces, nr, ret, fail);
}

static int add_setting(struct ledger *ledger, uint32_t buffer, const char *name, const char *text, struct fail *fail)
{
	return ledger_add(
		ledger,
		&(struct ledger_item){
			.kind = LEDGER_SETTING, .buffer = buffer, .key = name, .data = text, .len = strlen(text) },
		fail);
}

/* Fills the metadata of a file: what was known at the start, and what is known only now, such as the names of tasks. */
static int describe(struct cruise *cruise, const struct cruise_file *file, struct parts *parts, struct fail *fail)
{
	const struct target *first = &cruise->rig.targets[0];
	struct parts_file properties = parts_file_here(7, true, FRAME_LEVEL_DEFAULT, &first->shape, first->nr_cpus);
	const struct ledger_item *item;
	int err = parts_describe(parts, &properties, fail);

	for (size_t i = 0; !err && (item = ledger_at(cruise->parts->ledger, i)); i++)
		/* Each file has an identity of its own. */
		if (item->kind != LEDGER_FILE && item->kind != LEDGER_SECRET && item->kind != LEDGER_OUTPUT)
			err = ledger_add(parts->ledger, item, fail);
	if (!err)
		err = facts_of_kernel(parts->ledger, &cruise->rig.tracing, fail);
	if (!err)
		err = facts_of_self(parts->ledger, &cruise->rig, (pid_t)syscall(SYS_gettid), fail);
	if (!err && file->trigger)
		err = add_setting(parts->ledger, 0, "weft/trigger", file->trigger, fail);
	for (size_t i = 0; !err && i < cruise->rig.nr_targets; i++)
		err = add_setting(parts->ledger, cruise->rig.targets[i].index, "weft/went_on", "1", fail);
	return err;
}

/* Where what belongs to the file lies. The pieces lose the rest. */
static int divide(struct cruise *cruise, const struct cruise_file *file, uint64_t from, struct held_piece *pieces,
		  size_t nr, struct edges *edges, struct assembly_piece *places, size_t *ret_nr, struct fail *fail)
{
	uint64_t begin = file->ragged ? file->from : from;
	size_t nr_places = 0, runs;
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++) {
		err = edges_divide(edges, &pieces[i], &target_of(cruise, pieces[i].buffer)->shape, begin, file->to,
				   places + nr_places, &runs, fail);
		nr_places += runs;
	}
	*ret_nr = nr_places;
	return err;
}

static int assemble(struct cruise *cruise, const struct cruise_file *file, struct assembly_piece *places, size_t nr,
		    struct cruise_written *ret, struct fail *fail)
{
	const struct assembly_options options = {
		.output = file->output, .mode = file->mode, .keep = true, .synced = true
	};
	struct parts *parts = NULL;
	int err = parts_new_in_memory(&parts, fail);

	if (!err)
		err = describe(cruise, file, parts, fail);
	if (!err)
		err = assembly_write(parts, places, nr, &options, &ret->size, fail);
	parts_free(parts);
	return err;
}

static int write_pieces(struct cruise *cruise, const struct cruise_file *file, struct held_piece *pieces, size_t nr,
			struct cruise_written *ret, struct fail *fail)
{
	cleanup_free struct assembly_piece *places = calloc(nr * ASSEMBLY_RUNS + 1, sizeof(*places));
	struct edges *edges = NULL;
	int err = places ? edges_new(&edges, fail) : fail_memory(fail);
	size_t nr_places;

	if (!err)
		err = divide(cruise, file, ret->from, pieces, nr, edges, places, &nr_places, fail);
	if (!err)
		err = list_cpus(cruise, pieces, nr, &ret->cpus, fail);
	if (!err)
		err = assemble(cruise, file, places, nr_places, ret, fail);
	edges_free(edges);
	return err;
}

int cruise_write(struct cruise *cruise, const struct cruise_file *file, struct cruise_written *ret, struct fail *fail)
{
	cleanup_free struct held_piece *pieces = NULL;
	struct cruise_written written = {
		.late = !held_flush(cruise->held, cruise->options->in_kernel ? READ_MS : WAIT_MS), .from = file->from
	};
	size_t nr;
	int err = held_take(cruise->held, &written.from, file->to, file->ragged, &pieces, &nr, fail);

	if (err)
		return err;
	err = write_pieces(cruise, file, pieces, nr, &written, fail);
	held_written(cruise->held);
	if (err)
		free(written.cpus.at);
	else
		*ret = written;
	return fail_writing(fail, err, file->output);
}

int cruise_failed(const struct cruise *cruise, struct fail *fail)
{
	for (size_t i = 0; i < cruise->rig.nr_targets; i++)
		for (size_t j = 0; j < cruise->rig.targets[i].nr_recorders; j++) {
			const struct recorder *recorder = cruise->rig.targets[i].recorders[j];

			if (recorder->err)
				return fail_set(fail, recorder->err, "%s", recorder->fail.text);
		}
	return 0;
}

int cruise_close(struct cruise *cruise, struct fail *fail)
{
	struct fail later;
	int err, first = 0;

	if (!cruise)
		return 0;
	if (cruise->rig.switches.nr)
		first = rig_stop(&cruise->rig, fail);
	if (cruise->held)
		held_stop(cruise->held);
	for (size_t i = 0; i < cruise->rig.nr_targets; i++)
		for (size_t j = 0; j < cruise->rig.targets[i].nr_recorders; j++)
			recorder_join(cruise->rig.targets[i].recorders[j]);
	for (size_t i = 0; i < cruise->nr_markers; i++)
		marker_close(&cruise->markers[i]);
	free(cruise->markers);
	setup_step(cruise->options->setup, "restoring the settings of tracing");
	if (cruise->options->empties && cruise->held) {
		err = instance_clear(cruise->rig.targets[0].instance, &later);
		first = fail_first(first, err, fail, &later);
	}
	err = rig_restore(&cruise->rig, &later);
	setup_step(cruise->options->setup, NULL);
	first = fail_first(first, err, fail, &later);
	for (size_t i = 0; i < cruise->nr_adopted; i++) {
		err = instance_close(cruise->adopted[i], &later);
		first = fail_first(first, err, fail, &later);
	}
	free(cruise->adopted);
	rig_release(&cruise->rig);
	held_free(cruise->held);
	err = cruise->parts ? parts_remove(cruise->parts, &later) : 0;
	first = fail_first(first, err, fail, &later);
	parts_free(cruise->parts);
	pthread_mutex_destroy(&cruise->lock);
	free(cruise);
	return first;
}
