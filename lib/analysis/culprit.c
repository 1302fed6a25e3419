// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/culprit_internal.h"

#include "lib/analysis/analysis.h"
#include "lib/analysis/findings.h"
#include "lib/analysis/latency.h"
#include "lib/analysis/run.h"
#include "lib/base/fail.h"
#include "lib/base/text.h"
#include "lib/reader/query.h"
#include "lib/reader/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What was going on before the wakeup is known from this long before it. */
#define MARGIN_NS UINT64_C(50000000)
/* How far the kernel's two measures of one wakeup, and of its end, may be apart. */
#define APART_NS UINT64_C(1000000)

bool culprit_of_text(const char *text, uint64_t *ret_lasted)
{
	const char *at = strstr(text, "lat=");
	char *end;

	if (!at || !strstr(text, "next_comm="))
		return false;
	*ret_lasted = strtoull(at + 4, &end, 10);
	return end > at + 4 && *ret_lasted && *ret_lasted < UINT64_MAX / 4;
}

static uint64_t number_of(const struct table *table, size_t row, const char *title)
{
	int column = table_column_named(table, title);
	uint64_t number;

	return column >= 0 && table_number_at(table, row, (size_t)column, &number) ? number : 0;
}

static const char *text_of(const struct table *table, size_t row, const char *title)
{
	int column = table_column_named(table, title);
	const char *text = column >= 0 ? table_text_at(table, row, (size_t)column) : NULL;

	return text ? text : "";
}

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* The row of the wakeup that was asked for: the one whose time is nearest. SIZE_MAX: there is none. */
static size_t row_of(const struct table *table, uint64_t lasted)
{
	size_t best = SIZE_MAX, rows = table->nr_columns ? table->nr_items / table->nr_columns : 0;
	uint64_t least = APART_NS;

	for (size_t row = 0; row < rows; row++) {
		uint64_t far = apart(number_of(table, row, "DELAY"), lasted);

		if (far <= least) {
			least = far;
			best = row;
		}
	}
	return best;
}

static bool put(const struct table *table, size_t row, struct buf *into)
{
	static const struct {
		const char *title, *says;
	} parts[] = { { "QUEUE", "until it was on a queue" },
		      { "IDLE", "until the CPU was no longer idle" },
		      { "IRQ", "in interrupts" },
		      { "SOFTIRQ", "in softirqs" },
		      { "BEFORE", "the task before ran on" },
		      { "RESCHED", "the task before ran on although it was to go" },
		      { "OTHERS", "other tasks ran first" },
		      { "UNKNOWN", "unknown" } };
	uint64_t lasted = number_of(table, row, "DELAY");
	char time[TEXT_HUMAN];
	bool ok = buf_addf(into, "%s-%" PRIu64 " waited %s for CPU %" PRIu64 ": %s", text_of(table, row, "TASK"),
			   number_of(table, row, "PID"), text_time(time, lasted), number_of(table, row, "CPU"),
			   text_of(table, row, "MOST OF IT"));

	for (size_t i = 0; ok && i < array_size(parts); i++) {
		uint64_t part = number_of(table, row, parts[i].title);

		/* What is less than a hundredth explains nothing. */
		if (part > lasted / 100)
			ok = buf_addf(into, "; %s %s", text_time(time, part), parts[i].says);
	}
	return ok;
}

static int explain(struct findings *findings, uint64_t lasted, struct buf *into, struct fail *fail)
{
	for (size_t i = 0; i < findings->nr; i++) {
		const struct table *table = &findings->items[i].table;
		size_t row = table_column_named(table, "LATE") < 0 && table_column_named(table, "OTHERS") >= 0 ?
				     row_of(table, lasted) :
				     SIZE_MAX;

		if (row != SIZE_MAX)
			return put(table, row, into) ? 0 : fail_memory(fail);
	}
	return fail_set(fail, -ENODATA, "the wakeup is not among the events: record with --for latency");
}

/* Only what belongs to the wakeup is read. */
static int narrow(const struct culprit_asked *asked, struct reader *reader)
{
	uint64_t before = asked->lasted + MARGIN_NS, since = asked->at > before ? asked->at - before : 0;

	for (size_t i = 0; i < reader->nr_buffers; i++) {
		reader->buffers[i].window.since = since;
		reader->buffers[i].window.until = asked->at + APART_NS;
	}
	return reader->nr_buffers ? 0 : -ENODATA;
}

int culprit_find(struct trace *trace, const struct culprit_asked *asked, struct buf *into, struct fail *fail)
{
	const struct latency_options options = { .worst = LATENCY_WORST_MAX,
						 .longer = asked->lasted > APART_NS ? asked->lasted - APART_NS : 0 };
	const struct pass_filter filter = analysis_filter(asked->query);
	struct analysis_run run = { .ops = &latency_analysis, .options = &options };
	struct query query = *asked->query;
	struct reader reader;
	struct pass pass;
	int r;

	query.around = query.since = query.until = NULL;
	reader_init(&reader);
	r = query_add(&query, &(struct query_manner){ .times_only = true }, trace, &reader, fail);
	if (!r && narrow(asked, &reader))
		r = fail_set(fail, -ENODATA, "there are no events");
	if (!r)
		r = reader_start(&reader, &(struct reader_options){ .pool = NULL }, fail);
	if (!r) {
		r = analyses_run(&pass, &reader, &filter, &run, 1, NULL, NULL, fail);
		if (!r)
			r = explain(&run.findings, asked->lasted, into, fail);
		findings_release(&run.findings);
		pass_release(&pass);
	}
	reader_release(&reader);
	return r;
}
