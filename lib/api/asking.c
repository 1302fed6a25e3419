// SPDX-License-Identifier: LGPL-2.1-or-later
/* What weft_analyse() and its kin share: the analyses that are asked for, the caller that is asked, and the tables. */
#include <errno.h>
#include <stdlib.h>

#include "lib/api/analyse_internal.h"
#include "lib/api/api_internal.h"
#include "lib/api/table_internal.h"

enum { ASK_EVENTS = 1 << 14 };

void weft_result_free(weft_result *result)
{
	if (!result)
		return;
	for (size_t i = 0; i < result->nr_tables; i++)
		api_table_release(&result->tables[i]);
	free(result->tables);
	for (size_t i = 0; i < result->nr_runs; i++)
		findings_release(&result->runs[i].findings);
	free(result->runs);
	free(result);
}

int api_result_name(weft_result *result, const char *const *names, size_t nr, struct fail *fail)
{
	static const struct why_options longest = { .of = WHY_LONGEST };

	if (!nr)
		return fail_set(fail, -EINVAL, "no analysis is named");
	result->runs = calloc(nr, sizeof(*result->runs));
	if (!result->runs)
		return fail_memory(fail);
	for (; result->nr_runs < nr; result->nr_runs++) {
		struct analysis_run *run = &result->runs[result->nr_runs];

		findings_init(&run->findings);
		run->ops = analysis_named(names[result->nr_runs]);
		if (!run->ops)
			return fail_set(fail, -ENOENT, "there is no analysis '%s'", names[result->nr_runs]);
		/* Without options it only has a sentence for the summary. */
		if (run->ops == &why_analysis)
			run->options = &longest;
	}
	return 0;
}

/* All rows stay: weft_result_write() decides how many it shows. */
static int arrange(weft_result *result, const char *sort, struct fail *fail)
{
	const struct findings_options options = { .sort = sort, .top = UINT64_MAX };
	int r = 0;

	for (size_t i = 0; !r && i < result->nr_runs; i++) {
		r = findings_arrange(&result->runs[i].findings, &options, fail);
		if (!r && result->runs[i].findings.failed)
			r = fail_memory(fail);
	}
	return r;
}

static int list_tables(weft_result *result, struct fail *fail)
{
	size_t at = 0, nr = 0;

	for (size_t i = 0; i < result->nr_runs; i++)
		nr += result->runs[i].findings.nr;
	result->tables = calloc(nr + 1, sizeof(*result->tables));
	if (!result->tables)
		return fail_memory(fail);
	for (size_t i = 0; i < result->nr_runs; i++) {
		const struct findings *findings = &result->runs[i].findings;

		for (size_t j = 0; j < findings->nr; j++, at++) {
			if (!api_table_init(&result->tables[at], &findings->items[j], i))
				return fail_memory(fail);
			result->nr_tables++;
		}
	}
	return 0;
}

int api_result_end(weft_result *result, const char *sort, struct fail *fail)
{
	int r = arrange(result, sort, fail);

	return r ? r : list_tables(result, fail);
}

static double part_of(const struct api_asking *asking, uint64_t ts)
{
	const struct extent *extent = &asking->extent;

	if (!extent->found || ts <= extent->first)
		return 0;
	return ts >= extent->last ? 1 : (double)(ts - extent->first) / (double)(extent->last - extent->first);
}

static void tell(struct api_asking *asking, double part)
{
	const struct weft_analyse_options *options = &asking->request->options;
	struct api_turns *turns = &asking->request->turns;

	pthread_mutex_lock(&turns->lock);
	if (part > asking->done) {
		turns->done += (part - asking->done) / (double)turns->files;
		asking->done = part;
	}
	if (options->progress && !turns->interrupted)
		options->progress(options->arg, turns->done < 1 ? turns->done : 1);
	if (options->interrupted && !turns->interrupted)
		turns->interrupted = options->interrupted(options->arg) != 0;
	asking->interrupted = turns->interrupted;
	pthread_mutex_unlock(&turns->lock);
}

int api_ask_begin(struct api_asking *asking, struct fail *fail)
{
	const struct reader *reader = &asking->reader->reader;

	if (!reader->nr_buffers)
		return fail_set(fail, -ENODATA, "the file has no events");
	return asking->request->options.progress ? extent_find(reader->buffers[0].context, &asking->extent, fail) : 0;
}

void api_ask(void *arg, const struct event *event)
{
	struct api_asking *asking = arg;

	if (++asking->events % ASK_EVENTS || asking->interrupted)
		return;
	tell(asking, part_of(asking, event->ts));
	if (asking->interrupted)
		reader_stop(&asking->reader->reader);
}

bool api_ask_now(struct api_asking *asking)
{
	const struct weft_analyse_options *options = &asking->request->options;

	if (options->interrupted && !asking->interrupted)
		asking->interrupted = options->interrupted(options->arg) != 0;
	return asking->interrupted;
}

int api_ask_end(struct api_asking *asking, int r, struct fail *fail)
{
	if (asking->interrupted)
		return fail_set(fail, -EINTR, "the analysis was interrupted");
	if (!r && asking->request->options.progress)
		tell(asking, 1);
	return r;
}

const struct query *api_query_of(const weft_reader *reader)
{
	static const struct query everything = QUERY_INIT;

	return reader->sources[0].query ? reader->sources[0].query : &everything;
}

int api_analysis_start(weft_reader *reader, unsigned threads, struct fail *fail)
{
	const struct weft_reader_options options = { .size = sizeof(options),
						     .threads = threads > 1 ? threads - 1 : 0 };

	if (reader->nr_sources != 1)
		return fail_set(fail, -EINVAL, "an analysis is of one file");
	return api_reader_start(reader, API_STATE, &options, fail);
}

static int take_why(struct api_request *request, const struct weft_why_options *options, struct fail *fail)
{
	struct weft_why_options known;
	int r = api_options(options, &known, sizeof(known), fail);

	if (!r && (unsigned)known.of > WEFT_WHY_TASK)
		r = fail_set(fail, -EINVAL, "there is no kind %d of what is explained", (int)known.of);
	if (!r && known.of == WEFT_WHY_TASK && !known.name)
		r = fail_set(fail, -EINVAL, "no task is named");
	request->explains = options != NULL;
	request->why = (struct why_options){ .of = (uint8_t)known.of,
					     .name = known.name,
					     .slowest = known.slowest,
					     .from = known.from,
					     .to = known.to,
					     .tree = known.tree,
					     .all = known.all };
	return r;
}

int api_request_take(struct api_request *request, const struct weft_analyse_options *options, size_t files,
		     struct fail *fail)
{
	int r = api_options(options, &request->options, sizeof(request->options), fail);

	request->turns.files = files;
	pthread_mutex_init(&request->turns.lock, NULL);
	return r ? r : take_why(request, request->options.why, fail);
}
