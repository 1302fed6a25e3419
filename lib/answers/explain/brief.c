// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/explain/brief.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/explain/brief_internal.h"
#include "lib/answers/explain/culprit_internal.h"
#include "lib/answers/explain/explained.h"
#include "lib/answers/frame/columns.h"
#include "lib/answers/frame/findings.h"
#include "lib/answers/frame/run.h"
#include "lib/answers/syscalls/syscalls.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/events.h"
#include "lib/meaning/reader/query.h"
#include "lib/meaning/reader/reader.h"

const char *const brief_kinds[BRIEF_KINDS] = {
	[BRIEF_LATENCY] = "latency", [BRIEF_IO] = "io",         [BRIEF_LOCKS] = "locks",
	[BRIEF_CPU] = "cpu",         [BRIEF_ERRORS] = "errors", [BRIEF_MEMORY] = "memory",
};

/*
 * What one case takes at least: a part of the time, but not less than the first and not more than the second. For who
 * asks for a kind, a smaller part and time do.
 */
static const uint64_t case_least = 10000000, case_most = 100000000, asked_least = 2000000;
static const double share = 0.05, asked_share = 0.01;

enum { SYSTEMS_MAX = 12 };

struct brief_find {
	const struct brief_options *options;
	struct trace *trace;
	const struct query *query;
	struct findings *findings;
	struct pass *pass;
	struct brief_watch watch;
	struct brief_rules rules;
};

/* What the rules look at, and the events that tell of it. */
static const struct looked {
	const char *what, *events, *record;
	const char *table, *column; /* whose rows count it */
	enum brief_kind kind;
	const char *kinds; /* only rows of these kinds */
} looked[] = {
	{ "wakeups", "sched:sched_switch", "sched", "wakeups", "count", BRIEF_LATENCY, NULL },
	{ "system calls", "raw_syscalls,syscalls", "raw_syscalls", "syscalls", "calls", BRIEF_IO, NULL },
	{ "interrupts", "irq:irq_handler_entry,irq_vectors", "irq", "sources", "count", BRIEF_LATENCY,
	  "irq vector ipi" },
	{ "softirqs", "irq:softirq_entry", "irq", "sources", "count", BRIEF_LATENCY, "softirq" },
	{ "disk requests", "block:block_rq_issue", "block", "requests", "requests", BRIEF_IO, NULL },
	{ "waits for locks", "lock:contention_begin,lock:lock_contended", "lock", "locks", "waits", BRIEF_LOCKS, NULL },
	{ "waits for memory", "vmscan,compaction", "vmscan", "stalls", "count", BRIEF_MEMORY, NULL },
	{ "signals", "signal:signal_deliver", "signal:signal_deliver", NULL, NULL, BRIEF_ERRORS, NULL },
};

#define LOOKED_COLUMNS(X)                                                   \
	X("LOOKED AT", TEXT, "what", 0, table_cell, looked[i].what)         \
	X("COUNT", COUNT, NULL, 0, table_cell_known, known, count)          \
	X("MAX", TIME, NULL, 0, table_cell_known, known &&longest, longest) \
	X("RECORD", TEXT, "record_with", 0, table_cell, known ? "" : looked[i].record)
static const struct table_column looked_columns[] = COLUMNS(LOOKED_COLUMNS);

#define CASE_COLUMNS(X)                                                             \
	X("KIND", TEXT, NULL, 0, table_cell, brief_kinds[found->kind])              \
	X("WHAT", TEXT, NULL, KEEP, table_cell, found->what)                        \
	X("WHY", TEXT, NULL, 0, table_cell, found->why)                             \
	X("USUAL", TEXT, NULL, 0, table_cell, found->usual)                         \
	X("LASTED", TIME, NULL, 0, table_cell_known, found->lasted, found->lasted)  \
	X("FROM", NUMBER, "since", 0, table_cell_when, found->from)                 \
	X("UNTIL", NUMBER, "until", 0, table_cell_when, found->to)                  \
	X("TASK", TEXT, "comm", 0, table_cell, found->comm)                         \
	X("PID", NUMBER, NULL, 0, table_cell_known_s64, found->pid > 0, found->pid) \
	X("COMMAND", TEXT, NULL, 0, table_cellf, "%s %s", found->command, input)    \
	X("MOMENT", TEXT, NULL, 0, put_moment, found, input)
static const struct table_column case_columns[] = COLUMNS(CASE_COLUMNS);

