// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/answers/frame/analysis.h"
#include "lib/answers/frame/findings.h"
#include "lib/answers/frame/pass.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

/* A summary is the same whether its analyses run in one thread or in several. */

enum { ROUNDS = 3000 };

/* On CPU 0 a task calls, is interrupted and gives its CPU to the other one; on CPU 1 one waits for a lock. */
static struct trace *make_trace(bool lossy)
{
	cleanup_buf struct buf script = BUF_INIT;
	struct trace *trace;
	struct loom loom;
	uint64_t now = 1000;

	loom_init(&loom);
	loom_type(&loom, "raw_syscalls", "sys_enter", "long id", "\"\"");
	loom_type(&loom, "raw_syscalls", "sys_exit", "long id; long ret", "\"\"");
	loom_type(&loom, "lock", "contention_begin", "u64 lock_addr; u32 flags", "\"\"");
	loom_type(&loom, "lock", "contention_end", "u64 lock_addr; int ret", "\"\"");
	loom_type(&loom, "irq", "softirq_entry", "int vec", "\"\"");
	loom_type(&loom, "irq", "softirq_exit", "int vec", "\"\"");
	for (uint64_t i = 0; i < ROUNDS; i++, now += 1000) {
		uint64_t task = 7 + i % 2, next = 8 - i % 2, call = i * i % 11, lasted = 10 + i * 7919 % 400;

		CHECK(buf_addf(&script, "0 %" PRIu64 " %" PRIu64 " sys_enter id=%" PRIu64 "\n", now, task, call));
		CHECK(buf_addf(&script, "1 %" PRIu64 " 9 contention_begin lock_addr=77 flags=32\n", now));
		CHECK(buf_addf(&script, "0 %" PRIu64 " %" PRIu64 " softirq_entry vec=1\n", now + 2, task));
		CHECK(buf_addf(&script, "0 %" PRIu64 " %" PRIu64 " softirq_exit vec=1\n", now + 2 + lasted % 7, task));
		CHECK(buf_addf(&script, "0 %" PRIu64 " %" PRIu64 " sys_exit id=%" PRIu64 " ret=%" PRId64 "\n",
			       now + lasted, task, call, (int64_t)(i % 3) - 2));
		CHECK(buf_addf(&script, "1 %" PRIu64 " 9 contention_end lock_addr=77 ret=0\n", now + lasted));
		CHECK(buf_addf(&script,
			       "0 %" PRIu64 " %" PRIu64 " sched_waking comm=task pid=%" PRIu64 " target_cpu=0\n",
			       now + 500, task, next));
		CHECK(buf_addf(&script,
			       "0 %" PRIu64 " %" PRIu64 " sched_switch prev_comm=task prev_pid=%" PRIu64
			       " prev_state=1 next_comm=task next_pid=%" PRIu64 "\n",
			       now + 500 + lasted, task, task, next));
		if (lossy && i % 1000 == 500)
			CHECK(buf_addf(&script, "%" PRIu64 " lost 7\n", i / 1000 % 2));
	}
	loom_play(&loom, buf_str(&script));
	trace = loom_trace(&loom);
	loom_release(&loom);
	return trace;
}

/* All tables as CSV with the lines about missing facts, or as JSON. */
static char *text_of(struct findings *findings, enum table_format format, struct fail *fail)
{
	const struct findings_options options = { .format = format, .top = UINT64_MAX };
	struct out out;
	char *text = NULL;

	if (CHECK(out_init(&out, 0)) && CHECK(!findings_arrange(findings, &options, fail)) &&
	    CHECK(findings_write(findings, &options, &out))) {
		out_f(&out, "cut: %s\nbroken: %s\n", buf_str(&findings->cut), buf_str(&findings->broken));
		text = strndup(out.start, out_len(&out));
	}
	out_release(&out);
	return text;
}

