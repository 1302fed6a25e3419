// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/memory_internal.h"

#include "lib/analysis/findings.h"
#include "lib/analysis/sorts.h"
#include "lib/base/fail.h"
#include "lib/base/table.h"
#include "lib/base/text.h"
#include "lib/event/context.h"
#include "lib/names/symbols.h"
#include "lib/reader/reader.h"

#include <errno.h>
#include <inttypes.h>

static const struct table_column site_columns[] = {
	{ "CALLER", TABLE_TEXT, NULL },
	{ "ALLOCS", TABLE_COUNT, NULL },
	{ "ASKED", TABLE_SIZE, NULL },
	{ "GIVEN", TABLE_SIZE, NULL },
	{ "FREED", TABLE_COUNT, NULL },
	{ "ALIVE", TABLE_COUNT, NULL },
	{ "ALIVE BYTES", TABLE_SIZE, "alive_bytes" },
	{ "OLDEST", TABLE_TIME, "oldest_age_ns" },
	{ "MOVED", TABLE_COUNT, "freed_on_other_cpu" },
	{ "FAILED", TABLE_COUNT, NULL },
};

const struct analysis_sorts memory_sorts = { site_columns, array_size(site_columns), 0 };

static void put_function(const struct memory_analysis *memory, uint64_t address, struct table *table)
{
	struct symbol symbol;

	if (symbols_find(memory->pass->reader->buffers[0].context->symbols, address, &symbol))
		table_cell_mem(table, symbol.name, symbol.name_len);
	else
		table_cellf(table, "0x%" PRIx64, address);
}

static void count_alive(struct memory_analysis *memory)
{
	const struct memory_alive *alive;
	struct memory_site *site;
	uint64_t key;
	size_t at = 0;

	while ((alive = u64_map_next(&memory->alive, &at, &key))) {
		uint64_t age = memory->pass->state.now - alive->at;

		site = alive->others ? NULL : u64_map_find(&memory->sites, alive->site);
		if (!site)
			continue;
		site->alive++;
		site->alive_bytes += alive->bytes;
		if (age > site->oldest)
			site->oldest = age;
	}
}

static void put_sites(struct memory_analysis *memory, struct findings *findings)
{
	struct table *table =
		findings_table(findings, "callers",
			       "allocations by the function that asked, and how much of them is not freed at the end",
			       "alive_bytes", site_columns, array_size(site_columns));
	const struct memory_site *site;
	uint64_t key;
	size_t at = 0;

	findings_course(findings, 1 << 0, 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 8 | 1 << 9);
	count_alive(memory);
	while (table && (site = u64_map_next(&memory->sites, &at, &key))) {
		put_function(memory, key, table);
		table_cell_u64(table, site->allocations);
		table_cell_u64(table, site->asked);
		table_cell_u64(table, site->given);
		table_cell_u64(table, site->freed);
		table_cell_u64(table, site->alive);
		table_cell_u64(table, site->alive_bytes);
		if (site->alive)
			table_cell_u64(table, site->oldest);
		else
			table_cell(table, "-");
		table_cell_u64(table, site->moved);
		table_cell_u64(table, site->failed);
	}
	if (table)
		table->spare = 1 << 9 | 1 << 8 | 1 << 2;
}

static const struct table_column page_columns[] = {
	{ "ORDER", TABLE_NUMBER, NULL },
	{ "ALLOCATED", TABLE_COUNT, NULL },
	{ "FREED", TABLE_COUNT, NULL },
	{ "MORE", TABLE_NUMBER, "difference" },
};

static void put_pages(const struct memory_analysis *memory, struct findings *findings)
{
	struct table *table = findings_table(findings, "pages", "blocks of 2^ORDER pages", NULL, page_columns,
					     array_size(page_columns));

	findings_course(findings, 1 << 0, 1 << 1 | 1 << 2);
	for (unsigned order = 0; table && order < MEMORY_ORDERS; order++) {
		if (!memory->pages[order] && !memory->pages_freed[order])
			continue;
		table_cell_u64(table, order);
		table_cell_u64(table, memory->pages[order]);
		table_cell_u64(table, memory->pages_freed[order]);
		table_cell_s64(table, (int64_t)(memory->pages[order] - memory->pages_freed[order]));
	}
}

static const char *const kinds[MEMORY_STALLS] = {
	[STALL_RECLAIM] = "direct reclaim",
	[STALL_MEMCG] = "memcg reclaim",
	[STALL_NODE] = "node reclaim",
	[STALL_COMPACTION] = "compaction",
};

static const struct table_column stall_columns[] = {
	{ "STALL", TABLE_TEXT, NULL },      { "TASK", TABLE_TEXT, "comm" }, { "PID", TABLE_NUMBER, NULL },
	{ "COUNT", TABLE_COUNT, NULL },     { "TOTAL", TABLE_TIME, NULL },  { "P50", TABLE_TIME, NULL },
	{ "P99", TABLE_TIME, NULL },        { "MAX", TABLE_TIME, NULL },    { "MAX AT", TABLE_NUMBER, "max_at" },
	{ "CPU", TABLE_NUMBER, "max_cpu" }, { "PAGES", TABLE_COUNT, NULL },
};

