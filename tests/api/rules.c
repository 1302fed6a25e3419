// SPDX-License-Identifier: GPL-2.0-only
/* rules FILE OTHER STACKS: the promises of include/weft/weft.h about results, sizes, lifetimes and wrong arguments. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weft/weft.h>

#define CHECK(fact)                                                                \
	do {                                                                       \
		if (!(fact)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #fact); \
			failed = 1;                                                \
		}                                                                  \
	} while (0)

static int failed;

static void check_nothing(void)
{
	struct weft_error error;
	weft_file *file = NULL;

	weft_file_free(NULL);
	weft_query_free(NULL);
	weft_reader_free(NULL);
	weft_free(NULL);
	CHECK(weft_version_number() == WEFT_VERSION_NUMBER);
	CHECK(strlen(weft_version()) >= 5);
	CHECK(weft_file_open("/nonexistent", NULL, &file, NULL) == -ENOENT && !file);
	CHECK(weft_file_open("/nonexistent", NULL, &file, &error) == -ENOENT);
	CHECK(error.code == -ENOENT && strstr(error.text, "/nonexistent"));
}

static void check_sizes(const char *path)
{
	struct {
		struct weft_open_options options;
		uint64_t later;
	} grown = { .options = { .size = sizeof(grown) } };
	struct {
		size_t size;
		unsigned version;
		unsigned guard;
	} small = { .size = offsetof(struct weft_file_info, long_size), .guard = 77 };
	struct {
		struct weft_file_info info;
		uint64_t later;
	} large = { .info = { .size = sizeof(large) }, .later = 5 };
	weft_file *file = NULL;

	CHECK(!weft_file_open(path, &grown.options, &file, NULL));
	CHECK(!weft_file_info(file, (struct weft_file_info *)&small, NULL));
	CHECK((small.version == 6 || small.version == 7) && small.guard == 77);
	CHECK(!weft_file_info(file, &large.info, NULL));
	CHECK(large.info.size == sizeof(large) && !large.later && large.info.bytes && *large.info.machine);
	weft_file_free(file);
	grown.later = 1;
	CHECK(weft_file_open(path, &grown.options, &file, NULL) == -E2BIG);
	grown.options.size = 0;
	CHECK(weft_file_open(path, &grown.options, &file, NULL) == -EINVAL);
}

/* What a file says of itself, by a descriptor that was closed. */
static void check_file(const char *path)
{
	struct weft_buffer_info info = { .size = sizeof(info) };
	int fd = open(path, O_RDONLY);
	weft_file *file = NULL;
	size_t len = 0;

	CHECK(!weft_file_open_fd(fd, "a name", NULL, &file, NULL));
	close(fd);
	CHECK(weft_file_buffers(file) == 1 && !weft_file_damage(file));
	CHECK(!weft_file_buffer(file, 0, &info, NULL) && info.has_events && info.first < info.last && info.clock_is_ns);
	CHECK(!*info.name && !strcmp(info.clock, "local") && info.cpus);
	CHECK(weft_file_buffer(file, 1, &info, NULL) == -ERANGE);
	CHECK(weft_file_setting(file, 0, "trace_options", &len) && len > 20);
	CHECK(!weft_file_setting(file, 0, "no such file", NULL));
	weft_file_free(file);
	CHECK(weft_file_open_fd(-1, "a name", NULL, &file, NULL) == -EBADF);
}

static void check_query(void)
{
	static const char *const no_filters[] = { "(((",    "",          "a",         "a =",  "a = 1",
						  "a == x", "a < \"b\"", "a == 1 &&", "e: (", "a ~ 5" };
	static const char *const no_times[] = { "12.5.3", "", "x", "+", "-1lightyear", "@", "@e#0", "25:61:61", "1 s" };
	static const char *const filters[] = { "a == 1", "sched:x: a ~ \"b*\" || !(c & 0x10)",
					       "d == -3 && CPU & CPUS{0-3}", "duration > 1ms", "comm == 'a b'" };
	static const char *const times[] = {
		"12.5", "12", "+1ms", "-2", "@sched_switch#2-5ms", "@mark:x", "10:30", "2026-11-22 10:30:00.5"
	};
	weft_query *query = weft_query_new();
	struct weft_error error;

	CHECK(weft_query_add(query, (enum weft_query_key)999, "x", &error) == -EINVAL);
	CHECK(weft_query_add(query, WEFT_QUERY_PID, NULL, &error) == -EINVAL && !strncmp(error.text, "pid: ", 5));
	CHECK(weft_query_add(query, WEFT_QUERY_LIMIT, "x", NULL) < 0);
	for (size_t i = 0; i < sizeof(no_filters) / sizeof(no_filters[0]); i++) {
		CHECK(weft_query_add(query, WEFT_QUERY_FILTER, no_filters[i], &error) == -EINVAL);
		CHECK(!strncmp(error.text, "filter: ", 8));
		CHECK(weft_query_add(query, WEFT_QUERY_NOT_FILTER, no_filters[i], NULL) == -EINVAL);
	}
	for (size_t i = 0; i < sizeof(no_times) / sizeof(no_times[0]); i++) {
		CHECK(weft_query_add(query, WEFT_QUERY_SINCE, no_times[i], &error) == -EINVAL);
		CHECK(!strncmp(error.text, "since: ", 7));
		CHECK(weft_query_add(query, WEFT_QUERY_UNTIL, no_times[i], NULL) == -EINVAL);
	}
	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
		CHECK(!weft_query_add(query, WEFT_QUERY_FILTER, filters[i], NULL));
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		CHECK(!weft_query_add(query, WEFT_QUERY_SINCE, times[i], NULL));
	CHECK(!weft_query_add(query, WEFT_QUERY_NO_SELF, NULL, NULL));
	weft_query_free(query);
}

