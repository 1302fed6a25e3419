// SPDX-License-Identifier: GPL-2.0-only
/* asks FILE OTHER: texts of the caller, filters that are asked, analyses with threads, progress and several files. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/weft.h>

#define CHECK(fact)                                                                \
	do {                                                                       \
		if (!(fact)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #fact); \
			failed = 1;                                                \
		}                                                                  \
	} while (0)

static int failed;

static weft_reader *reader_of(weft_file *file, const weft_query *query)
{
	weft_reader *reader = weft_reader_new();

	if (!reader || weft_reader_add(reader, file, query, NULL))
		abort();
	return reader;
}

/* A text longer than any buffer that is tried first, or the kernel's. */
struct making {
	bool keeps;
	int calls;
};

static int make_text(void *arg, const struct weft_event *event, char *buffer, size_t size)
{
	struct making *making = arg;

	making->calls++;
	if (making->keeps)
		return -1;
	return snprintf(buffer, size, "to %lld %0500d",
			(long long)weft_event_s64(event, weft_field_find(event->type, "next_pid")), 7);
}

static void check_handler(weft_file *file)
{
	weft_reader *reader = reader_of(file, NULL);
	const struct weft_event *event;
	char kernel[1000], made[1000], line[2000];
	struct making making = { false, 0 };
	int seen = 0;

	CHECK(weft_reader_handler(reader, "sched_switch", make_text, &making, NULL) == -EINVAL);
	while (weft_reader_next(reader, &event, NULL) > 0) {
		bool is_switch = !strcmp(weft_type_name(event->type), "sched_switch");
		int len, line_len;

		CHECK(!weft_reader_handler(reader, "sched:sched_switch", NULL, NULL, NULL));
		len = weft_event_text(reader, event, WEFT_TEXT_BODY, kernel, sizeof(kernel));
		line_len = weft_event_text(reader, event, WEFT_TEXT_LINE, line, sizeof(line));
		CHECK(!weft_reader_handler(reader, "sched:sched_switch", make_text, &making, NULL));
		making = (struct making){ true, 0 };
		CHECK(weft_event_text(reader, event, WEFT_TEXT_BODY, made, sizeof(made)) == len &&
		      !strcmp(kernel, made));
		CHECK(making.calls == is_switch);
		making.keeps = false;
		if (!is_switch)
			continue;
		CHECK(weft_event_text(reader, event, WEFT_TEXT_BODY, made, sizeof(made)) > 500);
		CHECK(!strncmp(made, "sched_switch: to ", 17) && strstr(made, "0007"));
		CHECK(weft_event_text(reader, event, WEFT_TEXT_LINE, kernel, sizeof(kernel)) ==
		      line_len - len + (int)strlen(made));
		CHECK(!strncmp(kernel, line, (size_t)(line_len - len)) && !strcmp(kernel + line_len - len, made));
		seen++;
	}
	CHECK(seen > 5);
	weft_reader_free(reader);
}

/* The same events as a reader with the query, and a message in words of the library. */
static void check_filter(weft_file *file, enum weft_query_key key, const char *word)
{
	weft_query *query = weft_query_new();
	weft_reader *all = reader_of(file, NULL), *some;
	const struct weft_event *event, *chosen = NULL;
	weft_filter *filter = NULL;
	struct weft_error error;
	int nr = 0;

	CHECK(!weft_query_add(query, key, word, NULL));
	some = reader_of(file, query);
	CHECK(weft_filter_new(all, query, &filter, NULL) == -EINVAL);
	CHECK(!weft_reader_start(all, NULL, NULL) && !weft_filter_new(all, query, &filter, &error));
	while (weft_reader_next(all, &event, NULL) > 0) {
		if (event->kind != WEFT_RECORD || !weft_filter_passes(filter, event))
			continue;
		CHECK(weft_reader_next(some, &chosen, NULL) > 0 && chosen->ts == event->ts &&
		      chosen->cpu == event->cpu);
		nr++;
	}
	CHECK(nr && weft_reader_next(some, &chosen, NULL) == 0);
	weft_filter_free(filter);
	CHECK(!weft_query_add(query, WEFT_QUERY_FILTER, "no_such_field > 1", NULL));
	CHECK(weft_filter_new(all, query, &filter, &error) < 0 && strstr(error.text, "no_such_field"));
	weft_reader_free(all);
	weft_reader_free(some);
	weft_query_free(query);
}

