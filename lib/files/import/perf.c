// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/files/import/perf.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/files/import/import_internal.h"
#include "lib/files/import/names_internal.h"
#include "lib/files/import/perf_internal.h"
#include "lib/files/import/sorter_internal.h"
#include "lib/files/rewrite/binder.h"
#include "lib/ground/base/bytes.h"
#include "lib/ground/base/fail.h"
#include "lib/meaning/clock/clocks.h"
#include "lib/meaning/clock/wall.h"
#include "lib/meaning/schema/format.h"
#include "lib/pages/perf/perf_data.h"
#include "lib/pages/ring/page.h"
#include "lib/pages/trace/input.h"
#include "lib/pages/trace/made_file.h"
#include "lib/pages/trace/trace.h"
#include "lib/pages/trace/writer.h"

enum { TOLD_MAX = 8 << 20 }; /* bytes of names of tasks over time; later ones are left out */

enum {
	CHAIN_MAX = 1024,
	WALL_NS = 1000000,
	WHAT_LOST = -1, /* sorter_item.what: lost events; others are the number of an attribute */
};

int perf_import_new(const struct input *inputs, size_t nr, struct trace *formats, const struct recast_options *form,
		    struct perf_import **ret, struct fail *fail)
{
	struct perf_import *import = calloc(1, sizeof(*import));
	int r;

	if (!import)
		return fail_memory(fail);
	import->form = *form;
	import->formats = formats;
	import->inputs = inputs;
	import->nr_inputs = nr;
	import->least = UINT32_MAX;
	import->cpu = import->late_cpu = UINT32_MAX;
	import->into = -1;
	u64_map_init(&import->tasks, sizeof(struct perf_task));
	r = perf_data_open(inputs, nr, &import->data, fail);
	if (r)
		perf_import_free(import);
	else
		*ret = import;
	return r;
}

/* Gives up what events were bound with. */
static void unbind(struct perf_import *import)
{
	schema_free(import->schema);
	import->schema = NULL;
	carried_release(&import->carried);
	import->carried = (struct carried){ .trace = NULL };
	free(import->texts);
	import->texts = NULL;
	import->nr_texts = 0;
	for (size_t i = 0; i < import->nr_own; i++)
		free(import->own[i]);
	free(import->own);
	import->own = NULL;
	import->nr_own = 0;
	binder_free(import->binder);
	import->binder = NULL;
	free(import->twins);
	import->twins = NULL;
	free(import->plans);
	import->plans = NULL;
	free(import->sample_ids);
	import->sample_ids = NULL;
}

void perf_import_free(struct perf_import *import)
{
	if (!import)
		return;
	unbind(import);
	perf_data_free(import->data);
	sorter_free(import->sorter);
	u64_map_release(&import->tasks);
	buf_release(&import->record);
	buf_release(&import->told);
	for (size_t i = 0; i < PERF_TWICE_LAST; i++)
		free(import->seen[i].raw);
	free(import);
}

void perf_import_symbols(struct perf_import *import, const char *kallsyms, size_t len)
{
	import->kallsyms = kallsyms;
	import->kallsyms_len = len;
}

void perf_import_samples(struct perf_import *import)
{
	import->samples = true;
}

void perf_import_into(struct perf_import *import, int fd)
{
	import->into = fd;
}

const struct perf_import_counts *perf_import_counts(const struct perf_import *import)
{
	return &import->counts;
}

const struct perf_facts *perf_import_facts(const struct perf_import *import)
{
	return perf_data_facts(import->data);
}

/* --- reading --- */

/* A name that a task has from then on; what perf tells of tasks that were there before has the time 0. */
static bool tell_name(struct perf_import *import, const struct perf_record *record, const char *comm, size_t len)
{
	len = len < TASK_COMM_LEN - 1 ? len : TASK_COMM_LEN - 1;
	if (!record->has_time || record->tid <= 0 || !len || import->told.len > TOLD_MAX)
		return true;
	return buf_addf(&import->told, "%" PRIu64 " %" PRId32 " %zu %.*s\n", record->time, record->tid, len, (int)len,
			comm);
}

