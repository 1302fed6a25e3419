// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analysis/findings.h"
#include "lib/analysis/pass.h"
#include "lib/base/fail.h"
#include "lib/base/vec.h"
#include "lib/event/calls.h"
#include "lib/event/context.h"
#include "lib/event/event.h"
#include "lib/event/symbols.h"
#include "lib/reader/reader.h"
#include "lib/uapi/names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Which functions were called how often and how long they took. Pairs come from lib/event/calls; here is what is summed up by function. */

static const struct analysis_want wants[] = {
	{ "ftrace:funcgraph_exit", "ftrace:function", "functions: -p function_graph" },
	{ "sched:sched_switch", NULL, "which part of a call was off the CPU" },
	{ NULL, NULL, NULL },
};

enum role { ENTRY = 1, EXIT, HIT, PROBE, ROLES };

static const struct role_name names[] = {
	{ "ftrace", "funcgraph_entry", ENTRY },
	{ "ftrace", "fgraph_retaddr_entry", ENTRY },
	{ "ftrace", "funcgraph_exit", EXIT },
	{ "ftrace", "function", HIT },
	{ "kprobes", "*", PROBE },
	{ "fprobes", "*", PROBE },
	{ NULL, NULL, 0 },
};

/* The kernel's MAX_ERRNO. */
enum { ERRNO_MAX = 4095 };

struct function {
	uint64_t address;
	uint64_t calls, again, entered, total, self, interrupted, off, errors;
	struct samples lasted;
	uint64_t longest_at; /* when it ended; 0: none has */
	uint32_t longest_cpu;
	int32_t longest_pid;
	char longest_comm[STATE_COMM];
};

/* Functions that were hit, of which no event tells how long they took. */
struct hits {
	uint64_t address, count;
};

struct error {
	uint32_t function, number;
	uint64_t calls;
};

struct analysis {
	struct pass *pass;
	struct roles roles;
	struct calls *calls; /* of the buffer that has the graph; NULL: no event of it was seen */
	uint16_t buffer, hits_buffer;
	struct place retval, at[ROLES];
	struct u64_map ids, hit_ids; /* by address: uint32_t, index + 1 */
	struct function *functions;
	size_t nr_functions;
	struct hits *hits;
	size_t nr_hits;
	struct u64_map errors; /* by function and number: struct error */
	uint64_t cut, broken,
		unpaired; /* calls without their entry: by the start, by lost events, for neither reason */
	char what[128];   /* of the longest */
};

static int new (struct pass *pass, const void *options, struct analysis **ret, struct fail *fail)
{
	struct analysis *graph = calloc(1, sizeof(*graph));

	(void)options;
	if (!graph)
		return fail_memory(fail);
	graph->pass = pass;
	roles_init(&graph->roles, names);
	u64_map_init(&graph->ids, sizeof(uint32_t));
	u64_map_init(&graph->hit_ids, sizeof(uint32_t));
	u64_map_init(&graph->errors, sizeof(struct error));
	*ret = graph;
	return 0;
}

static void release(struct analysis *graph)
{
	if (!graph)
		return;
	for (size_t i = 0; i < graph->nr_functions; i++)
		samples_release(&graph->functions[i].lasted);
	free(graph->functions);
	free(graph->hits);
	calls_free(graph->calls);
	u64_map_release(&graph->ids);
	u64_map_release(&graph->hit_ids);
	u64_map_release(&graph->errors);
	roles_release(&graph->roles);
	free(graph);
}

static struct function *function_of(struct analysis *graph, uint64_t address)
{
	uint32_t *id = u64_map_add(&graph->ids, address);
	struct function *function;

	if (id && *id)
		return &graph->functions[*id - 1];
	function = id ? vec_push(graph->functions, graph->nr_functions) : NULL;
	if (!function) {
		graph->pass->failed = true;
		return NULL;
	}
	function->address = address;
	*id = (uint32_t)graph->nr_functions;
	return function;
}

static void hit(struct analysis *graph, uint64_t address)
{
	uint32_t *id = u64_map_add(&graph->hit_ids, address);
	struct hits *hits = NULL;

	if (id && *id)
		hits = &graph->hits[*id - 1];
	else if (id)
		hits = vec_push(graph->hits, graph->nr_hits);
	if (!hits) {
		graph->pass->failed = true;
		return;
	}
	if (!*id)
		*id = (uint32_t)graph->nr_hits;
	hits->address = address;
	hits->count++;
}

static const struct state_task *task_of(const struct analysis *graph, const struct event *event)
{
	const struct state *state = &graph->pass->state;
	uint32_t task = event->cpu < state->nr_cpus ? state->cpus[event->cpu].task : STATE_NO_TASK;

	return task < state->nr_tasks ? &state->tasks[task] : NULL;
}

