// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/frame/run.h"
#include "lib/answers/why/why.h"
#include "lib/api/api_internal.h"
#include "lib/api/table_internal.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/pool.h"
#include "lib/pages/trace/trace.h"

enum { TEXT_FIRST = 1 << 14, ASK_EVENTS = 1 << 14 };

struct weft_result {
	struct analysis_run *runs;
	size_t nr_runs;
	struct weft_table *tables;
	size_t nr_tables;
};

int weft_analysis_at(size_t index, struct weft_analysis_info *ret)
{
	const struct analysis_ops *ops = analysis_at(index);
	const struct weft_analysis_info info = { .name = ops ? ops->name : NULL, .summary = ops ? ops->summary : NULL };

	if (ops)
		api_fill(ret, &info, sizeof(info));
	return ops != NULL;
}

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

static int name_runs(weft_result *result, const char *const *names, size_t nr, struct fail *fail)
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

/* What several files have in common: only one of them asks the caller at a time. */
struct turns {
	pthread_mutex_t lock;
	size_t files;
	double done; /* of all files */
	bool interrupted;
};

/* Asks the caller now and then whether the reading should end, and tells how much is done. */
struct asking {
	const struct weft_analyse_options *options;
	struct reader *reader;
	struct turns *turns;
	unsigned events;
	double done; /* of this file */
	struct extent extent;
	bool interrupted;
};

static double part_of(const struct asking *asking, uint64_t ts)
{
	const struct extent *extent = &asking->extent;

	if (!extent->found || ts <= extent->first)
		return 0;
	return ts >= extent->last ? 1 : (double)(ts - extent->first) / (double)(extent->last - extent->first);
}