static int name_task(struct perf_import *import, const struct perf_record *record, const char *comm, size_t len,
		     struct fail *fail)
{
	int32_t tid = record->tid, tgid = record->pid;
	struct perf_task *task = tid >= 0 ? u64_map_get(&import->tasks, (uint32_t)tid) : NULL;

	if (!task)
		return tid >= 0 ? fail_memory(fail) : 0;
	len = strnlen(comm, len);
	if (!tell_name(import, record, comm, len))
		return fail_memory(fail);
	task->tgid = tgid;
	task->named = true;
	memset(task->comm, 0, TASK_COMM_LEN);
	memcpy(task->comm, comm, len < TASK_COMM_LEN - 1 ? len : TASK_COMM_LEN - 1);
	return 0;
}

/* A new task has the name of its parent. */
static int fork_task(struct perf_import *import, const struct perf_record *record, struct fail *fail)
{
	const struct perf_task *parent = u64_map_find(&import->tasks, (uint32_t)record->parent_tid);
	char comm[TASK_COMM_LEN] = "";

	if (parent && parent->named) {
		memcpy(comm, parent->comm, TASK_COMM_LEN);
		return name_task(import, record, comm, strlen(comm), fail);
	}
	return 0;
}

static void see_cpu(struct perf_import *import, uint32_t cpu)
{
	import->cpus = cpu < import->cpus ? import->cpus : cpu + 1;
}

/* Sets `again`, because the events have to be sorted, or only because their preempt counts are as they should be. */
static int begin_again(struct perf_import *import, bool sorted, struct fail *fail)
{
	import->again = true;
	return sorted ? sorter_new(import->form.temporaries, &import->sorter, fail) : 0;
}

static void add_pending(struct perf_import *import, uint32_t cpu, uint64_t lost)
{
	if (lost < INT32_MAX && import->pending[cpu] < INT32_MAX)
		import->pending[cpu] += (int64_t)lost;
}

/* Whether perf wrote this record before, as it may with a piece of a buffer. */
static bool is_lost_again(struct perf_import *import, const struct perf_record *record)
{
	const struct perf_loss loss = { .time = record->time, .lost = record->lost, .cpu = record->cpu };

	if (record->time <= import->last[record->cpu])
		for (size_t i = 0; i < PERF_LOST_LAST && i < import->nr_losses; i++)
			if (import->losses[i].time == loss.time && import->losses[i].lost == loss.lost &&
			    import->losses[i].cpu == loss.cpu)
				return true;
	import->losses[import->nr_losses++ % PERF_LOST_LAST] = loss;
	return false;
}

static int add_lost(struct perf_import *import, const struct perf_record *record, struct fail *fail)
{
	uint8_t *data;

	if (!record->has_cpu || !record->has_time || record->cpu >= PERF_CPU_LIMIT) {
		import->counts.lost_later += record->lost;
		return 0;
	}
	see_cpu(import, record->cpu);
	if (is_lost_again(import, record))
		return 0;
	import->placed += record->lost;
	if (!import->sorter) {
		if (record->time < import->last[record->cpu])
			return begin_again(import, true, fail);
		import->last[record->cpu] = record->time;
		add_pending(import, record->cpu, record->lost);
		return 0;
	}
	data = sorter_add(import->sorter, record->time, record->cpu, (uint64_t)WHAT_LOST, sizeof(record->lost), fail);
	if (!data)
		return -ENOMEM;
	memcpy(data, &record->lost, sizeof(record->lost));
	return 0;
}

