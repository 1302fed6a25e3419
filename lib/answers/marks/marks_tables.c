// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/marks/marks_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/frame/columns.h"
#include "lib/answers/frame/findings.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/query/mark_spans.h"

enum { OF_SWITCHES = WHEN, OF_PROCESSES = WHEN << 1 };

#define MARK_COLUMNS(X)                                                                                          \
	X("MARK", TEXT, NULL, BRIEF | SAME, put_name, marks, index)                                              \
	X("KIND", TEXT, NULL, SAME | OF_PROCESSES, table_cell, kind_of(row->async))                              \
	X("COUNT", COUNT, NULL, BRIEF | ADDS, table_cell_u64, row->count)                                        \
	X("TOTAL", TIME, NULL, BRIEF | ADDS, table_cell_u64, row->total)                                         \
	SPREAD(X, "", "", BRIEF | SPARE, BRIEF, BRIEF, lasted)                                                   \
	X("MAX AT", NUMBER, "max_at", BRIEF | SPARE, table_cell_when, row->longest.to)                           \
	X("SELF", TIME, NULL, ADDS | SPARE, table_cell_known, !row->async, row->self)                            \
	X("ON CPU", TIME, NULL, ADDS | OF_SWITCHES, table_cell_known, known, row->parts[MARKS_ON_CPU])           \
	X("IRQ", TIME, NULL, ADDS | SPARE | OF_SWITCHES, table_cell_known, known, row->parts[MARKS_IRQ])         \
	X("WAIT", TIME, NULL, ADDS | OF_SWITCHES, table_cell_known, known, row->parts[MARKS_WAIT])               \
	X("BLOCKED", TIME, NULL, ADDS | OF_SWITCHES, table_cell_known, known, row->parts[MARKS_BLOCKED])         \
	X("UNKNOWN", TIME, NULL, ADDS | SPARE | OF_SWITCHES, table_cell_known, known, row->parts[MARKS_UNKNOWN]) \
	X("CPU", NUMBER, "max_cpu", DATA, table_cell_known, row->longest.to, row->longest.cpu)                   \
	X("MAX PID", NUMBER, "max_pid", DATA, extreme_put_pid, marks->pass, &row->longest)

const struct table_column marks_columns[] = COLUMNS(MARK_COLUMNS);

bool marks_wants(const struct marks_analysis *marks, const struct marks_span *span)
{
	const struct state *state = &marks->pass->state;
	uint32_t id = marks_task_of(marks, span);

	/* Those around a wanted span are not inside it. */
	if (marks->pass->spans &&
	    !mark_spans_cover(marks->pass->spans, span->pid, span->tgid, span->start, span->start))
		return false;
	return pass_wants_cpu(marks->pass, marks->cpu) &&
	       (id == STATE_NO_TASK ? !pass_is_narrow(marks->pass) :
				      pass_wants_since(marks->pass, &state->tasks[id], span->start));
}

static const char *kind_of(bool async)
{
	return async ? "process" : "thread";
}

/* An asynchronous one has a tab in front. */
static void put_name(struct table *table, const struct marks_analysis *marks, uint32_t index)
{
	const struct label *label = index ? &marks->names.at[index - 1] : NULL;
	size_t skip = label && label->len && *label->text == '\t';

	if (label)
		table_cell_mem(table, label->text + skip, label->len - skip);
	else
		table_cell(table, "(other names)");
}

/* Its first column has names of spans, or whom their tasks belong to. */
static void head(const struct marks_analysis *marks, struct findings *findings)
{
	if (marks->by == MARKS_BY_WHO)
		pass_group_head(findings, marks->part, 0);
}

static void put_row(const struct marks_analysis *marks, uint32_t index, struct table *table)
{
	const struct marks_row *row = &marks->rows[index];
	struct percentiles lasted = percentiles_of(&row->lasted);
	bool known = row->known && pass_switches(marks->pass);

	table_attach(table, &row->lasted);
	MARK_COLUMNS(CELL)
}

static void put_rows(const struct marks_analysis *marks, struct findings *findings)
{
	struct table *table = findings_table(findings, "marks", "spans that programs marked", "total", marks_columns);
	struct extreme longest = { .to = 0 };
	bool asyncs = false;

	if (!table)
		return;
	head(marks, findings);
	for (uint32_t i = 0; i < marks->nr_rows; i++) {
		if (!marks->rows[i].count)
			continue;
		put_row(marks, i, table);
		asyncs |= marks->rows[i].async;
		extreme_see(&longest, &marks->rows[i].longest);
	}
	findings_show(findings, OF_PROCESSES, asyncs);
	findings_show(findings, OF_SWITCHES, pass_switches(marks->pass));
	if (asyncs && pass_switches(marks->pass))
		findings_note(findings, "a span of a process has no parts (ON CPU, WAIT, BLOCKED): any of its threads "
					"may have worked for it");
	extreme_tell(marks->pass, findings, "span", &longest);
}

