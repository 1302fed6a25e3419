// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/findings.h"
#include "lib/analysis/latency_section_internal.h"
#include "lib/analysis/pass.h"
#include "lib/base/fail.h"
#include "lib/base/table.h"
#include "lib/event/context.h"
#include "lib/reader/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NS_PER_US = 1000 };

static const char *const context_names[SECTION_CONTEXTS] = { "nmi", "irq", "softirq", "idle", "task", "unknown" };

enum column {
	LATENCY,
	TRACER,
	TASK,
	PID,
	CPU,
	NMI,
	IRQ,
	SOFTIRQ,
	IDLE,
	RAN,
	UNKNOWN,
	STARTED,
	ENDED,
	CAUSE,
	STACK,
	INSTANCE,
	COLUMNS
};

static const struct table_column columns[COLUMNS] = {
	[LATENCY] = { "LATENCY", TABLE_TIME, NULL },
	[TRACER] = { "TRACER", TABLE_TEXT, NULL },
	[TASK] = { "TASK", TABLE_TEXT, "comm" },
	[PID] = { "PID", TABLE_NUMBER, NULL },
	[CPU] = { "CPU", TABLE_NUMBER, NULL },
	[NMI] = { "NMI", TABLE_TIME, NULL },
	[IRQ] = { "IRQ", TABLE_TIME, NULL },
	[SOFTIRQ] = { "SOFTIRQ", TABLE_TIME, NULL },
	[IDLE] = { "IDLE", TABLE_TIME, NULL },
	[RAN] = { "TASKS", TABLE_TIME, NULL },
	[UNKNOWN] = { "UNKNOWN", TABLE_TIME, NULL },
	[STARTED] = { "STARTED AT", TABLE_TEXT, "started_at" },
	[ENDED] = { "ENDED AT", TABLE_TEXT, "ended_at" },
	[CAUSE] = { "MOST OF IT", TABLE_TEXT, "cause" },
	[STACK] = { "STACK", TABLE_TEXT, NULL },
	[INSTANCE] = { "INSTANCE", TABLE_TEXT, NULL },
};

enum gap_column { GAP, AT, FUNCTION, CALLER, NEXT, CONTEXT, GAP_TASK, GAP_PID, GAP_INSTANCE, GAP_COLUMNS };

static const struct table_column gap_columns[GAP_COLUMNS] = {
	[GAP] = { "GAP", TABLE_TIME, NULL },
	[AT] = { "AT", TABLE_TIME, NULL },
	[FUNCTION] = { "FROM", TABLE_TEXT, "function" },
	[CALLER] = { "CALLER", TABLE_TEXT, NULL },
	[NEXT] = { "TO", TABLE_TEXT, "next" },
	[CONTEXT] = { "IN", TABLE_TEXT, "context" },
	[GAP_TASK] = { "TASK", TABLE_TEXT, "comm" },
	[GAP_PID] = { "PID", TABLE_NUMBER, NULL },
	[GAP_INSTANCE] = { "INSTANCE", TABLE_TEXT, NULL },
};

struct holds {
	struct section section;
	const struct context *context;
};

static void put_cause(struct table *table, const struct section *section)
{
	const struct section_most *most = &section->most;
	char lasted[TEXT_HUMAN];

	if (most->us && most->us >= section->parts[SECTION_UNKNOWN])
		table_cellf(table, "%.*s: %s behind %" PRIu64 " %s", (int)most->what.len, most->what.at,
			    text_time(lasted, most->us * NS_PER_US), most->entries,
			    most->entries == 1 ? "entry" : "entries");
	else
		table_cell(table, section->us ? "what is not known" : "");
}

static void put_section(struct table *table, const struct holds *holds)
{
	const struct section *section = &holds->section;
	const struct latency_head *head = &section->head;

	table_cell_u64(table, section->us * NS_PER_US);
	table_cell(table, holds->context->tracer);
	table_cell(table, section->comm);
	if (section->pid >= 0)
		table_cell_s64(table, section->pid);
	else
		table_cell(table, "-");
	table_cell_u64(table, head->cpu);
	for (size_t i = 0; i < SECTION_CONTEXTS; i++)
		table_cell_u64(table, section->parts[i] * NS_PER_US);
	/* A wakeup has no function at which it began: the cell shows the first task instead. */
	if (*head->started || !section->first.what.len)
		table_cell(table, head->started);
	else
		table_cellf(table, "%.*s-%" PRId32, (int)section->first.comm.len, section->first.comm.at,
			    section->first.pid);
	table_cell(table, head->ended);
	put_cause(table, section);
	table_cell(table, section->stack);
	table_cell(table, holds->context->instance);
}