static int find_twins(struct perf_import *import, struct fail *fail)
{
	size_t nr;
	const struct perf_attr *attrs = perf_data_attrs(import->data, &nr);
	struct u64_map first;
	int r = 0;

	import->nr_attrs = nr;
	import->twins = calloc(nr + 1, sizeof(*import->twins));
	import->plans = calloc(nr + 1, sizeof(*import->plans));
	if (!import->twins || !import->plans)
		return fail_memory(fail);
	u64_map_init(&first, sizeof(size_t));
	for (size_t i = 0; !r && i < nr; i++) {
		bool is_event = perf_attr_is_event(&attrs[i]);
		size_t *of = is_event ? u64_map_add(&first, attrs[i].config) : NULL;

		if (!of && is_event)
			r = fail_memory(fail);
		else if (of && *of)
			import->twins[i] = import->twins[*of - 1] = true;
		else if (of)
			*of = i + 1;
	}
	u64_map_release(&first);
	return r;
}

/* The form of the file that is made. */
static struct writer_options form_of(const struct perf_import *import)
{
	return (struct writer_options){
		.version = import->form.version,
		.compress = import->form.compress,
		.level = import->form.level,
		.temporaries = import->form.temporaries,
		.passing = import->form.passing,
		.big_endian = import->big_endian,
		.long_size = import->long_size,
		.page_size = IMPORT_PAGE_SIZE,
	};
}

/* Where the pages of the file begin that is being written: behind all else that it has. */
enum { PLACES = 1 << 30, PLACES_FROM = 4 << 20 };

static int new_binder(struct perf_import *import, const struct page_shape *shape, struct fail *fail)
{
	const struct writer_options form = form_of(import);
	uint64_t size = 0;
	int r = binder_new(shape, import->form.temporaries, &import->binder, fail);

	for (size_t i = 0; i < import->nr_inputs; i++)
		size += import->inputs[i].size;
	if (r)
		return r;
	/* Compressed files become about ten times as large. */
	if (import->into >= 0 && size >= PLACES_FROM && size < UINT64_MAX / 32)
		return binder_place(import->binder, import->into, PLACES, (size * 16 | (PLACES_FROM - 1)) + 1, &form,
				    fail);
	return binder_pack(import->binder, &form, fail);
}

/* Makes all that events are bound with. */
static int begin_binding(struct perf_import *import, struct fail *fail)
{
	struct page_shape shape;
	int r = perf_formats_take(import, fail);

	if (!r)
		r = find_twins(import, fail);
	if (r)
		return r;
	shape = (struct page_shape){ .size = IMPORT_PAGE_SIZE, .long_size = import->long_size, .swap = import->swap };
	return new_binder(import, &shape, fail);
}

static bool has_twins(const struct perf_import *import)
{
	for (size_t i = 0; i < import->nr_attrs; i++)
		if (import->twins[i])
			return true;
	return false;
}

/*
 * Binds an event at once: recorders of a CPU write in the order of time, but for some that are a little late, and for
 * pieces of a buffer that perf wrote before, unless a
 * clock went back or the buffer was written backwards (--overwrite). Not if two attributes recorded one tracepoint, and
 * not before the formats are known.
 */
static int add_straight(struct perf_import *import, const struct perf_event *event, struct fail *fail)
{
	bool zero = event->raw && !(event->raw[3] & 0xf), formats;
	int r;

	if (!import->binder) {
		formats = perf_data_formats(import->data)->nr_formats || import->formats || !event->raw;
		r = formats ? begin_binding(import, fail) : 0;
		if (r)
			return r;
		if (!formats || has_twins(import))
			return begin_again(import, true, fail);
		import->has_zero |= zero;
		import->counts.preempt = !import->has_zero;
	}
	if (event->what >= import->nr_attrs)
		return begin_again(import, true, fail);
	if (zero && import->counts.preempt) {
		import->has_zero = true;
		return begin_again(import, false, fail);
	}
	r = perf_events_bind(import, event, fail);
	return r == -EAGAIN ? begin_again(import, true, fail) : r;
}

