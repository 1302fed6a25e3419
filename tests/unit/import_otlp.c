// SPDX-License-Identifier: GPL-2.0-only
#include "lib/files/import/otlp.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/starve.h"
#include "tests/unit/test.h"

static int read_text(void *arg, uint8_t *to, size_t size, struct fail *fail)
{
	const char **text = arg;
	size_t len = strnlen(*text, size < 50 ? size : 50);

	(void)fail;
	memcpy(to, *text, len);
	*text += len;
	return (int)len;
}

/* What a request becomes beside a recording, or without one; the counts are those of the last call. */
static int lines_beside(struct trace *recording, const char *json, struct buf *into, struct otlp_counts *ret,
			struct fail *fail)
{
	struct import_source source = { .read = read_text, .arg = &json };
	struct otlp *otlp = NULL;
	uint8_t part[33];
	int r = otlp_new(recording, &otlp, fail);

	buf_clear(into);
	if (!r)
		r = otlp_take(otlp, &source, fail);
	while (!r && (r = otlp_read(otlp, part, sizeof(part), fail)) > 0)
		r = buf_add(into, part, (size_t)r) ? 0 : -ENOMEM;
	if (!r)
		*ret = *otlp_counts(otlp);
	otlp_free(otlp);
	return r;
}

static int lines_of(const char *json, struct buf *into, struct otlp_counts *ret, struct fail *fail)
{
	return lines_beside(NULL, json, into, ret, fail);
}

#define SPANS(of, spans) \
	"{\"resourceSpans\":[{\"resource\":{\"attributes\":[" of "]},\"scopeSpans\":[{\"spans\":[" spans "]}]}]}"
#define OF(service, pid)                                                          \
	"{\"key\":\"service.name\",\"value\":{\"stringValue\":\"" service "\"}}," \
	"{\"key\":\"process.pid\",\"value\":{\"intValue\":\"" pid "\"}}"
#define SPAN(name, id, start, end, rest)                                                           \
	"{\"traceId\":\"4bf92f3577b34da6a3ce929d0e0e4736\",\"spanId\":\"" id "\",\"name\":\"" name \
	"\",\"startTimeUnixNano\":\"" start "\",\"endTimeUnixNano\":\"" end "\"" rest "}"
#define THREAD(tid) ",\"attributes\":[{\"key\":\"thread.native_id\",\"value\":{\"intValue\":" tid "}}]"

#define IDS(id, parent) "otlp_span: trace_id=4bf92f3577b34da6a3ce929d0e0e4736 span_id=" id " parent_span_id=" parent
#define HEAD "            shop-"
#define NONE "0000000000000000"
#define CHILD_OF(id) ",\"parentSpanId\":\"" id "\",\"kind\":\"SPAN_KIND_CLIENT\",\"status\":{\"code\":2}"
#define SAYS(joined, kind, status) " joined=" joined " kind=" kind " status=" status " lasted_ns="
#define MARK "otlp: "
#define PROCESS "|7|4bf92f3577b34da6a3ce929d0e0e4736|"

/* clang-format off */
/* A child in its parent is a span of the thread; one that ends after its parent is one of the process, by its ids. */
static const char nested[] =
	SPANS(OF("shop", "7"),
	      SPAN("GET /|cart", "00f067aa0ba902b7", "1000", "9000", THREAD("8") ",\"kind\":2")
	      "," SPAN("query one", "00f067aa0ba902b8", "2000", "3000", THREAD("8") CHILD_OF("00F067AA0BA902B7"))
	      "," SPAN("late|r", "00000000000000ff", "8000", "10000", THREAD("8"))
	      "," SPAN("a\\tb", "0000000000000020", "20000", "20000", ""));

static const char nested_lines[] =
	HEAD "8       [000] ..... 0.000001000: " MARK "B|7|GET /|cart\n"
	HEAD "8       [000] ..... 0.000001000: " IDS("00f067aa0ba902b7", NONE)
		SAYS("thread", "server", "ok") "8000 service=shop name=GET_/|cart\n"
	HEAD "8       [000] ..... 0.000002000: " MARK "B|7|query one\n"
	HEAD "8       [000] ..... 0.000002000: " IDS("00f067aa0ba902b8", "00f067aa0ba902b7")
		SAYS("thread", "client", "error") "1000 service=shop name=query_one\n"
	HEAD "8       [000] ..... 0.000003000: " MARK "E|7\n"
	HEAD "8       [000] ..... 0.000008000: " MARK "G" PROCESS "late/r|7\n"
	HEAD "8       [000] ..... 0.000008000: " IDS("00000000000000ff", NONE)
		SAYS("thread", "unspecified", "ok") "2000 service=shop name=late|r\n"
	HEAD "8       [000] ..... 0.000009000: " MARK "E|7\n"
	HEAD "8       [000] ..... 0.000010000: " MARK "H" PROCESS "7\n"
	HEAD "7       [000] ..... 0.000020000: " MARK "G" PROCESS "a b|1\n"
	HEAD "7       [000] ..... 0.000020000: " IDS("0000000000000020", NONE)
		SAYS("process", "unspecified", "ok") "0 service=shop name=a_b\n"
	HEAD "7       [000] ..... 0.000020000: " MARK "H" PROCESS "1\n";
