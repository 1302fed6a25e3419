// SPDX-License-Identifier: GPL-2.0-only
#include "lib/ground/base/option_lines.h"

#include <errno.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "tests/unit/test.h"

static struct option_lines of(const char *text)
{
	return (struct option_lines){ .at = text, .left = strlen(text) };
}

static bool is(const struct option_line *line, const char *name, const char *value)
{
	return !strcmp(line->name, name) && text_word_is(line->value, value);
}

TEST(option_lines_skip_comments_and_count_lines)
{
	struct option_lines lines = of("# one\n\n  keep = 10s \r\n;two\nstacktrace");
	struct option_line line;

	REQUIRE(option_lines_next(&lines, &line, NULL) == 1);
	CHECK(is(&line, "keep", "10s") && line.has_value && !line.is_section);
	CHECK(lines.number == 3);
	REQUIRE(option_lines_next(&lines, &line, NULL) == 1);
	CHECK(is(&line, "stacktrace", "") && !line.has_value);
	CHECK(lines.number == 5);
	CHECK(!option_lines_next(&lines, &line, NULL));
}

TEST(option_lines_keep_the_rest_of_a_line_as_the_value)
{
	struct option_lines lines = of("--when = oops = kmsg:a # b\nname =\n[ io ]\n");
	struct option_line line;

	REQUIRE(option_lines_next(&lines, &line, NULL) == 1);
	CHECK(is(&line, "when", "oops = kmsg:a # b"));
	REQUIRE(option_lines_next(&lines, &line, NULL) == 1);
	CHECK(is(&line, "name", "") && line.has_value);
	REQUIRE(option_lines_next(&lines, &line, NULL) == 1);
	CHECK(is(&line, "instance", "io") && line.is_section);
}

TEST(option_lines_refuse_what_is_no_option)
{
	static const char *const wrong[] = {
		"keep 10s", "= 3", "--", "a\tb = 3",
		"a-name-that-is-longer-than-the-name-of-any-option-that-weft-has-or-will-have"
	};
	struct option_lines lines;
	struct option_line line;
	struct fail fail = FAIL_INIT;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		lines = of(wrong[i]);
		CHECK(option_lines_next(&lines, &line, &fail) == -EINVAL);
		CHECK(strstr(fail.text, "is not NAME or NAME = VALUE"));
	}
	lines = (struct option_lines){ .at = "a = \0b", .left = 6 };
	CHECK(option_lines_next(&lines, &line, NULL) == -EINVAL);
}
