// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/frame/findings.h"
#include "lib/answers/frame/pass.h"
#include "lib/answers/latency/latency_section_internal.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/labels.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/table.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/reader/reader.h"

static const char *const context_names[SECTION_CONTEXTS] = { "nmi", "irq", "softirq", "idle", "task", "unknown" };

struct holds {
	struct section section;
	const struct context *context;
};

enum { OF_INSTANCES = WHEN };

#define SECTION_COLUMNS(X)                                                                           \
	X("LATENCY", TIME, NULL, BRIEF, table_cell_u64, section->us *NS_PER_US)                      \
	X("TRACER", TEXT, NULL, BRIEF, table_cell, holds->context->tracer)                           \
	X("TASK", TEXT, "comm", BRIEF, table_cell, section->comm)                                    \
	X("PID", NUMBER, NULL, SPARE, table_cell_known_s64, section->pid >= 0, section->pid)         \
	X("CPU", NUMBER, NULL, BRIEF, table_cell_u64, section->head.cpu)                             \
	X("NMI", TIME, NULL, SPARE, table_cell_u64, section->parts[SECTION_NMI] * NS_PER_US)         \
	X("IRQ", TIME, NULL, 0, table_cell_u64, section->parts[SECTION_IRQ] * NS_PER_US)             \
	X("SOFTIRQ", TIME, NULL, 0, table_cell_u64, section->parts[SECTION_SOFTIRQ] * NS_PER_US)     \
	X("IDLE", TIME, NULL, SPARE, table_cell_u64, section->parts[SECTION_IDLE] * NS_PER_US)       \
	X("TASKS", TIME, NULL, 0, table_cell_u64, section->parts[SECTION_TASK] * NS_PER_US)          \
	X("UNKNOWN", TIME, NULL, SPARE, table_cell_u64, section->parts[SECTION_UNKNOWN] * NS_PER_US) \
	X("STARTED AT", TEXT, "started_at", 0, put_started, section)                                 \
	X("ENDED AT", TEXT, "ended_at", 0, table_cell, section->head.ended)                          \
	X("MOST OF IT", TEXT, "cause", KEEP | BRIEF, put_cause, section)                             \
	X("STACK", TEXT, NULL, DATA, table_cell, section->stack)                                     \
	X("INSTANCE", TEXT, NULL, OF_INSTANCES, table_cell, holds->context->instance)

#define GAP_COLUMNS(X)                                                             \
	X("GAP", TIME, NULL, 0, table_cell_u64, gap->us *NS_PER_US)                \
	X("AT", TIME, NULL, 0, table_cell_u64, gap->from *NS_PER_US)               \
	X("FROM", TEXT, "function", 0, put_word, gap->entry.what)                  \
	X("CALLER", TEXT, NULL, SPARE, put_word, gap->entry.caller)                \
	X("TO", TEXT, "next", 0, put_word, gap->next.len ? gap->next : the_end)    \
	X("IN", TEXT, "context", 0, table_cell, context_names[gap->entry.context]) \
	X("TASK", TEXT, "comm", SPARE, put_word, gap->entry.comm)                  \
	X("PID", NUMBER, NULL, SPARE, table_cell_s64, gap->entry.pid)              \
	X("INSTANCE", TEXT, NULL, OF_INSTANCES, table_cell, holds->context->instance)

static const struct table_column columns[] = COLUMNS(SECTION_COLUMNS), gap_columns[] = COLUMNS(GAP_COLUMNS);

static void put_word(struct table *table, struct text_word word)
{
	table_cell_mem(table, word.at, word.len);
}

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

/* A wakeup has no function at which it began: the cell shows the first task instead. */
static void put_started(struct table *table, const struct section *section)
{
	if (*section->head.started || !section->first.what.len)
		table_cell(table, section->head.started);
	else
		table_cellf(table, "%.*s-%" PRId32, (int)section->first.comm.len, section->first.comm.at,
			    section->first.pid);
}

static void put_section(struct table *table, const struct holds *holds)
{
	const struct section *section = &holds->section;

	SECTION_COLUMNS(CELL)
}

static void put_gaps(struct table *table, const struct holds *holds)
{
	static const struct text_word the_end = { "the end", 7 };

	for (size_t i = 0; i < holds->section.nr_gaps; i++) {
		const struct section_gap *gap = &holds->section.gaps[i];

		GAP_COLUMNS(CELL)
	}
}

