// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/block_internal.h"

#include "lib/analysis/findings.h"
#include "lib/analysis/sorts.h"
#include "lib/base/fail.h"
#include "lib/base/scale.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum column {
	WHAT,
	WHICH,
	OF_TASK,
	REQUESTS,
	BYTES,
	PER_SECOND,
	RATE,
	SIZE,
	Q2C_50,
	Q2C_99,
	Q2C_MAX,
	Q2D_50,
	Q2D_99,
	Q2D_MAX,
	TOTAL,
	D2C_50,
	D2C_99,
	D2C_MAX,
	MAX_AT,
	MAX_CPU,
	MAX_PID,
	MAX_COMM,
	ERRORS,
	REQUEUED
};
_Static_assert(REQUEUED + 1 == BLOCK_COLUMNS, "as many as there is room for");

static const struct table_column columns[BLOCK_COLUMNS] = {
	[WHAT] = { "DEVICE", TABLE_TEXT, NULL },
	[WHICH] = { "OP", TABLE_TEXT, "operation" },
	[OF_TASK] = { "OP", TABLE_TEXT, "operation" },
	[REQUESTS] = { "REQUESTS", TABLE_COUNT, NULL },
	[BYTES] = { "BYTES", TABLE_SIZE, "bytes" },
	[PER_SECOND] = { "/S", TABLE_NUMBER, "requests_per_second" },
	[RATE] = { "BYTES/S", TABLE_SIZE, "bytes_per_second" },
	[SIZE] = { "SIZE", TABLE_SIZE, "size_p50_bytes" },
	[Q2C_50] = { "Q2C P50", TABLE_TIME, "q2c_p50_ns" },
	[Q2C_99] = { "Q2C P99", TABLE_TIME, "q2c_p99_ns" },
	[Q2C_MAX] = { "Q2C MAX", TABLE_TIME, "q2c_max_ns" },
	[Q2D_50] = { "Q2D P50", TABLE_TIME, "q2d_p50_ns" },
	[Q2D_99] = { "Q2D P99", TABLE_TIME, "q2d_p99_ns" },
	[Q2D_MAX] = { "Q2D MAX", TABLE_TIME, "q2d_max_ns" },
	[TOTAL] = { "D2C", TABLE_TIME, "d2c_ns" },
	[D2C_50] = { "D2C P50", TABLE_TIME, "d2c_p50_ns" },
	[D2C_99] = { "D2C P99", TABLE_TIME, "d2c_p99_ns" },
	[D2C_MAX] = { "D2C MAX", TABLE_TIME, "d2c_max_ns" },
	[MAX_AT] = { "MAX AT", TABLE_NUMBER, "max_at" },
	[MAX_CPU] = { "CPU", TABLE_NUMBER, "max_cpu" },
	[MAX_PID] = { "MAX PID", TABLE_NUMBER, "max_pid" },
	[MAX_COMM] = { "MAX TASK", TABLE_TEXT, "max_comm" },
	[ERRORS] = { "ERRORS", TABLE_COUNT, NULL },
	[REQUEUED] = { "REQUEUED", TABLE_COUNT, NULL },
};

const struct analysis_sorts block_sorts = {
	columns, BLOCK_COLUMNS, 1 << OF_TASK | 1 << MAX_CPU | 1 << MAX_PID | 1 << MAX_COMM | 1 << ERRORS | 1 << REQUEUED
};

/* The first two columns name the subject of a row. */
static const struct table_column heads[][2] = {
	[BLOCK_BY_DEVICE] = { { "DEVICE", TABLE_TEXT, NULL }, { "OP", TABLE_TEXT, "operation" } },
	[BLOCK_BY_OPERATION] = { { "OP", TABLE_TEXT, "operation" }, { "DEVICE", TABLE_TEXT, NULL } },
	[BLOCK_BY_TASK] = { { "TASK", TABLE_TEXT, "comm" }, { "PID", TABLE_NUMBER, NULL } },
};

static uint64_t key_of(const struct block_analysis *block, uint32_t device, uint8_t operation, uint32_t task)
{
	switch (block->options.by) {
	case BLOCK_BY_DEVICE:
		return (uint64_t)device << 8 | operation;
	case BLOCK_BY_OPERATION:
		return operation;
	case BLOCK_BY_TASK:
		return (uint64_t)task << 8 | operation;
	}
	return 0;
}

static struct block_row *row_of(struct block_analysis *block, uint32_t device, uint8_t operation, uint32_t task)
{
	struct block_row *row = u64_map_add(&block->rows, key_of(block, device, operation, task));