static void put_moment(struct table *table, const struct brief_case *found, const char *input)
{
	char at[TEXT_HUMAN];

	if (found->to)
		table_cellf(table, "%s@%s", input, text_seconds(at, found->from));
	else
		table_cell(table, "");
}

static void put_case(struct table *table, const struct brief_case *found, const char *input)
{
	CASE_COLUMNS(CELL)
}

static int weightier(const void *a, const void *b)
{
	double one = ((const struct brief_case *)a)->weight, other = ((const struct brief_case *)b)->weight;

	return (one < other) - (one > other);
}

/* Whether both are about the same time of a task, as a call and the wakeup at its end, or of a disk. */
static bool is_same(const struct brief_case *one, const struct brief_case *other)
{
	uint64_t from = one->from > other->from ? one->from : other->from,
		 to = one->to < other->to ? one->to : other->to;
	uint64_t shorter = one->lasted < other->lasted ? one->lasted : other->lasted;

	return ((one->pid && one->pid == other->pid) || (one->kind == BRIEF_IO && other->kind == BRIEF_IO)) &&
	       one->to && other->to && to > from && (double)(to - from) >= 0.8 * (double)shorter;
}

static size_t choose(struct brief_rules *rules)
{
	size_t nr = 0;

	qsort(rules->cases, rules->nr, sizeof(*rules->cases), weightier);
	for (size_t i = 0; i < rules->nr; i++) {
		bool again = false;

		for (size_t j = 0; j < nr; j++)
			again |= is_same(&rules->cases[j], &rules->cases[i]);
		if (!again)
			rules->cases[nr++] = rules->cases[i];
	}
	return nr;
}

/* Of a task's time: what lib/answers/why says. */
static int explain(struct brief_find *find, struct brief_case *found, struct fail *fail)
{
	const struct state *state = &find->pass->state;
	cleanup_buf struct buf why = BUF_INIT;
	const char *known;
	int r;

	if (found->pid <= 0)
		return 0;
	r = culprit_why_task(find->trace, find->query, found->pid, found->to ? found->from : state->start,
			     found->to ? found->to : state->now, &why, fail);
	known = buf_str(&why);
	if (!r && *known && !strstr(known, ": unknown: "))
		snprintf(found->why, sizeof(found->why), "%s", known);
	else if (!r && !*found->why)
		snprintf(found->why, sizeof(found->why),
			 "not known from these events; weft record --for why has those that tell");
	return r;
}

static int put_cases(struct brief_find *find, struct fail *fail)
{
	struct table *table = findings_table(find->findings, "stands_out", "what stands out", NULL, case_columns);
	size_t nr = choose(&find->rules);
	int r = 0;

	if (!table)
		return fail_memory(fail);
	for (size_t i = 0; !r && i < nr && i < BRIEF_FINDINGS; i++) {
		r = explain(find, &find->rules.cases[i], fail);
		put_case(table, &find->rules.cases[i], find->options->input);
	}
	if (nr > BRIEF_FINDINGS)
		findings_note(find->findings, "%zu more thing%s out; --ask chooses a kind", nr - BRIEF_FINDINGS,
			      nr - BRIEF_FINDINGS == 1 ? " stands" : "s stand");
	return r;
}

static bool has_word(const char *words, const char *word)
{
	struct text_word at;

	while (text_next_word(&words, " ", &at))
		if (text_word_is(at, word))
			return true;
	return false;
}

/* The sum of a column, and the largest of the longest times. */
static uint64_t count_of(const struct brief_rules *rules, const struct looked *looked, uint64_t *ret_longest)
{
	const struct table *table = looked->table ? brief_table(rules, looked->table, looked->column) : NULL;
	size_t rows = table ? table->nr_items / table->nr_columns : 0;
	bool parts = !strcmp(looked->what, "wakeups");
	uint64_t sum = 0, longest;

	*ret_longest = 0;
	/* The last part of a wakeup is all of it. */
	for (size_t row = parts && rows ? rows - 1 : 0; row < rows; row++) {
		if (looked->kinds && !has_word(looked->kinds, table_text_of(table, row, "kind")))
			continue;
		sum += table_number_of(table, row, looked->column);
		longest = table_number_of(table, row, strcmp(looked->table, "requests") ? "max_ns" : "d2c_max_ns");
		*ret_longest = longest > *ret_longest ? longest : *ret_longest;
	}
	return sum;
}

