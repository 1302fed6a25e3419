// SPDX-License-Identifier: GPL-2.0-only
#include "lib/files/import/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "tests/unit/test.h"

struct text {
	const char *at;
	size_t left, most;
};

static int read_text(void *arg, uint8_t *to, size_t size, struct fail *fail)
{
	struct text *text = arg;
	size_t len = text->left < size ? text->left : size;

	(void)fail;
	len = len < text->most ? len : text->most;
	memcpy(to, text->at, len);
	text->at += len;
	text->left -= len;
	return (int)len;
}

/* 2026-06-01 12:00 UTC; clocks of the zone are an hour ahead. */
#define NOW INT64_C(1780315200)

/* The lines that a log becomes. */
static void read_log(struct log_reader *reader, const char *pattern, struct text text, struct buf *into)
{
	struct fail fail = FAIL_INIT;
	struct zone *zone;
	uint8_t part[41];
	int r;

	REQUIRE(!zone_new_fixed(3600, &zone, &fail));
	*reader = (struct log_reader){
		.source = { .read = read_text, .arg = &text }, .pattern = pattern, .zone = zone, .now = NOW * 1000000000
	};
	buf_clear(into);
	while ((r = log_reader_read(reader, part, sizeof(part), &fail)) > 0)
		CHECK(buf_add(into, part, (size_t)r));
	CHECK(!r);
	log_reader_release(reader);
	reader->zone = NULL;
	zone_free(zone);
}

/* What stands in place of the name and the PID of a line that names none. */
#define NOBODY "             log-4194304 [000] ..... "
#define MARK ": tracing_mark_write: "
#define SOMEBODY(name, pid) name "-" pid " [000] ..... "
#define STAMP(key, us) "\"" key "\":\"" us "\","