static void put_tables(const struct holds *holds, size_t nr, struct findings *findings)
{
	struct table *table = findings_table(findings, "sections",
					     "the longest sections that tracers have met, and what their CPU did",
					     "latency", columns);

	if (!table)
		return;
	findings_show(findings, OF_INSTANCES, nr != 1);
	for (size_t i = 0; i < nr; i++)
		put_section(table, &holds[i]);
	table = findings_table(findings, "gaps", "their longest times without an entry", "gap", gap_columns);
	if (!table)
		return;
	findings_show(findings, OF_INSTANCES, nr != 1);
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

enum { FRAMES = 4 };

struct sum {
	uint64_t us, entries;
};

struct reading {
	struct section *section;
	size_t worst;
	struct labels names; /* of the functions and events */
	struct sum *sums;    /* by the number of the name */
	size_t nr_sums;
	struct text_word open[SECTION_OPEN]; /* of a graph: the open calls, by depth */
	struct section_entry last;           /* of the section's CPU */
	uint64_t at;                         /* us; the section is split up to here */
	bool begun, failed;
};

/* Reads the line of the task: "sh-164 (uid:0 nice:0 policy:0 rt_prio:0)". */
static void read_task(struct section *section)
{
	const char *task = section->head.task, *end = strstr(task, " (uid:"),
		   *dash = end ? memrchr(task, '-', (size_t)(end - task)) : NULL;

	section->pid = -1;
	if (!dash || sscanf(dash + 1, "%9" SCNd32, &section->pid) != 1)
		return;
	memcpy(section->comm, task, (size_t)(dash - task));
	section->comm[dash - task] = '\0';
}

/* Reads "# latency: 7003 us, #39/39, CPU#1 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:2)" and the rest of the head. */
static bool read_head(struct section *section, const char *text, size_t len)
{
	struct text_word line;
	char first[128];
	bool found = false;

	while (text_next_line(&text, &len, &line)) {
		if (!line.len || *line.at != '#')
			continue;
		latency_head_take(&section->head, line.at, line.len);
		snprintf(first, sizeof(first), "%.*s", (int)(line.len < sizeof(first) ? line.len : sizeof(first) - 1),
			 line.at);
		found |= sscanf(first, "# latency: %18" SCNu64 " us, #%18" SCNu64 "/%18" SCNu64 ",", &section->us,
				&section->entries, &section->written) == 3;
	}
	read_task(section);
	return found && section->head.cpu_known;
}

static void add_sum(struct reading *reading, struct text_word what, uint64_t us)
{
	bool is_new;
	uint32_t number = labels_add(&reading->names, what.at, what.len, &is_new);
	struct sum *sum;
	struct section_most *most = &reading->section->most;

	while (number != LABEL_NONE && reading->nr_sums <= number && vec_push(reading->sums, reading->nr_sums))
		;
	if (number == LABEL_NONE || number >= reading->nr_sums) {
		reading->failed = true;
		return;
	}
	sum = &reading->sums[number];
	sum->us += us;
	sum->entries++;
	if (sum->us >= most->us)
		*most = (struct section_most){ what, sum->us, sum->entries };
}

static void keep_gap(struct reading *reading, const struct section_gap *gap)
{
	struct section *section = reading->section;
	size_t index;

	if (section->nr_gaps >= reading->worst &&
	    (!section->nr_gaps || section->gaps[section->nr_gaps - 1].us >= gap->us))
		return;
	if (section->nr_gaps < reading->worst && !vec_push(section->gaps, section->nr_gaps)) {
		reading->failed = true;
		return;
	}
	for (index = section->nr_gaps - 1; index && section->gaps[index - 1].us < gap->us; index--)
		section->gaps[index] = section->gaps[index - 1];
	section->gaps[index] = *gap;
}

/* Gives the time from the last entry up to `us` to that entry. */
static void close_gap(struct reading *reading, uint64_t us, struct text_word next)
{
	struct section_gap gap = { .us = us - reading->at, .from = reading->at, .entry = reading->last, .next = next };

	if (!reading->begun || us < reading->at)
		return;
	reading->section->parts[reading->last.context] += gap.us;
	reading->at = us;
	add_sum(reading, gap.entry.what, gap.us);
	keep_gap(reading, &gap);
}

/* Where a function of a graph ends, its caller continues. */
static void name_call(struct reading *reading, struct section_entry *entry)
{
	if (entry->opens && entry->depth < SECTION_OPEN)
		reading->open[entry->depth] = entry->what;
	if (entry->closes && entry->depth && entry->depth <= SECTION_OPEN && reading->open[entry->depth - 1].len)
		entry->what = reading->open[entry->depth - 1];
}

static void see_entry(struct reading *reading, struct section_entry *entry)
{
	struct section *section = reading->section;

	if (!section->first.what.len)
		section->first = *entry;
	if (entry->cpu != section->head.cpu || entry->us > section->us)
		return;
	name_call(reading, entry);
	section->seen++;
	if (reading->begun) {
		close_gap(reading, entry->us > reading->at ? entry->us : reading->at, entry->what);
	} else if (section->first.cpu != entry->cpu || section->written > section->entries) {
		/* The section began before the first entry: on another CPU, or with entries that were overwritten. */
		section->parts[SECTION_UNKNOWN] = entry->us;
		reading->at = entry->us;
	}
	reading->begun = true;
	reading->last = *entry;
}

/* Keeps the last stack of the text. */
static void read_stack(struct section *section, const char *text, size_t len)
{
	struct text_word line, frame;
	size_t frames = 0, at = 0;

	while (text_next_line(&text, &len, &line)) {
		if (!section_frame(line, &frame)) {
			frames = 0;
			continue;
		}
		if (!frames)
			at = 0;
		if (frames++ < FRAMES && at < sizeof(section->stack))
			at += (size_t)snprintf(section->stack + at, sizeof(section->stack) - at, "%s%.*s",
					       frames > 1 ? " <- " : "",
					       (int)(frame.len < SECTION_STACK ? frame.len : SECTION_STACK), frame.at);
	}
}

int section_read(struct section *section, const char *text, size_t len, size_t worst, struct fail *fail)
{
	struct reading reading = { .section = section, .worst = worst };
	struct section_entry entry;
	const char *at = text;
	size_t left = len;

	*section = (struct section){ .pid = -1 };
	if (!read_head(section, text, len))
		return fail_set(fail, -ENODATA, "the kernel's text has no latency in its head");
	labels_init(&reading.names);
	while (section_next(&at, &left, &entry))
		see_entry(&reading, &entry);
	if (reading.begun)
		close_gap(&reading, section->us, (struct text_word){ "", 0 });
	else
		section->parts[SECTION_UNKNOWN] = section->us;
	read_stack(section, text, len);
	labels_release(&reading.names);
	free(reading.sums);
	return reading.failed ? fail_memory(fail) : 0;
}

void section_release(struct section *section)
{
	free(section->gaps);
	section->gaps = NULL;
}
