// SPDX-License-Identifier: GPL-2.0-only
/*
 * Input: a text that claims to be OTLP/JSON, in pieces of changing sizes. Whatever it is, each line that comes out is a
 * mark of a begin or an end, or the ids of a span, each span ends once, and times never go back.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/files/import/otlp.h"
#include "lib/ground/base/fail.h"
#include "tests/fuzz/shared/pieces.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* " otlp-77 [000] ..... 12.000000034: otlp: B|5|x" */
static void see_line(const char *line, uint64_t *last, uint64_t counts[3])
{
	const char *at = strstr(line, " ..... "), *mark = at ? strstr(at, ": otlp: ") : NULL;
	const char *ids = at ? strstr(at, ": otlp_span: ") : NULL;
	uint64_t seconds, ns;
	char *end;

	if (!at || (!mark && !ids))
		abort();
	seconds = strtoull(at + strlen(" ..... "), &end, 10);
	if (*end != '.')
		abort();
	ns = seconds * 1000000000 + strtoull(end + 1, NULL, 10);
	if (ns < *last)
		abort();
	*last = ns;
	if (ids && (!mark || ids < mark)) {
		counts[2]++;
		return;
	}
	mark += strlen(": otlp: ");
	counts[0] += *mark == 'B' || *mark == 'G';
	counts[1] += *mark == 'E' || *mark == 'H';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct pieces pieces = { .at = data, .left = len, .most = 197 };
	const struct import_source source = { .read = pieces_read, .arg = &pieces };
	struct buf text = BUF_INIT, samples = BUF_INIT;
	struct fail fail = FAIL_INIT;
	struct otlp *otlp = NULL;
	uint64_t counts[3] = { 0 }, last = 0;
	uint8_t out[777];
	int r = otlp_new(NULL, &otlp, &fail);

	if (!r)
		r = otlp_take(otlp, &source, &fail);
	if (r && !*fail.text)
		abort();
	while (!r && (r = otlp_read(otlp, out, sizeof(out), &fail)) > 0)
		r = buf_add(&text, out, (size_t)r) ? 0 : -1;
	for (const char *at = r ? "" : buf_str(&text), *end; *at; at = end + 1) {
		end = strchr(at, '\n');
		if (!end)
			abort();
		text.data[end - text.data] = '\0';
		see_line(at, &last, counts);
	}
	if (!r && (counts[0] != otlp_counts(otlp)->spans || counts[1] != counts[0] || counts[2] != counts[0] ||
		   !otlp_samples(otlp, &samples)))
		abort();
	buf_release(&text);
	buf_release(&samples);
	otlp_free(otlp);
	return 0;
}