/* Where the time went: for each name its parts, the longest first. */

enum { SHOWN_OF_PART = 10 };

struct share {
	uint32_t row;
	struct marks_detail detail;
};

static const char *const part_names[MARKS_PARTS] = { [MARKS_ON_CPU] = "on CPU",
						     [MARKS_IRQ] = "interrupts",
						     [MARKS_WAIT] = "waits for a CPU",
						     [MARKS_BLOCKED] = "blocked",
						     [MARKS_UNKNOWN] = "unknown" };

#define PART_COLUMNS(X)                                                                \
	X("MARK", TEXT, NULL, 0, put_name, marks, share->row)                          \
	X("WHERE", TEXT, NULL, 0, table_cell, part_names[share->detail.part])          \
	X("IN", TEXT, "syscall", 0, table_cell, text_of(marks, share->detail.call))    \
	X("WHO", TEXT, "comm", 0, table_cell, text_of(marks, share->detail.whom))      \
	X("TIME", TIME, NULL, 0, table_cell_u64, share->detail.time)                   \
	X("%", NUMBER, "percent", 0, table_cell_percent, share->detail.time, known, 1) \
	X("TIMES", COUNT, NULL, 0, table_cell_known, share->detail.count, share->detail.count)

static const struct table_column part_columns[] = COLUMNS(PART_COLUMNS);

static const char *text_of(const struct marks_analysis *marks, uint32_t label)
{
	return label ? marks->texts.at[label].text : "";
}

static int by_row(const void *a, const void *b, void *arg)
{
	const struct marks_analysis *marks = arg;
	const struct share *x = a, *y = b;
	uint64_t first = marks->rows[x->row].total, second = marks->rows[y->row].total;

	if (first != second)
		return first > second ? -1 : 1;
	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	if (x->detail.time != y->detail.time)
		return x->detail.time > y->detail.time ? -1 : 1;
	if (x->detail.part != y->detail.part)
		return x->detail.part < y->detail.part ? -1 : 1;
	return marks_detail_key(0, &x->detail) < marks_detail_key(0, &y->detail) ? -1 : 1;
}

static void put_share(const struct marks_analysis *marks, const struct share *share, struct table *table)
{
	uint64_t known = 0;

	for (size_t i = 0; i < MARKS_PARTS; i++)
		known += marks->rows[share->row].parts[i];
	PART_COLUMNS(CELL)
}

/* What no detail says of a part is one without a call and a task. */
static size_t fill_shares(const struct marks_analysis *marks, struct share *shares)
{
	const struct marks_detail *detail;
	size_t nr = 0;
	uint64_t key;

	for (uint32_t i = 0; i < marks->nr_rows; i++)
		for (size_t part = 0; marks->rows[i].known && part < MARKS_PARTS; part++)
			shares[nr++] =
				(struct share){ i,
						{ .part = (enum marks_part)part, .time = marks->rows[i].parts[part] } };
	for (size_t at = 0, first; (detail = u64_map_next(&marks->details, &at, &key));) {
		uint32_t row = (uint32_t)(key >> 48);

		/* The rows of parts come in the order of the names. */
		for (first = 0; first < nr && (shares[first].row != row || shares[first].detail.part != detail->part);)
			first += shares[first].row == row ? 1 : MARKS_PARTS;
		if (first >= nr)
			continue;
		if (!detail->call && !detail->whom) {
			shares[first].detail.count += detail->count;
			continue;
		}
		shares[first].detail.time -=
			detail->time < shares[first].detail.time ? detail->time : shares[first].detail.time;
		shares[nr++] = (struct share){ row, *detail };
	}
	return nr;
}

static int put_shares(struct marks_analysis *marks, struct findings *findings, struct fail *fail)
{
	size_t room = marks->nr_rows * MARKS_PARTS + marks->details.len + 1, nr;
	struct share *shares;
	struct table *table;

	if (!pass_switches(marks->pass))
		return 0;
	shares = calloc(room, sizeof(*shares));
	table = shares ? findings_table(findings, "parts", "where their time went", NULL, part_columns) : NULL;
	if (!table) {
		free(shares);
		return fail_memory(fail);
	}
	head(marks, findings);
	findings_ordered(findings);
	nr = fill_shares(marks, shares);
	qsort_r(shares, nr, sizeof(*shares), by_row, marks);
	for (size_t i = 0; i < nr; i++)
		if (shares[i].detail.time)
			put_share(marks, &shares[i], table);
	free(shares);
	return 0;
}

/* The longest spans one by one. */

enum { SLOW_OF_SWITCHES = WHEN, SLOW_OF_PROCESSES = WHEN << 1 };

