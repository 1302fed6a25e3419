// SPDX-License-Identifier: GPL-2.0-only
#include "lib/ground/base/escape.h"

#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/out.h"
#include "lib/screen/view/view.h"
#include "tests/unit/test.h"

static char text[1024];

/* The escaped text of bytes that arrive in pieces of `step`. */
static const char *shown(const char *bytes, size_t len, size_t step)
{
	struct escape escape = { .len = 0 };
	struct out out;

	text[0] = 0;
	if (!out_init(&out, 0))
		return text;
	for (size_t at = 0; at < len; at += step)
		escape_text(&escape, bytes + at, len - at < step ? len - at : step, &out);
	escape_end(&escape, &out);
	memcpy(text, out.start, out_len(&out) < sizeof(text) ? out_len(&out) : sizeof(text) - 1);
	text[out_len(&out) < sizeof(text) ? out_len(&out) : sizeof(text) - 1] = 0;
	out_release(&out);
	return text;
}

/* The result must not depend on the pieces. */
#define CHECK_SHOWN(bytes, want)                                          \
	do {                                                              \
		for (size_t step = 1; step < sizeof(bytes) + 1; step++) { \
			shown(bytes, sizeof(bytes) - 1, step);            \
			CHECK_STR(text, want);                            \
		}                                                         \
	} while (0)

TEST(escape_shows_what_a_terminal_would_obey)
{
	CHECK_SHOWN("\033]0;title\007 a\rb\b\177\0.", "\\033]0;title\\007 a\\015b\\010\\177\\000.");
	CHECK_SHOWN("\302\233"
		    "31m",
		    "\\302\\23331m");
	CHECK_SHOWN("\233"
		    "31m",
		    "\\23331m");
}

TEST(escape_finds_each_byte_at_each_place)
{
	char bytes[20], alone[sizeof(text)];

	for (unsigned byte = 0; byte < 256; byte++)
		for (size_t at = 0; at < sizeof(bytes); at++) {
			memset(bytes, at % 2 ? '~' : ' ', sizeof(bytes));
			bytes[at] = (char)byte;
			snprintf(alone, sizeof(alone), "%s", shown(bytes, sizeof(bytes), 1));
			CHECK_STR(shown(bytes, sizeof(bytes), sizeof(bytes)), alone);
		}
}

TEST(escape_makes_one_line_of_what_came_in_but_for_its_end)
{
	struct out out;

	CHECK(out_init(&out, 16));
	out_str(&out, "head\n");
	out_str(&out, "na\nme \n\nx\n\n");
	escape_newlines(&out, 5);
	out_char(&out, 0);
	CHECK_STR(out.start, "head\nna\\012me \\012\\012x\n\n");
	out_clear(&out);
	out_str(&out, "\n\n");
	escape_newlines(&out, 0);
	CHECK(out_len(&out) == 2);
	out_release(&out);
}

TEST(escape_keeps_lines_tabs_backslashes_and_letters_of_all_languages)
{
	CHECK_SHOWN("a\tb\\033\n", "a\tb\\033\n");
	CHECK_SHOWN("K\303\266ln \346\227\245\346\234\254 \360\237\246\200 \342\202\254",
		    "K\303\266ln \346\227\245\346\234\254 \360\237\246\200 \342\202\254");
}

TEST(escape_shows_what_turns_the_direction_or_has_no_width)
{
	CHECK_SHOWN("a\342\200\256b\342\201\246c\342\200\213d\357\273\277e",
		    "a\\342\\200\\256b\\342\\201\\246c\\342\\200\\213d\\357\\273\\277e");
}

TEST(escape_shows_bytes_that_are_no_utf8)
{
	CHECK_SHOWN("\300\200 \340\200\200 \355\240\200 \364\220\200\200 \377",
		    "\\300\\200 \\340\\200\\200 \\355\\240\\200 \\364\\220\\200\\200 \\377");
	CHECK_SHOWN("\342\202x", "\\342\\202x");
	CHECK_SHOWN("\342\302\265", "\\342\302\265");
	CHECK_SHOWN("\342\202", "\\342\\202");
	CHECK_SHOWN("\360\237\033", "\\360\\237\\033");
}

/* Each right word was read by bash: printf %s WORD prints the text. */
TEST(escape_leaves_no_byte_in_a_copied_word_that_a_terminal_obeys)
{
	static const struct {
		const char *text, *word;
	} table[] = {
		{ "plain-1.dat", "plain-1.dat" },
		{ "K\303\266ln a", "'K\303\266ln a'" },
		{ "it's a\\b", "'it'\\''s a\\b'" },
		{ "a\033]0;x\007b", "$'a\\033]0;x\\007b'" },
		{ "a\nb\t'\\", "$'a\\nb\\t\\'\\\\'" },
		{ "a\342\200\256b\377", "$'a\\342\\200\\256b\\377'" },
		{ "", "''" },
	};

	for (size_t i = 0; i < array_size(table); i++) {
		cleanup_buf struct buf word = BUF_INIT;

		REQUIRE(view_quote(table[i].text, &word));
		CHECK_STR(buf_str(&word), table[i].word);
	}
}
