// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/run.h"
#include "lib/api/api_internal.h"
#include "lib/api/table_internal.h"
#include "lib/base/out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_FIRST = 1 << 14, ASK_EVENTS = 1 << 14 };

struct weft_result {
	struct analysis_run *runs;
	size_t nr_runs;
	struct pass pass; /* what the tables are described with is its analyses' */
	bool has_pass;
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
	if (result->has_pass)
		pass_release(&result->pass);
	free(result->runs);
	free(result);
}

static int name_runs(weft_result *result, const char *const *names, size_t nr, struct fail *fail)
{
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

/* Asks the caller now and then whether the reading should end. */
struct asking {
	const struct weft_analyse_options *options;
	struct reader *reader;
	unsigned events;
	bool interrupted;
};

static void ask(void *arg, const struct event *event)
{
	struct asking *asking = arg;

	(void)event;
	if (++asking->events % ASK_EVENTS || asking->interrupted)
		return;
	asking->interrupted = asking->options->interrupted(asking->options->arg) != 0;
	if (asking->interrupted)
		reader_stop(asking->reader);
}

static int run(weft_reader *reader, weft_result *result, const struct weft_analyse_options *options, struct fail *fail)
{
	static const struct query everything = QUERY_INIT;
	const struct query *query = &everything;
	struct asking asking = { .options = options, .reader = &reader->reader };
	const struct reader_consumer after = { ask, &asking };
	struct pass_filter filter;
	int r;

	if (reader->nr_sources != 1)
		return fail_set(fail, -EINVAL, "an analysis is of one file");
	if (reader->sources[0].query)
		query = reader->sources[0].query;
	r = api_reader_start(reader, API_STATE, NULL, fail);
	if (!r && !reader->reader.nr_buffers)
		r = fail_set(fail, -ENODATA, "the file has no events");
	if (r)
		return r;
	filter = analysis_filter(query);
	result->has_pass = true;
	r = analyses_run(&result->pass, &reader->reader, &filter, result->runs, result->nr_runs, NULL,
			 options->interrupted ? &after : NULL, fail);
	if (asking.interrupted)
		return fail_set(fail, -EINTR, "the analysis was interrupted");
	if (!r)
		r = arrange(result, options->sort, fail);
	return r ? r : list_tables(result, fail);
}

int weft_analyse(weft_reader *reader, const char *const *names, size_t nr, const struct weft_analyse_options *options,
		 weft_result **ret, struct weft_error *error)
{
	struct fail fail = FAIL_INIT;
	struct weft_analyse_options analyse;
	weft_result *result = calloc(1, sizeof(*result));
	int r = api_options(options, &analyse, sizeof(analyse), &fail);

	if (!r && !result)
		r = fail_memory(&fail);
	if (!r)
		r = name_runs(result, names, nr, &fail);
	if (!r)
		r = run(reader, result, &analyse, &fail);
	if (r) {
		weft_result_free(result);
		return api_result(error, r, &fail);
	}
	*ret = result;
	return 0;
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