/* clang-format on */

TEST(otlp_spans_become_marks_of_threads_where_they_nest)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct otlp_counts counts;
	struct fail fail = FAIL_INIT;

	CHECK(!lines_of(nested, &text, &counts, &fail));
	CHECK_STR(fail.text, "");
	CHECK_STR(buf_str(&text), nested_lines);
	CHECK(counts.spans == 4 && counts.joined[OTLP_BY_THREAD] == 3 && counts.joined[OTLP_BY_PROCESS] == 1);
	CHECK(counts.crossing == 1 && !counts.refused && !counts.absent);
}

TEST(otlp_spans_without_what_makes_one_are_counted_and_left_out)
{
	static const char *const spans[] = {
		SPAN("x", "00f067aa0ba902b7", "0", "5", ""),
		SPAN("x", "00f067aa0ba902b7", "6", "5", ""),
		SPAN("x", "00f067aa0ba902b7", "", "5", ""),
		SPAN("x", "00f067aa0ba902b7", "5", "4611686018427387904", ""),
		SPAN("x", "0000000000000000", "4", "5", ""),
		SPAN("x", "00f067aa0ba902b", "4", "5", ""),
		SPAN("x", "00f067aa0ba902bg", "4", "5", ""),
		"{\"name\":\"x\"}",
		"{\"traceId\":7,\"spanId\":\"00f067aa0ba902b7\",\"startTimeUnixNano\":4,\"endTimeUnixNano\":5}",
		"5",
	};
	cleanup_buf struct buf text = BUF_INIT;
	struct otlp_counts counts;
	struct fail fail = FAIL_INIT;
	char json[1024];

	for (size_t i = 0; i < array_size(spans); i++) {
		snprintf(json, sizeof(json), SPANS(OF("shop", "7"), "%s"), spans[i]);
		CHECK(!lines_of(json, &text, &counts, &fail) && !text.len);
		CHECK(counts.refused == 1 && !counts.spans);
	}
}

TEST(otlp_takes_requests_one_after_the_other_and_tells_what_is_none)
{
	static const struct {
		const char *json;
		int err;
		uint64_t spans;
		const char *want;
	} cases[] = {
		{ "", 0, 0, "" },
		{ " \n\t", 0, 0, "" },
		{ SPANS("", SPAN("x", "00f067aa0ba902b7", "4", "5",
				 "")) "\n" SPANS("", SPAN("a}\\\"]", "00f067aa0ba902b8", "4", "5", "")) "\n",
		  0, 2, "" },
		{ "{\"resourceSpans\":[{\"instrumentationLibrarySpans\":[{\"spans\":[" SPAN("x", "00f067aa0ba902b7",
											    "4", "5", "") "]}]}]}",
		  0, 1, "" },
		{ "{\"resourceSpans\":7}", 0, 0, "" },
		{ "{}", -EBADMSG, 0, "request 1: it has no 'resourceSpans'" },
		{ "{\"resourceSpans\":[]}{\"resourceLogs\":[]}", -EBADMSG, 0, "request 2: it has no 'resourceSpans'" },
		{ "{\"resourceSpans\":[]}{\"resourceSpans\":[", -EBADMSG, 0, "request 2 does not end" },
		{ "{\"resourceSpans\":[]}x", -EBADMSG, 0, "request 2 does not end" },
		{ "{\"resourceSpans\" []}", -EBADMSG, 0, "request 1: " },
	};
	cleanup_buf struct buf text = BUF_INIT;

	for (size_t i = 0; i < array_size(cases); i++) {
		struct otlp_counts counts = { .spans = 0 };
		struct fail fail = FAIL_INIT;

		CHECK(lines_of(cases[i].json, &text, &counts, &fail) == cases[i].err);
		CHECK(counts.spans == cases[i].spans);
		if (!CHECK(!strncmp(fail.text, cases[i].want, strlen(cases[i].want)) && !*fail.text == !*cases[i].want))
			CHECK_STR(fail.text, cases[i].want);
	}
}

#define DOCKER(digit) "/docker/" digit digit digit digit digit digit digit digit
#define RESOURCE(key, value) "{\"key\":\"" key "\",\"value\":{\"stringValue\":\"" value "\"}},"
#define NAMED(name) ",\"attributes\":[{\"key\":\"thread.name\",\"value\":{\"stringValue\":\"" name "\"}}]"
#define ONE(of, rest) SPANS(of, SPAN("x", "00f067aa0ba902b7", "1000", "2000", rest))