struct told {
	int calls;
	double part;
};

static void progress(void *arg, double part)
{
	struct told *told = arg;

	CHECK(part >= told->part && part <= 1);
	told->part = part;
	told->calls++;
}

static int stop(void *arg)
{
	(void)arg;
	return 1;
}

static char *tables(weft_result *result, size_t nr)
{
	char *text = NULL, *all = strdup("");
	size_t len, at = 0;

	for (size_t i = 0; i < nr; i++) {
		CHECK(!weft_result_write(result, i, WEFT_FORM_JSON, NULL, &text, &len, NULL));
		all = realloc(all, at + len + 1);
		if (!all)
			abort();
		memcpy(all + at, text, len + 1);
		at += len;
		weft_free(text);
	}
	return all;
}

static void check_analyses(weft_file *file, weft_file *other)
{
	static const char *const names[] = { "sched", "summary", "why" };
	struct told told = { 0, 0 };
	struct weft_analyse_options options = {
		.size = sizeof(options), .arg = &told, .progress = progress, .threads = 3
	};
	weft_file *files[] = { file, other, file, other, file };
	weft_result *one[2] = { NULL, NULL }, *many[5];
	char *want[2], *got;
	struct weft_error error;
	weft_reader *reader;

	for (int i = 0; i < 2; i++) {
		reader = reader_of(files[i], NULL);
		CHECK(!weft_analyse(reader, names, 3, NULL, &one[i], NULL));
		want[i] = tables(one[i], 3);
		weft_result_free(one[i]);
		weft_reader_free(reader);
	}
	reader = reader_of(file, NULL);
	CHECK(!weft_analyse(reader, names, 3, &options, &one[0], &error) && told.part > 0.999 && told.calls);
	got = tables(one[0], 3);
	CHECK(!strcmp(got, want[0]));
	free(got);
	weft_result_free(one[0]);
	weft_reader_free(reader);
	told.part = 0;
	CHECK(!weft_analyse_files(files, 5, NULL, names, 3, &options, many, &error) && told.part > 0.999);
	for (int i = 0; i < 5; i++) {
		got = tables(many[i], 3);
		CHECK(!strcmp(got, want[i % 2]));
		free(got);
		weft_result_free(many[i]);
	}
	told.part = 0;
	options.interrupted = stop;
	options.progress = NULL;
	CHECK(weft_analyse_files(files, 5, NULL, (const char *const[]){ "nonsense" }, 1, &options, many, &error) ==
	      -ENOENT);
	CHECK(strstr(error.text, "nonsense"));
	free(want[0]);
	free(want[1]);
}

struct spans {
	uint64_t run, run_of_all, events, events_of_all, last;
	int nr, ends_at;
};

/* The sum of a column of the first table. */
static uint64_t sum_of(const weft_result *result, const char *key)
{
	const weft_table *table = weft_result_table(result, 0);
	struct weft_table_info info = { .size = sizeof(info) };
	struct weft_column_info column = { .size = sizeof(column) };
	struct weft_cell cell = { .size = sizeof(cell) };
	uint64_t sum = 0;

	weft_table_info(table, &info);
	for (size_t i = 0; i < info.columns; i++)
		for (size_t j = 0; !weft_table_column(table, i, &column) && !strcmp(column.key, key) && j < info.rows;
		     j++)
			if (!weft_table_cell(table, j, i, &cell))
				sum += cell.u64;
	return sum;
}

static int see_span(void *arg, weft_result *result, const struct weft_span *span)
{
	struct spans *spans = arg;
	uint64_t run = span->nothing ? 0 : sum_of(result, "run_ns");

	if (span->is_whole) {
		spans->run_of_all += run;
		spans->events_of_all += span->events;
	} else {
		CHECK(span->to > span->from && (!spans->last || spans->last == span->from));
		spans->last = span->to;
		spans->run += run;
		spans->events += span->events;
	}
	weft_result_free(result);
	return ++spans->nr == spans->ends_at ? 77 : 0;
}

