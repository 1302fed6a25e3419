// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/graph/graph_errors_internal.h"

#include "lib/answers/frame/findings.h"
#include "lib/answers/frame/pass.h"
#include "lib/answers/graph/graph_facts.h"
#include "lib/ground/base/table.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/follow/calls.h"
#include "lib/meaning/uapi/names.h"

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

#define ERROR_COLUMNS(X)                                                            \
	X("FUNCTION", TEXT, NULL, 0, graph_put_name, errors->context, error->func)  \
	X("ERROR", TEXT, NULL, 0, table_cell, word ? word : "-")                    \
	X("RETURNED", NUMBER, "retval", 0, table_cell_s64, -(int64_t)error->number) \
	X("CALLS", COUNT, NULL, 0, table_cell_u64, error->calls)                    \
	X("OF", COUNT, "of_calls", 0, table_cell_u64, error->of)

static const struct table_column error_columns[] = COLUMNS(ERROR_COLUMNS);

void graph_errors_put(const struct graph_errors *errors, const struct pass *pass, struct findings *findings)
{
	struct table *table = errors->map.len ?
				      findings_table(findings, "errors",
						     "errors: what functions returned that is a negative error "
						     "number",
						     "calls", error_columns) :
				      NULL;
	const struct graph_error *error;
	uint64_t key;
	size_t at = 0;

	while (table && (error = u64_map_next(&errors->map, &at, &key))) {
		const char *word = error_name(pass->machine, error->number);

		ERROR_COLUMNS(CELL)
	}
}

#define ERRNO_COLUMNS(X)                                                            \
	X("ERROR", TEXT, NULL, 0, table_cell, word ? word : "-")                    \
	X("RETURNED", NUMBER, "retval", 0, table_cell_s64, -(int64_t)error->number) \
	X("CALLS", COUNT, NULL, 0, table_cell_u64, error->calls)                    \
	X("FUNCTIONS", COUNT, NULL, 0, table_cell_u64, of->functions)               \
	X("TOTAL", TIME, NULL, 0, table_cell_u64, error->total)                     \
	X("MAX", TIME, NULL, 0, table_cell_u64, error->longest)                     \
	X("MAX AT", NUMBER, "max_at", SPARE, table_cell_moment, error->longest_at)  \
	X("CPU", NUMBER, "max_cpu", SPARE, table_cell_u64, error->longest_cpu)      \
	X("PID", NUMBER, "max_pid", SPARE, table_cell_s64, error->longest_pid)      \
	X("OF", TEXT, "max_function", 0, graph_put_name, errors->context, error->func)

static const struct table_column errno_columns[] = COLUMNS(ERRNO_COLUMNS);

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

bool graph_errors_put_numbers(const struct graph_errors *errors, const struct pass *pass, struct findings *findings)
{
	struct table *table = findings_table(findings, "errnos",
					     "errors: what functions returned that is a negative error number; "
					     "callers that pass one on are counted too",
					     "calls", errno_columns);
	const struct of_errno *of;
	struct u64_map sums;
	uint64_t key;
	size_t at = 0;
	bool ok;

	u64_map_init(&sums, sizeof(struct of_errno));
	ok = sum_errors(errors, &sums);
	while (table && (of = u64_map_next(&sums, &at, &key))) {
		const struct graph_error *error = &of->sum;
		const char *word = error_name(pass->machine, error->number);

		ERRNO_COLUMNS(CELL)
	}
	u64_map_release(&sums);
	if (!errors->known)
		findings_note(findings, "the file has no return values: kernels that have the option "
					"funcgraph-retval record them with it");
	return ok;
}
