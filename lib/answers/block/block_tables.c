// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/block/block_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lib/answers/frame/findings.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/scale.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/event/disks.h"
#include "lib/meaning/follow/files.h"
#include "lib/meaning/reader/reader.h"

enum { OF_WHICH = WHEN, OF_OPERATION = WHEN << 1 };

#define HEAD_COLUMNS(X)                                                            \
	X("DEVICE", TEXT, NULL, BRIEF | SAME, put_what, block, row)                \
	X("OP", TEXT, "operation", BRIEF | SAME | OF_WHICH, put_which, block, row) \
	X("OP", TEXT, "operation", DATA | TEXT_ONLY | OF_OPERATION, table_cell,    \
	  by_task ? block_operations[row->operation] : "")

#define REQUEST_COLUMNS(X)                                                                                  \
	HEAD_COLUMNS(X)                                                                                     \
	X("REQUESTS", COUNT, NULL, BRIEF | ADDS, table_cell_u64, row->sizes.count)                          \
	X("BYTES", SIZE, "bytes", BRIEF | ADDS | SPARE, table_cell_u64, row->bytes)                         \
	X("/S", COUNT, "requests_per_second", SPARE, table_cell_ratio, row->sizes.count, NS_PER_S, span, 1) \
	X("BYTES/S", SIZE, "bytes_per_second", SPARE, table_cell_u64,                                       \
	  span ? scale_round_mul_div(row->bytes, NS_PER_S, span) : 0)                                       \
	X("SIZE", SIZE, "size_p50_bytes", SPARE, table_cell_u64, samples_quantile(&row->sizes, 500))        \
	SPREAD(X, "Q2C ", "q2c_", SPARE, SPARE, BRIEF, q2c)                                                 \
	SPREAD(X, "Q2D ", "q2d_", SPARE, SPARE, SPARE, q2d)                                                 \
	X("D2C", TIME, "d2c_ns", ADDS, table_cell_u64, row->in_driver)                                      \
	SPREAD(X, "D2C ", "d2c_", 0, BRIEF, BRIEF, d2c)                                                     \
	X("MAX AT", NUMBER, "max_at", BRIEF | SPARE, table_cell_when, row->longest.to)                      \
	X("CPU", NUMBER, "max_cpu", DATA, table_cell_known, row->longest.to, row->longest.cpu)              \
	X("MAX PID", NUMBER, "max_pid", DATA, extreme_put_pid, block->pass, &row->longest)                  \
	X("MAX TASK", TEXT, "max_comm", DATA, extreme_put_comm, block->pass, &row->longest)                 \
	X("ERRORS", COUNT, NULL, DATA | ADDS, table_cell_u64, row->errors)                                  \
	X("REQUEUED", COUNT, NULL, DATA | ADDS, table_cell_u64, row->requeues)

const struct table_column block_columns[] = COLUMNS(REQUEST_COLUMNS);

/* The first two columns name the subject of a row. */
static const struct table_column heads[][2] = {
	[BLOCK_BY_DEVICE] = { { "DEVICE", TABLE_TEXT, NULL, 0 }, { "OP", TABLE_TEXT, "operation", 0 } },
	[BLOCK_BY_OPERATION] = { { "OP", TABLE_TEXT, "operation", 0 }, { "DEVICE", TABLE_TEXT, NULL, 0 } },
	[BLOCK_BY_TASK] = { { "TASK", TABLE_TEXT, "comm", 0 }, { "PID", TABLE_NUMBER, NULL, 0 } },
	[BLOCK_BY_FILE] = { { "FILE", TABLE_TEXT, NULL, 0 }, { "PID", TABLE_NUMBER, NULL, 0 } },
	[BLOCK_BY_WHO] = { { "WHO", TABLE_TEXT, NULL, 0 }, { "PID", TABLE_NUMBER, NULL, 0 } },
};