TEST(log_lines_of_each_form_become_markers_at_their_time)
{
	static const struct {
		const char *pattern, *line, *want;
		int64_t unit;
	} cases[] = {
		/* 14:02:31 UTC is 1795874551. */
		{ NULL, "2026-11-28T14:02:31Z host prog[12]: text",
		  SOMEBODY("            prog", "12     ") "1795874551.000000" MARK "prog[12]: text", 1000000000 },
		{ NULL, "2026-11-28T14:02:31+0000 host kernel: x", NOBODY "1795874551.000000" MARK "kernel: x",
		  1000000000 },
		{ NULL, "2026-11-28T15:02:31.25+01:00 host  a b", NOBODY "1795874551.250000" MARK "a b", 10000000 },
		{ NULL, "2026-11-28 15:02:31,123456 host p[7]: x",
		  SOMEBODY("               p", "7      ") "1795874551.123456" MARK "p[7]: x", 1000 },
		{ NULL, "<30>1 2026-11-28T14:02:31.1234567891Z host p: x", NOBODY "1795874551.123456789" MARK "p: x",
		  1 },
		{ NULL, "2026-11-28T14:02:31-00:30 host x", NOBODY "1795876351.000000" MARK "x", 1000000000 },
		/* Without a year: the last one in which that is not in the future; of the zone. */
		{ NULL, "Jun  1 12:59:59 host p[3]: x",
		  SOMEBODY("               p", "3      ") "1780315199.000000" MARK "p[3]: x", 1000000000 },
		{ NULL, "Jan  1 00:00:00.5 host x", NOBODY "1767222000.500000" MARK "x", 100000000 },
		{ NULL, "Nov 28 15:02:31 host x", NOBODY "1764338551.000000" MARK "x", 1000000000 },
		{ NULL, "Nov 28 15:02:31.5 host x", NOBODY "1764338551.500000" MARK "x", 100000000 },
		/* A journal: what the program wrote comes before when it was got. */
		{ NULL,
		  "{ \"__REALTIME_TIMESTAMP\" : \"1795874551000009\", "
		  "\"_PID\":\"77\", \"_COMM\":\"weaver\", \"MESSAGE\":\"warp\\nand \\u0041\\\"\"}",
		  SOMEBODY("          weaver", "77     ") "1795874551.000009" MARK "weaver: warp and ?\"", 1000 },
		{ NULL,
		  "{" STAMP("__REALTIME_TIMESTAMP", "2")
			  STAMP("_SOURCE_REALTIME_TIMESTAMP",
				"1000001") "\"x\":[1,{\"MESSAGE\":\"no\"}],\"y\":null,"
					   "\"SYSLOG_PID\":\"5\",\"SYSLOG_IDENTIFIER\":\"id\",\"_COMM\":\"c\","
					   "\"MESSAGE\":\"m\"}",
		  SOMEBODY("              id", "5      ") "    1.000001" MARK "id: m", 1000 },
		{ NULL, "{\"__REALTIME_TIMESTAMP\":\"1000000\",\"MESSAGE\":\"m\"}", NOBODY "    1.000000" MARK "m",
		  1000 },
		{ "%d/%b/%Y:%H:%M:%S %z", "28/Nov/2026:14:02:31 +0000 x", NOBODY "1795874551.000000" MARK "x",
		  1000000000 },
		{ "*[%d/%b/%Y:%H:%M:%S", "1.2.3.4 - [28/Nov/2026:15:02:31.5] GET",
		  NOBODY "1795874551.500000" MARK "1.2.3.4 - [28/Nov/2026:15:02:31.5] GET", 100000000 },
		/* The date of the pattern that has none is that of now. */
		{ "%H:%M:%S", "13:00:00.001 x", NOBODY "1780315200.001000" MARK "x", 1000000 },
		{ "%H:%M:%S", "12:00:00Z - p[9]: x",
		  SOMEBODY("               p", "9      ") "1780315200.000000" MARK "p[9]: x", 1000000000 },
	};
	cleanup_buf struct buf text = BUF_INIT;

	for (size_t i = 0; i < array_size(cases); i++)
		for (size_t most = 1; most < 400; most += 130) {
			struct text log = { cases[i].line, strlen(cases[i].line), most };
			struct log_reader reader;
			char want[256];

			snprintf(want, sizeof(want), "%s\n", cases[i].want);
			read_log(&reader, cases[i].pattern, log, &text);
			CHECK_STR(buf_str(&text), want);
			CHECK(reader.unit == cases[i].unit && !reader.no_times);
		}
}

TEST(log_lines_without_a_time_are_counted)
{
	static const char *const lines[] = {
		"x",
		"2026-11-28",
		"2026-11-28T14:02 host x",
		"2026-11-28T14:02:31Zhost",
		"1969-01-01T00:00:00Z host x",
		"Nov 28 15:02 host x",
		"Nov 28 15:02:31host",
		"{}",
		"{\"MESSAGE\":\"m\"}",
		"{\"__REALTIME_TIMESTAMP\":\"1000000\"}",
		"{\"__REALTIME_TIMESTAMP\":\"-1\",\"MESSAGE\":\"m\"}",
		"{\"__REALTIME_TIMESTAMP\":\"1000000",
		"{\"MESSAGE\":\"m\\",
	};
	static const char several[] = "\n\nx\r\n1970-01-01T00:00:05.5Z h a\0b\r\n1970-01-01T00:00:04Z h c\n";
	cleanup_buf struct buf text = BUF_INIT;
	struct log_reader reader;

	for (size_t i = 0; i < array_size(lines); i++) {
		read_log(&reader, NULL, (struct text){ lines[i], strlen(lines[i]), 100 }, &text);
		if (!CHECK(!text.len && reader.no_times == 1))
			CHECK_STR(lines[i], "");
	}
	/* Empty lines are none; the first time is that of the first line with one, the unit that of the coarsest. */
	read_log(&reader, NULL, (struct text){ several, sizeof(several) - 1, 100 }, &text);
	CHECK(reader.no_times == 1 && reader.first == 5500000000 && reader.unit == 1000000000);
	CHECK_STR(buf_str(&text), NOBODY "    5.500000" MARK "a b\n" NOBODY "    4.000000" MARK "c\n");
}