	if (!row) {
		block->pass->failed = true;
		return NULL;
	}
	row->device = device;
	row->operation = operation;
	row->task = task;
	return row;
}

static void count_size(struct block_analysis *block, const struct block_row *row, uint64_t bytes)
{
	struct block_sizes *sizes = u64_map_add(&block->sizes, key_of(block, row->device, row->operation, row->task));
	unsigned power = bytes ? 63 - (unsigned)__builtin_clzll(bytes) : 0;

	if (!sizes) {
		block->pass->failed = true;
		return;
	}
	sizes->device = row->device;
	sizes->task = row->task;
	sizes->operation = row->operation;
	sizes->of[power].requests++;
	sizes->of[power].bytes += bytes;
}

static bool is_wanted(const struct block_analysis *block, uint8_t operation, uint32_t task, uint32_t cpu,
		      uint64_t since)
{
	const struct state *state = &block->pass->state;

	if (!pass_wants_cpu(block->pass, cpu))
		return false;
	if (block->options.operations && !(block->options.operations >> operation & 1))
		return false;
	if (task < state->nr_tasks)
		return pass_wants_since(block->pass, &state->tasks[task], since);
	return !block->pass->filter.nr_pids && !block->pass->filter.nr_comms;
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
	slow->cpu = request->cpu;
	slow->beside = request->beside;
	slow->operation = request->operation;
	slow->failed = failed;
}

void block_count(struct block_analysis *block, uint32_t disk, const struct block_request *request, uint64_t sectors,
		 bool failed, uint64_t now)
{
	struct block_row *row = is_wanted(block, request->operation, request->task, request->cpu,
					  request->queued ? request->queued : request->first) ?
					row_of(block, disk, request->operation, request->task) :
					NULL;
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
		whole.lasted = now - request->last;
	}
	extreme_see(&row->longest, &whole);
	if (slowest_wants(&block->slowest, whole.lasted))
		keep_slow(block, disk, request, &whole, sectors, failed);
}

const char *const block_operations[BLOCK_OPERATIONS] = {
	[BLOCK_READ] = "read",   [BLOCK_WRITE] = "write", [BLOCK_DISCARD] = "discard",
	[BLOCK_FLUSH] = "flush", [BLOCK_OTHER] = "other",
};

static void put_device(const struct block_device *device, struct table *table)
{
	table_cellf(table, "%" PRIu32 ":%" PRIu32, device->number >> 20, device->number & 0xfffff);
}

/* The first three cells. */
static void put_head(const struct block_analysis *block, const struct block_row *row, struct table *table)
{
	const struct state *state = &block->pass->state;

	switch (block->options.by) {
	case BLOCK_BY_DEVICE:
		put_device(&block->devices[row->device], table);
		table_cell(table, block_operations[row->operation]);
		table_cell(table, "");
		return;
	case BLOCK_BY_OPERATION:
		table_cell(table, block_operations[row->operation]);
		table_cell(table, "");
		table_cell(table, "");
		return;
	case BLOCK_BY_TASK:
		table_cell(table,
			   row->task < state->nr_tasks ? pass_comm(block->pass, &state->tasks[row->task]) : "unknown");
		if (row->task < state->nr_tasks)
			table_cell_s64(table, state->tasks[row->task].pid);
		else
			table_cell(table, "-");
		table_cell(table, block_operations[row->operation]);
		return;
	}
}

enum { NS_PER_S = 1000000000 };

static void put_row(const struct block_analysis *block, const struct block_row *row, uint64_t span, struct table *table)
{
	table_attach_part(table, &row->q2c, NULL, "q2c");
	table_attach_part(table, &row->q2d, NULL, "q2d");
	table_attach_part(table, &row->d2c, NULL, "d2c");
	put_head(block, row, table);
	table_cell_u64(table, row->sizes.count);
	table_cell_u64(table, row->bytes);
	table_cell_ratio(table, row->sizes.count, NS_PER_S, span, 1);
	table_cell_u64(table, span ? scale_round_mul_div(row->bytes, NS_PER_S, span) : 0);
	table_cell_u64(table, samples_quantile(&row->sizes, 500));
	pass_spread(table, &row->q2c);
	pass_spread(table, &row->q2d);
	table_cell_u64(table, row->d2c.sum);
	pass_spread(table, &row->d2c);
	extreme_cells(block->pass, table, &row->longest);
	table_cell_u64(table, row->errors);
	table_cell_u64(table, row->requeues);
}

