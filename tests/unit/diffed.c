// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/diffed.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/answers/frame/findings.h"
#include "lib/ground/base/fail.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/test.h"

uint64_t diffed_random(uint64_t *state)
{
	uint64_t x = *state;

	/* The generator is xorshift64. */
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return *state = x;
}

double diffed_part(uint64_t *state)
{
	return (double)(diffed_random(state) >> 11) / 9007199254740992.0;
}

double diffed_duration(uint64_t *state, double base)
{
	double spread = exp(0.3 * (diffed_part(state) + diffed_part(state) + diffed_part(state) - 1.5));

	if (diffed_random(state) % 300 == 0)
		spread *= 10;
	return base * spread;
}

void diffed_call(struct buf *script, unsigned func, int depth, uint64_t start, uint64_t end)
{
	CHECK(buf_addf(script,
		       "0 %" PRIu64 " 7 funcgraph_entry func=0x%x depth=%d\n0 %" PRIu64
		       " 7 funcgraph_exit func=0x%x depth=%d calltime=%" PRIu64 " rettime=%" PRIu64 "\n",
		       start, func, depth, end, func, depth, start, end));
}

static bool is_named(void *arg, const struct event *event)
{
	return event->kind == EVENT_RECORD && event->type->format && !strcmp(event->type->format->name, arg);
}

static bool add_part(struct diff *diff, bool is_new, struct loom *loom, const struct analysis_ops *ops,
		     const struct diff_part *part)
{
	struct fail fail = FAIL_INIT;
	struct trace *trace = loom_trace(loom);
	struct reader reader;
	bool ok;

	reader_init(&reader);
	ok = trace && !reader_add_trace(&reader, trace, &fail) &&
	     !reader_start(&reader, &(struct reader_options){ .pool = NULL }, &fail) &&
	     !diff_add(diff, is_new, &reader, &ops, 1, part, &fail);
	if (!ok)
		printf("%s\n", fail.text);
	reader_release(&reader);
	trace_free(trace);
	loom_release(loom);
	return CHECK(ok);
}

bool diffed_add(struct diff *diff, bool is_new, struct loom *loom, const struct analysis_ops *ops, const void *options)
{
	const struct diff_part part = { .options = options, .first = 1000, .last = loom->cpus[0].ts };

	return add_part(diff, is_new, loom, ops, &part);
}

bool diffed_add_counted(struct diff *diff, bool is_new, struct loom *loom, const struct analysis_ops *ops,
			const char *event)
{
	cleanup_free char *name = strdup(event);
	const struct diff_part part = { .first = 1000, .last = loom->cpus[0].ts, .is_unit = is_named, .arg = name };

	return CHECK(name) && add_part(diff, is_new, loom, ops, &part);
}

int diffed_finish(struct diff *diff, const char *condition, struct out *csv)
{
	struct diff_condition parsed;
	struct diff_options options = { .least = 0.03, .top = UINT64_MAX, .conditions = &parsed };
	struct fail fail = FAIL_INIT;
	struct findings findings;
	int r;

	findings_init(&findings);
	if (condition) {
		CHECK(!diff_condition_parse(condition, &parsed, &fail));
		options.nr_conditions = 1;
	}
	r = diff_finish(diff, &options, &findings, &fail);
	if (CHECK(findings.nr == 1))
		CHECK(table_put_csv(&findings.items[0].table, csv));
	out_char(csv, '\0');
	findings_release(&findings);
	diff_free(diff);
	return r;
}

unsigned diffed_count(const struct out *csv, const char *verdict)
{
	unsigned nr = 0;

	for (const char *at = csv->start; (at = strstr(at, verdict)); at++)
		nr++;
	return nr;
}