/* How long the task that runs was off the CPU in its life. */
static uint64_t off_cpu(const struct state_task *task)
{
	static const uint8_t modes[] = { TASK_PREEMPTED, TASK_WAKING,  TASK_QUEUED,
					 TASK_SLEEPING,  TASK_BLOCKED, TASK_STOPPED };
	uint64_t sum = 0;

	for (size_t i = 0; task && !task->idle && i < array_size(modes); i++)
		sum += task->spent[modes[i]];
	return sum;
}

/* An int or a long that is -ERRNO: the register holds what the function returns, or left there. 0: it is none. */
static uint32_t error_of(uint64_t retval)
{
	uint64_t number = retval > UINT32_MAX ? -retval : (uint32_t) - (uint32_t)retval;

	return number && number <= ERRNO_MAX ? (uint32_t)number : 0;
}

static void see_error(struct analysis *graph, struct function *function, const struct event *event)
{
	uint32_t number = graph->retval.size ? error_of(place_u64(&graph->retval, event)) : 0;
	uint64_t id = (uint64_t)(function - graph->functions);
	struct error *error;

	if (!number)
		return;
	function->errors++;
	error = u64_map_add(&graph->errors, id << 12 | number);
	if (!error) {
		graph->pass->failed = true;
		return;
	}
	error->function = (uint32_t)id;
	error->number = number;
	error->calls++;
}

static void see_unentered(struct analysis *graph, const struct call *call)
{
	if (call->timed && call->start < graph->pass->state.start)
		graph->cut++;
	else if (graph->pass->state.losses)
		graph->broken++;
	else if (call->timed)
		graph->unpaired++;
	else
		graph->cut++;
}

static void see_longest(struct function *function, const struct call *call, const struct event *event,
			const struct state_task *task, const struct pass *pass)
{
	if (function->longest_at && call->lasted <= function->lasted.max)
		return;
	function->longest_at = call->start + call->lasted;
	function->longest_cpu = event->cpu;
	function->longest_pid = event->pid;
	if (task)
		strncpy(function->longest_comm, pass_comm(pass, task), sizeof(function->longest_comm) - 1);
}

static void see_call(struct analysis *graph, const struct call *call, const struct event *event)
{
	const struct state_task *task = task_of(graph, event);
	struct function *function;

	if ((task && !pass_wants(graph->pass, task)) || !pass_wants_cpu(graph->pass, event->cpu))
		return;
	if (!call->entered)
		see_unentered(graph, call);
	if (!call->timed)
		return;
	function = function_of(graph, call->func);
	if (!function)
		return;
	see_longest(function, call, event, task, graph->pass);
	function->calls++;
	samples_add(&function->lasted, &graph->pass->budget, call->lasted);
	see_error(graph, function, event);
	if (call->again) {
		function->again++;
	} else {
		function->total += call->lasted;
		function->interrupted += call->interrupted;
		function->off += call->entered ? off_cpu(task) - call->mark : 0;
	}
	if (!call->entered)
		return;
	function->entered++;
	function->self += call->lasted > call->nested ? call->lasted - call->nested : 0;
}

static bool begin_graph(struct analysis *graph, uint16_t buffer)
{
	if (graph->calls)
		return graph->buffer == buffer;
	graph->calls = calls_new(&graph->pass->reader->buffers[buffer].context->abi);
	graph->buffer = buffer;
	graph->pass->failed |= !graph->calls;
	return graph->calls;
}

static void see_graph(struct analysis *graph, const struct event *event, enum role role, bool fresh)
{
	struct call call;

	if (!begin_graph(graph, event->buffer))
		return;
	if (fresh && role == EXIT)
		(void)place_bind(&graph->retval, event->type->format,
				 &graph->pass->reader->buffers[event->buffer].context->abi, "retval");
	if (role == ENTRY && graph->pass->state.events[STATE_SWITCH])
		calls_mark(graph->calls, off_cpu(task_of(graph, event)));
	if (calls_see(graph->calls, event, &call))
		see_call(graph, &call, event);
}

static void see_hit(struct analysis *graph, const struct event *event, enum role role, bool fresh)
{
	const struct state_task *task = task_of(graph, event);
	struct place probe, *place = &graph->at[role];

	/* Each probe is a type of its own. */
	if (role == PROBE)
		place = &probe;
	if (fresh || role == PROBE)
		(void)place_bind(place, event->type->format, &graph->pass->reader->buffers[event->buffer].context->abi,
				 role == PROBE ? "__probe_ip" : "ip");
	graph->hits_buffer = event->buffer;
	if (place->size && (!task || pass_wants(graph->pass, task)) && pass_wants_cpu(graph->pass, event->cpu))
		hit(graph, place_u64(place, event));
}

