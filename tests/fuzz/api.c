// SPDX-License-Identifier: GPL-2.0-only
/* Any file through the public door, include/weft/weft.h: each function that looks at a file, an event or a slice. */
#include "include/weft/weft.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { EVENTS_MAX = 5000, SLICES_MAX = 20000 };

static volatile uint64_t sink;

static void touch(const void *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		sink += ((const uint8_t *)data)[i];
}

static void read_field(const struct weft_event *event, const weft_field *field)
{
	struct weft_field_info info = { .size = sizeof(info) };
	uint64_t value;
	const void *data;
	const char *text;
	size_t len;

	weft_field_info(field, &info);
	sink += weft_event_u64(event, field) + strlen(info.name) + strlen(info.c_type);
	if (!weft_event_bytes(event, field, &data, &len))
		touch(data, len);
	if (!weft_event_string(event, field, &text, &len))
		touch(text, len);
	for (size_t i = 0; i < 1000 && weft_event_element(event, field, i, &value); i++)
		sink += value;
}

static void read_texts(weft_reader *reader, const struct weft_event *event)
{
	struct weft_symbol symbol = { .size = sizeof(symbol) };
	uint64_t stack[32], bound;
	int64_t wall;
	char text[200];
	const char *comm;
	size_t len;
	int nr = weft_event_stack(event, stack, 32);

	for (int kind = WEFT_TEXT_BODY; kind <= WEFT_TEXT_JSON; kind++)
		if (weft_event_text(reader, event, (enum weft_text)kind, text, sizeof(text)) >= 0)
			touch(text, strlen(text));
	(void)weft_wall(reader, event->buffer, event->ts, &wall, &bound);
	if (!weft_event_comm(reader, event, &comm, &len))
		touch(comm, len);
	for (int i = 0; i < nr && i < 32; i++)
		if (weft_symbol_find(reader, event->buffer, stack[i], &symbol) > 0)
			touch(symbol.name, symbol.name_len);
}

static void read_event(weft_reader *reader, const struct weft_event *event)
{
	/* A type is never NULL. */
	sink += strlen(weft_type_system(event->type)) + strlen(weft_type_name(event->type));
	touch(event->data, event->len);
	for (size_t i = 0; i < weft_type_fields(event->type); i++)
		read_field(event, weft_type_field(event->type, i));
	read_texts(reader, event);
}

static int see_slice(void *arg, const struct weft_slice *slice)
{
	touch(slice->name, slice->name_len);
	return ++*(int *)arg > SLICES_MAX;
}

static weft_reader *reader_of(weft_file *file, const weft_query *query)
{
	weft_reader *reader = weft_reader_new();

	if (!reader || weft_reader_add(reader, file, query, NULL))
		abort();
	return reader;
}

static void read_events(weft_file *file, unsigned threads, const char *word, enum weft_query_key key)
{
	struct weft_reader_options options = { .size = sizeof(options), .threads = threads };
	struct weft_error error = { .text = "" };
	weft_query *query = weft_query_new();
	const struct weft_event *event;
	weft_reader *reader;
	const char *damage;
	int r;

	if (!query || weft_query_add(query, key, word, NULL))
		abort();
	reader = reader_of(file, query);
	r = weft_reader_start(reader, &options, &error);
	for (int i = 0; !r && i < EVENTS_MAX && (r = weft_reader_next(reader, &event, &error)) > 0; i++) {
		read_event(reader, event);
		r = 0;
	}
	/* Each failure has a text. */
	if (r < 0 && !*error.text)
		abort();
	damage = weft_reader_damage(reader);
	if (damage)
		touch(damage, strlen(damage));
	weft_reader_free(reader);
	weft_query_free(query);
}

static void read_slices(weft_file *file)
{
	weft_reader *reader = reader_of(file, NULL);
	int seen = 0;

	(void)!weft_reader_slices(reader, ~0u, see_slice, &seen, NULL);
	weft_reader_free(reader);
}

/* The bytes in front of the last one are the number of rows. */
static void read_arrow(weft_file *file, const uint8_t *data, size_t len)
{
	static const char *const columns[] = { "ts", "comm", "lost", "text" };
	struct weft_arrow_options options = { .size = sizeof(options) };
	weft_reader *reader = reader_of(file, NULL);
	struct ArrowArrayStream stream;
	struct ArrowArray array;

	if (len > sizeof(options.rows))
		memcpy(&options.rows, data + len - 1 - sizeof(options.rows), sizeof(options.rows));
	if (!weft_reader_arrow(reader, columns, 4, &options, &stream, NULL)) {
		for (int i = 0; i < 16 && !stream.get_next(&stream, &array) && array.release; i++) {
			sink += (uint64_t)array.length;
			array.release(&array);
		}
		stream.release(&stream);
	}
	weft_reader_free(reader);
}

/* The bytes in front of the last two are a word, and the one before the last is its key. */
static void ask(weft_file *file, const uint8_t *data, size_t len)
{
	struct weft_error error = { .text = "" };
	weft_query *query = weft_query_new();
	weft_reader *reader;
	char word[64] = "";

	if (!query)
		abort();
	for (size_t i = 0; i + 1 < sizeof(word) && i + 2 < len; i++)
		word[i] = (char)data[len - 3 - i];
	if (weft_query_add(query, (enum weft_query_key)(data[len - 2 + (len < 2)] % 18), word, &error) && !*error.text)
		abort();
	reader = reader_of(file, query);
	if (weft_reader_start(reader, NULL, &error) && !*error.text)
		abort();
	weft_reader_free(reader);
	weft_query_free(query);
}

static int see_task(void *arg, const struct weft_task *task)
{
	touch(task->comm, task->comm_len);
	return ++*(int *)arg > SLICES_MAX;
}

