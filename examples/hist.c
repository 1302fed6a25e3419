// SPDX-License-Identifier: GPL-2.0-only
/* hist FILE EVENT FIELD: how often the field of the event has which value below 65,536. */
#include <stdio.h>
#include <weft/weft.h>

enum { VALUES = 1 << 16 };

static unsigned long count[VALUES];

static int count_field(weft_reader *reader, const char *name, struct weft_error *error)
{
	const struct weft_event *event;
	const weft_type *type = NULL;
	const weft_field *field = NULL;
	int r;

	while ((r = weft_reader_next(reader, &event, error)) > 0) {
		if (event->type != type) {
			type = event->type;
			field = weft_field_find(type, name);
		}
		if (field && weft_event_u64(event, field) < VALUES)
			count[weft_event_u64(event, field)]++;
	}
	return r;
}

int main(int argc, char **argv)
{
	weft_query *query = weft_query_new();
	weft_reader *reader = weft_reader_new();
	weft_file *file = NULL;
	struct weft_error error = { .code = 0, .text = "usage: hist FILE EVENT FIELD" };
	int r = argc == 4 && query && reader ? weft_file_open(argv[1], NULL, &file, &error) : -1;

	if (!r)
		r = weft_query_add(query, WEFT_QUERY_EVENT, argv[2], &error);
	if (!r)
		r = weft_reader_add(reader, file, query, &error);
	if (!r)
		r = count_field(reader, argv[3], &error);
	for (unsigned i = 0; !r && i < VALUES; i++)
		if (count[i])
			printf("%u %lu\n", i, count[i]);
	if (r)
		fprintf(stderr, "hist: %s\n", error.text);
	weft_reader_free(reader);
	weft_query_free(query);
	weft_file_free(file);
	return r != 0;
}
