// SPDX-License-Identifier: GPL-2.0-only
/* decoded FILE PLUGINS: prints what plugins make of each event. */
#include <inttypes.h>
#include <stdio.h>
#include <weft/weft.h>

static int put(weft_reader *reader, const struct weft_event *event, struct weft_error *error)
{
	struct weft_decoded decoded = { .size = sizeof(decoded) };
	int r;

	for (size_t i = 0; (r = weft_event_decoded(reader, event, i, &decoded, error)) > 0; i++) {
		if (decoded.kind == WEFT_DECODED_TEXT)
			printf("%s=%.*s\n", decoded.name, (int)decoded.text_len, decoded.text);
		else
			printf("%s=%" PRId64 "\n", decoded.name, decoded.value);
	}
	return r;
}

int main(int argc, char **argv)
{
	struct weft_open_options options = { .size = sizeof(options), .plugins = argv[argc - 1] };
	weft_reader *reader = weft_reader_new();
	const struct weft_event *event;
	struct weft_error error = { .text = "" };
	weft_file *file = NULL;
	int r = weft_file_open(argv[1], &options, &file, &error);

	if (!r)
		r = weft_reader_add(reader, file, NULL, &error);
	while (!r && (r = weft_reader_next(reader, &event, &error)) > 0)
		r = put(reader, event, &error);
	if (r)
		fprintf(stderr, "%s\n", error.text);
	weft_reader_free(reader);
	weft_file_free(file);
	return r ? 1 : 0;
}
