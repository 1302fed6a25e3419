// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/stats/bench.h"

#include <stdio.h>
#include <string.h>

#include "lib/ground/base/text.h"

/* Which programs of two commands are compared with each other: those in the same place. */

enum { WORDS_MAX = 64 };

struct words {
	char names[WORDS_MAX][BENCH_NAME]; /* as tasks have them: without directories, at most 15 letters */
	size_t nr;
};

static void add_name(const struct text_word *word, struct words *ret)
{
	const char *slash = memrchr(word->at, '/', word->len), *name = slash ? slash + 1 : word->at;
	size_t len = (size_t)(word->at + word->len - name);

	if (len && ret->nr < WORDS_MAX)
		snprintf(ret->names[ret->nr++], BENCH_NAME, "%.*s", (int)len, name);
}

/* A program is the first word of a command, or has a path; "4" in "sleep 4" is none. */
static void take_words(const char *line, struct words *ret)
{
	struct text_word command, word;

	ret->nr = 0;
	while (text_next_word(&line, ";|&<>()'\"\n", &command)) {
		char text[256];
		const char *at = text;
		bool first = true;

		snprintf(text, sizeof(text), "%.*s", (int)command.len, command.at);
		for (; text_next_word(&at, " \t", &word); first = false)
			if (first || memchr(word.at, '/', word.len))
				add_name(&word, ret);
	}
}

static bool has(const struct words *words, const char *name)
{
	for (size_t i = 0; i < words->nr; i++)
		if (!strcmp(words->names[i], name))
			return true;
	return false;
}

size_t bench_match(const char *old, const char *new, struct bench_match ret[DIFF_RENAMES_MAX])
{
	struct words olds, news;
	size_t nr = 0, places;

	take_words(old, &olds);
	take_words(new, &news);
	/* Of commands of another shape only the first words are in the same place. */
	places = olds.nr == news.nr ? olds.nr : olds.nr && news.nr ? 1 : 0;
	for (size_t i = 0; i < places && nr < DIFF_RENAMES_MAX; i++) {
		struct bench_match match;

		memcpy(match.old_name, olds.names[i], BENCH_NAME);
		memcpy(match.new_name, news.names[i], BENCH_NAME);
		/* A name that both commands have is the same program on both sides. */
		if (*match.old_name && *match.new_name && !has(&news, match.old_name) && !has(&olds, match.new_name))
			ret[nr++] = match;
	}
	return nr;
}