static void put_stalls(const struct memory_analysis *memory, struct findings *findings)
{
	struct table *table =
		findings_table(findings, "stalls", "tasks that had to reclaim memory before they got some", "total",
			       stall_columns, array_size(stall_columns));
	struct extreme longest = { .to = 0 };
	const struct memory_stall *stall;
	uint64_t key;
	size_t at = 0;

	findings_course(findings, 1 << 0 | 1 << 1 | 1 << 2, 1 << 3 | 1 << 4 | 1 << 10);
	while (table && (stall = u64_map_next(&memory->stalls, &at, &key))) {
		const struct state_task *task = &memory->pass->state.tasks[(uint32_t)key];

		table_attach(table, &stall->lasted);
		table_cell(table, kinds[key >> 32]);
		table_cell(table, pass_comm(memory->pass, task));
		table_cell_s64(table, task->pid);
		table_cell_u64(table, stall->lasted.count);
		table_cell_u64(table, stall->lasted.sum);
		pass_spread(table, &stall->lasted);
		table_cell_decimal(table, (int64_t)stall->longest.to, 9);
		table_cell_u64(table, stall->longest.cpu);
		table_cell_u64(table, stall->reclaimed);
		extreme_see(&longest, &stall->longest);
	}
	extreme_tell(memory->pass, findings, "stall for memory", &longest);
}

static const struct table_column fault_columns[] = {
	{ "TASK", TABLE_TEXT, "comm" },
	{ "PID", TABLE_NUMBER, NULL },
	{ "USER", TABLE_COUNT, NULL },
	{ "KERNEL", TABLE_COUNT, NULL },
};

static void put_faults(const struct memory_analysis *memory, struct findings *findings)
{
	struct table *table = findings_table(findings, "faults", "page faults of each task", "user", fault_columns,
					     array_size(fault_columns));
	const struct memory_faults *faults;
	uint64_t key;
	size_t at = 0;

	findings_course(findings, 1 << 1, 1 << 2 | 1 << 3);
	while (table && (faults = u64_map_next(&memory->faults, &at, &key))) {
		const struct state_task *task = &memory->pass->state.tasks[(uint32_t)key];

		table_attach(table, &faults->times);
		table_cell(table, pass_comm(memory->pass, task));
		table_cell_s64(table, task->pid);
		table_cell_u64(table, faults->user);
		table_cell_u64(table, faults->kernel);
	}
}

static void put_notes(const struct memory_analysis *memory, struct findings *findings)
{
	for (uint64_t i = 0; i < memory->nr_victims && i < MEMORY_VICTIMS; i++)
		findings_note(findings,
			      "out of memory at %" PRIu64 ".%09" PRIu64 ": the kernel chose the process %" PRId32,
			      memory->victims[i].at / 1000000000, memory->victims[i].at % 1000000000,
			      memory->victims[i].pid);
	if (memory->nr_victims > MEMORY_VICTIMS)
		findings_note(findings, "out of memory %" PRIu64 " more time%s", memory->nr_victims - MEMORY_VICTIMS,
			      text_plural(memory->nr_victims - MEMORY_VICTIMS));
	if (memory->unseen)
		findings_note(findings,
			      "%" PRIu64 " time%s an address was allocated again without an event that freed it",
			      memory->unseen, text_plural(memory->unseen));
	if (memory->forgotten)
		findings_note(findings,
			      "of %" PRIu64
			      " allocations it is not known whether they are alive: there were more than weft tracks",
			      memory->forgotten);
}

int memory_finish(void *arg, struct findings *findings, struct fail *fail)
{
	struct memory_analysis *memory = arg;
	const struct memory_open *open;
	uint64_t stalled = 0, key;
	size_t at = 0;

	if (!memory->seen)
		return pass_nothing(memory->pass, &memory_analysis,
				    "there are no allocations, reclaims or page faults among the events",
				    "-e kmem -e vmscan", fail);
	while ((open = u64_map_next(&memory->open, &at, &key)))
		stalled += open->open && open->losses == memory->pass->state.losses;
	put_sites(memory, findings);
	put_pages(memory, findings);
	put_stalls(memory, findings);
	put_faults(memory, findings);
	put_notes(memory, findings);
	findings_cut(findings, memory->older, "frees of what was allocated before the start");
	findings_cut(findings, memory->cut, "stalls that began before the start");
	findings_cut(findings, stalled, "stalls under way at the end");
	findings_broken(findings, memory->doubtful, "allocations that may be alive or not");
	findings_broken(findings, memory->broken, "stalls");
	return memory->pass->failed || memory->roles.failed ? fail_memory(fail) : 0;
}
