// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/sliced.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/render.h"
#include "formats/sink.h"
#include "formats/slices.h"
#include "formats/text_end.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/pool.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/reader/slices.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/printed.h"
#include "tests/unit/sliced_export.h"
#include "tests/unit/sliced_sums.h"

int sliced_times(struct trace *trace, uint64_t **ret, size_t *ret_nr, struct fail *fail)
{
	struct reader reader;
	struct event event;
	int r;

	*ret = NULL;
	*ret_nr = 0;
	reader_init(&reader);
	r = reader_add(&reader, trace, 0, fail);
	if (!r)
		r = reader_start(&reader, &(struct reader_options){ .pool = NULL }, fail);
	while (!r && (r = reader_next(&reader, &event, fail)) > 0) {
		uint64_t *time = event.ts ? vec_push(*ret, *ret_nr) : NULL;

		r = 0;
		if (time)
			*time = event.ts;
		else if (event.ts)
			r = fail_memory(fail);
	}
	reader_release(&reader);
	return r;
}

static int new_sink(void *arg, size_t buffer, struct sink **ret, struct fail *fail)
{
	const struct reader *reader = arg;

	return sink_find("ftrace")->create(reader->buffers[buffer].context, &(struct sink_options){ .raw = false }, ret,
					   fail);
}

struct chosen {
	const struct reader *reader;
	const char *events;
};

static int select_again(void *arg, size_t buffer, struct selection **ret, struct fail *fail)
{
	const struct chosen *chosen = arg;

	return printed_select(chosen->reader->buffers[buffer].context, chosen->events, ret, fail);
}

static void done(void *arg, const struct reader *reader)
{
	(void)arg;
	(void)reader;
}

static int print_sums(const struct slices *slices, const char *what, struct pool *pool, struct text_end *end,
		      struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct out out = { .start = NULL };
	int r = sliced_sums(slices, what, pool, &text, fail);

	if (!r && !out_init(&out, text.len + 1))
		r = fail_memory(fail);
	if (!r) {
		out_str(&out, buf_str(&text));
		r = text_end_put(end, &out, fail);
		out_release(&out);
	}
	return r;
}

static int print(struct reader *reader, const struct sliced_cuts *cuts, struct pool *pool, struct text_end *end,
		 struct fail *fail)
{
	const struct render_options options = { .pool = pool, .limit = UINT64_MAX };
	struct chosen chosen = { reader, cuts->events };
	struct slices slices = { .reader = reader,
				 .nr = cuts->nr + 1,
				 .parts = cuts->nr + 1,
				 .since = cuts->since,
				 .threads = cuts->threads + 1,
				 .select = select_again,
				 .arg = &chosen };
	const struct sliced sliced = {
		.slices = &slices, .options = &options, .end = end, .new_sink = new_sink, .done = done, .arg = reader
	};
	struct sink *sink = NULL;
	uint64_t printed;
	int r = cuts->to || cuts->sums ? 0 : new_sink(reader, 0, &sink, fail);

	slices.times = calloc((size_t)slices.nr, sizeof(*slices.times));
	if (!r && !slices.times)
		r = fail_memory(fail);
	if (!r) {
		memcpy(slices.times, cuts->times, cuts->nr * sizeof(*slices.times));
		if (cuts->sums)
			r = print_sums(&slices, cuts->sums, pool, end, fail);
		else if (cuts->to)
			r = sliced_export(&slices, cuts->to, pool, end, fail);
		else
			r = slices_can(&sink, 1, &options) ? slices_render(&sliced, &sink, &printed, fail) : -EAGAIN;
	}
	if (sink)
		sink->ops->free(sink);
	slices_release(&slices);
	return r;
}

int sliced_print(struct trace *trace, const struct sliced_cuts *cuts, struct buf *ret, bool *ret_whole,
		 struct fail *fail)
{
	cleanup_fd int fd = memfd_create("sliced", MFD_CLOEXEC);
	struct text_end end = { .fd = fd };
	struct pool *pool = NULL;
	struct reader reader;
	int r = pool_new(cuts->threads, &pool, fail);

	reader_init(&reader);
	if (!r)
		r = reader_add(&reader, trace, 0, fail);
	if (!r)
		r = printed_select(reader.buffers[0].context, cuts->events, &reader.buffers[0].selection, fail);
	if (!r) {
		reader.buffers[0].window.since = cuts->since;
		if (cuts->until)
			reader.buffers[0].window.until = cuts->until;
		r = print(&reader, cuts, pool, &end, fail);
	}
	reader_release(&reader);
	pool_free(pool);
	*ret_whole = !r;
	if (r == -EAGAIN)
		r = 0;
	if (!r && (lseek(fd, 0, SEEK_SET) || io_read_all(fd, 1 << 28, ret)))
		r = fail_set(fail, -EIO, "what was printed cannot be read");
	return r;
}