/* An item of the sorter is a struct perf_event, the event, the callers. */
static int add_item(struct perf_import *import, const struct perf_event *event, struct fail *fail)
{
	size_t chain = event->nr_chain * sizeof(uint64_t);
	uint8_t *data = sorter_add(import->sorter, event->time, event->cpu, event->what,
				   (uint32_t)(sizeof(*event) + event->raw_len + chain), fail);

	if (!data)
		return -ENOMEM;
	memcpy(data, event, sizeof(*event));
	if (event->raw_len)
		memcpy(data + sizeof(*event), event->raw, event->raw_len);
	if (chain)
		memcpy(data + sizeof(*event) + event->raw_len, event->chain, chain);
	return 0;
}

static int bind_item(void *arg, const struct sorter_item *item, struct fail *fail)
{
	struct perf_import *import = arg;
	struct perf_event event;
	uint64_t lost;

	if (item->what == (uint64_t)WHAT_LOST) {
		memcpy(&lost, item->data, sizeof(lost));
		add_pending(import, item->cpu, lost);
		return 0;
	}
	memcpy(&event, item->data, sizeof(event));
	event.raw = event.raw ? (uint8_t *)(uintptr_t)item->data + sizeof(event) : NULL;
	event.chain = item->data + sizeof(event) + event.raw_len;
	return perf_events_bind(import, &event, fail);
}

/* The process of a task: a sample has it, unless its task just ended, or perf saw other numbers, as in a container. */
static int32_t process_of(const struct perf_import *import, const struct perf_record *record, int32_t pid)
{
	const struct perf_task *task;

	if (record->tid == pid && record->pid > 0)
		return record->pid;
	task = u64_map_find(&import->tasks, (uint32_t)pid);
	return task ? task->tgid : pid;
}

/*
 * perf may write all that a buffer had in a round once more in the next one. An event that alone was in it has the time
 * of the one before; no CPU records two equal events within a ns.
 */
static bool is_late(const struct perf_import *import, const struct perf_event *event, uint32_t round)
{
	uint64_t last = import->last[event->cpu];

	return event->time < last ||
	       (event->time == last && (import->late_cpu == event->cpu || import->round[event->cpu] != round));
}

static int add_event(struct perf_import *import, const struct perf_record *record, struct fail *fail)
{
	size_t nr_attrs;
	const struct perf_attr *attrs = perf_data_attrs(import->data, &nr_attrs);
	struct perf_event event = {
		.time = record->time,
		.cpu = record->cpu,
		.what = (uint32_t)(record->attr - attrs),
		.raw = record->raw,
		.raw_len = (uint32_t)record->raw_len,
		.chain = record->chain,
		.nr_chain = (uint32_t)(record->nr_chain < CHAIN_MAX ? record->nr_chain : CHAIN_MAX),
		.pid = record->tid,
		.ip = record->ip,
		.period = record->attr->sample_type & PERF_HAS_PERIOD ? record->period : record->attr->period,
	};
	int r;

	if (!perf_attr_is_event(record->attr)) {
		event.raw = NULL;
		event.raw_len = 0;
	}
	/* Without -a, perf leaves out the CPU of a sample. What it counts does not depend on it. */
	if (!event.raw && !record->has_cpu) {
		event.cpu = 0;
		import->counts.without_cpu += record->has_time;
	}
	if (!record->has_time || (event.raw && !record->has_cpu) || event.cpu >= PERF_CPU_LIMIT ||
	    (event.raw && (event.raw_len < 8 || load_u16(event.raw, perf_data_swaps(import->data)) !=
							(record->attr->config & UINT16_MAX)))) {
		import->counts.refused++;
		return 0;
	}
	if (event.raw && (event.raw[3] & 0xfu) < import->least)
		import->least = event.raw[3] & 0xfu;
	if (event.nr_chain || !event.raw)
		event.tgid = process_of(import, record,
					event.raw ? (int32_t)load_u32(event.raw + 4, perf_data_swaps(import->data)) :
						    record->tid);
	import->counts.events++;
	see_cpu(import, event.cpu);
	event.late = is_late(import, &event, record->round);
	import->round[event.cpu] = record->round;
	import->late_cpu = event.late ? event.cpu : UINT32_MAX;
	import->has_late |= event.late;
	r = import->sorter ? add_item(import, &event, fail) : add_straight(import, &event, fail);
	if (event.time > import->last[event.cpu])
		import->last[event.cpu] = event.time;
	return r;
}