static uint64_t key_of(const struct block_analysis *block, uint32_t device, uint8_t operation, uint32_t task,
		       uint32_t who)
{
	switch (block->by) {
	case BLOCK_BY_DEVICE:
		return (uint64_t)device << 8 | operation;
	case BLOCK_BY_OPERATION:
		return operation;
	case BLOCK_BY_TASK:
		return (uint64_t)task << 8 | operation;
	case BLOCK_BY_FILE:
	case BLOCK_BY_WHO:
		return (uint64_t)who << 8 | operation;
	}
	return 0;
}

static struct block_row *row_of(struct block_analysis *block, uint32_t device, const struct block_request *request)
{
	uint32_t task = request->task, who = request->file;
	uint8_t operation = request->operation;
	struct block_row *row;

	if (block->by != BLOCK_BY_FILE)
		who = block->by == BLOCK_BY_WHO ? pass_group(block->pass, block->part, task) : (uint32_t)WHO_NOBODY;
	row = u64_map_add(&block->rows, key_of(block, device, operation, task, who));

	if (!row) {
		block->pass->failed = true;
		return NULL;
	}
	row->device = device;
	row->operation = operation;
	row->task = task;
	row->who = who;
	return row;
}

static void count_size(struct block_analysis *block, const struct block_row *row, uint64_t bytes)
{
	uint64_t key = key_of(block, row->device, row->operation, row->task, row->who);
	struct block_sizes *sizes = u64_map_add(&block->sizes, key);
	unsigned power = bytes ? 63 - (unsigned)__builtin_clzll(bytes) : 0;

	if (!sizes) {
		block->pass->failed = true;
		return;
	}
	sizes->device = row->device;
	sizes->task = row->task;
	sizes->who = row->who;
	sizes->operation = row->operation;
	sizes->of[power].requests++;
	sizes->of[power].bytes += bytes;
}

static bool is_wanted(const struct block_analysis *block, const struct block_request *request, uint64_t since)
{
	const struct state *state = &block->pass->state;
	uint8_t operation = request->operation;
	uint32_t task = request->task, cpu = request->cpu;

	if (block->pass->files && !block_wants_file(block, request->file))
		return false;
	if (!pass_wants_cpu(block->pass, cpu))
		return false;
	if (block->options.operations && !(block->options.operations >> operation & 1))
		return false;
	if (task < state->nr_tasks)
		return pass_wants_of_file(block->pass, &state->tasks[task], since);
	return !pass_chooses_tasks(block->pass);
}

static void keep_slow(struct block_analysis *block, uint32_t disk, const struct block_request *request,
		      const struct extreme *whole, uint64_t sectors, bool failed)
{
	struct block_slow *slow = slowest_add(&block->slowest, whole->lasted, &block->pass->failed);

	if (!slow)
		return;
	slow->at = whole->to;
	slow->sector = request->sector;
	slow->bytes = sectors * 512;
	slow->known = request->queued && request->first;
	slow->queued = slow->known ? request->first - request->queued : 0;
	slow->device = disk;
	slow->task = request->task;
	memcpy(slow->comm, whole->comm, sizeof(slow->comm));
	slow->cpu = request->cpu;
	slow->beside = request->beside;
	slow->operation = request->operation;
	slow->failed = failed;
}

struct block_row *block_row(struct block_analysis *block, uint32_t disk, const struct block_request *request)
{
	return is_wanted(block, request, request->queued ? request->queued : request->first) ?
		       row_of(block, disk, request) :
		       NULL;
}