static void see(struct analysis *graph, const struct event *event)
{
	struct call call;
	uint8_t role;
	bool fresh;

	if (event->kind == EVENT_LOST) {
		if (graph->calls && event->buffer == graph->buffer)
			(void)calls_see(graph->calls, event, &call);
		return;
	}
	role = roles_of(&graph->roles, event, &fresh);
	if (role == ENTRY || role == EXIT)
		see_graph(graph, event, (enum role)role, fresh);
	else if (role)
		see_hit(graph, event, (enum role)role, fresh);
}

/* "vfs_read", "ext4_sync [ext4]", or the address. */
static void name_of(const struct analysis *graph, uint16_t buffer, uint64_t address, char *name, size_t size)
{
	const struct symbols *symbols = graph->pass->reader->buffers[buffer].context->symbols;
	struct symbol symbol;

	if (!symbols_find(symbols, address, &symbol))
		snprintf(name, size, "0x%" PRIx64, address);
	else if (symbol.module)
		snprintf(name, size, "%.*s [%.*s]", (int)symbol.name_len, symbol.name, (int)symbol.module_len,
			 symbol.module);
	else
		snprintf(name, size, "%.*s", (int)symbol.name_len, symbol.name);
}

enum column {
	FUNCTION,
	CALLS,
	AGAIN,
	TOTAL,
	SELF,
	IRQ,
	OFF,
	ERRORS,
	P50,
	P99,
	MAX,
	MAX_AT,
	MAX_CPU,
	MAX_PID,
	MAX_TASK,
	COLUMNS
};

static const struct table_column columns[COLUMNS] = {
	[FUNCTION] = { "FUNCTION", TABLE_TEXT, NULL },
	[CALLS] = { "CALLS", TABLE_COUNT, NULL },
	[AGAIN] = { "RECURSIVE", TABLE_COUNT, NULL },
	[TOTAL] = { "TOTAL", TABLE_TIME, NULL },
	[SELF] = { "SELF", TABLE_TIME, NULL },
	[IRQ] = { "IRQ", TABLE_TIME, NULL },
	[OFF] = { "OFF-CPU", TABLE_TIME, "off_cpu_ns" },
	[ERRORS] = { "ERRORS", TABLE_COUNT, NULL },
	[P50] = { "P50", TABLE_TIME, NULL },
	[P99] = { "P99", TABLE_TIME, NULL },
	[MAX] = { "MAX", TABLE_TIME, NULL },
	[MAX_AT] = { "MAX AT", TABLE_NUMBER, "max_at" },
	[MAX_CPU] = { "CPU", TABLE_NUMBER, "max_cpu" },
	[MAX_PID] = { "PID", TABLE_NUMBER, "max_pid" },
	[MAX_TASK] = { "TASK", TABLE_TEXT, "max_comm" },
};

static void put_number(struct table *table, bool known, uint64_t value)
{
	if (known)
		table_cell_u64(table, value);
	else
		table_cell(table, "-");
}

static void put_function(const struct analysis *graph, struct table *table, const struct function *function)
{
	const struct samples *lasted = &function->lasted;
	char name[160];

	name_of(graph, graph->buffer, function->address, name, sizeof(name));
	table_cell(table, name);
	table_cell_u64(table, function->calls);
	table_cell_u64(table, function->again);
	table_cell_u64(table, function->total);
	put_number(table, function->entered, function->self);
	put_number(table, function->entered, function->interrupted);
	put_number(table, function->entered && graph->pass->state.events[STATE_SWITCH], function->off);
	put_number(table, graph->retval.size, function->errors);
	table_cell_u64(table, samples_quantile(lasted, 500));
	put_number(table, lasted->count >= SAMPLES_P99_MIN, samples_quantile(lasted, 990));
	table_cell_u64(table, lasted->max);
	table_cell_decimal(table, (int64_t)function->longest_at, 9);
	table_cell_u64(table, function->longest_cpu);
	table_cell_s64(table, function->longest_pid);
	table_cell(table, function->longest_comm);
}