/* The fields of an event, and those of another type. */
static void check_fields(const struct weft_event *event, const weft_field *foreign)
{
	const weft_field *pid = weft_field_find(event->type, "common_pid");
	uint64_t value = 5;
	const void *data;
	const char *text;
	size_t len;

	CHECK(pid && weft_event_s64(event, pid) == event->pid);
	CHECK(!weft_field_find(event->type, "no such field"));
	CHECK(weft_event_u64(event, NULL) == 0 && weft_event_bytes(event, NULL, &data, &len) == -EINVAL);
	CHECK(weft_event_string(event, pid, &text, &len) == -EINVAL && !weft_event_element(event, pid, 0, &value));
	CHECK(!weft_event_bytes(event, pid, &data, &len) && len == 4);
	CHECK(!weft_type_field(event->type, weft_type_fields(event->type)));
	if (foreign)
		CHECK(weft_event_u64(event, foreign) == 0 && weft_event_bytes(event, foreign, &data, &len) == -EINVAL);
}

static void check_texts(weft_reader *reader, const struct weft_event *event)
{
	char text[4096], part[8];
	int len = weft_event_text(reader, event, WEFT_TEXT_BODY, text, sizeof(text));

	CHECK(len > 8 && (size_t)len == strlen(text));
	CHECK(weft_event_text(reader, event, WEFT_TEXT_BODY, NULL, 0) == len);
	CHECK(weft_event_text(reader, event, WEFT_TEXT_BODY, part, sizeof(part)) == len);
	CHECK(strlen(part) == 7 && !memcmp(part, text, 7));
	CHECK(weft_event_text(reader, event, (enum weft_text)9, text, sizeof(text)) == -EINVAL);
}

static weft_file *opened(const char *path)
{
	weft_file *file = NULL;

	if (weft_file_open(path, NULL, &file, NULL))
		exit(2);
	return file;
}

/* All events of a reader whose file was freed before. */
/* What only the file tells is an error of the start, whose text names the key. */
static void check_no_such(const char *path)
{
	static const struct {
		enum weft_query_key key;
		const char *word, *text;
	} words[] = { { WEFT_QUERY_SINCE, "@no_such_event", "since: '@no_such_event': " },
		      { WEFT_QUERY_UNTIL, "10:30", "until: '10:30': the file does not tell the time of day" },
		      { WEFT_QUERY_FILTER, "no_such_field == 1", "filter: Field not found" } };
	struct weft_error error;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		weft_reader *reader = weft_reader_new();
		weft_query *query = weft_query_new();
		weft_file *file = opened(path);

		CHECK(!weft_query_add(query, words[i].key, words[i].word, NULL));
		CHECK(!weft_reader_add(reader, file, query, NULL) && weft_reader_start(reader, NULL, &error) < 0);
		CHECK(!strncmp(error.text, words[i].text, strlen(words[i].text)));
		weft_query_free(query);
		weft_reader_free(reader);
		weft_file_free(file);
	}
}

static void check_reader(const char *path, const char *other)
{
	int64_t wall;
	weft_reader *reader = weft_reader_new(), *second = weft_reader_new();
	struct weft_task_info task = { .size = sizeof(task) };
	struct weft_source_info source = { .size = sizeof(source) };
	const struct weft_event *event = NULL, *foreign = NULL;
	const weft_field *field = NULL;
	weft_file *file = opened(path), *more = opened(other);
	unsigned events = 0;

	CHECK(!weft_reader_add(reader, file, NULL, NULL) && !weft_reader_add(second, more, NULL, NULL));
	weft_file_free(file);
	weft_file_free(more);
	CHECK(weft_reader_buffers(reader) == 0);
	check_no_such(path);
	while (weft_reader_next(reader, &event, NULL) > 0 && ++events) {
		if (event->kind != WEFT_RECORD)
			continue;
		check_fields(event, field);
		check_texts(reader, event);
		field = !field ? weft_type_field(event->type, 0) : field;
		if (field && weft_type_index(event->type) == 0)
			check_fields(event, NULL);
		if (events > 2000)
			break;
		field = NULL;
	}
	CHECK(events && weft_reader_buffers(reader) == 1);
	CHECK(!weft_reader_buffer(reader, 0, &source) && source.file &&
	      weft_reader_buffer(reader, 1, &source) == -ERANGE);
	CHECK(!weft_reader_task(reader, 0, 0, &task) && !strcmp(task.comm, "<idle>"));
	CHECK(weft_reader_task(reader, 1, 0, &task) == -ERANGE);
	CHECK(weft_wall(reader, 0, 1, &wall, NULL) == -ENODATA && weft_wall(reader, 1, 1, &wall, NULL) == -ERANGE);
	CHECK(weft_reader_next(second, &foreign, NULL) == 1);
	CHECK(weft_event_text(reader, foreign, WEFT_TEXT_BODY, NULL, 0) == -EINVAL);
	CHECK(weft_reader_start(reader, NULL, NULL) == -EBUSY);
	CHECK(weft_reader_slices(reader, ~0u, NULL, NULL, NULL) == -EBUSY);
	weft_reader_free(reader);
	weft_reader_free(second);
}

