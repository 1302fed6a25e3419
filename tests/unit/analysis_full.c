// SPDX-License-Identifier: GPL-2.0-only
/* A pass over a stream without end, in which tasks come and go: memory follows from the tasks of one interval. */
#include <inttypes.h>
#include <malloc.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/analysed.h"
#include "tests/unit/test.h"

enum { LIVED = 3 * PASS_TASKS_MAX, PID = 1000 };

struct stream {
	struct pass pass;
	uint64_t restarts, switches;
	size_t most_tasks, used_first, used_last;
	struct fail fail;
};

/* The memory in use; only glibc tells. */
static size_t in_use(void)
{
#ifdef __GLIBC__
	return mallinfo2().uordblks;
#else
	return 0;
#endif
}

static void see(void *arg, const struct event *event)
{
	struct stream *stream = arg;

	if (pass_is_full(&stream->pass)) {
		stream->pass.pending = event->type;
		stream->switches += stream->pass.state.cpus[0].switches;
		CHECK(!pass_end(&stream->pass, &stream->fail) && !pass_restart(&stream->pass, &stream->fail));
		stream->pass.pending = NULL;
		stream->used_last = in_use();
		if (!stream->restarts++)
			stream->used_first = stream->used_last;
	}
	pass_see(&stream->pass, event);
	if (stream->pass.state.nr_tasks > stream->most_tasks)
		stream->most_tasks = stream->pass.state.nr_tasks;
}

/* Task 1 runs between tasks that each run once; those that do not `end` stay runnable. */
static bool play(struct stream *stream, bool end)
{
	cleanup_buf struct buf script = BUF_INIT;
	struct reader reader;
	struct trace *trace;
	struct loom loom;
	bool ok = true;

	for (uint64_t i = 0; ok && i < LIVED; i++)
		ok = buf_addf(&script,
			      "0 %" PRIu64
			      " 1 sched_switch prev_comm=sh prev_pid=1 prev_state=1 next_comm=a next_pid=%" PRIu64
			      "\n0 %" PRIu64 " %" PRIu64 " sched_switch prev_comm=a prev_pid=%" PRIu64
			      " prev_state=%d next_comm=sh next_pid=1\n",
			      1000 + 20 * i, PID + i, 1010 + 20 * i, PID + i, PID + i, end ? 16 : 0);
	loom_init(&loom);
	loom_play(&loom, buf_str(&script));
	trace = loom_trace(&loom);
	reader_init(&reader);
	ok = ok && trace && !reader_add_trace(&reader, trace, &stream->fail) &&
	     !reader_start(&reader, &(struct reader_options){ .pool = NULL }, &stream->fail) &&
	     !pass_init(&stream->pass, &reader, &(struct pass_filter){ .nr_pids = 0 }, &stream->fail) &&
	     !pass_add(&stream->pass, &sched_analysis, NULL, &stream->fail) &&
	     !reader_run(&reader, &(struct reader_consumer){ see, stream }, 1, &stream->fail) &&
	     !pass_end(&stream->pass, &stream->fail);
	stream->switches += stream->pass.state.nr_cpus ? stream->pass.state.cpus[0].switches : 0;
	pass_release(&stream->pass);
	reader_release(&reader);
	trace_free(trace);
	loom_release(&loom);
	return ok;
}

TEST(pass_of_a_stream_forgets_tasks_that_ended)
{
	struct stream stream = { .fail = FAIL_INIT };

	REQUIRE(play(&stream, true));
	CHECK(stream.restarts >= 2 && stream.most_tasks <= PASS_TASKS_MAX);
	CHECK(stream.used_last <= stream.used_first + stream.used_first / 10);
	CHECK(stream.switches == 2 * LIVED);
}

TEST(pass_of_a_stream_does_not_restart_again_and_again_while_many_tasks_live)
{
	struct stream stream = { .fail = FAIL_INIT };

	REQUIRE(play(&stream, false));
	CHECK(stream.restarts == 2);
	CHECK(stream.switches == 2 * LIVED);
}