static void put_gaps(struct table *table, const struct holds *holds)
{
	for (size_t i = 0; i < holds->section.nr_gaps; i++) {
		const struct section_gap *gap = &holds->section.gaps[i];

		table_cell_u64(table, gap->us * NS_PER_US);
		table_cell_u64(table, gap->from * NS_PER_US);
		table_cell_mem(table, gap->entry.what.at, gap->entry.what.len);
		table_cell_mem(table, gap->entry.caller.at, gap->entry.caller.len);
		if (gap->next.len)
			table_cell_mem(table, gap->next.at, gap->next.len);
		else
			table_cell(table, "the end");
		table_cell(table, context_names[gap->entry.context]);
		table_cell_mem(table, gap->entry.comm.at, gap->entry.comm.len);
		table_cell_s64(table, gap->entry.pid);
		table_cell(table, holds->context->instance);
	}
}

static void put_tables(const struct holds *holds, size_t nr, struct findings *findings)
{
	struct table *table = findings_table(findings, "sections",
					     "the longest sections that tracers have met, and what their CPU did",
					     "latency", columns, COLUMNS);

	if (!table)
		return;
	table->data_only = 1 << STACK | (nr == 1 ? 1 << INSTANCE : 0);
	table->spare = 1 << NMI | 1 << IDLE | 1 << UNKNOWN | 1 << PID;
	for (size_t i = 0; i < nr; i++)
		put_section(table, &holds[i]);
	table = findings_table(findings, "gaps", "their longest times without an entry", "gap", gap_columns,
			       GAP_COLUMNS);
	if (!table)
		return;
	table->data_only = nr == 1 ? 1 << GAP_INSTANCE : 0;
	table->spare = 1 << GAP_TASK | 1 << GAP_PID | 1 << CALLER;
	for (size_t i = 0; i < nr; i++)
		put_gaps(table, &holds[i]);
}

/* The kernel's text has no times of the trace: all of it is printed. */
static void put_longest(const struct holds *holds, size_t nr, struct findings *findings)
{
	const struct section *longest = NULL;
	struct worst worst = { .what = "section of a latency tracer" };

	for (size_t i = 0; i < nr; i++)
		if (!longest || holds[i].section.us > longest->us)
			longest = &holds[i].section;
	if (!longest)
		return;
	worst.lasted = longest->us * NS_PER_US;
	worst.cpu = longest->head.cpu;
	worst.pid = longest->pid;
	memcpy(worst.comm, longest->comm, sizeof(worst.comm) - 1);
	findings_worst(findings, &worst);
}

/* Adds notes about what the tables cannot show. */
static void put_notes(const struct holds *holds, size_t nr, struct findings *findings)
{
	uint64_t lost = 0, cut = 0;
	bool bare = false;

	for (size_t i = 0; i < nr; i++) {
		const struct section *section = &holds[i].section;

		lost += section->written > section->entries;
		cut += section->written <= section->entries && section->parts[SECTION_UNKNOWN];
		bare |= section->seen <= 2;
		if (*section->stack)
			findings_note(findings, "the stack at the end under %s: %s", holds[i].context->tracer,
				      section->stack);
	}
	findings_cut(findings, cut, "sections whose beginning no entry of their CPU shows");
	findings_broken(findings, lost, "sections");
	if (bare)
		findings_note(
			findings,
			"a section with no entries between its ends: the option function-trace of tracefs has its "
			"functions stored");
}

int sections_put(const struct pass *pass, size_t worst, struct findings *findings, struct fail *fail)
{
	struct holds *holds = calloc(pass->reader->nr_buffers, sizeof(*holds));
	size_t nr = 0;
	int r = holds ? 0 : fail_memory(fail);

	for (size_t i = 0; !r && i < pass->reader->nr_buffers; i++) {
		const struct context *context = pass->reader->buffers[i].context;
		uint64_t sum = 0;

		if (!context->latency)
			continue;
		holds[nr].context = context;
		r = section_read(&holds[nr].section, context->latency, strlen(context->latency), worst, fail);
		/* The tracer has met no section, or the text has an unknown form. */
		if (r == -ENODATA ||
		    (!r && (!holds[nr].section.us || !pass_wants_cpu(pass, holds[nr].section.head.cpu)))) {
			section_release(&holds[nr].section);
			r = 0;
			continue;
		}
		for (size_t part = 0; part < SECTION_CONTEXTS; part++)
			sum += holds[nr].section.parts[part];
		if (!r && sum != holds[nr].section.us)
			r = fail_set(fail, -EPROTO, "the parts of a section do not add up; that is an error of weft");
		nr++;
	}
	if (!r && nr) {
		put_tables(holds, nr, findings);
		put_longest(holds, nr, findings);
		put_notes(holds, nr, findings);
	}
	for (size_t i = 0; i < nr; i++)
		section_release(&holds[i].section);
	free(holds);
	return r ? r : (int)nr;
}
