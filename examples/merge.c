// SPDX-License-Identifier: GPL-2.0-only
/*
 * merge FILE OFFSET [FILE OFFSET]...: the lines of several machines in the order of time. An OFFSET, in ns, is added to
 * the times of its file: by how much the clock of this machine is behind.
 */
#include <stdio.h>
#include <stdlib.h>
#include <weft/weft.h>

static int add(weft_reader *reader, const char *path, const char *offset, struct weft_error *error)
{
	struct weft_open_options options = { .size = sizeof(options), .offset = strtoll(offset, NULL, 10) };
	weft_file *file;
	int r = weft_file_open(path, &options, &file, error);

	if (r)
		return r;
	r = weft_reader_add(reader, file, NULL, error);
	/* The reader keeps what it needs of it. */
	weft_file_free(file);
	return r;
}

static int print(weft_reader *reader, char **argv, struct weft_error *error)
{
	struct weft_source_info source = { .size = sizeof(source) };
	const struct weft_event *event;
	const weft_file *file;
	static char text[1 << 16];
	int at, r;

	while ((r = weft_reader_next(reader, &event, error)) > 0) {
		at = -1;
		file = NULL;
		for (size_t i = 0; i <= event->buffer && !weft_reader_buffer(reader, i, &source); i++) {
			at += source.file != file ? 2 : 0;
			file = source.file;
		}
		if (weft_event_text(reader, event, WEFT_TEXT_LINE, text, sizeof(text)) >= 0)
			printf("%s: %s\n", argv[at], text);
	}
	return r;
}

int main(int argc, char **argv)
{
	weft_reader *reader = weft_reader_new();
	struct weft_error error = { .code = 0, .text = "usage: merge FILE OFFSET [FILE OFFSET]..." };
	int r = reader && argc > 2 && argc % 2 ? 0 : -1;

	for (int i = 1; !r && i < argc; i += 2)
		r = add(reader, argv[i], argv[i + 1], &error);
	if (!r)
		r = print(reader, argv, &error);
	if (r)
		fprintf(stderr, "merge: %s\n", error.text);
	weft_reader_free(reader);
	return r != 0;
}