static int add_sample(struct perf_import *import, const struct perf_record *record, struct fail *fail)
{
	if (perf_attr_is_event(record->attr))
		return add_event(import, record, fail);
	import->counts.others++;
	return import->samples ? add_event(import, record, fail) : 0;
}

static int add(struct perf_import *import, const struct perf_record *record, struct fail *fail)
{
	switch (record->kind) {
	case PERF_SAMPLE:
		return add_sample(import, record, fail);
	case PERF_LOST:
		return add_lost(import, record, fail);
	case PERF_LOST_SAMPLES:
		import->placeless += record->lost;
		return 0;
	case PERF_COMM:
		return name_task(import, record, record->comm, record->comm_len, fail);
	case PERF_FORK:
		return fork_task(import, record, fail);
	case PERF_THROTTLE:
		import->counts.throttled++;
		return 0;
	}
	return 0;
}

/* How the events were chosen, which figures depend on. */
static void judge_attrs(struct perf_import *import)
{
	const struct perf_facts *facts = perf_data_facts(import->data);
	struct perf_import_counts *counts = &import->counts;
	size_t nr;
	const struct perf_attr *attrs = perf_data_attrs(import->data, &nr);

	for (size_t i = 0; i < nr; i++) {
		const struct perf_attr *attr = &attrs[i];
		bool some = attr->flags & PERF_FREQ || (attr->period > 1 && !(attr->sample_type & PERF_HAS_PERIOD));

		if (!perf_attr_is_event(attr)) {
			counts->other = counts->other ?: attr->name;
			continue;
		}
		if (some && !counts->sampled) {
			counts->sampled = attr->flags & PERF_FREQ ? 1 : attr->period;
			counts->sampled_name = attr->name;
		}
	}
	counts->of_tasks = facts->has_index ? facts->of_tasks :
			   facts->command   ? !strstr(facts->command, " -a") && !strstr(facts->command, "--all-cpus") &&
						    !strstr(facts->command, " -C") :
					    false;
	counts->filtered = facts->command && strstr(facts->command, "--filter");
}

/* 0: all records were read; *ret_more is what perf_data_next() returned last. */
static int read_records(struct perf_import *import, int *ret_more, struct fail *ret_damage, struct fail *fail)
{
	struct perf_record record;
	int r = 0, more = 0;

	while (!r && !import->again && (more = perf_data_next(import->data, &record, ret_damage)) > 0)
		r = add(import, &record, fail);
	*ret_more = more;
	return r;
}

/* Forgets all that was read. */
static int rewind_data(struct perf_import *import, struct fail *fail)
{
	unbind(import);
	perf_data_free(import->data);
	import->data = NULL;
	u64_map_clear(&import->tasks);
	import->counts = (struct perf_import_counts){ .events = 0 };
	import->placed = import->placeless = 0;
	import->least = UINT32_MAX;
	import->cpu = import->late_cpu = UINT32_MAX;
	import->has_late = false;
	import->nr_losses = 0;
	memset(import->pending, 0, import->cpus * sizeof(*import->pending));
	memset(import->last, 0, import->cpus * sizeof(*import->last));
	memset(import->round, 0, import->cpus * sizeof(*import->round));
	import->cpus = 0;
	import->again = false;
	buf_clear(&import->told);
	return perf_data_open(import->inputs, import->nr_inputs, &import->data, fail);
}