/*
 * Three processes of containers, which all call themselves 7, as their namespaces have it; one of the host; a task that
 * ended while it was recorded. TID TGID PPID STARTTIME UID NSPID CGROUP, then the name and the program.
 */
static const char tasks[] = "100 100 1 5 0 7 10\tshop\t/opt/shop\n"
			    "101 100 1 5 0 8 10\tworker\t\n"
			    "102 100 1 5 0 9 10\tworker-2\t\n"
			    "200 200 1 5 0 7 20\tbank\t/opt/bank\n"
			    "300 300 1 5 0 7 30\tbank\t/opt/bank\n"
			    "400 400 1 5 0 400 1\tcron\t/bin/cron\n"
			    "no task\n";
static const char groups[] =
	"0 1 /\n0 10 " DOCKER("aaaaaaaa") "\n0 20 " DOCKER("bbbbbbbb") "\n0 30 " DOCKER("cccccccc") "\n";
static const char on[] = "sched:sched_process_exec\nsched:sched_process_exit\ntask:task_newtask\n"
			 "cgroup:cgroup_attach_task\n";

TEST(otlp_spans_are_of_the_tasks_that_a_recording_knows)
{
	static const struct {
		const char *json, *task, *joined;
		uint64_t absent;
	} rows[] = {
		/* By the program, and by the number of the thread in its namespace or in the host's. */
		{ ONE(RESOURCE("process.executable.name", "shop") OF("s", "7"), THREAD("8")), "worker-101 ", "thread",
		  0 },
		{ ONE(RESOURCE("process.executable.name", "shop") OF("s", "7"), THREAD("102")), "worker-2-102 ",
		  "thread", 0 },
		{ ONE(RESOURCE("process.executable.name", "shop") OF("s", "7"), THREAD("77")), "shop-100 ", "process",
		  0 },
		/* By the name of the thread; the only thread may have any name. */
		{ ONE(RESOURCE("process.executable.name", "shop") OF("s", "7"), NAMED("worker")), "worker-101 ", "name",
		  0 },
		{ ONE(RESOURCE("process.executable.name", "shop") OF("s", "7"), NAMED("Main")), "shop-100 ", "process",
		  0 },
		{ ONE(OF("s", "400"), NAMED("Main")), "cron-400 ", "name", 0 },
		{ ONE(OF("s", "400"), ""), "cron-400 ", "name", 0 },
		/* Two banks; one of them is in that container. */
		{ ONE(RESOURCE("process.executable.name", "bank") OF("s", "7"), ""), "otlp-", "time", 0 },
		{ ONE(RESOURCE("container.id", "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc")
			      OF("s", "7"),
		      ""),
		  "bank-300 ", "name", 0 },
		{ ONE(OF("s", "7"), ""), "otlp-", "time", 0 },
		{ ONE(OF("s", "9999"), THREAD("8")), "otlp-", "time", 1 },
		/* A thread tells its process. */
		{ ONE("", THREAD("101")), "worker-101 ", "thread", 0 },
		{ ONE("", THREAD("9999")), "otlp-", "time", 0 },
		{ ONE("", ""), "otlp-", "time", 0 },
	};
	cleanup_buf struct buf text = BUF_INIT;
	struct trace *trace;
	struct loom loom;

	loom_init(&loom);
	loom_setting(&loom, "weft/mode", "record");
	loom_setting(&loom, "weft/tasks", tasks);
	loom_setting(&loom, "weft/cgroups", groups);
	loom_setting(&loom, "set_event", on);
	loom_play(&loom, "0 1000 7 sched_waking comm=ls pid=8\n");
	trace = loom_trace(&loom);
	REQUIRE(trace);
	for (size_t i = 0; i < array_size(rows); i++) {
		struct otlp_counts counts = { .spans = 0 };
		struct fail fail = FAIL_INIT;
		char want[64];

		CHECK(!lines_beside(trace, rows[i].json, &text, &counts, &fail));
		CHECK_STR(fail.text, "");
		snprintf(want, sizeof(want), " joined=%s ", rows[i].joined);
		if (!CHECK(strstr(buf_str(&text), rows[i].task) && strstr(buf_str(&text), want)))
			CHECK_STR(buf_str(&text), rows[i].task);
		CHECK(counts.spans == 1 && counts.absent == rows[i].absent);
	}
	trace_free(trace);
	loom_release(&loom);
}

TEST(otlp_without_memory_is_an_error_in_words)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct otlp_counts counts;

	for (uint64_t at = 1, r = 1; r; at++) {
		struct fail fail = FAIL_INIT;

		starve_begin(at);
		r = (uint64_t)-lines_of(nested, &text, &counts, &fail);
		starve_end();
		CHECK(!r ? at > 5 && counts.spans == 4 : r == ENOMEM);
	}
}
