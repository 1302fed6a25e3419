// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/frame/run.h"
#include "lib/answers/why/why.h"
#include "lib/api/analyse_internal.h"
#include "lib/api/api_internal.h"
#include "lib/api/table_internal.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/pool.h"
#include "lib/pages/trace/trace.h"

enum { TEXT_FIRST = 1 << 14 };

int weft_analysis_at(size_t index, struct weft_analysis_info *ret)
{
	const struct analysis_ops *ops = analysis_at(index);
	const struct weft_analysis_info info = { .name = ops ? ops->name : NULL, .summary = ops ? ops->summary : NULL };

	if (ops)
		api_fill(ret, &info, sizeof(info));
	return ops != NULL;
}

static int run_file(struct api_asking *asking, weft_result *result, struct fail *fail)
{
	const struct weft_analyse_options *options = &asking->request->options;
	const struct reader_consumer after = { api_ask, asking };
	weft_reader *reader = asking->reader;
	struct pass_filter filter;
	struct pass pass;
	int r = api_analysis_start(reader, options->threads, fail);

	if (!r)
		r = api_ask_begin(asking, fail);
	if (r)
		return r;
	filter = analysis_filter(api_query_of(reader));
	r = analyses_run(&pass, &reader->reader, &filter, result->runs, result->nr_runs, NULL,
			 options->interrupted || options->progress ? &after : NULL, fail);
	pass_release(&pass);
	return r;
}

struct live_pass {
	struct api_asking *asking;
	struct pass pass;
	bool begun;
};

/* A loss that no page tells has no time, or that of an earlier event. */
static void see_live(void *arg, const struct event *event)
{
	struct live_pass *live = arg;
	struct event now = *event;

	live->begun |= event->ts != 0;
	if (!live->begun)
		return;
	if (now.kind != EVENT_RECORD && now.ts < live->pass.state.now)
		now.ts = live->pass.state.now;
	pass_see(&live->pass, &now);
}

static bool ends_live(void *arg)
{
	const struct live_pass *live = arg;

	return api_ask_now(live->asking);
}

static int run_live(struct api_asking *asking, struct analysis_run *runs, size_t nr, struct fail *fail)
{
	struct live_pass live = { .asking = asking };
	const struct reader_consumer consumer = { see_live, &live };
	weft_reader *reader = asking->reader;
	const struct pass_filter filter = analysis_filter(api_query_of(reader));
	int r = pass_init(&live.pass, &reader->reader, &filter, fail);

	for (size_t i = 0; !r && i < nr; i++)
		r = pass_add(&live.pass, runs[i].ops, runs[i].options, fail);
	if (!r)
		r = reader->feed->run(reader, &consumer, ends_live, &live, fail);
	if (!r)
		r = pass_end(&live.pass, fail);
	for (size_t i = 0; !r && i < nr; i++)
		r = pass_finish(&live.pass, i, &runs[i].findings, fail);
	pass_release(&live.pass);
	return r;
}

static int run(weft_reader *reader, weft_result *result, struct api_request *request, struct fail *fail)
{
	struct api_asking asking = { .request = request, .reader = reader };
	int r = reader->feed ? run_live(&asking, result->runs, result->nr_runs, fail) : run_file(&asking, result, fail);

	for (size_t i = 0; i < result->nr_runs; i++)
		findings_detach(&result->runs[i].findings);
	r = api_ask_end(&asking, r, fail);
	return r ? r : api_result_end(result, request->options.sort, fail);
}

static int analyse(weft_reader *reader, struct api_request *request, weft_result **ret, struct fail *fail)
{
	weft_result *result = calloc(1, sizeof(*result));
	int r = result ? api_result_name(result, request->names, request->nr, fail) : fail_memory(fail);

	for (size_t i = 0; !r && request->explains && i < result->nr_runs; i++)
		if (result->runs[i].ops == &why_analysis)
			result->runs[i].options = &request->why;
	if (!r)
		r = run(reader, result, request, fail);
	if (r)
		weft_result_free(result);
	else
		*ret = result;
	return r;
}

int weft_analyse(weft_reader *reader, const char *const *names, size_t nr, const struct weft_analyse_options *options,
		 weft_result **ret, struct weft_error *error)
{
	struct api_request request = { .names = names, .nr = nr };
	struct fail fail = FAIL_INIT;
	int r = api_request_take(&request, options, 1, &fail);

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
	struct api_request *request;
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

static int analyse_files(weft_file *const *files, size_t nr_files, const weft_query *query, struct api_request *request,
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
	struct api_request request = { .names = names, .nr = nr };
	struct fail fail = FAIL_INIT;
	int r = api_request_take(&request, options, nr_files, &fail);

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