int perf_import_read(struct perf_import *import, struct fail *ret_damage, struct fail *fail)
{
	struct perf_import_counts *counts = &import->counts;
	int more, r = read_records(import, &more, ret_damage, fail);

	while (!r && import->again) {
		r = rewind_data(import, fail);
		if (!r)
			r = read_records(import, &more, ret_damage, fail);
	}
	if (r)
		return r;
	if (more < 0 && more != -EBADMSG)
		return fail_set(fail, more, "%s", ret_damage->text);
	judge_attrs(import);
	/* LOST_SAMPLES, at the end, tells the losses of LOST once more. */
	if (import->placeless > import->placed)
		counts->lost_later += import->placeless - import->placed;
	if (!counts->events && more < 0)
		return fail_set(fail, -EBADMSG, "%s", ret_damage->text);
	if (!counts->events && counts->others && import->samples)
		return fail_set(fail, -ENOENT, "none of its %" PRIu64 " samples%s%s has a time", counts->others,
				counts->other ? " of " : "", counts->other ?: "");
	if (!counts->events && counts->others)
		return fail_set(fail, -ENOENT,
				"it has no event of a tracepoint, only %" PRIu64
				" samples%s%s, which are none; weft import --samples imports them, for stacks and "
				"flame graphs",
				counts->others, counts->other ? " of " : "", counts->other ?: "");
	if (!counts->events)
		return fail_set(fail, -ENOENT, "it has no event of a tracepoint");
	if (!perf_data_formats(import->data)->nr_formats && !import->formats &&
	    counts->events > (import->samples ? counts->others : 0))
		return fail_set(fail, -ENODATA, "it has no formats of its %" PRIu64 " events%s", counts->events,
				perf_data_facts(import->data)->killed ? ", as its recorder was killed" : "");
	counts->preempt = import->least && import->least != UINT32_MAX;
	return 0;
}

/* --- the file --- */

/* The clock as ftrace calls it. Without -k, perf takes what is ftrace's clock perf. */
static const char *clock_of(const struct perf_import *import)
{
	size_t nr;
	const struct perf_attr *attrs = perf_data_attrs(import->data, &nr);
	const char *name = nr && attrs[0].flags & PERF_USE_CLOCKID ? clock_read_as(attrs[0].clock) : NULL;

	return name ? name : "perf";
}

static int write_buffer(void *arg, struct part *part, struct writer *writer, struct fail *fail)
{
	struct perf_import *import = arg;
	int r = writer_buffer(writer, "", clock_of(import), IMPORT_PAGE_SIZE, fail);

	if (!r && writer_size(writer) > PLACES)
		return fail_set(fail, -EFBIG, "its formats and names have more than %d bytes", PLACES);
	return r ? r : binder_write(import->binder, part, writer, fail);
}

static bool put_tasks(const struct perf_import *import, struct buf *cmdlines, struct buf *tgids)
{
	struct import_names names;
	const struct perf_task *task;
	uint64_t tid;
	size_t at = 0;
	bool ok = true;

	import_names_init(&names);
	while (ok && (task = u64_map_next(&import->tasks, &at, &tid)) != NULL)
		if (tid)
			/* Its last name; all names that it had are in import->told. */
			ok = import_names_task(&names, (int32_t)tid, task->comm, strlen(task->comm), task->tgid);
	ok = ok && import_names_texts(&names, cmdlines, tgids);
	import_names_release(&names);
	return ok;
}

static int bind_all(struct perf_import *import, struct fail *fail)
{
	int r = import->binder ? 0 : begin_binding(import, fail);

	if (!r && import->sorter)
		r = sorter_each(import->sorter, bind_item, import, fail);
	for (uint32_t cpu = 0; cpu < import->cpus; cpu++) {
		import->counts.lost_later += (uint64_t)import->pending[cpu];
		import->pending[cpu] = 0;
	}
	return r;
}

/*
 * The time of day: perf reads the clock of its events right after it, but may lose its CPU in between
 * (record__init_clock() of tools/perf/builtin-record.c).
 */
static bool put_wall(const struct perf_import *import, struct buf *into)
{
	const struct perf_facts *facts = perf_data_facts(import->data);
	struct wall_sample sample = { .lo = facts->clock_ns,
				      .hi = facts->clock_ns,
				      .wall_lo = (int64_t)facts->wall_ns,
				      .wall_hi = (int64_t)facts->wall_ns + WALL_NS,
				      .error_us = -1,
				      .why = WALL_START };

	if (facts->wall_ns > INT64_MAX - WALL_NS)
		return true;
	snprintf(sample.clock, sizeof(sample.clock), "%s", clock_of(import));
	return wall_sample_put(&sample, into);
}