static char *sum_up(struct trace *trace, unsigned ahead, size_t samples, enum table_format format, const char *recorded)
{
	struct fail fail = FAIL_INIT;
	struct reader reader;
	struct findings findings;
	struct pass pass;
	char *text = NULL;
	bool ok;

	reader_init(&reader);
	findings_init(&findings);
	ok = trace && !reader_add_trace(&reader, trace, &fail) &&
	     !reader_start(&reader, &(struct reader_options){ .ahead = ahead }, &fail);
	if (!CHECK(ok)) {
		reader_release(&reader);
		return NULL;
	}
	ok = !pass_init(&pass, &reader, &(struct pass_filter){ .cpus = NULL }, &fail);
	pass.samples = samples;
	reader.buffers[0].context->switched_on = recorded;
	pass_divide(&pass);
	ok = ok && !pass_add(&pass, &summary_analysis, NULL, &fail);
	CHECK((pass.apart != NULL) == (ahead > 0));
	ok = ok && !pass_run(&pass, NULL, &fail) && !pass_finish(&pass, 0, &findings, &fail);
	if (CHECK(ok))
		text = text_of(&findings, format, &fail);
	else
		printf("%s\n", fail.text);
	reader.buffers[0].context->switched_on = NULL;
	findings_release(&findings);
	pass_release(&pass);
	reader_release(&reader);
	return text;
}

/* `recorded`: NULL, or events that the file is said to have; without system calls, another analysis has a thread. */
static void compare(struct trace *trace, size_t samples, enum table_format format, const char *recorded)
{
	cleanup_free char *alone = sum_up(trace, 0, samples, format, recorded);

	REQUIRE(alone != NULL);
	CHECK(strstr(alone, "mutex") && strstr(alone, "TIMER") && strstr(alone, "syscall_4"));
	for (unsigned ahead = 1; ahead < 5; ahead++) {
		cleanup_free char *text = sum_up(trace, ahead, samples, format, recorded);

		CHECK(text && !strcmp(text, alone));
	}
}

static void compare_all(bool lossy)
{
	struct trace *trace = make_trace(lossy);

	/* More samples than there are, and so few that some tables have them and others count in buckets. */
	for (size_t samples = SAMPLES_BUDGET; samples; samples = samples > 5000 ? 5000 : samples / 70) {
		compare(trace, samples, TABLE_AS_CSV, NULL);
		compare(trace, samples, TABLE_AS_JSON, NULL);
		compare(trace, samples, TABLE_AS_JSON, "sched:sched_switch\n");
	}
	trace_free(trace);
}

TEST(divided_analyses_have_the_same_tables_in_any_number_of_threads)
{
	compare_all(false);
}

TEST(divided_analyses_of_lost_events_have_the_same_tables_in_any_number_of_threads)
{
	compare_all(true);
}

TEST(divided_analyses_are_those_that_may_occur)
{
	struct trace *trace = make_trace(false);
	struct fail fail = FAIL_INIT;
	struct reader reader;
	struct pass pass;

	reader_init(&reader);
	REQUIRE(!reader_add_trace(&reader, trace, &fail) &&
		!reader_start(&reader, &(struct reader_options){ .ahead = 1 }, &fail) &&
		!pass_init(&pass, &reader, &(struct pass_filter){ .cpus = NULL }, &fail));
	CHECK(pass_of(&pass, &syscalls_analysis) == &pass);
	pass_divide(&pass);
	CHECK(pass_of(&pass, &sched_analysis) == &pass);
	reader.buffers[0].context->switched_on = "sched:sched_switch\n";
	CHECK(pass_of(&pass, &syscalls_analysis) == &pass);
	CHECK(pass_of(&pass, &why_analysis) != &pass && pass.apart && !pass.apart->state.no_causes);
	reader.buffers[0].context->switched_on = "sched:sched_switch\nraw_syscalls:sys_enter\n";
	CHECK(pass_of(&pass, &syscalls_analysis) != &pass && pass.apart && pass.apart->state.no_causes);
	CHECK(pass_of(&pass, &why_analysis) == &pass);
	reader.buffers[0].context->switched_on = NULL;
	pass_release(&pass);
	reader_release(&reader);
	trace_free(trace);
}