static void tell(struct asking *asking, double part)
{
	const struct weft_analyse_options *options = asking->options;
	struct turns *turns = asking->turns;

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

static void ask(void *arg, const struct event *event)
{
	struct asking *asking = arg;

	if (++asking->events % ASK_EVENTS || asking->interrupted)
		return;
	tell(asking, part_of(asking, event->ts));
	if (asking->interrupted)
		reader_stop(asking->reader);
}

static int run(weft_reader *reader, weft_result *result, const struct weft_analyse_options *options,
	       struct turns *turns, struct fail *fail)
{
	static const struct query everything = QUERY_INIT;
	const struct weft_reader_options threads = { .size = sizeof(threads),
						     .threads = options->threads > 1 ? options->threads - 1 : 0 };
	const struct query *query = &everything;
	struct asking asking = { .options = options, .reader = &reader->reader, .turns = turns };
	const struct reader_consumer after = { ask, &asking };
	struct pass_filter filter;
	struct pass pass;
	int r;

	if (reader->nr_sources != 1)
		return fail_set(fail, -EINVAL, "an analysis is of one file");
	if (reader->sources[0].query)
		query = reader->sources[0].query;
	r = api_reader_start(reader, API_STATE, &threads, fail);
	if (!r && !reader->reader.nr_buffers)
		r = fail_set(fail, -ENODATA, "the file has no events");
	if (!r && options->progress)
		r = extent_find(reader->reader.buffers[0].context, &asking.extent, fail);
	if (r)
		return r;
	filter = analysis_filter(query);
	r = analyses_run(&pass, &reader->reader, &filter, result->runs, result->nr_runs, NULL,
			 options->interrupted || options->progress ? &after : NULL, fail);
	pass_release(&pass);
	for (size_t i = 0; i < result->nr_runs; i++)
		findings_detach(&result->runs[i].findings);
	if (asking.interrupted)
		return fail_set(fail, -EINTR, "the analysis was interrupted");
	if (!r && options->progress)
		tell(&asking, 1);
	if (!r)
		r = arrange(result, options->sort, fail);
	return r ? r : list_tables(result, fail);
}

/* What all runs share that one call makes. */
struct request {
	const char *const *names;
	size_t nr;
	struct weft_analyse_options options;
	struct why_options why;
	bool explains; /* `why` was given */
	struct turns turns;
};

static int take_why(struct request *request, const struct weft_why_options *options, struct fail *fail)
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

static int take_request(struct request *request, const struct weft_analyse_options *options, size_t files,
			struct fail *fail)
{
	int r = api_options(options, &request->options, sizeof(request->options), fail);

	request->turns.files = files;
	pthread_mutex_init(&request->turns.lock, NULL);
	return r ? r : take_why(request, request->options.why, fail);
}

static int analyse(weft_reader *reader, struct request *request, weft_result **ret, struct fail *fail)
{
	weft_result *result = calloc(1, sizeof(*result));
	int r = result ? name_runs(result, request->names, request->nr, fail) : fail_memory(fail);

	for (size_t i = 0; !r && request->explains && i < result->nr_runs; i++)
		if (result->runs[i].ops == &why_analysis)
			result->runs[i].options = &request->why;
	if (!r)
		r = run(reader, result, &request->options, &request->turns, fail);
	if (r)
		weft_result_free(result);
	else
		*ret = result;
	return r;
}

int weft_analyse(weft_reader *reader, const char *const *names, size_t nr, const struct weft_analyse_options *options,
		 weft_result **ret, struct weft_error *error)
{
	struct request request = { .names = names, .nr = nr };
	struct fail fail = FAIL_INIT;
	int r = take_request(&request, options, 1, &fail);

	if (!r)
		r = analyse(reader, &request, ret, &fail);
	pthread_mutex_destroy(&request.turns.lock);
	return api_result(error, r, &fail);
}

/* One of several files, which a thread of a pool analyses. */
struct file_job {
	struct pool_job job; /* first: the pool's job is cast to this one */
	weft_file *file;
	const weft_query *query;
	struct request *request;
	weft_result *result;
	int r;
	struct fail fail;
};

static void analyse_file(struct pool_job *pool_job)
{
	struct file_job *job = (struct file_job *)pool_job;
	weft_reader *reader = weft_reader_new();

	job->r = reader ? weft_reader_add(reader, job->file, job->query, NULL) : -ENOMEM;
	if (job->r)
		job->r = fail_memory(&job->fail);
	else
		job->r = analyse(reader, job->request, &job->result, &job->fail);
	weft_reader_free(reader);
	/* The others end where they ask next: nobody wants their tables. */
	if (job->r) {
		pthread_mutex_lock(&job->request->turns.lock);
		job->request->turns.interrupted = true;
		pthread_mutex_unlock(&job->request->turns.lock);
	}
}

/* The failure of the first file that did not only end because of another. */
static struct file_job *failed_job(struct file_job *jobs, size_t nr)
{
	struct file_job *failed = NULL;

	for (size_t i = 0; i < nr; i++)
		if (jobs[i].r && (!failed || (failed->r == -EINTR && jobs[i].r != -EINTR)))
			failed = &jobs[i];
	return failed;
}

static int run_jobs(struct file_job *jobs, size_t nr, unsigned threads, struct fail *fail)
{
	struct pool *pool = NULL;
	int r = pool_new(threads < nr ? threads : (unsigned)nr, &pool, fail);

	if (r)
		return r;
	for (size_t i = 0; i < nr; i++)
		pool_submit(pool, &jobs[i].job);
	for (size_t i = 0; i < nr; i++)
		pool_wait(pool, &jobs[i].job);
	pool_free(pool);
	return 0;
}

static int analyse_files(weft_file *const *files, size_t nr_files, const weft_query *query, struct request *request,
			 weft_result **ret, struct fail *fail)
{
	unsigned threads = request->options.threads;
	struct file_job *jobs = calloc(nr_files + 1, sizeof(*jobs)), *failed;
	int r;

	if (!jobs)
		return fail_memory(fail);
	for (size_t i = 0; i < nr_files; i++)
		jobs[i] = (struct file_job){
			.job = { .run = analyse_file }, .file = files[i], .query = query, .request = request
		};
	request->options.threads = 0;
	r = run_jobs(jobs, nr_files, threads ? threads - 1 : 0, fail);
	failed = r ? NULL : failed_job(jobs, nr_files);
	if (failed)
		r = fail_set(fail, failed->r, "'%s': %s", trace_path(failed->file->trace), failed->fail.text);
	for (size_t i = 0; i < nr_files; i++) {
		if (r)
			weft_result_free(jobs[i].result);
		else
			ret[i] = jobs[i].result;
	}
	free(jobs);
	return r;
}

int weft_analyse_files(weft_file *const *files, size_t nr_files, const weft_query *query, const char *const *names,
		       size_t nr, const struct weft_analyse_options *options, weft_result **ret,
		       struct weft_error *error)
{
	struct request request = { .names = names, .nr = nr };
	struct fail fail = FAIL_INIT;
	int r = take_request(&request, options, nr_files, &fail);

	if (!r)
		r = analyse_files(files, nr_files, query, &request, ret, &fail);
	pthread_mutex_destroy(&request.turns.lock);
	return api_result(error, r, &fail);
}

size_t weft_result_tables(const weft_result *result)
{
	return result->nr_tables;
}

const weft_table *weft_result_table(const weft_result *result, size_t index)
{
	return index < result->nr_tables ? &result->tables[index] : NULL;
}

const char *weft_result_limit(const weft_result *result, size_t analysis, enum weft_limit which)
{
	struct findings *findings = analysis < result->nr_runs ? &result->runs[analysis].findings : NULL;

	if (!findings)
		return "";
	switch (which) {
	case WEFT_LIMIT_CUT:
		return buf_str(&findings->cut);
	case WEFT_LIMIT_BROKEN:
		return buf_str(&findings->broken);
	case WEFT_LIMIT_MISSING:
		return buf_str(&findings->missing);
	case WEFT_LIMIT_NOTES:
		return buf_str(&findings->notes);
	}
	return "";
}

static bool form_of(enum weft_form form, enum table_format *ret)
{
	static const enum table_format formats[] = {
		[WEFT_FORM_TEXT] = TABLE_AS_TEXT, [WEFT_FORM_JSON] = TABLE_AS_JSON, [WEFT_FORM_CSV] = TABLE_AS_CSV
	};

	if (form < WEFT_FORM_TEXT || form > WEFT_FORM_CSV)
		return false;
	*ret = formats[form];
	return true;
}

static int write_run(struct analysis_run *run, const struct findings_options *options, char **ret, size_t *ret_len,
		     struct fail *fail)
{
	struct out out;
	char *copy = NULL;

	if (!out_init(&out, TEXT_FIRST))
		return fail_memory(fail);
	if (findings_write_first(&run->findings, options, &out) && !out.failed)
		copy = malloc(out_len(&out) + 1);
	if (copy) {
		memcpy(copy, out.start, out_len(&out));
		copy[out_len(&out)] = '\0';
		*ret = copy;
		*ret_len = out_len(&out);
	}
	out_release(&out);
	return copy ? 0 : fail_memory(fail);
}

int weft_result_write(const weft_result *result, size_t analysis, enum weft_form form,
		      const struct weft_write_options *options, char **ret, size_t *ret_len, struct weft_error *error)
{
	struct fail fail = FAIL_INIT;
	struct weft_write_options given;
	struct findings_options print = { .top = UINT64_MAX };
	int r = api_options(options, &given, sizeof(given), &fail);

	if (!r && analysis >= result->nr_runs)
		r = fail_set(&fail, -ERANGE, "there are %zu analyses", result->nr_runs);
	if (!r && !form_of(form, &print.format))
		r = fail_set(&fail, -EINVAL, "there is no form %d", (int)form);
	if (!r) {
		print.width = given.width;
		if (given.top)
			print.top = given.top;
		else if (print.format == TABLE_AS_TEXT)
			print.top = analysis_rows_as_text(result->runs[analysis].ops);
		r = write_run(&result->runs[analysis], &print, ret, ret_len, &fail);
	}
	return r ? api_result(error, r, &fail) : 0;
}