void block_count(struct block_analysis *block, uint32_t disk, const struct block_request *request, uint64_t sectors,
		 bool failed, uint64_t now)
{
	struct block_row *row = block_row(block, disk, request);
	struct samples_budget *budget = &block->pass->budget;
	struct extreme whole = { .to = now, .cpu = request->cpu, .task = request->task };

	if (!row)
		return;
	row->bytes += sectors * 512;
	row->errors += failed;
	row->requeues += request->requeues;
	samples_add(&row->sizes, budget, sectors * 512);
	if (block->options.sizes)
		count_size(block, row, sectors * 512);
	whole.from = request->queued ? request->queued : request->first;
	if (request->queued) {
		samples_add(&row->q2c, budget, now - request->queued);
		whole.lasted = now - request->queued;
	}
	if (request->queued && request->first)
		samples_add(&row->q2d, budget, request->first - request->queued);
	if (request->first) {
		samples_add(&row->d2c, budget, now - request->last);
		row->in_driver += now - request->last > request->paid ? now - request->last - request->paid : 0;
		whole.lasted = now - request->last;
	}
	pass_note_comm(block->pass, request->task, whole.comm);
	extreme_see(&row->longest, &whole);
	if (slowest_wants(&block->slowest, whole.lasted))
		keep_slow(block, disk, request, &whole, sectors, failed);
}

const char *const block_operations[BLOCK_OPERATIONS] = {
	[BLOCK_READ] = "read",   [BLOCK_WRITE] = "write", [BLOCK_DISCARD] = "discard",
	[BLOCK_FLUSH] = "flush", [BLOCK_OTHER] = "other",
};

static void put_device(struct table *table, const struct block_device *device)
{
	table_cellf(table, "%" PRIu32 ":%" PRIu32, device->number >> 20, device->number & 0xfffff);
}

static void put_what(struct table *table, const struct block_analysis *block, const struct block_row *row)
{
	switch (block->by) {
	case BLOCK_BY_DEVICE:
		put_device(table, &block->devices[row->device]);
		return;
	case BLOCK_BY_OPERATION:
		table_cell(table, block_operations[row->operation]);
		return;
	case BLOCK_BY_TASK:
		if (row->task < block->pass->state.nr_tasks)
			pass_put_comm(table, block->pass, row->task);
		else
			table_cell(table, "unknown");
		return;
	case BLOCK_BY_FILE:
		block_put_file(table, block, row->who);
		return;
	case BLOCK_BY_WHO:
		table_cell(table, pass_group_text(block->pass, block->part, row->who));
		return;
	}
}

static void put_which(struct table *table, const struct block_analysis *block, const struct block_row *row)
{
	switch (block->by) {
	case BLOCK_BY_DEVICE:
		table_cell(table, block_operations[row->operation]);
		return;
	case BLOCK_BY_OPERATION:
	case BLOCK_BY_FILE:
		table_cell(table, "");
		return;
	case BLOCK_BY_TASK:
		pass_put_pid(table, block->pass, row->task);
		return;
	case BLOCK_BY_WHO:
		table_cell_known_s64(table, block->part == WHO_PROCESS && row->who, (int64_t)row->who);
		return;
	}
}

/* Which of its columns the text of the table that was added last has. */
static void set_head(const struct block_analysis *block, struct findings *findings)
{
	findings_head(findings, heads[block->by], array_size(heads[0]));
	if (block->by == BLOCK_BY_WHO)
		pass_group_head(findings, block->part, 0);
	findings_show(findings, OF_WHICH,
		      block->by == BLOCK_BY_WHO ? block->part == WHO_PROCESS :
						  block->by != BLOCK_BY_OPERATION && block->by != BLOCK_BY_FILE);
	if (block->by >= BLOCK_BY_TASK)
		findings_flag(findings, OF_OPERATION, DATA | TEXT_ONLY, false);
}

static void put_row(const struct block_analysis *block, const struct block_row *row, uint64_t span, struct table *table)
{
	struct percentiles q2c = percentiles_of(&row->q2c), q2d = percentiles_of(&row->q2d),
			   d2c = percentiles_of(&row->d2c);
	bool by_task = block->by >= BLOCK_BY_TASK;

	table_attach_part(table, &row->q2c, NULL, "q2c");
	table_attach_part(table, &row->q2d, NULL, "q2d");
	table_attach_part(table, &row->d2c, NULL, "d2c");
	REQUEST_COLUMNS(CELL)
}