static bool is_asked(const struct brief_find *find, enum brief_kind kind)
{
	return find->options->ask == BRIEF_KINDS || find->options->ask == kind ||
	       /* calls tell of all but interrupts */
	       (kind == BRIEF_IO && find->options->ask != BRIEF_CPU) ||
	       (kind == BRIEF_LATENCY && find->options->ask == BRIEF_CPU);
}

static int put_looked(struct brief_find *find, struct fail *fail)
{
	struct table *table = findings_table(find->findings, "looked_at", "what was looked at", NULL, looked_columns);
	bool of_machine = false;

	for (size_t i = 0; table && i < array_size(looked); i++) {
		bool known = pass_has(find->pass, looked[i].events);
		uint64_t longest, count = count_of(&find->rules, &looked[i], &longest);

		known |= count > 0;
		if (looked[i].kind == BRIEF_ERRORS)
			count = find->watch.rare[1].count;
		if (!is_asked(find, looked[i].kind))
			continue;
		LOOKED_COLUMNS(CELL)
		of_machine |= known && looked[i].kinds;
	}
	if (of_machine && pass_is_narrow(find->pass))
		findings_note(find->findings,
			      "interrupts and softirqs are those of the whole machine: they belong to no task, so "
			      "that a choice of tasks leaves none out");
	return table ? 0 : fail_memory(fail);
}

/* "sched, irq, block": the systems of the events. */
static void put_systems(const struct brief_find *find, struct table *table)
{
	const struct reader *reader = find->pass->reader;
	const char *seen[SYSTEMS_MAX] = { NULL };
	cleanup_buf struct buf text = BUF_INIT;
	const struct event_type *type;
	bool ok = true, more = false;
	size_t nr = 0;

	for (size_t i = 0; i < reader->nr_buffers; i++)
		for (size_t at = 0; events_type_at(reader->buffers[i].events, at, &type); at++) {
			bool again = !type->format || !type->seen;

			for (size_t j = 0; !again && j < nr; j++)
				again = !strcmp(seen[j], type->format->system);
			more |= !again && nr == SYSTEMS_MAX;
			if (!again && nr < SYSTEMS_MAX) {
				ok &= buf_addf(&text, "%s%s", nr ? ", " : "", type->format->system);
				seen[nr++] = type->format->system;
			}
		}
	table_cell(table, "recorded");
	table_cellf(table, "%s%s", ok && nr ? buf_str(&text) : "nothing", more ? " and others" : "");
}

/* Why weft flight saved the file; other files have no trigger. */
static int put_trigger(const struct brief_find *find, struct table *table, struct fail *fail)
{
	struct explained_trigger trigger = { .text = NULL };
	struct fail none = FAIL_INIT;
	char stamp[TEXT_HUMAN];
	int r = explained_trigger(find->trace, &trigger, &none);

	if (!r) {
		table_cell(table, "trigger");
		table_cell(table, trigger.name);
		table_cell(table, "triggered at");
		table_cell(table, text_stamp(stamp, trigger.time));
		table_cell(table, "reason");
		table_cell(table, trigger.reason);
	}
	free(trigger.text);
	return r == -ENOMEM ? fail_memory(fail) : 0;
}

static int put_facts(const struct brief_find *find, struct fail *fail)
{
	const struct context *context = find->pass->reader->buffers[0].context;
	struct table *table = findings_facts(find->findings, "recording", "the recording");
	const struct state *state = &find->pass->state;
	char text[TEXT_HUMAN], events[TEXT_HUMAN];
	uint64_t cpus = 0;

	if (!table)
		return fail_memory(fail);
	for (size_t i = 0; i < state->nr_cpus; i++)
		cpus += state->cpus[i].seen;
	table_cell(table, "kernel");
	table_cellf(table, "%s%s%s", *context->release ? context->release : "unknown", *find->pass->machine ? " " : "",
		    find->pass->machine);
	table_cell(table, "CPUs");
	table_cellf(table, "%" PRIu64 "%s", cpus, context->online_cpus > cpus ? " with events" : "");
	table_cell(table, "HZ");
	table_cell(table, context->hz ? text_count(text, context->hz) : "unknown");
	table_cell(table, "span");
	table_cell(table, text_time(text, state->now - state->start));
	table_cell(table, "events");
	table_cell(table, text_count(events, find->watch.events));
	table_cell(table, "lost");
	if (find->watch.lost)
		table_cellf(table, "%s%s", find->watch.more_lost ? "more than " : "",
			    text_count(text, find->watch.lost));
	else
		table_cell(table, find->watch.more_lost ? "some" : "none");
	put_systems(find, table);
	return put_trigger(find, table, fail);
}