/* All events are in intervals; only an interval before the first switch does not know who has a CPU. */
static void check_spans(weft_file *file)
{
	struct spans spans = { .nr = 0 };
	struct weft_error error;
	weft_reader *reader = reader_of(file, NULL);

	CHECK(!weft_analyse_spans(reader, "sched", 5000000, NULL, see_span, &spans, NULL));
	CHECK(spans.nr > 4 && spans.events == spans.events_of_all && spans.events > 20);
	CHECK(spans.run <= spans.run_of_all && spans.run > spans.run_of_all / 2);
	CHECK(weft_analyse_spans(reader, "sched", 5000000, NULL, see_span, &spans, &error) == -EBUSY);
	weft_reader_free(reader);
	reader = reader_of(file, NULL);
	CHECK(weft_analyse_spans(reader, "nonsense", 1, NULL, see_span, NULL, &error) == -ENOENT);
	CHECK(weft_analyse_spans(reader, "why", 1, NULL, see_span, NULL, &error) == -ENOTSUP);
	spans = (struct spans){ .ends_at = 3 };
	CHECK(weft_analyse_spans(reader, "sched", 5000000, NULL, see_span, &spans, &error) == 77 && spans.nr == 3);
	weft_reader_free(reader);
	reader = reader_of(file, NULL);
	spans = (struct spans){ .nr = 0 };
	CHECK(!weft_analyse_spans(reader, "sched", 0, NULL, see_span, &spans, &error));
	CHECK(spans.run_of_all > 1000000 && spans.nr <= 2);
	weft_reader_free(reader);
}

/* An analysis that is asked to end does, with one thread and with several. */
static void check_end(const char *path)
{
	struct weft_analyse_options options = { .size = sizeof(options), .interrupted = stop };
	weft_file *files[2] = { NULL, NULL };
	weft_result *results[2];
	struct weft_error error;

	if (weft_file_open(path, NULL, &files[0], NULL))
		return;
	files[1] = files[0];
	for (unsigned threads = 0; threads < 4; threads++) {
		weft_reader *reader = reader_of(files[0], NULL);

		options.threads = threads;
		CHECK(weft_analyse(reader, (const char *const[]){ "sched" }, 1, &options, results, &error) == -EINTR);
		weft_reader_free(reader);
		CHECK(weft_analyse_files(files, 2, NULL, (const char *const[]){ "sched" }, 1, &options, results,
					 &error) == -EINTR);
	}
	weft_file_free(files[0]);
}

/* What one task did, as weft why --task tells. */
static void check_why(weft_file *file)
{
	struct weft_why_options why = { .size = sizeof(why), .of = WEFT_WHY_TASK };
	struct weft_analyse_options options = { .size = sizeof(options), .why = &why };
	const char *const names[] = { "why" };
	weft_reader *reader = reader_of(file, NULL);
	struct weft_error error;
	weft_result *result;

	CHECK(weft_analyse(reader, names, 1, &options, &result, NULL) == -EINVAL);
	why.of = (enum weft_why_of)77;
	CHECK(weft_analyse(reader, names, 1, &options, &result, NULL) == -EINVAL);
	why.of = WEFT_WHY_WAKEUP;
	why.slowest = 2;
	if (!weft_analyse(reader, names, 1, &options, &result, &error)) {
		CHECK(weft_result_tables(result) > 0);
		weft_result_free(result);
	} else {
		CHECK(!strstr(error.text, "--"));
	}
	weft_reader_free(reader);
}

int main(int argc, char **argv)
{
	weft_file *file = NULL, *other = NULL;

	if (argc < 3 || weft_file_open(argv[1], NULL, &file, NULL) || weft_file_open(argv[2], NULL, &other, NULL))
		return 2;
	check_handler(file);
	check_filter(file, WEFT_QUERY_EVENT, "sched_switch");
	check_filter(file, WEFT_QUERY_FILTER, "next_pid > 0");
	check_filter(file, WEFT_QUERY_CPU, "0");
	check_analyses(file, other);
	check_spans(file);
	check_why(file);
	if (argc > 3)
		check_end(argv[3]);
	weft_file_free(file);
	weft_file_free(other);
	return failed;
}