static void put_rows(struct block_analysis *block, struct findings *findings)
{
	static const char *const titles[] = {
		[BLOCK_BY_DEVICE] = "requests of each device",
		[BLOCK_BY_OPERATION] = "requests of each operation",
		[BLOCK_BY_TASK] = "requests by the task that queued them, and what they did",
	};
	const struct state *state = &block->pass->state;
	struct extreme longest = { .to = 0 };
	const struct block_row *row;
	struct table *table;
	uint64_t key;
	size_t at = 0;

	memcpy(block->columns, columns, sizeof(columns));
	memcpy(block->columns, heads[block->options.by], sizeof(heads[0]));
	table = findings_table(findings, "requests", titles[block->options.by], "d2c", block->columns, BLOCK_COLUMNS);
	if (!table)
		return;
	table->data_only = block_sorts.data_only & ~(block->options.by == BLOCK_BY_TASK ? 1U << OF_TASK : 0);
	table->text_only = block->options.by == BLOCK_BY_TASK ? 0 : 1 << OF_TASK;
	if (block->options.by == BLOCK_BY_OPERATION)
		table->data_only |= 1 << WHICH;
	table->spare = 1 << MAX_AT | 1 << BYTES | 1 << RATE | 1 << PER_SECOND | 1 << Q2C_50 | 1 << Q2C_99 |
		       1 << Q2D_50 | 1 << Q2D_99 | 1 << Q2D_MAX | 1 << SIZE;
	findings_brief(findings, 1 << WHAT | 1 << WHICH | 1 << REQUESTS | 1 << BYTES | 1 << Q2C_MAX | 1 << D2C_99 |
					 1 << D2C_MAX | 1 << MAX_AT);
	findings_course(findings, 1 << WHAT | 1 << WHICH | (block->options.by == BLOCK_BY_TASK ? 1 << OF_TASK : 0),
			1 << REQUESTS | 1 << BYTES | 1 << TOTAL | 1 << ERRORS | 1 << REQUEUED);
	while ((row = u64_map_next(&block->rows, &at, &key))) {
		put_row(block, row, state->now - state->start, table);
		if (row->longest.to)
			extreme_see(&longest, &row->longest);
	}
	extreme_tell(block->pass, findings, "time of a request in the device", &longest);
}

enum size_column { SIZE_WHAT, SIZE_WHICH, SIZE_OF_TASK, LEAST, SIZE_REQUESTS, SIZE_BYTES };
_Static_assert(SIZE_BYTES + 1 == BLOCK_SIZE_COLUMNS, "as many as there is room for");

