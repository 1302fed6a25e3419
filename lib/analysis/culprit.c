// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/culprit_internal.h"

#include "lib/analysis/analysis.h"
#include "lib/analysis/block.h"
#include "lib/analysis/findings.h"
#include "lib/analysis/latency.h"
#include "lib/analysis/run.h"
#include "lib/analysis/slowest_internal.h"
#include "lib/analysis/syscalls.h"
#include "lib/base/fail.h"
#include "lib/base/text.h"
#include "lib/reader/query.h"
#include "lib/reader/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What was going on before it is known from this long before it; and how long a request was queued, likewise. */
#define MARGIN_NS UINT64_C(50000000)
#define QUEUED_NS UINT64_C(1000000000)
/* How far the kernel's two measures of one wakeup or call, and of its end, may be apart. */
#define APART_NS UINT64_C(1000000)

struct culprit_options {
	struct latency_options latency;
	struct syscalls_options syscalls;
	struct block_options block;
	struct row_options rows;
};

struct culprit_kind {
	const char *of; /* what the kernel's text has */
	const struct analysis_ops *ops;
	/* Sets the options of the analysis, which lists what took longer than this; returns them. */
	const void *(*options)(struct culprit_options *into, uint64_t longer);
	const char *lasted, *has, *lacks; /* titles of columns: the time; those that tell the table from the others */
	const char *same;                 /* NULL, or a column whose number the text has, too: see same_of_text() */
	const char *run;                  /* of runs: what KIND has to be */
	uint64_t margin;
	const char *missing;
	bool (*put)(const struct table *table, size_t row, struct buf *into);
};

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

/* The row that was asked for: the one whose time is nearest. SIZE_MAX: there is none. */
static size_t row_of(const struct table *table, const struct culprit_asked *asked)
{
	size_t best = SIZE_MAX, rows = table->nr_columns ? table->nr_items / table->nr_columns : 0;
	uint64_t least = APART_NS;

	for (size_t row = 0; row < rows; row++) {
		uint64_t far = apart(number_of(table, row, asked->kind->lasted), asked->lasted);

		if (asked->has_same && number_of(table, row, asked->kind->same) != asked->same)
			continue;
		if (asked->kind->run && strcmp(text_of(table, row, "KIND"), asked->kind->run))
			continue;
		if (far <= least) {
			least = far;
			best = row;
		}
	}
	return best;
}

struct part {
	const char *title, *says;
};

/* What is less than a hundredth explains nothing. */
static bool put_parts(const struct table *table, size_t row, const struct part *parts, size_t nr, uint64_t lasted,
		      struct buf *into)
{
	char time[TEXT_HUMAN];
	bool ok = true;

	for (size_t i = 0; ok && i < nr; i++) {
		uint64_t part = number_of(table, row, parts[i].title);

		if (part > lasted / 100)
			ok = buf_addf(into, "; %s %s", text_time(time, part), parts[i].says);
	}
	return ok;
}

static bool put_wakeup(const struct table *table, size_t row, struct buf *into)
{
	static const struct part parts[] = { { "QUEUE", "until it was on a queue" },
					     { "IDLE", "until the CPU was no longer idle" },
					     { "IRQ", "in interrupts" },
					     { "SOFTIRQ", "in softirqs" },
					     { "BEFORE", "the task before ran on" },
					     { "RESCHED", "the task before ran on although it was to go" },
					     { "OTHERS", "other tasks ran first" },
					     { "UNKNOWN", "unknown" } };
	uint64_t lasted = number_of(table, row, "DELAY");
	char time[TEXT_HUMAN];

	return buf_addf(into, "%s-%" PRIu64 " waited %s for CPU %" PRIu64 ": %s", text_of(table, row, "TASK"),
			number_of(table, row, "PID"), text_time(time, lasted), number_of(table, row, "CPU"),
			text_of(table, row, "MOST OF IT")) &&
	       put_parts(table, row, parts, array_size(parts), lasted, into);
}

static bool put_call(const struct table *table, size_t row, struct buf *into)
{
	static const struct part parts[] = { { "BLOCKED", "blocked" },
					     { "WAIT", "ready, without a CPU" },
					     { "ON CPU", "on a CPU" } };
	uint64_t lasted = number_of(table, row, "LASTED");
	const char *in = text_of(table, row, "IN"), *waker = text_of(table, row, "WOKEN BY");
	char time[TEXT_HUMAN];

	return buf_addf(into, "%s-%" PRIu64 " was %s in %s", text_of(table, row, "TASK"), number_of(table, row, "PID"),
			text_time(time, lasted), text_of(table, row, "SYSCALL")) &&
	       put_parts(table, row, parts, array_size(parts), lasted, into) &&
	       (!*in || buf_addf(into, "; blocked in %s", in)) &&
	       (!*waker || buf_addf(into, "; woken by %s-%" PRIu64, waker, number_of(table, row, "WAKER PID")));
}

