// SPDX-License-Identifier: GPL-2.0-only
/*
 * windows FILE COUNT: reads COUNT windows of 1 ms that are spread evenly over the file, each with a reader of its own,
 * and prints the number of their events. Nothing between the windows is read.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft/weft.h>

static int read_window(weft_file *file, uint64_t since, uint64_t *events, struct weft_error *error)
{
	weft_query *query = weft_query_new();
	weft_reader *reader = weft_reader_new();
	const struct weft_event *batch;
	char from[32], to[32];
	int r = query && reader ? 0 : -1;

	snprintf(from, sizeof(from), "%" PRIu64 ".%09" PRIu64, since / 1000000000, since % 1000000000);
	since += 1000000;
	snprintf(to, sizeof(to), "%" PRIu64 ".%09" PRIu64, since / 1000000000, since % 1000000000);
	if (!r)
		r = weft_query_add(query, WEFT_QUERY_SINCE, from, error);
	if (!r)
		r = weft_query_add(query, WEFT_QUERY_UNTIL, to, error);
	if (!r)
		r = weft_reader_add(reader, file, query, error);
	while (!r && (r = weft_reader_batch(reader, &batch, error)) > 0) {
		for (int i = 0; i < r; i++)
			*events += batch[i].kind == WEFT_RECORD;
		r = 0;
	}
	weft_reader_free(reader);
	weft_query_free(query);
	return r;
}

int main(int argc, char **argv)
{
	struct weft_buffer_info info = { .size = sizeof(info) };
	struct weft_error error = { .code = 0, .text = "usage: windows FILE COUNT" };
	uint64_t events = 0, count = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
	weft_file *file = NULL;
	int r = count ? weft_file_open(argv[1], NULL, &file, &error) : -1;

	if (!r)
		r = weft_file_buffer(file, 0, &info, &error);
	for (uint64_t i = 0; !r && i < count; i++)
		r = read_window(file, info.first + (info.last - info.first) / count * i, &events, &error);
	if (r)
		fprintf(stderr, "windows: %s\n", error.text);
	else
		printf("%" PRIu64 " events in %" PRIu64 " windows\n", events, count);
	weft_file_free(file);
	return r != 0;
}
