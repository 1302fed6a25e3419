// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/stream_tables.h"

#include "formats/sink.h"
#include "lib/base/escape.h"
#include "lib/base/fail.h"
#include "lib/event/event.h"

#include <stdlib.h>

#define REDRAW "\033[H\033[J"

struct tables_sink {
	struct sink sink; /* must be the first member */
	struct stream_tables *tables;
};

static void redraw(struct stream_tables *tables, const struct out *page)
{
	struct escape escape = { .len = 0 };

	out_str(tables->out, REDRAW);
	escape_text(&escape, page->start, out_len(page), tables->out);
	escape_end(&escape, tables->out);
}

static int write_page(struct stream_tables *tables, struct findings *findings, const struct findings_options *options,
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
	struct stream_tables *tables = arg;
	struct findings_options options = tables->print;
	int r;

	options.span = span;
	r = findings_arrange(findings, &options, fail);
	return r ? r : write_page(tables, findings, &options, fail);
}

int stream_tables_begin(struct stream_tables *tables, struct reader *reader, struct out *out, struct fail *fail)
{
	static const struct pass_filter all;

	tables->out = out;
	tables->intervals.ops = tables->ops;
	tables->intervals.every_ns = tables->every_ns;
	tables->intervals.found = take_findings;
	tables->intervals.arg = tables;
	return intervals_begin(&tables->intervals, reader, &all, fail);
}

void stream_tables_release(struct stream_tables *tables)
{
	intervals_release(&tables->intervals);
}

static bool settle(struct sink *sink, struct events *events, struct event *event)
{
	(void)events;
	return intervals_see(&((struct tables_sink *)sink)->tables->intervals, event);
}

static void format(const struct sink *sink, const struct event *event, struct out *out)
{
	(void)sink;
	(void)event;
	(void)out;
}

/* Every lane calls this; only the first call counts. */
static void end(struct sink *sink, struct out *out)
{
	(void)out;
	if (intervals_end(&((struct tables_sink *)sink)->tables->intervals))
		return; /* the stream asks stream_tables_failed() */
}

static void release(struct sink *sink)
{
	free(sink);
}

static const struct sink_ops ops = {
	.name = "tables", .free = release, .settle = settle, .format = format, .end = end
};

struct sink *stream_tables_sink(struct stream_tables *tables)
{
	struct tables_sink *sink = calloc(1, sizeof(*sink));

	if (!sink)
		return NULL;
	sink->sink.ops = &ops;
	sink->tables = tables;
	return &sink->sink;
}
