// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/graph_errors_internal.h"

#include "lib/analysis/findings.h"
#include "lib/analysis/graph_facts_internal.h"
#include "lib/analysis/pass.h"
#include "lib/base/table.h"
#include "lib/event/event.h"
#include "lib/follow/calls.h"
#include "lib/uapi/names.h"

void graph_errors_init(struct graph_errors *errors)
{
	*errors = (struct graph_errors){ .known = false };
	u64_map_init(&errors->map, sizeof(struct graph_error));
}

bool graph_errors_add(struct graph_errors *errors, uint32_t function, uint32_t number, const struct call *call,
		      const struct event *event)
{
	struct graph_error *error = u64_map_add(&errors->map, (uint64_t)function << 12 | number);

	if (!error)
		return false;
	error->function = function;
	error->number = number;
	if (!error->calls || errors->number < error->first)
		error->first = errors->number;
	error->calls++;
	error->total += call->lasted;
	if (error->longest_at && (call->lasted < error->longest ||
				  (call->lasted == error->longest && errors->number >= error->longest_number)))
		return true;
	error->longest_number = errors->number;
	error->longest = call->lasted;
	error->longest_at = call->start + call->lasted;
	error->longest_cpu = event->cpu;
	error->longest_pid = event->pid;
	return true;
}

bool graph_errors_join(struct graph_errors *errors, uint32_t function, const struct graph_error *from)
{
	struct graph_error *error = u64_map_add(&errors->map, (uint64_t)function << 12 | from->number);
	struct graph_error sum = *from;

	if (!error)
		return false;
	sum.function = function;
	sum.calls += error->calls;
	sum.total += error->total;
	if (error->longest_at && from->longest <= error->longest) {
		sum.longest = error->longest;
		sum.longest_at = error->longest_at;
		sum.longest_cpu = error->longest_cpu;
		sum.longest_pid = error->longest_pid;
	}
	*error = sum;
	return true;
}

static const struct table_column error_columns[] = {
	{ "FUNCTION", TABLE_TEXT, NULL }, { "ERROR", TABLE_TEXT, NULL },     { "RETURNED", TABLE_NUMBER, "retval" },
	{ "CALLS", TABLE_COUNT, NULL },   { "OF", TABLE_COUNT, "of_calls" },
};

void graph_errors_put(const struct graph_errors *errors, const struct pass *pass, struct findings *findings)
{
	const char *machine = pass->machine;
	struct table *table = errors->map.len ?
				      findings_table(findings, "errors",
						     "errors: what functions returned that is a negative error "
						     "number",
						     "calls", error_columns, array_size(error_columns)) :
				      NULL;
	const struct graph_error *error;
	char name[GRAPH_NAME];
	uint64_t key;
	size_t at = 0;

	while (table && (error = u64_map_next(&errors->map, &at, &key))) {
		const char *word = error_name(machine, error->number);

		graph_name(errors->context, error->func, name, sizeof(name));
		table_cell(table, name);
		table_cell(table, word ? word : "-");
		table_cell_s64(table, -(int64_t)error->number);
		table_cell_u64(table, error->calls);
		table_cell_u64(table, error->of);
	}
}

static const struct table_column errno_columns[] = {
	{ "ERROR", TABLE_TEXT, NULL },        { "RETURNED", TABLE_NUMBER, "retval" },
	{ "CALLS", TABLE_COUNT, NULL },       { "FUNCTIONS", TABLE_COUNT, NULL },
	{ "TOTAL", TABLE_TIME, NULL },        { "MAX", TABLE_TIME, NULL },
	{ "MAX AT", TABLE_NUMBER, "max_at" }, { "CPU", TABLE_NUMBER, "max_cpu" },
	{ "PID", TABLE_NUMBER, "max_pid" },   { "OF", TABLE_TEXT, "max_function" },
};

/* The sums of one error number over all functions; `function` in an error is the function of the longest call. */
struct of_errno {
	struct graph_error sum;
	uint64_t functions;
};

static bool sum_errors(const struct graph_errors *errors, struct u64_map *sums)
{
	const struct graph_error *error;
	uint64_t key;
	size_t at = 0;

	while ((error = u64_map_next(&errors->map, &at, &key))) {
		struct of_errno *sum = u64_map_add(sums, error->number);
		struct graph_error *all;

		if (!sum)
			return false;
		all = &sum->sum;
		if (!sum->functions++ || error->longest > all->longest) {
			uint64_t calls = all->calls, total = all->total;

			*all = *error;
			all->calls = calls;
			all->total = total;
		}
		all->calls += error->calls;
		all->total += error->total;
	}
	return true;
}

static void put_errno(const struct graph_errors *errors, const struct pass *pass, struct table *table,
		      const struct of_errno *of)
{
	const struct graph_error *error = &of->sum;
	const char *word = error_name(pass->machine, error->number);
	char name[GRAPH_NAME];

	table_cell(table, word ? word : "-");
	table_cell_s64(table, -(int64_t)error->number);
	table_cell_u64(table, error->calls);
	table_cell_u64(table, of->functions);
	table_cell_u64(table, error->total);
	table_cell_u64(table, error->longest);
	table_cell_decimal(table, (int64_t)error->longest_at, 9);
	table_cell_u64(table, error->longest_cpu);
	table_cell_s64(table, error->longest_pid);
	graph_name(errors->context, error->func, name, sizeof(name));
	table_cell(table, name);
}

bool graph_errors_put_numbers(const struct graph_errors *errors, const struct pass *pass, struct findings *findings)
{
	struct table *table = findings_table(findings, "errnos",
					     "errors: what functions returned that is a negative error number; "
					     "callers that pass one on are counted too",
					     "calls", errno_columns, array_size(errno_columns));
	const struct of_errno *of;
	struct u64_map sums;
	uint64_t key;
	size_t at = 0;
	bool ok;

	u64_map_init(&sums, sizeof(struct of_errno));
	ok = sum_errors(errors, &sums);
	while (table && (of = u64_map_next(&sums, &at, &key)))
		put_errno(errors, pass, table, of);
	u64_map_release(&sums);
	if (table)
		table->spare = 1 << 6 | 1 << 7 | 1 << 8;
	if (!errors->known)
		findings_note(findings, "the file has no return values: kernels that have the option "
					"funcgraph-retval record them with it");
	return ok;
}