static void put_limits(const struct brief_find *find)
{
	char limit[TEXT_HUMAN];

	findings_note(
		find->findings,
		"what stands out: a case of %s and more that took 20 times the median of 20 and more of its kind, a "
		"sum of %.0f %% of the time, or an event or error that says so; a read or wait that slept until "
		"another sent or ended something is no case; what is always slow is not found, nor what happened "
		"before, after or "
		"elsewhere",
		text_time(limit, find->rules.limit), find->rules.share * 100);
}

/* An analysis without events of its own has no tables. */
static int finish_all(struct pass *pass, struct analysis_run *runs, size_t nr, struct fail *fail)
{
	for (size_t i = 0; i < nr; i++) {
		struct fail why = FAIL_INIT;
		int r = pass_finish(pass, i, &runs[i].findings, &why);

		if (r && r != -ENODATA)
			return fail_set(fail, r, "%s", why.text);
	}
	return 0;
}

static void set_limits(struct brief_rules *rules, uint64_t span)
{
	bool asked = rules->options->ask != BRIEF_KINDS;
	uint64_t least = asked ? asked_least : case_least;

	rules->span = span;
	rules->least = least;
	rules->share = asked ? asked_share : share;
	rules->limit = (uint64_t)((double)span * rules->share);
	rules->limit = rules->limit < least ? least : rules->limit > case_most ? case_most : rules->limit;
}

static int run_pass(struct brief_find *find, struct analysis_run *runs, size_t nr, struct fail *fail)
{
	const struct reader_consumer watch = { brief_watch_see, &find->watch };
	int r = 0;

	for (size_t i = 0; !r && i < nr; i++)
		r = pass_add(find->pass, runs[i].ops, runs[i].options, fail);
	if (!r)
		r = pass_run(find->pass, &watch, fail);
	if (!r && find->watch.failed)
		r = fail_memory(fail);
	if (!r)
		r = finish_all(find->pass, runs, nr, fail);
	if (r)
		return r;
	/* What a full buffer did not take (nooverwrite) only the kernel's counts tell. */
	for (size_t i = 0; i < find->pass->reader->nr_buffers; i++) {
		const struct context *context = find->pass->reader->buffers[i].context;

		for (size_t j = 0; j < context->nr_stats; j++)
			find->watch.lost += context->stats[j].dropped;
	}
	find->rules =
		(struct brief_rules){ .options = find->options, .watch = &find->watch, .runs = runs, .nr_runs = nr };
	set_limits(&find->rules, find->pass->state.now - find->pass->state.start);
	brief_apply(&find->rules);
	r = put_facts(find, fail);
	if (!r)
		r = put_cases(find, fail);
	if (!r)
		r = put_looked(find, fail);
	put_limits(find);
	return r;
}

static int run_reader(struct brief_find *find, struct reader *reader, struct fail *fail)
{
	const struct syscalls_options by_error = { .rows = { .by = SYSCALLS_BY_ERROR } };
	struct analysis_run runs[] = { { .ops = &summary_analysis },
				       { .ops = &memory_analysis },
				       { .ops = &syscalls_analysis, .options = &by_error } };
	const struct pass_filter filter = analysis_filter(find->query);
	struct pass pass;
	int r = pass_init(&pass, reader, &filter, fail);

	for (size_t i = 0; i < array_size(runs); i++)
		findings_init(&runs[i].findings);
	find->pass = &pass;
	find->watch.pass = &pass;
	if (!r)
		r = run_pass(find, runs, array_size(runs), fail);
	for (size_t i = 0; i < array_size(runs); i++)
		findings_release(&runs[i].findings);
	pass_release(&pass);
	brief_watch_release(&find->watch);
	return r;
}

int brief_find(const struct brief_options *options, struct trace *trace, const struct query *query,
	       struct findings *findings, struct fail *fail)
{
	struct brief_find find = { .options = options, .trace = trace, .query = query, .findings = findings };
	struct reader reader;
	int r;

	reader_init(&reader);
	r = query_add(query, &(struct query_manner){ .times_only = true }, trace, &reader, fail);
	if (!r && !reader.nr_buffers)
		r = fail_set(fail, -ENODATA, "there are no events");
	if (!r)
		r = reader_start(&reader, &(struct reader_options){ .tells_ends = true }, fail);
	if (!r)
		r = run_reader(&find, &reader, fail);
	reader_release(&reader);
	return r;
}
