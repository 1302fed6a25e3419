// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/info_buffer.h"

#include "cmd/command.h"
#include "cmd/terminal/terminal.h"
#include "lib/base/number.h"
#include "lib/base/out.h"
#include "lib/base/table.h"
#include "lib/base/text.h"
#include "lib/event/context.h"
#include "lib/event/events.h"
#include "lib/reader/reader.h"
#include "lib/trace/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One CPU of a buffer, as its events show it. */
struct cpu_info {
	uint64_t first, last, events, lost;
	bool seen, lost_some; /* lost_some: a gap of unknown size */
};

/* Returns the uncompressed size of all pages of a CPU, from the heads of its chunks; 0 if these are damaged. */
static uint64_t pages_size(struct trace *trace, size_t buffer, size_t cpu)
{
	struct fail fail = FAIL_INIT;
	struct trace_pages pages;
	uint64_t total = 0;
	size_t size;

	if (trace_pages_init(&pages, trace, buffer, cpu, &fail))
		return 0;
	while (trace_pages_size(&pages, 1 << 30, &size, &fail) > 0 && !trace_pages_skip(&pages, size, &fail))
		total += size;
	return total;
}

static void see(void *arg, const struct event *event)
{
	struct cpu_info *cpus = arg, *cpu = &cpus[event->cpu_index];

	if (event->kind == EVENT_LOST) {
		if (event->lost > 0)
			cpu->lost += (uint64_t)event->lost;
		else
			cpu->lost_some = true;
		return;
	}
	if (!cpu->seen)
		cpu->first = event->ts;
	cpu->seen = true;
	cpu->last = event->ts;
	cpu->events++;
}

/* Counts the events of the reader's only buffer by CPU. *ret has one entry for each of its CPUs. */
static int count_events(struct reader *reader, const struct trace_buffer *buffer, struct cpu_info **ret,
			struct fail *fail)
{
	struct cpu_info *cpus = calloc(buffer->nr_cpus + 1, sizeof(*cpus));
	int r;

	if (!cpus)
		return fail_memory(fail);
	*ret = cpus;
	r = reader_start(reader, &(struct reader_options){ .pool = NULL }, fail);
	return r ? r : reader_run(reader, &(struct reader_consumer){ .see = see, .arg = cpus }, 1, fail);
}

static void cell_time(struct table *table, enum clock_unit unit, bool seen, uint64_t ts)
{
	char text[TEXT_HUMAN];

	if (!seen)
		table_cell(table, "");
	else if (unit == CLOCK_UNIT_NS)
		table_cell(table, text_stamp(text, ts));
	else
		table_cell_u64(table, ts);
}

static void cells_stats(struct table *table, const struct context *context, uint32_t cpu)
{
	for (size_t i = 0; i < context->nr_stats; i++)
		if (context->stats[i].cpu == cpu) {
			table_cell_u64(table, context->stats[i].overrun);
			table_cell_u64(table, context->stats[i].dropped);
			return;
		}
	table_cell(table, "");
	table_cell(table, "");
}

static void print_cpus(struct trace *trace, size_t buffer, const struct context *context, const struct cpu_info *cpus,
		       struct out *out)
{
	static const struct table_column columns[] = {
		{ "CPU", TABLE_NUMBER, NULL },    { "stored", TABLE_NUMBER, NULL },  { "pages", TABLE_NUMBER, NULL },
		{ "events", TABLE_NUMBER, NULL }, { "lost", TABLE_NUMBER, NULL },    { "first", TABLE_NUMBER, NULL },
		{ "last", TABLE_NUMBER, NULL },   { "overrun", TABLE_NUMBER, NULL }, { "dropped", TABLE_NUMBER, NULL },
	};
	const struct trace_buffer *of = trace_buffer(trace, buffer);
	char text[TEXT_HUMAN];
	struct table table;

	/* The last two columns are the kernel's own counts, if the file has them. */
	table_init(&table, columns, !cpus ? 3 : context->nr_stats ? array_size(columns) : array_size(columns) - 2);
	table.indent = 2;
	for (size_t i = 0; i < of->nr_cpus; i++) {
		table_cell_u64(&table, of->cpus[i].cpu);
		table_cell(&table, text_size(text, of->cpus[i].size));
		table_cell(&table, text_size(text, pages_size(trace, buffer, i)));
		if (!cpus)
			continue;
		table_cell_u64(&table, cpus[i].events);
		table_cellf(&table, "%" PRIu64 "%s", cpus[i].lost, cpus[i].lost_some ? "+" : "");
		cell_time(&table, context->unit, cpus[i].seen, cpus[i].first);
		cell_time(&table, context->unit, cpus[i].seen, cpus[i].last);
		if (context->nr_stats)
			cells_stats(&table, context, of->cpus[i].cpu);
	}
	out->failed |= !table_print(&table, out);
	table_release(&table);
}

static int compare_types(const void *a, const void *b)
{
	const struct event_type *left = *(const struct event_type *const *)a,
				*right = *(const struct event_type *const *)b;

	if (left->seen != right->seen)
		return left->seen < right->seen ? 1 : -1;
	return (left->id > right->id) - (left->id < right->id);
}