static int write_file(struct perf_import *import, int fd, uint64_t *ret_size, struct fail *fail)
{
	const struct perf_facts *facts = perf_data_facts(import->data);
	const struct perf_formats *formats = perf_data_formats(import->data);
	const struct writer_options form = form_of(import);
	cleanup_buf struct buf cmdlines = BUF_INIT, tgids = BUF_INIT, clock = BUF_INIT, name = BUF_INIT,
			       page = BUF_INIT, wall = BUF_INIT;
	char recorder[64] = "weft";
	static const char options[] = "norecord-tgid\nirq-info\n", mode[] = "import";
	struct writer_setting settings[] = {
		{ .name = "trace_options", .text = options, .len = strlen(options) },
		{ .name = "weft/mode", .text = mode, .len = strlen(mode) },
		{ .name = "saved_tgids" },
		{ .name = NULL },
		{ .name = NULL },
		{ .name = NULL },
	};
	uint32_t cpus = binder_cpus(import->binder);
	struct writer_metadata metadata = { .header_event = formats->header_event ?: "",
					    .version = recorder,
					    .formats = import->texts,
					    .nr_formats = import->nr_texts,
					    .printk = formats->printk,
					    .printk_len = formats->printk_len,
					    .settings = settings,
					    .nr_settings = 3,
					    .cpu_count = facts->cpus > cpus && facts->cpus < PERF_CPU_LIMIT ?
								 facts->cpus :
								 cpus };
	uint32_t word = import->long_size;

	if (!put_tasks(import, &cmdlines, &tgids) || !buf_addf(&clock, "[%s]", clock_of(import)) ||
	    !buf_addf(&name, "Linux %s %s %s", facts->host ?: "?", facts->release ?: "?", facts->arch ?: "?") ||
	    !buf_addf(&page,
		      "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		      "\tfield: local_t commit;\toffset:8;\tsize:%u;\tsigned:1;\n"
		      "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
		      "\tfield: char data;\toffset:%u;\tsize:%u;\tsigned:1;\n",
		      word, 8 + word, IMPORT_PAGE_SIZE - 8 - word))
		return fail_memory(fail);
	settings[2].text = buf_str(&tgids);
	settings[2].len = tgids.len;
	if (facts->command)
		settings[metadata.nr_settings++] = (struct writer_setting){ .name = "weft/command",
									    .text = facts->command,
									    .len = strlen(facts->command) };
	if (facts->has_wall && !put_wall(import, &wall))
		return fail_memory(fail);
	if (wall.len)
		settings[metadata.nr_settings++] =
			(struct writer_setting){ .name = SETTING_CLOCKS, .text = buf_str(&wall), .len = wall.len };
	if (import->told.len)
		settings[metadata.nr_settings++] = (struct writer_setting){ .name = SETTING_TOLD_NAMES,
									    .text = buf_str(&import->told),
									    .len = import->told.len };
	if (facts->version && *facts->version)
		snprintf(recorder, sizeof(recorder), "perf %s", facts->version);
	metadata.header_page = buf_str(&page);
	metadata.kallsyms = import->kallsyms;
	metadata.kallsyms_len = import->kallsyms_len;
	metadata.cmdlines = cmdlines.data;
	metadata.cmdlines_len = cmdlines.len;
	metadata.clock = buf_str(&clock);
	metadata.uname = facts->release || facts->host ? buf_str(&name) : NULL;
	return made_file_write(fd, &form, &metadata, write_buffer, import, ret_size, fail);
}

int perf_import_write(struct perf_import *import, int fd, uint64_t *ret_size, struct fail *fail)
{
	int r = bind_all(import, fail);

	return r ? r : write_file(import, fd, ret_size, fail);
}
