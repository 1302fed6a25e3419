// SPDX-License-Identifier: GPL-2.0-only
/* Input: any text as the file of weft bench --against. What is read is saved again, and that is read in turn. */
#include <stdlib.h>

#include "lib/answers/frame/findings.h"
#include "lib/answers/stats/bench_internal.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* The old runs are compared with one of a command that did nothing. */
static void compare(struct bench *bench, size_t nr_recorded)
{
	const struct bench_options options = { .top = UINT64_MAX };
	struct findings findings;
	struct fail fail = FAIL_INIT;

	findings_init(&findings);
	bench->sides[1] = (struct bench_side){ .command = "x", .nr = 1 };
	/* Once without recordings of the new command, and once with one in which nothing happened. */
	bench->rows->sides[1].nr = nr_recorded;
	if (bench_finish(bench, &options, &findings, &fail))
		__builtin_trap();
	findings_release(&findings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct bench *bench = calloc(1, sizeof(*bench));
	struct bench_saved *saved = NULL, *again = NULL;
	struct fail fail = FAIL_INIT;
	struct buf text = BUF_INIT;

	if (!bench_load((const char *)data, len, &saved, &fail)) {
		if (diff_new(bench_saved_runs(saved), 1, &bench->rows, &fail))
			__builtin_trap();
		bench_use(bench, saved);
		bench_use_rows(bench, saved);
		if (!bench_save(bench, bench_saved_kernel(saved), bench_saved_for(saved), &text) ||
		    bench_load(text.data, text.len, &again, &fail))
			__builtin_trap();
		compare(bench, 0);
		compare(bench, 1);
		diff_free(bench->rows);
	} else if (!*fail.text) {
		__builtin_trap();
	}
	bench_saved_free(again);
	bench_saved_free(saved);
	buf_release(&text);
	free(bench);
	return 0;
}