static int see_symbol(void *arg, const struct weft_symbol *symbol)
{
	touch(symbol->name, symbol->name_len);
	return ++*(int *)arg > SLICES_MAX;
}

static int see_life(void *arg, const struct weft_life *life)
{
	touch(life->comm, strlen(life->comm));
	touch(life->program, life->program_len);
	return ++*(int *)arg > SLICES_MAX;
}

static int see_name(void *arg, const char *name)
{
	touch(name, strlen(name));
	return ++*(int *)arg > SLICES_MAX;
}

/* What is in the file besides its events. */
static void read_contents(weft_file *file)
{
	struct weft_format_info format = { .size = sizeof(format) };
	struct weft_field_info field = { .size = sizeof(field) };
	struct weft_setting_info setting = { .size = sizeof(setting) };
	struct weft_cpu_stats stats = { .size = sizeof(stats) };
	struct weft_clock_piece piece = { .size = sizeof(piece) };
	weft_reader *reader = reader_of(file, NULL);
	enum weft_how_known how;
	uint64_t times[2];
	const char *who;
	int seen = 0;

	for (size_t i = 0; i < 200 && weft_file_format(file, 0, i, &format, NULL) > 0; i++) {
		touch(format.text, format.text_len);
		touch(format.print_fmt, strlen(format.print_fmt));
		for (size_t j = 0; weft_file_field(file, 0, i, j, &field, NULL) > 0; j++)
			sink += strlen(field.name);
	}
	for (size_t i = 0; weft_file_setting_at(file, i, &setting); i++)
		touch(setting.text, setting.text_len + 1);
	for (size_t i = 0; weft_file_stats(file, 0, i, &stats, NULL) > 0; i++)
		sink += stats.entries;
	for (size_t i = 0; weft_file_clock(file, 0, i, &piece, NULL) > 0; i++)
		sink += (uint64_t)weft_file_when(file, 0, piece.wall_ns, times, 2, NULL);
	(void)!weft_file_tasks(file, 0, see_task, &seen, NULL);
	(void)!weft_file_symbols(file, see_symbol, &seen, NULL);
	(void)!weft_file_address(file, "schedule", times, NULL);
	for (int part = 0; part <= WEFT_WHO_USER; part++) {
		(void)!weft_file_names(file, 0, (enum weft_who)part, see_name, &seen, NULL);
		if (!weft_file_who(file, 0, (enum weft_who)part, 1, 5, &who, &how, NULL))
			touch(who, strlen(who));
	}
	(void)!weft_reader_lives(reader, see_life, &seen, NULL);
	weft_reader_free(reader);
}

/* The bytes in front of the last one are places, to which the reader goes. */
static void go(weft_file *file, const uint8_t *data, size_t len)
{
	struct weft_place place = { 0, 0 };
	const struct weft_event *event;
	weft_reader *reader = reader_of(file, NULL);
	uint64_t ts;
	int left = EVENTS_MAX;

	for (size_t at = 0; at < 64 && at + 10 < len; at += 9) {
		const uint8_t *word = data + len - 10 - at;

		memcpy(&ts, word, sizeof(ts));
		if (word[8] & 1)
			(void)!weft_reader_cpu(reader, word[8] >> 4, NULL);
		if (word[8] & 2)
			(void)!weft_reader_seek(reader, ts, NULL);
		for (int i = 0; i < word[8] && left-- > 0 && weft_reader_next(reader, &event, NULL) > 0; i++)
			read_event(reader, event);
		weft_reader_place(reader, &place);
		for (int i = 0; i < 2 * word[8] && left-- > 0 && weft_reader_previous(reader, &event, NULL) > 0; i++)
			read_event(reader, event);
		if (word[8] & 4)
			(void)!weft_reader_go(reader, &place, NULL);
	}
	weft_reader_free(reader);
}

static void read_file(weft_file *file)
{
	struct weft_file_info info = { .size = sizeof(info) };
	struct weft_buffer_info buffer = { .size = sizeof(buffer) };
	size_t len;

	if (!weft_file_info(file, &info, NULL))
		sink += strlen(info.codec) + strlen(info.release) + strlen(info.machine) + strlen(info.recorder);
	for (size_t i = 0; i < weft_file_buffers(file) && i < 4; i++) {
		if (!weft_file_buffer(file, i, &buffer, NULL))
			sink += strlen(buffer.name) + strlen(buffer.clock) + strlen(buffer.tracer);
		if (weft_file_setting(file, i, "trace_options", &len))
			touch(weft_file_setting(file, i, "trace_options", NULL), len);
	}
	if (weft_file_damage(file))
		sink += strlen(weft_file_damage(file));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct weft_error error = { .text = "" };
	weft_file *file = NULL;
	int fd = memfd_create("api", MFD_CLOEXEC);

	if (fd < 0 || !len || write(fd, data, len) != (ssize_t)len) {
		close(fd);
		return 0;
	}
	if (weft_file_open_fd(fd, "fuzz", NULL, &file, &error) && !*error.text)
		abort();
	close(fd);
	if (!file)
		return 0;
	switch (data[len - 1] % 8) {
	case 0:
		read_file(file);
		read_events(file, 0, "+0", WEFT_QUERY_SINCE);
		break;
	case 1:
		read_events(file, 2, "*", WEFT_QUERY_EVENT);
		break;
	case 2:
		read_events(file, 0, "20", WEFT_QUERY_TAIL);
		break;
	case 3:
		read_slices(file);
		break;
	case 4:
		read_arrow(file, data, len);
		break;
	case 5:
		ask(file, data, len);
		break;
	case 6:
		read_contents(file);
		break;
	case 7:
		go(file, data, len);
		break;
	}
	weft_file_free(file);
	return 0;
}