static void put_sizes_of(const struct block_analysis *block, const struct block_sizes *sizes, struct table *table)
{
	const struct block_row row = { .device = sizes->device, .task = sizes->task, .operation = sizes->operation };

	for (unsigned power = 0; power < BLOCK_SIZES; power++) {
		if (!sizes->of[power].requests)
			continue;
		put_head(block, &row, table);
		table_cell_u64(table, power ? UINT64_C(1) << power : 0);
		table_cell_u64(table, sizes->of[power].requests);
		table_cell_u64(table, sizes->of[power].bytes);
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
	for (size_t i = 0; i < LEAST; i++)
		block->size_columns[i] = block->columns[i];
	block->size_columns[LEAST] = (struct table_column){ "AT LEAST", TABLE_SIZE, "at_least_bytes" };
	block->size_columns[SIZE_REQUESTS] = columns[REQUESTS];
	block->size_columns[SIZE_BYTES] = columns[BYTES];
	table = findings_table(findings, "sizes", "sizes of the requests, each up to twice the least", NULL,
			       block->size_columns, BLOCK_SIZE_COLUMNS);
	if (!table)
		return;
	if (block->options.by == BLOCK_BY_OPERATION)
		table->data_only = 1 << SIZE_WHICH;
	/* Neither text nor data has it. */
	if (block->options.by != BLOCK_BY_TASK) {
		table->data_only |= 1 << SIZE_OF_TASK;
		table->text_only = 1 << SIZE_OF_TASK;
	}
	findings_course(findings, 1 << SIZE_WHAT | 1 << SIZE_WHICH | 1 << SIZE_OF_TASK | 1 << LEAST,
			1 << SIZE_REQUESTS | 1 << SIZE_BYTES);
	while ((sizes = u64_map_next(&block->sizes, &at, &key)))
		put_sizes_of(block, sizes, table);
}

static const struct table_column device_columns[] = {
	{ "DEVICE", TABLE_TEXT, NULL },        { "BUSY", TABLE_TIME, NULL },
	{ "%", TABLE_NUMBER, "busy_percent" }, { "DEPTH", TABLE_NUMBER, "depth_average" },
	{ "DEEPEST", TABLE_COUNT, NULL },      { "SEQ %", TABLE_NUMBER, "sequential_percent" },
	{ "MERGES", TABLE_COUNT, NULL },       { "SPLITS", TABLE_COUNT, NULL },
	{ "REQUEUES", TABLE_COUNT, NULL },     { "REISSUES", TABLE_COUNT, NULL },
	{ "ERRORS", TABLE_COUNT, NULL },
};

static void put_devices(struct block_analysis *block, struct findings *findings)
{
	const struct state *state = &block->pass->state;
	struct table *table = findings_table(
		findings, "devices",
		"devices: how many requests were in the driver at once, and how many were merged, split or requeued",
		"busy", device_columns, array_size(device_columns));

	if (table)
		table->spare = 1 << 7 | 1 << 9;
	findings_course(findings, 1 << 0, 1 << 1 | 1 << 6 | 1 << 7 | 1 << 8 | 1 << 9 | 1 << 10);
	for (size_t i = 0; table && i < block->nr_devices; i++) {
		struct block_device *device = &block->devices[i];

		if (!device->requests && !device->merges && !device->splits)
			continue;
		block_settle(device, state->now);
		put_device(device, table);
		table_cell_u64(table, device->busy);
		table_cell_percent(table, device->busy, state->now - state->start, 1);
		table_cell_ratio(table, device->weighed, 1, device->busy, 2);
		table_cell_u64(table, device->deepest);
		table_cell_percent(table, device->sequential, device->first_issues, 1);
		table_cell_u64(table, device->merges);
		table_cell_u64(table, device->splits);
		table_cell_u64(table, device->requeues);
		table_cell_u64(table, device->reissues);
		table_cell_u64(table, device->errors);
	}
}

enum { SLOW_COLUMNS = 13 };

static const struct table_column slow_columns[SLOW_COLUMNS] = {
	{ "LASTED", TABLE_TIME, NULL },     { "DEVICE", TABLE_TEXT, NULL },  { "OP", TABLE_TEXT, "operation" },
	{ "SECTOR", TABLE_NUMBER, NULL },   { "SIZE", TABLE_SIZE, "bytes" }, { "TASK", TABLE_TEXT, "comm" },
	{ "PID", TABLE_NUMBER, NULL },      { "CPU", TABLE_NUMBER, NULL },   { "FROM", TABLE_NUMBER, "since" },
	{ "UNTIL", TABLE_NUMBER, "until" }, { "QUEUED", TABLE_TIME, NULL },  { "BESIDE", TABLE_COUNT, NULL },
	{ "FAILED", TABLE_COUNT, NULL },
};

static void put_slow(const struct block_analysis *block, const struct block_slow *slow, struct table *table)
{
	table_cell_u64(table, slow->lasted);
	put_device(&block->devices[slow->device], table);
	table_cell(table, block_operations[slow->operation]);
	table_cell_u64(table, slow->sector);
	table_cell_u64(table, slow->bytes);
	pass_put_task(block->pass, slow->task, table);
	table_cell_u64(table, slow->cpu);
	table_cell_decimal(table, (int64_t)(slow->at - slow->lasted), 9);
	table_cell_decimal(table, (int64_t)slow->at, 9);
	if (slow->known)
		table_cell_u64(table, slow->queued);
	else
		table_cell(table, "-");
	table_cell_u64(table, slow->beside);
	table_cell_u64(table, slow->failed);
}

static void put_slowest(const struct block_analysis *block, struct findings *findings)
{
	struct table *table =
		block->options.slowest ?
			findings_table(findings, "slowest", "the longest requests; how many others were in the driver",
				       NULL, slow_columns, SLOW_COLUMNS) :
			NULL;

	for (size_t i = 0; table && i < block->slowest.nr; i++)
		put_slow(block, slowest_at(&block->slowest, i), table);
}

int block_finish(void *arg, struct findings *findings, struct fail *fail)
{
	struct block_analysis *block = arg;

	if (!block->seen)
		return pass_nothing(block->pass, &block_analysis, "there are no block requests among the events",
				    "-e block", fail);
	put_rows(block, findings);
	put_sizes(block, findings);
	put_devices(block, findings);
	put_slowest(block, findings);
	findings_cut(findings, block->cut, "requests issued before the start");
	findings_cut(findings, block->requests.len, "requests in the driver or queue at the end");
	findings_broken(findings, block->broken, "requests");
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
