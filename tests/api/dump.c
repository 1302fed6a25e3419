// SPDX-License-Identifier: GPL-2.0-only
/*
 * dump json|line|fields FILE [KEY WORD]...: prints all events as libweft has them, for a comparison with weft report.
 * KEY is a number of enum weft_query_key; 100 is the number of threads, 101 a directory of plugins. "fields" prints
 * each value by its kind, as tests/api/fields makes them of JSON.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/weft.h>

enum { KEY_THREADS = 100, KEY_PLUGINS = 101, TEXT = 1 << 22 };

static void put_hex(const void *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		printf("%02x", ((const uint8_t *)data)[i]);
}

/* Hexadecimal digits as a text, which is what JSON has for them. */
static void put_hex_text(const uint8_t *data, size_t len)
{
	char digits[3];

	putchar('x');
	for (size_t i = 0; i < len; i++) {
		snprintf(digits, sizeof(digits), "%02x", data[i]);
		put_hex(digits, 2);
	}
}

static void put_array(const struct weft_event *event, const weft_field *field, bool is_signed)
{
	uint64_t value;

	putchar('[');
	for (size_t i = 0; weft_event_element(event, field, i, &value); i++)
		printf(is_signed ? "%s%" PRId64 : "%s%" PRIu64, i ? "," : "", value);
	putchar(']');
}

static void put_value(const struct weft_event *event, const weft_field *field)
{
	struct weft_field_info info = { .size = sizeof(info) };
	const char *text;
	const void *data;
	size_t len;

	weft_field_info(field, &info);
	if (info.is_common)
		return;
	printf("\t%s=", info.name);
	if (weft_event_bytes(event, field, &data, &len)) {
		printf("null");
	} else if (info.kind == WEFT_FIELD_INTEGER) {
		printf(info.is_signed ? "%" PRId64 : "%" PRIu64, weft_event_u64(event, field));
	} else if (info.kind == WEFT_FIELD_ARRAY) {
		put_array(event, field, info.is_signed);
	} else if (info.kind == WEFT_FIELD_STRING && !weft_event_string(event, field, &text, &len)) {
		putchar('x');
		put_hex(text, len);
	} else {
		put_hex_text(data, len);
	}
}

static void put_fields(weft_reader *reader, const struct weft_event *event)
{
	const char *comm;
	size_t len;

	printf("%" PRIu64 " %u", event->ts, event->cpu);
	if (event->kind == WEFT_LOST) {
		printf(" lost=%" PRId64 "\n", event->lost);
		return;
	}
	printf(" %" PRId32 " ", event->pid);
	if (!weft_event_comm(reader, event, &comm, &len))
		put_hex(comm, len);
	printf(" %" PRId32 " %s:%s", weft_type_id(event->type), weft_type_system(event->type),
	       weft_type_name(event->type));
	for (size_t i = 0; i < weft_type_fields(event->type); i++)
		put_value(event, weft_type_field(event->type, i));
	putchar('\n');
}

static int print(weft_reader *reader, const char *how, struct weft_error *error)
{
	const struct weft_event *event;
	char *text = malloc(TEXT);
	int r;

	while (text && (r = weft_reader_next(reader, &event, error)) > 0) {
		if (*how == 'f') {
			put_fields(reader, event);
			continue;
		}
		r = weft_event_text(reader, event, *how == 'j' ? WEFT_TEXT_JSON : WEFT_TEXT_LINE, text, TEXT);
		if (r < 0)
			break;
		fwrite(text, 1, (size_t)r, stdout);
		putchar('\n');
	}
	free(text);
	return text ? r : -1;
}

int main(int argc, char **argv)
{
	struct weft_reader_options options = { .size = sizeof(options) };
	struct weft_open_options open = { .size = sizeof(open) };
	weft_query *query = weft_query_new();
	weft_reader *reader = weft_reader_new();
	struct weft_error error = { .text = "out of memory" };
	weft_file *file = NULL;
	int r = query && reader ? 0 : -1;

	for (int i = 3; !r && i + 1 < argc; i += 2) {
		int key = (int)strtol(argv[i], NULL, 10);

		if (key == KEY_THREADS)
			options.threads = (unsigned)strtoul(argv[i + 1], NULL, 10);
		else if (key == KEY_PLUGINS)
			open.plugins = argv[i + 1];
		else
			r = weft_query_add(query, (enum weft_query_key)key, argv[i + 1], &error);
	}
	if (!r)
		r = weft_file_open(argv[2], &open, &file, &error);
	if (!r)
		r = weft_reader_add(reader, file, query, &error);
	if (!r)
		r = weft_reader_start(reader, &options, &error);
	if (!r)
		r = print(reader, argv[1], &error);
	if (!r && weft_reader_damage(reader)) {
		fprintf(stderr, "weft: %s\n", weft_reader_damage(reader));
		r = -1;
	} else if (r) {
		fprintf(stderr, "weft: %s\n", error.text);
	}
	weft_reader_free(reader);
	weft_query_free(query);
	weft_file_free(file);
	return r ? 1 : 0;
}
