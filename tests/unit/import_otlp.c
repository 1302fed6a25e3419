// SPDX-License-Identifier: GPL-2.0-only
#include "lib/files/import/otlp.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
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

/* What a request becomes; the counts are those of the last call. */
static int lines_of(const char *json, struct buf *into, struct otlp_counts *ret, struct fail *fail)
{
	struct import_source source = { .read = read_text, .arg = &json };
	struct otlp *otlp = NULL;
	uint8_t part[33];
	int r = otlp_new(NULL, &otlp, fail);

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
