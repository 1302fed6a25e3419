// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/explain/culprit_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/frame/analysis.h"
#include "lib/answers/frame/findings.h"
#include "lib/answers/frame/run.h"
#include "lib/answers/frame/slowest.h"
#include "lib/answers/why/why.h"
#include "lib/ground/base/cpus.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/reader/query.h"
#include "lib/meaning/reader/reader.h"

/* How far the kernel's two measures of one wakeup or call, and of its end, may be apart. */
#define APART_NS UINT64_C(1000000)

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* The row that was asked for: the one whose time is nearest. SIZE_MAX: there is none. */
static size_t row_of(const struct table *table, const struct culprit_asked *asked)
{
	const struct analysis_slow *slow = asked->slow;
	size_t best = SIZE_MAX, rows = table->nr_columns ? table->nr_items / table->nr_columns : 0;
	uint64_t least = APART_NS, lasted = 0;

	for (size_t row = 0; row < rows; row++) {
		uint64_t far = table_number_at(table, row, 0, &lasted) ? apart(lasted, asked->lasted) : UINT64_MAX;

		if (asked->has_same && table_number_of(table, row, slow->same) != asked->same)
			continue;
		if (slow->kind && strcmp(table_text_of(table, row, "kind"), slow->kind))
			continue;
		if (far <= least) {
			least = far;
			best = row;
		}
	}
	return best;
}

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

	if (!strcmp(same, "sector"))
		return take_number(strchr(key, '=') + 1, ret);
	if (!at)
		return false;
	if (!strcmp(same, "cpu")) {
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

void culprit_task_of_text(const char *text, char into[CULPRIT_TASK])
{
	const char *begin = text + strspn(text, " "), *end = strstr(begin, " ["), *at;

	*into = '\0';
	while (end && end > begin && end[-1] == ' ')
		end--;
	for (at = end; end && at > begin && at[-1] >= '0' && at[-1] <= '9';)
		at--;
	if (end && at < end && at > begin && at[-1] == '-')
		snprintf(into, CULPRIT_TASK, "%.*s", (int)(end - begin), begin);
}

/* A wakeup is that of the task that is named; a request tells nothing, because anybody may have ended it. */
static void whose(const struct analysis_slow *slow, const char *text, const char *key, char into[CULPRIT_TASK])
{
	const char *comm = key + strlen(slow->of), *end = strstr(comm, " next_prio=");

	*into = '\0';
	switch (slow->whose) {
	case SLOW_OF_NAME:
		snprintf(into, CULPRIT_TASK, "%.*s", (int)(end ? (size_t)(end - comm) : strcspn(comm, "\n")), comm);
		return;
	case SLOW_OF_TASK:
		culprit_task_of_text(text, into);
		return;
	case SLOW_OF_NOBODY:
		return;
	}
}

/* The kind of case that the text names first: a name in it may have anything. NULL: none. */
static const char *find_kind(const char *text, struct culprit_asked *ret)
{
	const struct analysis_ops *ops;
	const char *first = NULL, *at;

	for (size_t i = 0; (ops = analysis_at(i)); i++) {
		for (const struct analysis_slow *slow = ops->slow; slow && slow->of; slow++) {
			at = strstr(text, slow->of);
			if (!at || (first && at > first))
				continue;
			first = at;
			ret->slow = slow;
			ret->ops = ops;
		}
	}
	return first;
}

bool culprit_of_text(const char *text, struct culprit_asked *ret)
{
	const char *at = strstr(text, " lat="), *key;
	uint64_t lasted;
	char *end;

	if (!at)
		return false;
	lasted = strtoull(at + 5, &end, 10);
	if (end == at + 5 || !lasted || lasted >= UINT64_MAX / 4)
		return false;
	key = find_kind(at, ret);
	if (!key)
		return false;
	ret->lasted = lasted;
	ret->has_same = ret->slow->same && same_of_text(text, key, ret->slow->same, &ret->same);
	whose(ret->slow, text, key, ret->task);
	return true;
}

static int explain(struct findings *findings, const struct culprit_asked *asked, struct buf *into, struct fail *fail)
{
	for (size_t i = 0; i < findings->nr; i++) {
		const struct table *table = &findings->items[i].table;
		size_t row = strcmp(findings->items[i].name, asked->slow->table) ? SIZE_MAX : row_of(table, asked);

		if (row != SIZE_MAX)
			return asked->slow->tell(table, row, into) ? 0 : fail_memory(fail);
	}
	return fail_set(fail, -ENODATA, "%s", asked->slow->missing);
}

/* Opens the buffers for what belongs to it, with so much before it. */
static int open_reader(struct trace *trace, const struct culprit_asked *asked, uint64_t margin, uint64_t until,
		       struct reader *reader, struct fail *fail)
{
	uint64_t before = asked->lasted + margin, since = asked->at > before ? asked->at - before : 0;
	struct query query = *asked->query;
	int r;

	query.around = query.since = query.until = NULL;
	reader_init(reader);
	r = query_add(&query, &(struct query_manner){ .times_only = true }, trace, reader, fail);
	if (!r && !reader->nr_buffers)
		r = fail_set(fail, -ENODATA, "there are no events");
	for (size_t i = 0; !r && i < reader->nr_buffers; i++) {
		reader->buffers[i].window.since = since;
		reader->buffers[i].window.until = until;
	}
	return r ? r : reader_start(reader, &(struct reader_options){ .tells_ends = true }, fail);
}

/* Losses of the time in which it happened. */
struct losses {
	uint64_t at, from, lost;
	bool unknown, damaged;
	struct cpus cpus, later; /* those with a loss, and those with an event after it: their next losses are later */
};

static void see_loss(void *arg, const struct event *event)
{
	struct losses *losses = arg;

	if (event->kind == EVENT_LOST && event->ts >= losses->from && !cpus_has(&losses->later, event->cpu)) {
		cpus_add(&losses->cpus, event->cpu);
		losses->unknown |= event->lost < 0;
		losses->damaged |= event->lost == EVENT_LOST_REST;
		losses->lost += event->lost < 0 ? 0 : (uint64_t)event->lost;
	}
	if (event->ts > losses->at)
		cpus_add(&losses->later, event->cpu);
}

static bool put_losses(const struct culprit_asked *asked, const struct losses *losses, struct buf *into)
{
	bool several = cpus_count(&losses->cpus) > 1;
	char time[TEXT_HUMAN], count[TEXT_HUMAN];

	return (*asked->task ? buf_addf(into, "%s %s", asked->slow->what, asked->task) : buf_add_str(into, "it")) &&
	       buf_addf(into, " took %s; what it was due to is not known, because %s ", text_time(time, asked->lasted),
			losses->damaged ? "the file is damaged and lacks" : "the kernel lost") &&
	       (losses->unknown || buf_addf(into, "%s ", text_count(count, losses->lost))) &&
	       buf_addf(into, "event%s of CPU%s ", losses->unknown ? "s" : text_plural(losses->lost),
			several ? "s" : "") &&
	       cpus_list(&losses->cpus, into) && buf_add_str(into, " in that time");
}

/* -ENODATA: none was lost. */
static int find_losses(struct trace *trace, const struct culprit_asked *asked, struct buf *into, struct fail *fail)
{
	struct losses losses = { .at = asked->at, .from = asked->at > asked->lasted ? asked->at - asked->lasted : 0 };
	const struct reader_consumer consumer = { see_loss, &losses };
	struct reader reader;
	int r = open_reader(trace, asked, asked->slow->margin, UINT64_MAX, &reader, fail);

	if (!r)
		r = reader_run(&reader, &consumer, 1, fail);
	if (!r && cpus_next(&losses.cpus, 0) < 0)
		r = fail_set(fail, -ENODATA, "%s", asked->slow->missing);
	if (!r && !put_losses(asked, &losses, into))
		r = fail_memory(fail);
	reader_release(&reader);
	return r;
}

int culprit_find(struct trace *trace, const struct culprit_asked *asked, struct buf *into, struct fail *fail)
{
	uint64_t longer = asked->lasted > APART_NS ? asked->lasted - APART_NS : 0;
	cleanup_free struct row_options *options = analysis_options(asked->ops);
	const struct pass_filter filter = analysis_filter(asked->query);
	struct analysis_run run = { .ops = asked->ops, .options = options };
	struct reader reader;
	struct pass pass;
	int r;

	if (!options)
		return fail_memory(fail);
	options->slowest = SLOWEST_MAX;
	options->longer = longer;
	r = open_reader(trace, asked, asked->slow->margin, asked->at + APART_NS, &reader, fail);
	if (!r) {
		r = analyses_run(&pass, &reader, &filter, &run, 1, NULL, NULL, fail);
		if (!r)
			r = explain(&run.findings, asked, into, fail);
		findings_release(&run.findings);
		pass_release(&pass);
	}
	reader_release(&reader);
	return r == -ENODATA ? find_losses(trace, asked, into, fail) : r;
}

/* The sentence of the first interval. */
static bool put_why(const struct findings *findings, struct buf *into)
{
	for (size_t i = 0; i < findings->nr; i++) {
		const struct table *table = &findings->items[i].table;

		if (!strcmp(findings->items[i].name, "intervals") && table->nr_items)
			return buf_add_str(into, table_text_of(table, 0, "why"));
	}
	return true;
}

/* What cannot be told is not missed: several tasks have that name, or no event tells who had a CPU. */
static int why_task(struct trace *trace, const struct culprit_asked *asked, const char *name, struct buf *into,
		    struct fail *fail)
{
	const struct pass_filter filter = analysis_filter(asked->query);
	struct why_options options = {
		.of = WHY_TASK, .name = name, .from = asked->at - asked->lasted, .to = asked->at
	};
	struct analysis_run run = { .ops = &why_analysis, .options = &options };
	struct fail unknown = FAIL_INIT;
	struct reader reader;
	struct pass pass;
	int r = open_reader(trace, asked, WHY_LOOKBACK, asked->at + APART_NS, &reader, fail);

	if (!r) {
		if (!analyses_run(&pass, &reader, &filter, &run, 1, NULL, NULL, &unknown) &&
		    !put_why(&run.findings, into))
			r = fail_memory(fail);
		findings_release(&run.findings);
		pass_release(&pass);
	}
	reader_release(&reader);
	return r == -ENODATA ? 0 : r;
}

int culprit_why(struct trace *trace, const struct culprit_asked *asked, struct buf *into, struct fail *fail)
{
	bool of_pid = asked->has_same && !strcmp(asked->slow->same, "pid");
	char pid[24];

	if ((!of_pid && (asked->slow->whose != SLOW_OF_NAME || !*asked->task)) || asked->lasted >= asked->at)
		return 0;
	snprintf(pid, sizeof(pid), "%" PRIu64, asked->same);
	return why_task(trace, asked, of_pid ? pid : asked->task, into, fail);
}

int culprit_why_task(struct trace *trace, const struct query *query, int32_t pid, uint64_t from, uint64_t to,
		     struct buf *into, struct fail *fail)
{
	const struct culprit_asked asked = { .query = query, .at = to, .lasted = to - from };
	char name[24];

	snprintf(name, sizeof(name), "%" PRId32, pid);
	return from < to ? why_task(trace, &asked, name, into, fail) : 0;
}
