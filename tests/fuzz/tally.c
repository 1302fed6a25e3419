// SPDX-License-Identifier: GPL-2.0-only
/*
 * Input: any words as the request of `weft hist --input` on a small recording. Each line is one item: the choice of the
 * file and of the size, the event, the second event, the matching fields, keys, values, sort keys and the filter. An
 * empty line is an option that is not given. The result must parse as a histogram whose rows add up to its hits.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/tally/tally.h"
#include "lib/ground/base/buf.h"
#include "lib/kernel/measure/hist_text.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/trace/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const char *const files[] = {
	"tests/fixtures/golden/6.12-events-sched.dat",
	"tests/fixtures/golden/6.12-events-syscalls.dat",
	"tests/fixtures/golden/6.12-event-stacktrace.dat",
};

enum { SIZE_BITS_MIN = 2, SIZE_BITS = 12 };

/* Returns the next line; NULL if it is empty or missing. */
static const char *next_line(char **at)
{
	char *line = *at;

	if (!line)
		return NULL;
	*at = strchr(line, '\n');
	if (*at)
		*(*at)++ = '\0';
	return *line ? line : NULL;
}

static void look(const struct tally *tally, struct buf *text)
{
	const char *at = buf_str(text);
	struct hist_text hist;
	uint64_t hits = 0;

	for (size_t i = 0; i < 4; i++)
		(void)(tally_key_is_signed(tally, i) || tally_value_is_signed(tally, i));
	/* Keys that contain names of tasks may have any form. */
	if (hist_text_next(&at, &hist, NULL) <= 0)
		return;
	for (size_t i = 0; i < hist.nr; i++)
		hits += hist.rows[i].values[0].number && !strstr(buf_str(text), "nohitcount") ?
				hist.rows[i].values[0].value :
				0;
	if (hits > hist.hits)
		__builtin_trap();
	hist_text_release(&hist);
}

static void count(const char *path, const struct tally_wanted *wanted)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct tally *tally = NULL;
	struct trace *trace = NULL;
	struct reader reader;

	if (trace_open(path, &trace, NULL))
		__builtin_trap();
	reader_init(&reader);
	if (reader_add_trace(&reader, trace, NULL) ||
	    reader_start(&reader, &(struct reader_options){ .pool = NULL }, NULL))
		__builtin_trap();
	if (!tally_new(&reader, wanted, &tally, NULL)) {
		if (reader_run(&reader, &(struct reader_consumer){ tally_see, tally }, 1, NULL))
			__builtin_trap();
		if (!tally_text(tally, &text, NULL))
			look(tally, &text);
	}
	tally_free(tally);
	reader_release(&reader);
	trace_free(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *text = strndup((const char *)data, len), *at = text;
	struct tally_wanted wanted = { .event = NULL };
	const char *choice;

	if (!text)
		return 0;
	choice = next_line(&at);
	wanted.event = next_line(&at);
	wanted.second = next_line(&at);
	wanted.match = next_line(&at);
	wanted.keys = next_line(&at);
	wanted.values = next_line(&at);
	wanted.sort = next_line(&at);
	wanted.filter = next_line(&at);
	/* Values that the command line always sets. */
	if (choice && wanted.event && (wanted.keys || wanted.second)) {
		wanted.size = 1u << (SIZE_BITS_MIN + (unsigned char)choice[strlen(choice) - 1] % SIZE_BITS);
		wanted.ns = strlen(choice) > 1;
		count(files[(unsigned char)*choice % (sizeof(files) / sizeof(*files))], &wanted);
	}
	free(text);
	return 0;
}