static void put_rows(struct block_analysis *block, struct findings *findings)
{
	static const char *const titles[] = {
		[BLOCK_BY_DEVICE] = "requests of each device",
		[BLOCK_BY_OPERATION] = "requests of each operation",
		[BLOCK_BY_TASK] = "requests by the task that queued them, and what they did",
		[BLOCK_BY_FILE] = "requests by the file whose data they had, and what they did",
		[BLOCK_BY_WHO] = "requests by whom the task that queued them belongs to, and what they did",
	};
	const struct state *state = &block->pass->state;
	struct extreme longest = { .to = 0 };
	const struct block_row *row;
	struct table *table;
	uint64_t key;
	size_t at = 0;

	table = findings_table(findings, "requests", titles[block->by], "d2c", block_columns);
	if (!table)
		return;
	set_head(block, findings);
	findings_flag(findings, OF_OPERATION, SAME, block->by >= BLOCK_BY_TASK);
	while ((row = u64_map_next(&block->rows, &at, &key))) {
		put_row(block, row, state->now - state->start, table);
		if (row->longest.to)
			extreme_see(&longest, &row->longest);
	}
	extreme_tell(block->pass, findings, "time of a request in the device", &longest);
}

#define SIZE_COLUMNS(X)                                                                               \
	HEAD_COLUMNS(X)                                                                               \
	X("AT LEAST", SIZE, "at_least_bytes", SAME, table_cell_u64, power ? UINT64_C(1) << power : 0) \
	X("REQUESTS", COUNT, NULL, ADDS, table_cell_u64, sizes->of[power].requests)                   \
	X("BYTES", SIZE, "bytes", ADDS, table_cell_u64, sizes->of[power].bytes)

static const struct table_column size_columns[] = COLUMNS(SIZE_COLUMNS);

static void put_sizes_of(const struct block_analysis *block, const struct block_sizes *sizes, struct table *table)
{
	const struct block_row of = { .device = sizes->device,
				      .task = sizes->task,
				      .who = sizes->who,
				      .operation = sizes->operation },
			       *row = &of;
	bool by_task = block->by >= BLOCK_BY_TASK;

	for (unsigned power = 0; power < BLOCK_SIZES; power++) {
		if (sizes->of[power].requests) {
			SIZE_COLUMNS(CELL)
		}
	}
}

/* A row's sizes stand together, the smallest first. */
static void put_sizes(struct block_analysis *block, struct findings *findings)
{
	const struct block_sizes *sizes;
	struct table *table;
	uint64_t key;
	size_t at = 0;

	if (!block->options.sizes)
		return;
	table = findings_table(findings, "sizes", "sizes of the requests, each up to twice the least", NULL,
			       size_columns);
	if (!table)
		return;
	set_head(block, findings);
	findings_flag(findings, OF_OPERATION, SAME, true);
	while ((sizes = u64_map_next(&block->sizes, &at, &key)))
		put_sizes_of(block, sizes, table);
}

#define DEVICE_COLUMNS(X)                                                                                            \
	X("DEVICE", TEXT, NULL, SAME, put_device, device)                                                            \
	X("BUSY", TIME, NULL, ADDS, table_cell_u64, device->busy)                                                    \
	X("%", NUMBER, "busy_percent", 0, table_cell_percent, device->busy, state->now - state->start, 1)            \
	X("DEPTH", NUMBER, "depth_average", 0, table_cell_ratio, device->weighed, 1, device->busy, 2)                \
	X("DEEPEST", COUNT, NULL, 0, table_cell_u64, device->deepest)                                                \
	X("SEQ %", NUMBER, "sequential_percent", 0, table_cell_percent, device->sequential, device->first_issues, 1) \
	X("MERGES", COUNT, NULL, ADDS, table_cell_u64, device->merges)                                               \
	X("SPLITS", COUNT, NULL, ADDS | SPARE, table_cell_u64, device->splits)                                       \
	X("REQUEUES", COUNT, NULL, ADDS, table_cell_u64, device->requeues)                                           \
	X("REISSUES", COUNT, NULL, ADDS | SPARE, table_cell_u64, device->reissues)                                   \
	X("ERRORS", COUNT, NULL, ADDS, table_cell_u64, device->errors)                                               \
	X("NAME", TEXT, NULL, WHEN, table_cell, disk_name(context, device->number, name))

