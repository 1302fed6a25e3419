// SPDX-License-Identifier: GPL-2.0-only
/*
 * Input: a log, of the known forms, and in pieces of changing sizes; with a '%' first, of the pattern in its first
 * line. Whatever it is, each line of the kernel's text that comes out is a marker with a time.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/files/import/log.h"
#include "lib/ground/base/fail.h"
#include "tests/fuzz/shared/pieces.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct pieces pieces = { .at = data, .left = len, .most = 97 };
	struct log_reader reader = { .source = { .read = pieces_read, .arg = &pieces },
				     .now = INT64_C(1795867200000000000) };
	struct buf text = BUF_INIT, samples = BUF_INIT;
	struct fail fail = FAIL_INIT;
	struct zone *zone = NULL;
	char pattern[64] = "";
	uint8_t out[777];
	int r = zone_new_fixed(3600, &zone, NULL);

	if (len && (*data == '%' || *data == '*')) {
		memcpy(pattern, data, len < sizeof(pattern) ? len : sizeof(pattern) - 1);
		pattern[strcspn(pattern, "\n")] = '\0';
		reader.pattern = pattern;
	}
	reader.zone = zone;
	while (!r && (r = log_reader_read(&reader, out, sizeof(out), &fail)) > 0)
		r = buf_add(&text, out, (size_t)r) ? 0 : -1;
	if (!r && text.len && (text.data[text.len - 1] != '\n' || !reader.first))
		__builtin_trap();
	for (const char *at = buf_str(&text), *end; *at; at = end + 1) {
		const char *mark = strstr(at, ": tracing_mark_write: ");

		end = strchr(at, '\n');
		if (!end || !mark || mark > end)
			__builtin_trap();
	}
	if (!log_reader_samples(&reader, &samples) && samples.len)
		__builtin_trap();
	buf_release(&text);
	buf_release(&samples);
	log_reader_release(&reader);
	zone_free(zone);
	return 0;
}