/* A task, as "; BEFORE COMM-PID", unless it is not known. */
static bool put_task(const struct table *table, size_t row, const char *before, const char *comm, const char *pid,
		     struct buf *into)
{
	const char *name = text_of(table, row, comm);

	return !*name || buf_addf(into, "; %s%s-%" PRIu64, before, name, number_of(table, row, pid));
}

static bool put_run(const struct table *table, size_t row, struct buf *into)
{
	uint64_t lasted = number_of(table, row, "LASTED"), inner = number_of(table, row, "INNER"),
		 waited = number_of(table, row, "WAITED");
	const char *task = text_of(table, row, "TASK");
	char time[TEXT_HUMAN];
	bool ok = buf_addf(into, "%s %s ran %s on CPU %" PRIu64, text_of(table, row, "KIND"),
			   text_of(table, row, "SOURCE"), text_time(time, lasted), number_of(table, row, "CPU"));

	if (ok && inner > lasted / 100)
		ok = buf_addf(into, "; %s itself", text_time(time, number_of(table, row, "SELF"))) &&
		     buf_addf(into, "; %s in %s", text_time(time, inner), text_of(table, row, "MOST INSIDE"));
	if (ok && *task && !number_of(table, row, "PID"))
		ok = buf_addf(into, "; the CPU was idle");
	else if (ok)
		ok = put_task(table, row, strncmp(task, "ksoftirqd/", 10) ? "it interrupted " : "it ran in ", "TASK",
			      "PID", into);
	if (ok && waited > lasted / 100)
		ok = put_task(table, row, "meanwhile ", "WAITING", "WAITING PID", into) &&
		     buf_addf(into, " waited %s for the CPU", text_time(time, waited));
	return ok;
}

static bool put_request(const struct table *table, size_t row, struct buf *into)
{
	uint64_t queued = number_of(table, row, "QUEUED"), beside = number_of(table, row, "BESIDE");
	char time[TEXT_HUMAN], size[TEXT_HUMAN];

	return buf_addf(into, "device %s took %s for a %s of %s at sector %" PRIu64, text_of(table, row, "DEVICE"),
			text_time(time, number_of(table, row, "LASTED")), text_of(table, row, "OP"),
			text_size(size, number_of(table, row, "SIZE")), number_of(table, row, "SECTOR")) &&
	       (!number_of(table, row, "FAILED") || buf_addf(into, ", which failed")) &&
	       put_task(table, row, "it was for ", "TASK", "PID", into) &&
	       (!queued || buf_addf(into, "; it was queued %s before", text_time(time, queued))) &&
	       (!beside ||
		buf_addf(into, "; the device had %" PRIu64 " other%s before it", beside, text_plural(beside)));
}

static bool put_lock(const struct table *table, size_t row, struct buf *into)
{
	static const struct part parts[] = { { "SPIN", "spinning" },
					     { "SLEEP", "asleep" },
					     { "WAIT", "ready, without a CPU" } };
	uint64_t lasted = number_of(table, row, "LASTED"), waker = number_of(table, row, "WAKER PID");
	const char *caller = text_of(table, row, "CALLER");
	bool given_up = number_of(table, row, "GIVEN UP");
	char time[TEXT_HUMAN];

	return buf_addf(into, "%s-%" PRIu64 " waited %s for %s %s", text_of(table, row, "TASK"),
			number_of(table, row, "PID"), text_time(time, lasted), text_of(table, row, "TYPE"),
			text_of(table, row, "LOCK")) &&
	       (!*caller || buf_addf(into, " in %s", caller)) &&
	       put_parts(table, row, parts, array_size(parts), lasted, into) &&
	       (!given_up || buf_addf(into, "; it gave up")) &&
	       /* What ends a wait for a lock is its release, except where a signal does. */
	       (!waker || put_task(table, row, given_up ? "woken by " : "released by ", "WOKEN BY", "WAKER PID", into));
}

static const void *wakeup_options(struct culprit_options *into, uint64_t longer)
{
	into->latency = (struct latency_options){ .worst = LATENCY_WORST_MAX, .longer = longer };
	return &into->latency;
}

static const void *call_options(struct culprit_options *into, uint64_t longer)
{
	into->syscalls = (struct syscalls_options){ .slowest = SYSCALLS_SLOWEST_MAX, .longer = longer };
	return &into->syscalls;
}

static const void *request_options(struct culprit_options *into, uint64_t longer)
{
	into->block = (struct block_options){ .slowest = SLOWEST_MAX, .longer = longer };
	return &into->block;
}