static const struct table_column device_columns[] = COLUMNS(DEVICE_COLUMNS);

static const struct pass_unseen unseen[] = {
	{ "busy_ns", "block:block_rq_issue" },
	{ "busy_percent", "block:block_rq_issue" },
	{ "deepest", "block:block_rq_issue" },
	{ "reissues", "block:block_rq_issue" },
	{ "merges", "block:block_bio_backmerge,block:block_bio_frontmerge,block:block_rq_merge" },
	{ "splits", "block:block_split" },
	{ "requeues", "block:block_rq_requeue" },
	{ "errors", "block:block_rq_complete" },
};

static bool is_any_named(const struct block_analysis *block, const struct context *context)
{
	char name[DISK_NAME];
	bool named = false;

	for (size_t i = 0; i < block->nr_devices; i++)
		named |= *disk_name(context, block->devices[i].number, name) != '\0';
	return named;
}

static void put_devices(struct block_analysis *block, struct findings *findings)
{
	const struct state *state = &block->pass->state;
	struct table *table = findings_table(
		findings, "devices",
		"devices: how many requests were in the driver at once, and how many were merged, split or requeued",
		"busy", device_columns);
	const struct context *context = block->pass->reader->buffers[0].context;
	char name[DISK_NAME];

	findings_show(findings, WHEN, is_any_named(block, context));
	for (size_t i = 0; table && i < block->nr_devices; i++) {
		struct block_device *device = &block->devices[i];

		if (!device->deepest && !device->merges && !device->splits)
			continue;
		block_settle(device, state->now);
		DEVICE_COLUMNS(CELL)
	}
	pass_forget_unseen(block->pass, findings, unseen, array_size(unseen));
}

#define SLOW_COLUMNS(X)                                                                        \
	X("LASTED", TIME, NULL, 0, table_cell_u64, slow->lasted)                               \
	X("DEVICE", TEXT, NULL, 0, put_device, &block->devices[slow->device])                  \
	X("OP", TEXT, "operation", 0, table_cell, block_operations[slow->operation])           \
	X("SECTOR", NUMBER, NULL, SPARE, table_cell_u64, slow->sector)                         \
	X("SIZE", SIZE, "bytes", 0, table_cell_u64, slow->bytes)                               \
	X("TASK", TEXT, "comm", KEEP, pass_put_comm_then, block->pass, slow->comm, slow->task) \
	X("PID", NUMBER, NULL, KEEP, pass_put_pid, block->pass, slow->task)                    \
	X("CPU", NUMBER, NULL, DATA, table_cell_u64, slow->cpu)                                \
	X("FROM", NUMBER, "since", KEEP, table_cell_moment, slow->at - slow->lasted)           \
	X("UNTIL", NUMBER, "until", DATA, table_cell_moment, slow->at)                         \
	X("QUEUED", TIME, NULL, SPARE, table_cell_known, slow->known, slow->queued)            \
	X("BESIDE", COUNT, NULL, DATA, table_cell_u64, slow->beside)                           \
	X("FAILED", COUNT, NULL, DATA, table_cell_u64, slow->failed)                           \
	X("CAUSE", TEXT, NULL, KEEP, put_cause, slow)

static const struct table_column slow_columns[] = COLUMNS(SLOW_COLUMNS);

