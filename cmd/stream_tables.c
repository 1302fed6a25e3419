// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/stream_tables.h"

#include "formats/sink.h"
#include "lib/base/escape.h"
#include "lib/base/fail.h"
#include "lib/event/event.h"

#include <errno.h>
#include <stdlib.h>

#define REDRAW "\033[H\033[J"

struct tables_sink {
	struct sink sink; /* must be the first member */
	struct stream_tables *tables;
};

int stream_tables_begin(struct stream_tables *tables, struct reader *reader, struct out *out, struct fail *fail)
{
	static const struct pass_filter all;
	int r;

	tables->out = out;
	tables->fail = fail;
	r = pass_init(&tables->whole, reader, &all, fail);
	if (!r)
		r = pass_init(&tables->part, reader, &all, fail);
	if (!r)
		r = pass_add(&tables->whole, tables->ops, NULL, fail);
	return r ? r : pass_add(&tables->part, tables->ops, NULL, fail);
}

void stream_tables_release(struct stream_tables *tables)
{
	pass_release(&tables->whole);
	pass_release(&tables->part);
}

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
	else if (tables->redraws)
		redraw(tables, &page);
	else
		out_mem(tables->out, page.start, out_len(&page));
	out_release(&page);
	return r;
}

static int put(struct stream_tables *tables, struct pass *pass, struct findings_span *span, struct fail *fail)
{
	struct findings_options options = tables->print;
	struct fail why = FAIL_INIT;
	struct findings findings;
	int r = pass_end(pass, fail);

	options.span = span;
	findings_init(&findings);
	if (!r) {
		r = pass_finish(pass, 0, &findings, &why);
		span->nothing = r == -ENODATA ? why.text : NULL;
		if (r && r != -ENODATA)
			fail_set(fail, r, "%s", why.text);
		r = r == -ENODATA ? 0 : r;
	}
	if (!r)
		r = findings_arrange(&findings, &options, fail);
	if (!r)
		r = write_page(tables, &findings, &options, fail);
	findings_release(&findings);
	return r;
}

/* Memory must not grow with each task that has ever lived. */
static const char too_many[] = "more tasks have lived than are counted at once, so the next tables begin here";

/* Ends the interval at `to`. The next one begins there. */
static int end_part(struct stream_tables *tables, uint64_t to)
{
	struct findings_span span = { .from = tables->from,
				      .to = to,
				      .events = tables->events,
				      .ended = pass_is_full(&tables->part) ? too_many : NULL };
	int r;

	state_advance(&tables->part.state, to);
	r = put(tables, &tables->part, &span, tables->fail);
	if (!r)
		r = pass_restart(&tables->part, tables->fail);
	tables->from = to;
	tables->events = 0;
	return r;
}

/* Prints the tables of the stream up to `to`; those at its end begin there. */
static int end_whole(struct stream_tables *tables, uint64_t to)
{
	struct findings_span span = {
		.from = tables->first, .to = to, .events = tables->all_events, .whole = true, .ended = too_many
	};
	bool redraws = tables->redraws;
	int r;

	state_advance(&tables->whole.state, to);
	tables->redraws = false;
	r = put(tables, &tables->whole, &span, tables->fail);
	tables->redraws = redraws;
	if (!r)
		r = pass_restart(&tables->whole, tables->fail);
	tables->first = to;
	tables->all_events = 0;
	return r;
}

/* Ends the tables for which too many tasks have lived. */
static int make_room(struct stream_tables *tables, uint64_t now)
{
	int r = pass_is_full(&tables->part) ? end_part(tables, now) : 0;

	return !r && pass_is_full(&tables->whole) ? end_whole(tables, now) : r;
}

/* Several intervals without an event are printed as one. */
static int pass_time(struct stream_tables *tables, uint64_t now)
{
	uint64_t over = (now - tables->from) / tables->every_ns;
	int r = over ? end_part(tables, tables->from + tables->every_ns) : 0;

	return !r && over > 1 ? end_part(tables, tables->from + (over - 1) * tables->every_ns) : r;
}

static bool settle(struct sink *sink, struct events *events, struct event *event)
{
	struct stream_tables *tables = ((struct tables_sink *)sink)->tables;
	bool is_record = event->kind == EVENT_RECORD;

	(void)events;
	if (tables->failed)
		return false;
	if (is_record && !tables->begun) {
		tables->begun = true;
		tables->first = event->ts;
		tables->from = event->ts;
	}
	/* A loss before the first event has no time. */
	if (!tables->begun)
		return false;
	tables->part.pending = tables->whole.pending = is_record ? event->type : NULL;
	if (is_record && event->ts > tables->from)
		tables->failed = pass_time(tables, event->ts);
	if (is_record && !tables->failed && event->ts > tables->from)
		tables->failed = make_room(tables, event->ts);
	tables->part.pending = tables->whole.pending = NULL;
	if (tables->failed)
		return false;
	/* An event that comes late counts in the present interval. */
	if (event->ts < tables->from)
		event->ts = tables->from;
	tables->events += is_record;
	tables->all_events += is_record;
	pass_see(&tables->whole, event);
	pass_see(&tables->part, event);
	return true;
}

static void format(const struct sink *sink, const struct event *event, struct out *out)
{
	(void)sink;
	(void)event;
	(void)out;
}

static void end(struct sink *sink, struct out *out)
{
	struct stream_tables *tables = ((struct tables_sink *)sink)->tables;
	struct findings_span span = {
		.from = tables->first, .to = tables->whole.state.now, .events = tables->all_events, .whole = true
	};

	(void)out;
	/* Every lane calls this; only the first call counts. */
	if (tables->ended || tables->failed || !tables->begun)
		return;
	tables->ended = true;
	if (tables->events)
		tables->failed = end_part(tables, tables->whole.state.now);
	tables->redraws = false;
	if (!tables->failed)
		tables->failed = put(tables, &tables->whole, &span, tables->fail);
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
