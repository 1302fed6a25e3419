// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/live/tables.h"

#include "lib/ground/base/escape.h"
#include "lib/ground/base/fail.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/follow/who.h"
#include "lib/meaning/reader/reader.h"

#define REDRAW "\033[H\033[J"

static void redraw(struct live_tables *tables, const struct out *page)
{
	struct escape escape = { .len = 0 };

	out_str(tables->out, REDRAW);
	escape_text(&escape, page->start, out_len(page), tables->out);
	escape_end(&escape, tables->out);
}

static int write_page(struct live_tables *tables, struct findings *findings, const struct findings_options *options,
		      struct fail *fail)
{
	struct out page;
	int r = 0;

	if (!out_init(&page, 1 << 14))
		return fail_memory(fail);
	if (!findings_write(findings, options, &page))
		r = fail_memory(fail);
	else if (tables->redraws && !options->span->whole)
		redraw(tables, &page);
	else
		out_mem(tables->out, page.start, out_len(&page));
	out_release(&page);
	return r;
}

static int take_findings(void *arg, struct findings *findings, const struct findings_span *span, struct fail *fail)
{
	struct live_tables *tables = arg;
	struct findings_options options = tables->print;
	int r;

	if (tables->taken)
		return tables->taken(tables->taken_arg, findings, span, fail);
	options.span = span;
	/* The stream learns more of it. */
	options.wall = tables->reader->buffers[0].context->wall;
	r = findings_arrange(findings, &options, fail);
	return r ? r : write_page(tables, findings, &options, fail);
}

int live_tables_begin(struct live_tables *tables, struct reader *reader, struct out *out, struct fail *fail)
{
	static const struct pass_filter all;

	tables->out = out;
	tables->reader = reader;
	tables->intervals.ops = tables->ops;
	tables->intervals.options = tables->options;
	tables->intervals.every_ns = tables->every_ns;
	tables->intervals.found = take_findings;
	tables->intervals.arg = tables;
	return intervals_begin(&tables->intervals, reader, &all, fail);
}

void live_tables_release(struct live_tables *tables)
{
	intervals_release(&tables->intervals);
}

static bool settle(void *arg, struct event *event)
{
	struct live_tables *tables = arg;

	if (tables->follows)
		who_follow(tables->reader->buffers[0].context, event);
	return intervals_see(&tables->intervals, event);
}

static void show(void *arg, const struct event *event)
{
	const struct live_tables *tables = arg;

	if (tables->seen)
		tables->seen(tables->seen_arg, event);
}

static void end(void *arg)
{
	struct live_tables *tables = arg;

	if (intervals_end(&tables->intervals))
		return; /* the flow asks failed() */
}

static int failed(const void *arg)
{
	const struct live_tables *tables = arg;

	return tables->intervals.failed;
}

struct flow_consumer live_tables_consumer(struct live_tables *tables)
{
	return (struct flow_consumer){
		.arg = tables, .event = &tables->event, .end = end, .settle = settle, .print = show, .failed = failed
	};
}
