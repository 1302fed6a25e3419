// SPDX-License-Identifier: GPL-2.0-only
/*
 * tables FILE ANALYSIS: the tables of an analysis as CSV, byte for byte what `weft ANALYSIS --format csv FILE` prints.
 */
#include <stdio.h>
#include <weft/weft.h>

static int print(weft_reader *reader, const char *name, struct weft_error *error)
{
	weft_result *result;
	char *csv;
	size_t len;
	int r = weft_analyse(reader, &name, 1, NULL, &result, error);

	if (r)
		return r;
	r = weft_result_write(result, 0, WEFT_FORM_CSV, NULL, &csv, &len, error);
	if (!r) {
		fwrite(csv, 1, len, stdout);
		weft_free(csv);
	}
	weft_result_free(result);
	return r;
}

int main(int argc, char **argv)
{
	weft_reader *reader = weft_reader_new();
	weft_file *file = NULL;
	struct weft_error error = { .code = 0, .text = "usage: tables FILE ANALYSIS" };
	int r = -1;

	if (argc == 3 && reader && !weft_file_open(argv[1], NULL, &file, &error) &&
	    !weft_reader_add(reader, file, NULL, &error))
		r = print(reader, argv[2], &error);
	if (r)
		fprintf(stderr, "tables: %s\n", error.text);
	weft_reader_free(reader);
	weft_file_free(file);
	return r ? 1 : 0;
}