/* The request lasted while the device had it; what came before is in `queued`. */
static void put_cause(struct table *table, const struct block_slow *slow)
{
	const char *failed = slow->failed ? "failed: " : "";

	if (slow->beside)
		table_cellf(table, "%sdevice with %" PRIu32 " other%s", failed, slow->beside,
			    text_plural(slow->beside));
	else
		table_cellf(table, "%sdevice", failed);
}

static void put_slowest(const struct block_analysis *block, struct findings *findings)
{
	struct table *table =
		slowest_table(&block->slowest, findings, "the longest requests, and how many others were in the driver",
			      slow_columns);

	for (size_t i = 0; table && i < block->slowest.nr; i++) {
		const struct block_slow *slow = slowest_at(&block->slowest, i);

		SLOW_COLUMNS(CELL)
	}
	slowest_tell(&block->slowest, findings, "request");
}

static bool tell_request(const struct table *table, size_t row, struct buf *into)
{
	uint64_t queued = table_number_of(table, row, "queued_ns"), beside = table_number_of(table, row, "beside");
	char time[TEXT_HUMAN], size[TEXT_HUMAN];

	return buf_addf(into, "device %s took %s for a %s of %s at sector %" PRIu64,
			table_text_of(table, row, "device"), text_time(time, table_number_of(table, row, "lasted_ns")),
			table_text_of(table, row, "operation"), text_size(size, table_number_of(table, row, "bytes")),
			table_number_of(table, row, "sector")) &&
	       (!table_number_of(table, row, "failed") || buf_addf(into, ", which failed")) &&
	       slowest_put_task(table, row, "it was for ", "comm", "pid", into) &&
	       (!queued || buf_addf(into, "; it was queued %s before", text_time(time, queued))) &&
	       (!beside ||
		buf_addf(into, "; the device had %" PRIu64 " other%s before it", beside, text_plural(beside)));
}

/* How long a request may have been queued before. */
enum { QUEUED_NS = 1000000000 };

const struct analysis_slow block_slow[] = {
	{ " sector=", "the disk request", "slowest", "sector", NULL, SLOW_OF_NOBODY, QUEUED_NS,
	  "the request is not among the events: record with --for block", tell_request },
	{ .of = NULL },
};

int block_finish(void *arg, struct findings *findings, struct fail *fail)
{
	struct block_analysis *block = arg;
	char count[TEXT_HUMAN];

	if (!block->seen && !block->rows.len && !block->pass->filter.shape)
		return PASS_NOTHING;
	if (block->of_files && !block->file_events && !block->pass->filter.shape)
		return fail_set(
			fail, -ENODATA,
			"no event tells for which files the requests were: record it with 'weft record -e block -e "
			"filemap:mm_filemap_add_to_page_cache -e ext4 -e iomap', or the events of another file "
			"system; --files adds names to inode numbers, if the kernel has CONFIG_KPROBE_EVENTS");
	put_rows(block, findings);
	put_sizes(block, findings);
	put_devices(block, findings);
	put_slowest(block, findings);
	findings_cut(findings, block->cut, "requests issued before the start");
	findings_cut(findings, block->requests.len, "requests in the driver or queue at the end");
	findings_broken(findings, block->broken, "requests");
	if (block->by_workers)
		findings_note(findings,
			      "a kworker queued %s bio%s: it does so for pages that are written back, and for what "
			      "a cgroup's limit (io.max) had held back; how long that was held no event tells",
			      text_count(count, block->by_workers), text_plural(block->by_workers));
	if (block->nameless)
		findings_note(findings,
			      "%" PRIu64 " requests are not counted: another request for the same sector was in "
			      "the driver at the same time",
			      block->nameless);
	if (block->forgotten)
		findings_note(findings,
			      "%" PRIu64 " bios or requests are not counted: more were in flight than weft tracks",
			      block->forgotten);
	return block->pass->failed || block->roles.failed ? fail_memory(fail) : 0;
}
