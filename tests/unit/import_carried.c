// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/tracefs/tracing.h"
#include "tests/unit/imported.h"
#include "tests/unit/test.h"

/*
 * The kernel's own text of a recording, and what mails, pages, logs and programs make of it on its way: weft import has
 * to give the kernel's text back.
 */

static const char *const texts[] = {
	"6.12-function", "6.1-rt-function", "6.12-osnoise", "6.12-hwlat", "6.12-user_events", "6.12-events-sched",
};

typedef void carry(struct buf *to, const char *text);

static void add(struct buf *to, const char *text, size_t len)
{
	CHECK(buf_add(to, text, len));
}

/* Each line, with something in front of it and behind. */
static void around(struct buf *to, const char *text, const char *front, const char *behind)
{
	for (size_t len; *text; text += len) {
		len = strcspn(text, "\n");
		add(to, front, strlen(front));
		add(to, text, len);
		add(to, behind, strlen(behind));
		len += text[len] == '\n';
		add(to, "\n", 1);
	}
}

static void as_it_is(struct buf *to, const char *text)
{
	add(to, text, strlen(text));
}

static void of_windows(struct buf *to, const char *text)
{
	around(to, text, "", "\r");
}

static void quoted(struct buf *to, const char *text)
{
	around(to, text, "> ", "");
}

static void quoted_twice(struct buf *to, const char *text)
{
	around(to, text, "> > ", "");
}

static void indented(struct buf *to, const char *text)
{
	around(to, text, "    ", "");
}

static void logged(struct buf *to, const char *text)
{
	around(to, text, "[   12.345678] ", "");
}

static void logged_by_a_service(struct buf *to, const char *text)
{
	around(to, text, "Nov 25 08:00:01 box kernel: ", "");
}

/* RFC 2045: 76 characters in a line, and what is not plain as "=XX". */
static void quoted_printable(struct buf *to, const char *text)
{
	size_t column = 0;

	for (; *text; text++) {
		char code[4];
		unsigned char c = (unsigned char)*text;

		if (c == '\n') {
			add(to, "\n", 1);
			column = 0;
			continue;
		}
		snprintf(code, sizeof(code), c == '=' || c >= 0x7f ? "=%02X" : "%c", c);
		if (column + strlen(code) > 75) {
			add(to, "=\n", 2);
			column = 0;
		}
		add(to, code, strlen(code));
		column += strlen(code);
	}
}

static void of_a_page(struct buf *to, const char *text)
{
	add(to, "<html><body><pre>\n", 18);
	for (; *text; text++) {
		const char *as = *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : *text == '&' ? "&amp;" : NULL;

		add(to, as ? as : text, as ? strlen(as) : 1);
	}
	add(to, "</pre></body></html>\n", 21);
}

static void of_json(struct buf *to, const char *text)
{
	CHECK(buf_addf(to, "{\"traceEvents\":[],\"systemTraceEvents\": \""));
	for (; *text; text++) {
		const char *as = *text == '\n' ? "\\n" : *text == '"' ? "\\\"" : *text == '\\' ? "\\\\" : NULL;

		add(to, as ? as : text, as ? strlen(as) : 1);
	}
	add(to, "\"}\n", 3);
}

static void in_a_fence(struct buf *to, const char *text)
{
	CHECK(buf_addf(to, "What I see:\n\n```\n%s```\n\nAny idea?\n", text));
}

static const struct {
	const char *name;
	carry *carry;
} ways[] = {
	{ "as it is", as_it_is },
	{ "of Windows", of_windows },
	{ "quoted", quoted },
	{ "quoted twice", quoted_twice },
	{ "indented", indented },
	{ "logged", logged },
	{ "logged by a service", logged_by_a_service },
	{ "quoted-printable", quoted_printable },
	{ "of a page", of_a_page },
	{ "of JSON", of_json },
	{ "in a fence", in_a_fence },
};

static bool read_text(const char *name, struct buf *ret)
{
	char path[128];

	snprintf(path, sizeof(path), "tests/fixtures/golden/%s.txt", name);
	return !tracing_read_path(path, ret, NULL);
}

static void check(const char *text, size_t first, size_t second, uint64_t events)
{
	cleanup_buf struct buf once = BUF_INIT, twice = BUF_INIT;
	struct import_counts counts;

	ways[first].carry(&once, text);
	ways[second].carry(&twice, buf_str(&once));
	counts = imported_prints(buf_str(&twice), NULL, text);
	if (!CHECK(counts.events == events))
		fprintf(stderr, "%s, %s: %llu of %llu\n", ways[first].name, ways[second].name,
			(unsigned long long)counts.events, (unsigned long long)events);
}

/* JSON is read whole, a log has no lines of a mail that end softly, and nothing is done twice. */
static bool may_follow(carry *first, carry *second)
{
	if (second == as_it_is)
		return true;
	if (first == quoted_printable && (second == logged || second == logged_by_a_service))
		return false;
	return first != second && first != of_json;
}

TEST(import_gives_back_what_was_carried_in_any_way)
{
	for (size_t i = 0; i < array_size(texts); i++) {
		cleanup_buf struct buf text = BUF_INIT;
		struct import_counts counts;

		REQUIRE(read_text(texts[i], &text));
		counts = comes_back(buf_str(&text));
		for (size_t way = 1; way < array_size(ways); way++)
			for (size_t second = 0; second < array_size(ways); second++)
				if (may_follow(ways[way].carry, ways[second].carry))
					check(buf_str(&text), way, second, counts.events);
	}
}
