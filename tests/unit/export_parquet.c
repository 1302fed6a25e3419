// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/pool.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/exported.h"
#include "tests/unit/test.h"

/* Each type of event has a row group, so that more groups are begun than there is room for. */
TEST(export_parquet_writes_the_same_bytes_with_any_number_of_threads)
{
	static const char file[] = "tests/fixtures/golden/6.12-events-sched.dat";

	for (unsigned threads = 1; threads <= 3; threads++) {
		struct pool *pool = NULL;
		struct trace *trace = NULL;
		size_t len = 0, alone_len = 0;
		char *alone, *text;

		if (!CHECK(trace_open(file, &trace, NULL) == 0 && pool_new(threads, &pool, NULL) == 0))
			return;
		alone = exported_by(trace, "parquet", NULL, &alone_len);
		text = exported_by(trace, "parquet", pool, &len);
		CHECK(alone && text && alone_len > 1000 && len == alone_len && !memcmp(alone, text, len));
		free(alone);
		free(text);
		pool_free(pool);
		trace_free(trace);
	}
}
