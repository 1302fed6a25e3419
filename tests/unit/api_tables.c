// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "include/weft/weft.h"
#include "tests/unit/test.h"

static const char path[] = "tests/fixtures/demo.dat";

static weft_reader *reader_of(weft_file **file)
{
	weft_reader *reader = weft_reader_new();

	CHECK(reader && !weft_file_open(path, NULL, file, NULL));
	CHECK(!weft_reader_add(reader, *file, NULL, NULL));
	return reader;
}

TEST(weft_analyse_runs_several_analyses_and_its_tables_outlive_the_reader)
{
	static const char *const names[] = { "sched", "summary" };
	struct weft_analysis_info analysis = { .size = sizeof(analysis) };
	struct weft_table_info info = { .size = sizeof(info) };
	struct weft_cell cell = { .size = sizeof(cell) };
	struct ArrowSchema schema;
	struct ArrowArray array;
	weft_file *file = NULL;
	weft_reader *reader = reader_of(&file);
	weft_result *result = NULL;
	int r = weft_analyse(reader, names, 2, NULL, &result, NULL);

	weft_reader_free(reader);
	weft_file_free(file);
	REQUIRE(!r);
	CHECK(weft_analysis_at(0, &analysis) == 1 && weft_analysis_at(1000, &analysis) == 0);
	CHECK_STR(analysis.name, "summary");
	CHECK(weft_result_tables(result) > 3 && !weft_result_table(result, 1000));
	weft_table_info(weft_result_table(result, 0), &info);
	CHECK_STR(info.name, "tasks");
	CHECK(!weft_table_cell(weft_result_table(result, 0), 0, 0, &cell) && cell.kind == WEFT_CELL_TEXT);
	CHECK_STR(cell.text, "ls");
	CHECK(weft_table_cell(weft_result_table(result, 0), info.rows, 0, &cell) < 0);
	CHECK(strstr(weft_result_limit(result, 0, WEFT_LIMIT_CUT), "at the start"));
	if (CHECK(!weft_table_arrow(weft_result_table(result, 0), &schema, &array, NULL))) {
		CHECK(array.length == (int64_t)info.rows && schema.n_children == (int64_t)info.columns);
		schema.release(&schema);
		array.release(&array);
	}
	weft_result_free(result);
}

static int at_once(void *arg)
{
	(void)arg;
	return 1;
}

TEST(weft_analyse_ends_when_the_caller_says_so_and_refuses_unknown_names)
{
	static const char *const known[] = { "sched" }, *const unknown[] = { "shed" };
	const struct weft_analyse_options options = { .size = sizeof(options), .interrupted = at_once };
	weft_file *file = NULL;
	weft_reader *reader = reader_of(&file);
	weft_result *result = NULL;
	struct weft_error error;

	CHECK(weft_analyse(reader, unknown, 1, NULL, &result, &error) == -2);
	CHECK_STR(error.text, "there is no analysis 'shed'");
	/* The file is too short for a question. */
	CHECK(!weft_analyse(reader, known, 1, &options, &result, &error));
	weft_result_free(result);
	weft_reader_free(reader);
	weft_file_free(file);
}

TEST(weft_reader_arrow_takes_the_reader_if_it_is_told_to)
{
	static const char *const names[] = { "ts", "next_pid", "text" };
	const struct weft_arrow_options options = { .size = sizeof(options), .rows = 10, .takes_reader = true };
	struct ArrowArrayStream stream;
	struct ArrowArray array;
	weft_file *file = NULL;
	weft_reader *reader = reader_of(&file);
	int64_t rows = 0;

	weft_file_free(file);
	REQUIRE(!weft_reader_arrow(reader, names, 3, &options, &stream, NULL));
	while (!stream.get_next(&stream, &array) && array.release) {
		CHECK(array.length <= 10);
		rows += array.length;
		array.release(&array);
	}
	CHECK(rows > 100);
	stream.release(&stream);
}

TEST(weft_event_copy_stays_valid_after_the_next_event)
{
	const struct weft_event *event;
	struct weft_event copy;
	weft_file *file = NULL;
	weft_reader *reader = reader_of(&file);
	char memory[4096], first[256], again[256];

	if (CHECK(weft_reader_next(reader, &event, NULL) == 1)) {
		weft_event_text(reader, event, WEFT_TEXT_LINE, first, sizeof(first));
		CHECK(weft_event_copy(event, NULL, 0, &copy) == event->len);
		weft_event_copy(event, memory, sizeof(memory), &copy);
		while (weft_reader_next(reader, &event, NULL) > 0)
			continue;
		weft_event_text(reader, &copy, WEFT_TEXT_LINE, again, sizeof(again));
		CHECK_STR(again, first);
	}
	weft_reader_free(reader);
	weft_file_free(file);
}
