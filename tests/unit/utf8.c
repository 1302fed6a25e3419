// SPDX-License-Identifier: GPL-2.0-only
#include "lib/ground/base/utf8.h"

#include <string.h>

#include "tests/unit/test.h"

static size_t columns_of(const char *text)
{
	return utf8_columns(text, strlen(text));
}

TEST(utf8_columns_are_those_of_a_terminal)
{
	CHECK(columns_of("") == 0);
	CHECK(columns_of("shuttle") == 7);
	CHECK(columns_of("gr\303\274n") == 4);
	/* Two ideographs, a syllable, a wide letter, a picture. */
	CHECK(columns_of("\347\271\224\346\234\272") == 4);
	CHECK(columns_of("\352\260\200") == 2);
	CHECK(columns_of("\357\274\241") == 2);
	CHECK(columns_of("\360\237\247\265") == 2);
	/* The letter e with a combining acute accent; a joiner without a width. */
	CHECK(columns_of("e\314\201") == 1);
	CHECK(columns_of("a\342\200\215b") == 2);
	/* Each byte that is not UTF-8 counts as one column, however a terminal shows it. */
	CHECK(columns_of("\377\376x") == 3);
	CHECK(columns_of("\347\271") == 2);
}

TEST(utf8_fit_cuts_no_character)
{
	static const char text[] = "a\347\271\224e\314\201z";

	CHECK(utf8_fit(text, strlen(text), 0) == 0);
	CHECK(utf8_fit(text, strlen(text), 1) == 1);
	CHECK(utf8_fit(text, strlen(text), 2) == 1);
	CHECK(utf8_fit(text, strlen(text), 3) == 4);
	CHECK(utf8_fit(text, strlen(text), 4) == 7);
	CHECK(utf8_fit(text, strlen(text), 99) == strlen(text));
}