static bool print_types(struct events *events, struct out *out)
{
	static const struct table_column columns[] = { { "events", TABLE_NUMBER, NULL }, { "type", TABLE_TEXT, NULL } };
	cleanup_free const struct event_type **types = NULL;
	const struct event_type *type;
	struct table table;
	size_t count = 0;

	while (events_type_at(events, count, &type))
		count++;
	types = calloc(count + 1, sizeof(*types));
	if (!types)
		return false;
	for (size_t i = 0; i < count; i++)
		events_type_at(events, i, &types[i]);
	qsort(types, count, sizeof(*types), compare_types);
	table_init(&table, columns, array_size(columns));
	table.indent = 2;
	for (size_t i = 0; i < count; i++) {
		table_cell_u64(&table, types[i]->seen);
		if (types[i]->format)
			table_cellf(&table, "%s:%s", types[i]->format->system, types[i]->format->name);
		else
			table_cellf(&table, "of unknown id %" PRId32, types[i]->id);
	}
	out_char(out, '\n');
	out->failed |= !table_print(&table, out);
	table_release(&table);
	return true;
}

static void print_span(const struct trace_buffer *buffer, const struct context *context, const struct cpu_info *cpus,
		       struct events *events, struct out *out)
{
	uint64_t first = UINT64_MAX, last = 0, lost = 0;
	char count[TEXT_HUMAN], text[TEXT_HUMAN];
	bool lost_some = false;
	size_t from;

	for (size_t i = 0; i < buffer->nr_cpus; i++) {
		lost += cpus[i].lost;
		lost_some = lost_some || cpus[i].lost_some;
		if (!cpus[i].seen)
			continue;
		first = cpus[i].first < first ? cpus[i].first : first;
		last = cpus[i].last > last ? cpus[i].last : last;
	}
	from = out_len(out);
	out_f(out, "  %s event%s", text_count(count, events_count(events)), text_plural(events_count(events)));
	if (first <= last && context->unit == CLOCK_UNIT_NS)
		out_f(out, " in %s", text_time(text, last - first));
	if (lost || lost_some)
		out_f(out, ", %s%s lost", lost_some ? "at least " : "", text_count(text, lost));
	else
		out_str(out, ", none lost");
	out_f(out, ", clock %s\n", context->clock);
	terminal_seal(out, from);
}

/* Prints the longest case from the head of the kernel's text: "# latency: 68 us, #12/12, CPU#0 | ...". */
static void print_worst(const struct context *context, struct out *out)
{
	const char *line = context->latency ? strstr(context->latency, "# latency: ") : NULL;
	unsigned long long us = 0, entries = 0;

	if (!context->latency)
		return;
	if (line && sscanf(line, "# latency: %llu us, #%llu/", &us, &entries) == 2)
		out_f(out, "  the tracer's worst case%s: %llu entries, latency %llu us\n",
		      context->section ? "" : " as the kernel's text", entries, us);
	else
		out_str(out, "  the tracer has measured no worst case\n");
}

static void print_cleared(const struct trace *trace, size_t buffer, const struct trace_buffer *of, struct out *out)
{
	uint64_t most = 0;

	for (size_t i = 0; i < of->nr_cpus; i++) {
		struct trace_text text;
		char name[64];

		snprintf(name, sizeof(name), "weft/per_cpu/cpu%u/cleared", (unsigned)of->cpus[i].cpu);
		text = trace_setting(trace, buffer, name);
		if (text.text && number_of(text.text, 0) > most)
			most = number_of(text.text, 0);
	}
	if (most)
		out_f(out, "  cleared by somebody else while it was recorded (%" PRIu64 " time%s as far as noticed)\n",
		      most, most == 1 ? "" : "s");
}

static void print_buffer(struct reader *reader, struct trace *trace, size_t buffer, const struct cpu_info *cpus,
			 struct out *out)
{
	const struct trace_buffer *of = trace_buffer(trace, buffer);
	const struct context *context = reader->buffers[0].context;

	print_span(of, context, cpus, reader->buffers[0].events, out);
	print_worst(context, out);
	print_cleared(trace, buffer, of, out);
	print_cpus(trace, buffer, context, cpus, out);
	if (reader_count(reader) && !print_types(reader->buffers[0].events, out))
		out->failed = true;
}

int info_buffer(struct trace *trace, size_t buffer, bool no_events, struct out *out, bool *ret_damaged,
		struct fail *fail)
{
	const struct trace_buffer *of = trace_buffer(trace, buffer);
	cleanup_free struct cpu_info *cpus = NULL;
	const char *damage, *path;
	struct reader reader;
	size_t from;
	int r;

	out_char(out, '\n');
	from = out_len(out);
	out_f(out, "%s%s\n", of->name.len ? "Instance " : "Top buffer", of->name.text);
	terminal_seal(out, from);
	if (no_events) {
		print_cpus(trace, buffer, NULL, NULL, out);
		return 0;
	}
	reader_init(&reader);
	r = reader_add(&reader, trace, buffer, fail);
	if (!r)
		r = count_events(&reader, of, &cpus, fail);
	if (!r)
		print_buffer(&reader, trace, buffer, cpus, out);
	damage = r ? NULL : reader_damage(&reader, &path);
	if (damage) {
		r = terminal_flush(out, fail);
		command_warn("%s", damage);
		*ret_damaged = true;
	}
	reader_release(&reader);
	return r;
}
