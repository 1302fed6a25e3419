// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/sliced_sums.h"

#include "lib/base/fail.h"
#include "lib/reader/reader.h"
#include "lib/reader/shares.h"
#include "lib/reader/slices.h"
#include "lib/tally/tally.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static struct tally_wanted wishes(const char *what)
{
	return (struct tally_wanted){ .event = what + strlen("hist "),
				      .keys = "common_pid.execname,common_cpu",
				      .values = "common_pid,common_timestamp.min,common_timestamp.p50" };
}

static int put(struct tally *tally, struct buf *ret, struct fail *fail)
{
	int r = tally_text(tally, ret, fail);

	if (!r && !buf_addf(ret, "%" PRIu64 " %" PRIu64 "\n", tally_span(tally), tally_losses(tally)))
		r = fail_memory(fail);
	return r;
}

static int tally_order(struct reader *reader, const char *what, struct buf *ret, struct fail *fail)
{
	const struct tally_wanted wanted = wishes(what);
	struct tally *tally = NULL;
	int r = tally_new(reader, &wanted, &tally, fail);

	if (!r)
		r = reader_run(reader, &(struct reader_consumer){ tally_see, tally }, 1, fail);
	if (!r)
		r = put(tally, ret, fail);
	tally_free(tally);
	return r;
}

int sliced_sums_order(struct trace *trace, const char *what, struct buf *ret, struct fail *fail)
{
	struct reader reader;
	int r;

	reader_init(&reader);
	r = reader_add(&reader, trace, 0, fail);
	if (!r)
		r = reader_start(&reader, &(struct reader_options){ .pool = NULL }, fail);
	if (!r)
		r = tally_order(&reader, what, ret, fail);
	reader_release(&reader);
	return r;
}

int sliced_sums(const struct slices *slices, const char *what, struct pool *pool, struct buf *ret, struct fail *fail)
{
	const struct tally_wanted wanted = wishes(what);
	struct tally_sum sum = { .wanted = &wanted };
	int r = tally_new(slices->reader, &wanted, &sum.tally, fail);

	if (!r)
		r = tally_can_join(sum.tally) ? shares_run(slices, pool, &tally_shares, &sum) : -EAGAIN;
	if (!r)
		r = put(sum.tally, ret, fail);
	tally_free(sum.tally);
	return r;
}
