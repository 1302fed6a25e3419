// SPDX-License-Identifier: GPL-2.0-only
/*
 * windows FILE COUNT: reads COUNT windows of 1 ms that are spread evenly over the file, and prints the number of their
 * events. Nothing between the windows is read.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft/weft.h>

static int read_window(weft_reader *reader, uint64_t since, uint64_t *events, struct weft_error *error)
{
	const struct weft_event *event;
	int r = weft_reader_seek(reader, since, error);

	while (!r && (r = weft_reader_next(reader, &event, error)) > 0 && event->ts <= since + 1000000) {
		*events += event->kind == WEFT_RECORD;
		r = 0;
	}
	return r < 0 ? r : 0;
}

int main(int argc, char **argv)
{
	struct weft_buffer_info info = { .size = sizeof(info) };
	struct weft_error error = { .code = 0, .text = "usage: windows FILE COUNT" };
	uint64_t events = 0, count = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
	weft_reader *reader = weft_reader_new();
	weft_file *file = NULL;
	int r = count && reader ? weft_file_open(argv[1], NULL, &file, &error) : -1;

	if (!r)
		r = weft_file_buffer(file, 0, &info, &error);
	if (!r)
		r = weft_reader_add(reader, file, NULL, &error);
	for (uint64_t i = 0; !r && i < count; i++)
		r = read_window(reader, info.first + (info.last - info.first) / count * i, &events, &error);
	if (r)
		fprintf(stderr, "windows: %s\n", error.text);
	else
		printf("%" PRIu64 " events in %" PRIu64 " windows\n", events, count);
	weft_reader_free(reader);
	weft_file_free(file);
	return r != 0;
}
