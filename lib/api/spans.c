// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>

#include "lib/answers/frame/intervals.h"
#include "lib/api/analyse_internal.h"
#include "lib/api/api_internal.h"
#include "lib/meaning/event/event.h"

struct spans {
	struct intervals intervals;
	struct api_asking asking;
	weft_span_fn *see;
	void *arg;
	int answer; /* of see(); 0: it goes on */
};

/* The result takes the findings. */
static int make_result(const struct spans *spans, struct findings *findings, weft_result **ret, struct fail *fail)
{
	const struct api_request *request = spans->asking.request;
	weft_result *result = calloc(1, sizeof(*result));
	int r = result ? api_result_name(result, request->names, 1, fail) : fail_memory(fail);

	if (!r) {
		result->runs[0].findings = *findings;
		findings_init(findings);
		r = api_result_end(result, result->runs[0].findings.nr ? request->options.sort : NULL, fail);
	}
	if (r)
		weft_result_free(result);
	else
		*ret = result;
	return r;
}

static int take_findings(void *arg, struct findings *findings, const struct findings_span *span, struct fail *fail)
{
	struct spans *spans = arg;
	const struct weft_span told = { .size = sizeof(told),
					.from = span->from,
					.to = span->to,
					.events = span->events,
					.is_whole = span->whole,
					.nothing = span->nothing };
	weft_result *result = NULL;
	int r = make_result(spans, findings, &result, fail);

	if (r)
		return r;
	spans->answer = spans->see(spans->arg, result, &told);
	return spans->answer ? fail_set(fail, -ECANCELED, "the caller has ended the analysis") : 0;
}

static void see_event(void *arg, const struct event *event)
{
	struct spans *spans = arg;

	(void)intervals_see(&spans->intervals, event);
	if (spans->asking.reader->feed)
		return;
	api_ask(&spans->asking, event);
	if (spans->intervals.failed)
		reader_stop(&spans->asking.reader->reader);
}

static bool ends(void *arg)
{
	struct spans *spans = arg;

	return spans->intervals.failed || api_ask_now(&spans->asking);
}

static int read_events(struct spans *spans, struct fail *fail)
{
	const struct reader_consumer consumer = { see_event, spans };
	weft_reader *reader = spans->asking.reader;
	int r;

	if (reader->feed) {
		r = reader->feed->run(reader, &consumer, ends, spans, fail);
		return spans->intervals.failed ? spans->intervals.failed : r;
	}
	r = reader_run(&reader->reader, &consumer, 1, fail);
	return spans->intervals.failed ? spans->intervals.failed : r;
}

static int run(struct spans *spans, struct fail *fail)
{
	weft_reader *reader = spans->asking.reader;
	struct pass_filter filter;
	int r = reader->feed ? 0 : api_analysis_start(reader, 0, fail);

	if (!r && !reader->feed)
		r = api_ask_begin(&spans->asking, fail);
	if (r)
		return r;
	filter = analysis_filter(api_query_of(reader));
	r = intervals_begin(&spans->intervals, &reader->reader, &filter, fail);
	if (!r)
		r = read_events(spans, fail);
	if (!r && !spans->asking.interrupted)
		r = intervals_end(&spans->intervals);
	intervals_release(&spans->intervals);
	return api_ask_end(&spans->asking, r, fail);
}

static int check(const struct api_request *request, struct spans *spans, struct fail *fail)
{
	weft_result names = { .runs = NULL };
	int r = api_result_name(&names, request->names, 1, fail);

	if (!r) {
		spans->intervals.ops = names.runs[0].ops;
		if (spans->intervals.ops == &why_analysis)
			r = fail_set(fail, -ENOTSUP, "'why' explains single cases, not intervals");
	}
	free(names.runs);
	return r;
}

int weft_analyse_spans(weft_reader *reader, const char *name, uint64_t every_ns,
		       const struct weft_analyse_options *options, weft_span_fn *see, void *arg,
		       struct weft_error *error)
{
	struct api_request request = { .names = &name, .nr = 1 };
	struct spans spans = { .asking = { .request = &request, .reader = reader }, .see = see, .arg = arg };
	struct fail fail = FAIL_INIT;
	int r = api_request_take(&request, options, 1, &fail);

	spans.intervals.every_ns = every_ns ? every_ns : UINT64_MAX;
	spans.intervals.found = take_findings;
	spans.intervals.arg = &spans;
	if (!r)
		r = check(&request, &spans, &fail);
	if (!r)
		r = run(&spans, &fail);
	pthread_mutex_destroy(&request.turns.lock);
	return spans.answer ? spans.answer : api_result(error, r, &fail);
}
