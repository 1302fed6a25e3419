// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/analysed.h"

#include <stdio.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/event/event.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/test.h"

/* Shows the events to a pass. The pass restarts before the first event at or after `at`. */
struct restarting {
	struct pass *pass;
	uint64_t at; /* 0: the pass has restarted */
	bool failed;
	struct fail *fail;
};

static void see(void *arg, const struct event *event)
{
	struct restarting *restarting = arg;

	if (restarting->at && event->ts >= restarting->at) {
		restarting->pass->pending = event->type;
		state_advance(&restarting->pass->state, restarting->at);
		restarting->pass->divides = true;
		restarting->failed = pass_end(restarting->pass, restarting->fail) ||
				     pass_restart(restarting->pass, restarting->fail);
		restarting->pass->pending = NULL;
		restarting->at = 0;
	}
	if (!restarting->failed)
		pass_see(restarting->pass, event);
}

static bool run(struct analysed *analysed, uint64_t from, struct fail *fail)
{
	struct restarting restarting = { .pass = &analysed->pass, .at = from, .fail = fail };

	if (!from)
		return !pass_run(&analysed->pass, NULL, fail);
	return !reader_run(&analysed->reader, &(struct reader_consumer){ see, &restarting }, 1, fail) &&
	       !restarting.failed && !pass_end(&analysed->pass, fail);
}

static bool begin(struct analysed *analysed, const struct analysis_ops *ops, const void *options,
		  void (*types)(struct loom *loom), const char *script, uint64_t from, struct pass_filter filter)
{
	struct fail fail = FAIL_INIT;
	bool ok;

	*analysed = (struct analysed){ .trace = NULL };
	loom_init(&analysed->loom);
	if (types)
		types(&analysed->loom);
	loom_play(&analysed->loom, script);
	analysed->trace = loom_trace(&analysed->loom);
	reader_init(&analysed->reader);
	findings_init(&analysed->findings);
	ok = out_init(&analysed->lines, 1 << 12) && analysed->trace &&
	     !reader_add_trace(&analysed->reader, analysed->trace, &fail) &&
	     !reader_start(&analysed->reader, &(struct reader_options){ .pool = NULL }, &fail) &&
	     !pass_init(&analysed->pass, &analysed->reader, &filter, &fail) &&
	     (analysed->pass.lines = &analysed->lines) && !pass_add(&analysed->pass, ops, options, &fail) &&
	     run(analysed, from, &fail) && !pass_finish(&analysed->pass, 0, &analysed->findings, &fail);
	if (!ok) {
		printf("%s: %s\n", ops->name, fail.text);
		analysed_end(analysed);
	}
	return CHECK(ok);
}

bool analysed_begin(struct analysed *analysed, const struct analysis_ops *ops, const void *options,
		    void (*types)(struct loom *loom), const char *script)
{
	return begin(analysed, ops, options, types, script, 0, (struct pass_filter){ .self = false });
}

bool analysed_from(struct analysed *analysed, const struct analysis_ops *ops, void (*types)(struct loom *loom),
		   const char *script, uint64_t from)
{
	return begin(analysed, ops, NULL, types, script, from, (struct pass_filter){ .self = false });
}

bool analysed_named(struct analysed *analysed, const struct analysis_ops *ops, const char *comm,
		    void (*types)(struct loom *loom), const char *script)
{
	return begin(analysed, ops, NULL, types, script, 0, (struct pass_filter){ .comms = &comm, .nr_comms = 1 });
}

bool analysed_wanted(struct analysed *analysed, const struct analysis_ops *ops, const struct who_want *want,
		     void (*types)(struct loom *loom), const char *script)
{
	return begin(analysed, ops, NULL, types, script, 0, (struct pass_filter){ .who = want, .nr_who = 1 });
}

bool analysed_guest(struct analysed *analysed, const struct analysis_ops *ops, const struct vcpus *vcpus,
		    void (*types)(struct loom *loom), const char *script)
{
	return begin(analysed, ops, NULL, types, script, 0, (struct pass_filter){ .vcpus = vcpus });
}

void analysed_end(struct analysed *analysed)
{
	out_release(&analysed->lines);
	findings_release(&analysed->findings);
	pass_release(&analysed->pass);
	reader_release(&analysed->reader);
	trace_free(analysed->trace);
	loom_release(&analysed->loom);
}

/* Field `index` of a line of CSV without quotes. */
static struct text_word field_of(struct text_word line, size_t index)
{
	const char *comma;

	while (index-- && (comma = memchr(line.at, ',', line.len))) {
		line.len -= (size_t)(comma + 1 - line.at);
		line.at = comma + 1;
	}
	comma = memchr(line.at, ',', line.len);
	if (comma)
		line.len = (size_t)(comma - line.at);
	return line;
}

static bool is(struct text_word word, const char *text)
{
	return word.len == strlen(text) && !memcmp(word.at, text, word.len);
}

static bool has(const char *at, size_t left, const char *row, size_t column, const char *value)
{
	struct text_word line, field;

	while (text_next_line(&at, &left, &line)) {
		if (!is(field_of(line, 0), row))
			continue;
		field = field_of(line, column);
		if (is(field, value))
			return true;
		printf("%s: %.*s, not %s\n", row, (int)field.len, field.at, value);
		return false;
	}
	printf("no row '%s'\n", row);
	return false;
}

/* The field of a line of CSV that has this column: CSV leaves out those that only text shows. */
static size_t csv_index(const struct table *table, int column)
{
	size_t index = 0;

	for (int i = 0; i < column; i++)
		index += !table_flagged(table, (size_t)i, TABLE_TEXT_ONLY);
	return index;
}

bool analysed_is(struct analysed *analysed, const char *table, const char *row, const char *column, const char *value)
{
	for (size_t i = 0; i < analysed->findings.nr; i++) {
		const struct finding *finding = &analysed->findings.items[i];
		int index = table_column_named(&finding->table, column);
		struct out out;
		bool ok;

		if (strcmp(finding->name, table) || index < 0)
			continue;
		ok = out_init(&out, 1 << 12) && table_put_csv(&finding->table, &out) &&
		     has(out.start, out_len(&out), row, csv_index(&finding->table, index),
			 !strcmp(value, "-") ? "" : value);
		out_release(&out);
		return ok;
	}
	printf("no table '%s' with a column '%s'\n", table, column);
	return false;
}

bool analysed_prints(const struct analysed *analysed, const char *lines)
{
	size_t len = out_len(&analysed->lines);

	if (len == strlen(lines) && !memcmp(analysed->lines.start, lines, len))
		return true;
	printf("printed: %.*s\n", (int)len, analysed->lines.start);
	return false;
}
