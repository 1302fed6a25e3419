// SPDX-License-Identifier: GPL-2.0-only
/*
 * writes copy FILE TO: writes all events of FILE anew, with weft_writer. writes save FILE TO [KEY WORD]: an excerpt.
 * writes rules TO: what a writer refuses.
 */
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

static int add_task(void *arg, const struct weft_task *task)
{
	return weft_writer_task(arg, task->pid, task->tgid, task->comm, NULL);
}

static int copy(weft_file *file, int to, struct weft_error *error)
{
	struct weft_writer_options options = { .size = sizeof(options), .release = "6.12.0", .machine = "x86_64" };
	struct weft_format_info format = { .size = sizeof(format) };
	struct weft_new_event made = { .size = sizeof(made) };
	weft_reader *reader = weft_reader_new();
	const struct weft_event *event;
	weft_writer *writer = NULL;
	int r = weft_writer_new(&options, &writer, error);

	for (size_t i = 0; !r && weft_file_format(file, 0, i, &format, NULL) > 0; i++)
		r = weft_writer_format(writer, format.system, format.text, format.text_len, NULL, error);
	if (!r)
		r = weft_file_tasks(file, 0, add_task, writer, error);
	if (!r)
		r = weft_reader_add(reader, file, NULL, error);
	while (!r && (r = weft_reader_next(reader, &event, error)) > 0) {
		made.ts = event->ts;
		made.cpu = event->cpu;
		made.pid = event->pid;
		made.flags = event->flags;
		made.preempt = event->preempt;
		made.type = weft_type_id(event->type);
		made.data = event->data + 8;
		made.bytes = event->len - 8;
		r = event->kind == WEFT_LOST ? weft_writer_lost(writer, event->cpu, event->lost, error) :
					       weft_writer_add(writer, &made, error);
	}
	if (!r)
		r = weft_writer_finish(writer, to, error);
	weft_writer_free(writer);
	weft_reader_free(reader);
	return r;
}

static int save(weft_file *file, int to, const char *key, const char *word, struct weft_error *error)
{
	weft_query *query = weft_query_new();
	weft_reader *reader = weft_reader_new();
	uint64_t events = 0;
	int r = key ? weft_query_add(query, (enum weft_query_key)strtol(key, NULL, 10), word, error) : 0;

	if (!r)
		r = weft_reader_add(reader, file, query, error);
	if (!r)
		r = weft_reader_save(reader, to, NULL, &events, error);
	if (!r)
		CHECK(weft_reader_save(reader, to, NULL, &events, NULL) == -EBUSY);
	weft_reader_free(reader);
	weft_query_free(query);
	printf("%llu\n", (unsigned long long)events);
	return r;
}

static void rules(int to)
{
	static const char text[] =
		"name: x\nID: 1000\nformat:\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
		"\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"%d\", REC->a\n";
	struct weft_writer_options options = { .size = sizeof(options), .version = 5 };
	struct weft_field_info field = {
		.size = sizeof(field), .name = "a", .c_type = "int", .offset = 8, .bytes = 4, .is_signed = true
	};
	struct weft_new_event event = { .size = sizeof(event), .data = "1234567", .bytes = 4, .ts = 10 };
	weft_writer *writer = NULL;
	struct weft_error error;
	int32_t id = 0, other = 0;

	CHECK(weft_writer_new(&options, &writer, &error) == -EINVAL && !writer);
	options = (struct weft_writer_options){ .size = sizeof(options), .clock = "a clock" };
	CHECK(weft_writer_new(&options, &writer, &error) == -EINVAL);
	CHECK(!weft_writer_new(NULL, &writer, NULL));
	CHECK(weft_writer_format(writer, "sys", "nonsense", 8, NULL, &error) < 0 && *error.text);
	CHECK(weft_writer_type(writer, "a b", "x", &field, 1, "\"\"", &id, NULL) == -EINVAL);
	CHECK(weft_writer_type(writer, "sys", "x", &field, 1, "\"%d\", REC->a", &id, NULL) == 0 && id > 0);
	CHECK(weft_writer_format(writer, "sys", text, sizeof(text) - 1, &other, &error) == -EEXIST);
	field.offset = 0;
	CHECK(weft_writer_type(writer, "sys", "y", &field, 1, "\"\"", &other, NULL) == -EINVAL);
	CHECK(weft_writer_add(writer, &event, &error) == -ENOENT);
	event.type = id;
	CHECK(!weft_writer_add(writer, &event, &error));
	event.ts = 9;
	CHECK(weft_writer_add(writer, &event, &error) == -EINVAL);
	event.ts = 10;
	event.bytes = 3;
	CHECK(weft_writer_add(writer, &event, &error) == -EINVAL);
	event.bytes = 20000;
	CHECK(weft_writer_add(writer, &event, &error) == -EINVAL);
	event.bytes = 7;
	CHECK(!weft_writer_lost(writer, 3, 5, NULL) && weft_writer_lost(writer, 1u << 30, 5, NULL) == -EINVAL);
	event.cpu = 3;
	CHECK(!weft_writer_add(writer, &event, &error));
	CHECK(weft_writer_task(writer, 0, 0, "x", NULL) == -EINVAL &&
	      weft_writer_task(writer, 1, 0, "a\nb", NULL) == -EINVAL);
	CHECK(weft_writer_finish(writer, -1, &error) < 0);
	CHECK(weft_writer_finish(writer, to, &error) == -EBUSY && weft_writer_add(writer, &event, &error) == -EBUSY);
	weft_writer_free(writer);
	weft_writer_free(NULL);
}

/* The second file by the same key has the same stand-ins; a word of it that is looked for is found. */
static int hide(weft_file *file, int to, struct weft_error *error)
{
	static const char key[16] = "0123456789abcdef";
	const char *const keep = "sh";
	struct weft_redact_options options = { .size = sizeof(options), .key = key, .keep = &keep, .nr_keep = 1 };
	struct weft_redacted done = { .size = sizeof(done) };
	int r;

	options.version = 5;
	CHECK(weft_file_redact(file, to, &options, NULL, error) == -EINVAL);
	options.version = 0;
	options.check = "sched_switch";
	CHECK(weft_file_redact(file, to, &options, NULL, error) == -ENOKEY && strstr(error->text, "line 1"));
	options.check = NULL;
	if (ftruncate(to, 0) || lseek(to, 0, SEEK_SET))
		return -1;
	r = weft_file_redact(file, to, &options, &done, error);
	CHECK(r || (done.names && done.records >= done.emptied && (off_t)done.bytes == lseek(to, 0, SEEK_END)));
	return r;
}

int main(int argc, char **argv)
{
	struct weft_error error = { .text = "usage: writes copy|save|hide|rules FILE TO [KEY WORD]" };
	int to = argc > 3 ? open(argv[3], O_RDWR | O_CREAT | O_TRUNC, 0666) : -1;
	weft_file *file = NULL;
	int r = to < 0 ? -1 : weft_file_open(argv[2], NULL, &file, &error);

	if (!r && !strcmp(argv[1], "copy"))
		r = copy(file, to, &error);
	else if (!r && !strcmp(argv[1], "save"))
		r = save(file, to, argc > 5 ? argv[4] : NULL, argc > 5 ? argv[5] : NULL, &error);
	else if (!r && !strcmp(argv[1], "hide"))
		r = hide(file, to, &error);
	else if (!r)
		rules(to);
	if (r)
		fprintf(stderr, "writes: %s\n", error.text);
	weft_file_free(file);
	return r != 0 || failed;
}
