// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/pass_lines_internal.h"

#include "lib/analysis/pass.h"
#include "lib/base/out.h"
#include "lib/reader/reader.h"

struct flushing {
	struct out *lines;
	int (*flush)(struct out *lines, struct fail *fail);
	int failed;
	struct fail *fail;
};

static void flush_some(void *arg, const struct event *event)
{
	struct flushing *flushing = arg;

	(void)event;
	if (out_len(flushing->lines) >= PASS_LINES_SIZE && !flushing->failed)
		flushing->failed = flushing->flush(flushing->lines, flushing->fail);
}

int pass_run_lines(struct pass *pass, int (*flush)(struct out *lines, struct fail *fail), struct fail *fail)
{
	struct flushing flushing = { .lines = pass->lines, .flush = flush, .fail = fail };
	int r = pass_run(pass, &(struct reader_consumer){ flush_some, &flushing }, fail);

	return r ? r : flushing.failed;
}