/* Stacks: their addresses are the elements of their field, and have symbols. */
static void check_stacks(const char *path)
{
	weft_reader *reader = weft_reader_new();
	struct weft_symbol symbol = { .size = sizeof(symbol) };
	const struct weft_event *event;
	uint64_t at[64], one = 0;
	unsigned stacks = 0, named = 0;
	weft_file *file = opened(path);

	CHECK(!weft_reader_add(reader, file, NULL, NULL));
	while (weft_reader_next(reader, &event, NULL) > 0) {
		int nr = weft_event_stack(event, at, 64);

		if (!nr)
			continue;
		stacks++;
		CHECK(weft_event_stack(event, at, 1) == nr);
		CHECK(weft_event_element(event, weft_field_find(event->type, "caller"), 0, &one) == 1 && one == at[0]);
		named += weft_symbol_find(reader, event->buffer, at[0], &symbol) == 1 && symbol.address <= at[0];
	}
	CHECK(stacks && named && weft_symbol_find(reader, 1, one, &symbol) == -ERANGE);
	CHECK(weft_reader_type(reader, 0) && weft_type_index(weft_reader_type(reader, 0)) == 0);
	CHECK(!weft_reader_type(reader, 1000000) && !weft_reader_damage(reader));
	weft_reader_free(reader);
	weft_file_free(file);
}

/* A file twice, the second time a second later: each event comes twice, and a type of each. */
static void check_merge(const char *path)
{
	struct weft_open_options options = { .size = sizeof(options), .offset = 1000000000 };
	weft_reader *reader = weft_reader_new();
	const struct weft_event *batch;
	weft_file *file = opened(path), *later = NULL;
	uint64_t counts[2] = { 0, 0 }, last = 0;
	int r;

	CHECK(!weft_file_open(path, &options, &later, NULL));
	CHECK(!weft_reader_add(reader, file, NULL, NULL) && !weft_reader_add(reader, later, NULL, NULL));
	while ((r = weft_reader_batch(reader, &batch, NULL)) > 0)
		for (int i = 0; i < r; i++) {
			CHECK(batch[i].ts >= last);
			last = batch[i].ts;
			counts[batch[i].buffer & 1]++;
		}
	CHECK(!r && counts[0] == counts[1] && counts[0]);
	CHECK(weft_reader_batch(reader, &batch, NULL) == 0);
	weft_reader_free(reader);
	weft_file_free(file);
	weft_file_free(later);
	options.offset = INT64_MIN + 1;
	CHECK(weft_file_open(path, &options, &later, NULL) == -EINVAL);
}

static int stop(void *arg, const struct weft_slice *slice)
{
	CHECK(slice->to >= slice->from && slice->name_len);
	++*(int *)arg;
	return 42;
}

static void check_slices(const char *path)
{
	weft_reader *reader = weft_reader_new();
	weft_file *file = opened(path);
	int seen = 0;

	CHECK(!weft_reader_add(reader, file, NULL, NULL));
	CHECK(weft_reader_slices(reader, 1u << WEFT_SLICE_RUN, stop, &seen, NULL) == 42 && seen == 1);
	weft_reader_free(reader);
	weft_file_free(file);
}

/* What is wrong is told in words of this header, not in options of the commands. */
static void check_words(const char *path)
{
	struct weft_analyse_options options = { .size = sizeof(options), .sort = "nothing" };
	const char *const sched = "sched";
	weft_reader *reader = weft_reader_new();
	weft_file *file = opened(path);
	weft_result *result = NULL;
	struct weft_error error;

	CHECK(!weft_reader_add(reader, file, NULL, NULL));
	CHECK(weft_analyse(reader, &sched, 1, &options, &result, &error) == -ENOENT && !result);
	CHECK(!strncmp(error.text, "sort: no table has a column 'nothing'", 37));
	weft_reader_free(reader);
	weft_file_free(file);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	check_nothing();
	check_sizes(argv[1]);
	check_file(argv[1]);
	check_query();
	check_reader(argv[1], argv[2]);
	check_merge(argv[2]);
	check_slices(argv[2]);
	check_words(argv[2]);
	check_stacks(argv[3]);
	return failed;
}