static void put_functions(struct analysis *graph, struct findings *findings)
{
	struct table *table =
		findings_table(findings, "functions",
			       "functions: how often each was called, how long it took with and without those "
			       "that it called",
			       "self", columns, COLUMNS);
	const struct function *longest = NULL;
	char name[96];

	for (size_t i = 0; table && i < graph->nr_functions; i++) {
		const struct function *function = &graph->functions[i];

		put_function(graph, table, function);
		if (!longest || function->lasted.max > longest->lasted.max)
			longest = function;
	}
	if (!table || !longest)
		return;
	table->data_only = 1 << AGAIN | 1 << MAX_CPU | 1 << MAX_PID | 1 << MAX_TASK;
	table->data_only |= graph->retval.size ? 0 : 1 << ERRORS;
	table->data_only |= graph->pass->state.events[STATE_SWITCH] ? 0 : 1 << OFF;
	table->spare = 1 << MAX_AT | 1 << P50 | 1 << IRQ;
	name_of(graph, graph->buffer, longest->address, name, sizeof(name));
	snprintf(graph->what, sizeof(graph->what), "call, of %s", name);
	struct worst worst = { .what = graph->what,
			       .lasted = longest->lasted.max,
			       .from = longest->longest_at - longest->lasted.max,
			       .to = longest->longest_at,
			       .cpu = longest->longest_cpu,
			       .pid = longest->longest_pid };
	memcpy(worst.comm, longest->longest_comm, sizeof(worst.comm));
	findings_worst(findings, &worst);
}

static const struct table_column error_columns[] = {
	{ "FUNCTION", TABLE_TEXT, NULL }, { "ERROR", TABLE_TEXT, NULL },     { "RETURNED", TABLE_NUMBER, "retval" },
	{ "CALLS", TABLE_COUNT, NULL },   { "OF", TABLE_COUNT, "of_calls" },
};

static void put_errors(const struct analysis *graph, struct findings *findings)
{
	const char *machine = graph->pass->reader->buffers[graph->buffer].context->machine;
	struct table *table = graph->errors.len ?
				      findings_table(findings, "errors",
						     "errors: what functions returned that is a negative error "
						     "number",
						     "calls", error_columns, array_size(error_columns)) :
				      NULL;
	const struct error *error;
	char name[160];
	uint64_t key;
	size_t at = 0;

	while (table && (error = u64_map_next(&graph->errors, &at, &key))) {
		const struct function *function = &graph->functions[error->function];
		const char *word = error_name(machine, error->number);

		name_of(graph, graph->buffer, function->address, name, sizeof(name));
		table_cell(table, name);
		table_cell(table, word ? word : "-");
		table_cell_s64(table, -(int64_t)error->number);
		table_cell_u64(table, error->calls);
		table_cell_u64(table, function->calls);
	}
}

static const struct table_column hit_columns[] = { { "FUNCTION", TABLE_TEXT, NULL }, { "HITS", TABLE_COUNT, NULL } };

static void put_hits(const struct analysis *graph, struct findings *findings)
{
	struct table *table =
		graph->nr_hits ? findings_table(findings, "hits",
						"functions that were only counted, by the tracer function or by probes",
						"hits", hit_columns, array_size(hit_columns)) :
				 NULL;
	char name[160];

	for (size_t i = 0; table && i < graph->nr_hits; i++) {
		name_of(graph, graph->hits_buffer, graph->hits[i].address, name, sizeof(name));
		table_cell(table, name);
		table_cell_u64(table, graph->hits[i].count);
	}
}

static void put_limits(const struct analysis *graph, struct findings *findings)
{
	struct calls_left left = calls_left(graph->calls);
	const struct context *context = graph->pass->reader->buffers[graph->buffer].context;

	findings_cut(findings, graph->cut, "calls entered before the start");
	findings_cut(findings, left.open, "calls open at the end");
	findings_broken(findings, graph->broken, "calls without their entry");
	findings_broken(findings, left.lost, "calls without their end");
	if (left.dropped)
		findings_note(findings,
			      "%" PRIu64
			      " calls are counted nowhere: the trace goes on in their caller without their end",
			      left.dropped);
	if (graph->unpaired)
		findings_note(
			findings,
			"%" PRIu64
			" calls have no entry in the file (tracing_thresh leaves entries out): they have a total and "
			"no own time",
			graph->unpaired);
	if (!context_option(context, OPTION_SLEEP_TIME))
		findings_note(
			findings,
			"the option sleep-time was off: times do not have what a task slept in the function itself");
}

static int finish(struct analysis *graph, struct findings *findings, struct fail *fail)
{
	if (graph->pass->failed || graph->roles.failed)
		return fail_memory(fail);
	if (!graph->calls && !graph->nr_hits)
		return fail_set(fail, -ENODATA,
				"there are no functions among the events; record with -p function_graph");
	if (graph->calls) {
		put_functions(graph, findings);
		put_errors(graph, findings);
		put_limits(graph, findings);
	}
	put_hits(graph, findings);
	return 0;
}

const struct analysis_ops graph_analysis = {
	.name = "graph",
	.summary = "tell which functions were called, how long they took and what they returned",
	.wants = wants,
	.new = new,
	.see = see,
	.finish = finish,
	.free = release,
};
