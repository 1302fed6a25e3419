// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/reader/relay_reader.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/ring/page.h"
#include "lib/pages/stream/relay.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

/* The frames of another machine, from a text. */
struct frames {
	struct out out;
	size_t at;
};

static int next_frame(void *arg, uint64_t end_ns, struct relay_head *ret, const uint8_t **ret_data, struct fail *fail)
{
	struct frames *frames = arg;

	(void)end_ns;
	if (frames->at + sizeof(*ret) > out_len(&frames->out))
		return fail_set(fail, -ENODATA, "there are no more");
	memcpy(ret, frames->out.start + frames->at, sizeof(*ret));
	*ret_data = (const uint8_t *)frames->out.start + frames->at + sizeof(*ret);
	frames->at += sizeof(*ret) + ret->len;
	return 1;
}

/* A buffer with one CPU, and no events. */
static bool put_description(struct out *out)
{
	const struct {
		struct relay_buffer shape;
		uint32_t cpu;
	} buffer = { { LOOM_PAGE, 8, 1 }, 0 };
	cleanup_fd int fd = memfd_create("facts", MFD_CLOEXEC);
	cleanup_buf struct buf facts = BUF_INIT;
	struct loom loom;
	bool ok;

	loom_init(&loom);
	loom_play(&loom, "0 1000 7 sched_waking comm=ls pid=8\n");
	ok = CHECK(fd >= 0) && loom_write(&loom, fd) && CHECK(!lseek(fd, 0, SEEK_SET)) &&
	     CHECK(!io_read_all(fd, 1 << 22, &facts));
	loom_release(&loom);
	relay_put(out, RELAY_HELLO, 0, RELAY_VERSION, NULL, 0);
	relay_put(out, RELAY_FACTS, 0, 0, facts.data, facts.len);
	relay_put(out, RELAY_BUFFER, 0, 0, &buffer, sizeof(buffer));
	relay_put(out, RELAY_READY, 0, 0, NULL, 0);
	return ok;
}

static void put_lost(struct out *out, int64_t lost)
{
	relay_put(out, RELAY_LOST, 0, 0, &lost, sizeof(lost));
}

TEST(relay_reader_takes_a_number_of_lost_events_that_cannot_be_for_an_unknown_one)
{
	cleanup_fd int file = memfd_create("file", MFD_CLOEXEC);
	struct frames frames = { .at = 0 };
	const struct relay_reader_options options = {
		.next = next_frame, .arg = &frames, .file = file, .name = "another machine"
	};
	struct relay_reader *relay = NULL;
	struct fail fail = FAIL_INIT;
	const struct event *lost;
	struct trace *trace;
	struct reader reader;

	REQUIRE(file >= 0 && out_init(&frames.out, 1 << 16) && put_description(&frames.out));
	put_lost(&frames.out, 3);
	put_lost(&frames.out, PAGE_LOST_UNKNOWN);
	put_lost(&frames.out, EVENT_LOST_REST);
	relay_put(&frames.out, RELAY_END, 0, 0, NULL, 0);
	reader_init(&reader);
	REQUIRE(!relay_reader_new(&options, &relay, &fail));
	trace = relay_reader_take_trace(relay);
	CHECK(!relay_reader_add(relay, 0, trace, &reader, &fail));
	CHECK(!reader_start(&reader, &(struct reader_options){ .fails_at_once = true }, &fail));
	CHECK(!relay_reader_take(relay, 0, &fail));
	if (CHECK(relay_reader_dry(relay, &lost) == 3)) {
		CHECK(lost[0].lost == 3);
		CHECK(lost[1].lost == PAGE_LOST_UNKNOWN);
		CHECK(lost[2].lost == PAGE_LOST_UNKNOWN);
	}
	CHECK(relay_reader_ended(relay));
	reader_release(&reader);
	relay_reader_free(relay);
	trace_free(trace);
	out_release(&frames.out);
}