static const void *row_options(struct culprit_options *into, uint64_t longer)
{
	into->rows = (struct row_options){ .slowest = SLOWEST_MAX, .longer = longer };
	return &into->rows;
}

static const struct culprit_kind kinds[] = {
	{ " next_comm=", &latency_analysis, wakeup_options, "DELAY", "OTHERS", "LATE", NULL, NULL, MARGIN_NS,
	  "the wakeup is not among the events: record with --for latency", put_wakeup },
	{ " id=", &syscalls_analysis, call_options, "LASTED", "RETURNED", "LATE", "PID", NULL, MARGIN_NS,
	  "the call is not among the events: record with --for syscalls", put_call },
	{ " vec=", &irq_analysis, row_options, "LASTED", "MOST INSIDE", "LATE", "CPU", "softirq", MARGIN_NS,
	  "the softirq is not among the events: record with --for irq", put_run },
	{ " irq=", &irq_analysis, row_options, "LASTED", "MOST INSIDE", "LATE", "CPU", "irq", MARGIN_NS,
	  "the interrupt is not among the events: record with --for irq", put_run },
	{ " sector=", &block_analysis, request_options, "LASTED", "BESIDE", "LATE", "SECTOR", NULL, QUEUED_NS,
	  "the request is not among the events: record with --for block", put_request },
	{ " lock_addr=", &locks_analysis, row_options, "LASTED", "SPIN", "MAX", "PID", NULL, MARGIN_NS,
	  "the wait is not among the events: record with --for locks", put_lock },
};

static bool take_number(const char *text, uint64_t *ret)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	*ret = strtoull(text, &end, 0);
	return true;
}

/* Takes the number that the row has, too, from "COMM-PID [CPU] ...: ... lat=N sector=SECTOR". */
static bool same_of_text(const char *text, const char *key, const char *same, uint64_t *ret)
{
	const char *at = strstr(text, " [");

	if (!strcmp(same, "SECTOR"))
		return take_number(strchr(key, '=') + 1, ret);
	if (!at)
		return false;
	if (!strcmp(same, "CPU")) {
		/* In decimal, with zeros before it. */
		*ret = strtoull(at + 2, NULL, 10);
		return at[2] >= '0' && at[2] <= '9';
	}
	while (at > text && *at == ' ')
		at--;
	while (at > text && *at >= '0' && *at <= '9')
		at--;
	return *at == '-' && take_number(at + 1, ret);
}

bool culprit_of_text(const char *text, struct culprit_asked *ret)
{
	const char *at = strstr(text, " lat=");
	uint64_t lasted;
	char *end;

	if (!at)
		return false;
	lasted = strtoull(at + 5, &end, 10);
	if (end == at + 5 || !lasted || lasted >= UINT64_MAX / 4)
		return false;
	for (size_t i = 0; i < array_size(kinds); i++) {
		const char *key = strstr(at, kinds[i].of);

		if (!key)
			continue;
		ret->kind = &kinds[i];
		ret->lasted = lasted;
		ret->has_same = kinds[i].same && same_of_text(text, key, kinds[i].same, &ret->same);
		return true;
	}
	return false;
}

static int explain(struct findings *findings, const struct culprit_asked *asked, struct buf *into, struct fail *fail)
{
	const struct culprit_kind *kind = asked->kind;

	for (size_t i = 0; i < findings->nr; i++) {
		const struct table *table = &findings->items[i].table;
		size_t row = table_column_named(table, kind->lacks) < 0 && table_column_named(table, kind->has) >= 0 ?
				     row_of(table, asked) :
				     SIZE_MAX;

		if (row != SIZE_MAX)
			return kind->put(table, row, into) ? 0 : fail_memory(fail);
	}
	return fail_set(fail, -ENODATA, "%s", kind->missing);
}

/* Only what belongs to it is read. */
static int narrow(const struct culprit_asked *asked, struct reader *reader)
{
	uint64_t before = asked->lasted + asked->kind->margin, since = asked->at > before ? asked->at - before : 0;

	for (size_t i = 0; i < reader->nr_buffers; i++) {
		reader->buffers[i].window.since = since;
		reader->buffers[i].window.until = asked->at + APART_NS;
	}
	return reader->nr_buffers ? 0 : -ENODATA;
}

int culprit_find(struct trace *trace, const struct culprit_asked *asked, struct buf *into, struct fail *fail)
{
	uint64_t longer = asked->lasted > APART_NS ? asked->lasted - APART_NS : 0;
	struct culprit_options options;
	const struct pass_filter filter = analysis_filter(asked->query);
	struct analysis_run run = { .ops = asked->kind->ops, .options = asked->kind->options(&options, longer) };
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
			r = explain(&run.findings, asked, into, fail);
		findings_release(&run.findings);
		pass_release(&pass);
	}
	reader_release(&reader);
	return r;
}