#define SLOW_COLUMNS(X)                                                                                               \
	X("LASTED", TIME, NULL, 0, table_cell_u64, slow->lasted)                                                      \
	X("MARK", TEXT, NULL, 0, put_slow_name, marks, slow->name)                                                    \
	X("TASK", TEXT, "comm", 0, pass_put_comm, marks->pass, slow->task)                                            \
	X("PID", NUMBER, NULL, 0, table_cell_s64, slow->pid)                                                          \
	X("CPU", NUMBER, NULL, SPARE, table_cell_u64, slow->cpu)                                                      \
	X("FROM", NUMBER, "since", 0, table_cell_moment, slow->at - slow->lasted)                                     \
	X("UNTIL", NUMBER, "until", SPARE, table_cell_moment, slow->at)                                               \
	X("ON CPU", TIME, NULL, SLOW_OF_SWITCHES, table_cell_known, slow->known, slow->parts[MARKS_ON_CPU])           \
	X("IRQ", TIME, NULL, SPARE | SLOW_OF_SWITCHES, table_cell_known, slow->known, slow->parts[MARKS_IRQ])         \
	X("WAIT", TIME, NULL, SLOW_OF_SWITCHES, table_cell_known, slow->known, slow->parts[MARKS_WAIT])               \
	X("BLOCKED", TIME, NULL, SLOW_OF_SWITCHES, table_cell_known, slow->known, slow->parts[MARKS_BLOCKED])         \
	X("UNKNOWN", TIME, NULL, SPARE | SLOW_OF_SWITCHES, table_cell_known, slow->known, slow->parts[MARKS_UNKNOWN]) \
	X("MOST OF IT", TEXT, "most", SLOW_OF_SWITCHES, put_most, marks, slow)                                        \
	X("COOKIE", NUMBER, NULL, SLOW_OF_PROCESSES, table_cell_known_s64, slow->async, slow->cookie)                 \
	X("KIND", TEXT, NULL, DATA, table_cell, kind_of(slow->async))                                                 \
	X("PROCESS", NUMBER, "tgid", DATA, table_cell_s64, slow->tgid)

static const struct table_column slow_columns[] = COLUMNS(SLOW_COLUMNS);

static void put_slow_name(struct table *table, const struct marks_analysis *marks, uint32_t name)
{
	if (marks->by == MARKS_BY_WHO)
		table_cell(table, text_of(marks, name));
	else
		put_name(table, marks, name);
}

/* "blocked in fsync, woken by kworker/0:1" */
static void put_most(struct table *table, const struct marks_analysis *marks, const struct marks_slow *slow)
{
	const char *call = text_of(marks, slow->call), *whom = text_of(marks, slow->whom);
	enum marks_part most = MARKS_ON_CPU;

	for (enum marks_part i = 0; i < MARKS_PARTS; i++)
		if (slow->parts[i] > slow->parts[most])
			most = i;
	if (!slow->known)
		table_cell(table, "");
	else if (most != slow->most || (!*call && !*whom))
		table_cell(table, part_names[most]);
	else
		table_cellf(table, "%s%s%s%s%s", part_names[most], *call ? " in " : "", call,
			    !*whom             ? "" :
			    most == MARKS_WAIT ? ", behind " :
						 ", woken by ",
			    whom);
}

static void put_slowest(struct marks_analysis *marks, struct findings *findings)
{
	struct table *table = slowest_table(&marks->slowest, findings, "the longest spans", slow_columns);
	bool asyncs = false;

	for (size_t i = 0; table && i < marks->slowest.nr; i++) {
		const struct marks_slow *slow = slowest_at(&marks->slowest, i);

		SLOW_COLUMNS(CELL)
		asyncs |= slow->async;
	}
	if (!table)
		return;
	findings_show(findings, SLOW_OF_SWITCHES, pass_switches(marks->pass));
	findings_show(findings, SLOW_OF_PROCESSES, asyncs);
	slowest_tell(&marks->slowest, findings, "span");
}

static void count_open(void *arg, const struct marks_span *span)
{
	struct marks_analysis *marks = arg;

	marks->open += marks_wants(marks, span);
}

int marks_finish(void *arg, struct findings *findings, struct fail *fail)
{
	struct marks_analysis *marks = arg;
	uint64_t lost = 0;
	int r;

	marks_each(&marks->marks, count_open, marks);
	if (marks->pass->failed || marks->roles.failed || marks_starved(&marks->marks) || marks->history.failed ||
	    marks->scratch.failed || marks->pass->budget.failed)
		return fail_memory(fail);
	if (!marks->any && !marks->pass->filter.shape)
		return PASS_NOTHING;
	for (size_t i = 0; i < marks->nr_rows; i++)
		lost += marks->rows[i].lost;
	put_rows(marks, findings);
	r = put_shares(marks, findings, fail);
	put_slowest(marks, findings);
	findings_cut(findings, marks->marks.unbegun, "ends without a begin");
	findings_cut(findings, marks->open, "spans open at the end");
	findings_broken(findings, lost, "spans");
	if (marks->marks.dropped)
		findings_note(findings, "%s spans are left out: more than %d were open at once",
			      text_count((char[TEXT_HUMAN]){ 0 }, marks->marks.dropped), MARKS_OPEN_MAX);
	return r;
}
