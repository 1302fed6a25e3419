// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options/help_options.h"

#include <argp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/options/option_order.h"
#include "lib/base/buf.h"
#include "lib/base/text.h"

/* A longer list of words does not fit before the text. */
enum { WORDS_MAX = 24 };

/* Returns "TEXT; WORD is a, b or c"; NULL without memory. */
static char *with_words(const char *doc, const char *list)
{
	cleanup_buf struct buf text = BUF_INIT;
	const char *at = list;
	struct text_word word;
	bool ok = buf_addf(&text, "%s; WORD is ", doc);

	while (ok && text_next_word(&at, "|", &word)) {
		const char *rest = at;
		struct text_word next;
		bool last = !text_next_word(&rest, "|", &next), first = word.at == list;

		ok = buf_addf(&text, "%s%.*s", first ? "" : last ? " or " : ", ", (int)word.len, word.at);
	}
	return ok ? strdup(buf_str(&text)) : NULL;
}

static struct argp_option *options_copy(const struct argp_option *options)
{
	size_t nr = 0;
	struct argp_option *copy;

	while (!option_is_end(&options[nr]))
		nr++;
	copy = calloc(nr + 1, sizeof(*copy));
	for (size_t i = 0; copy && i < nr; i++) {
		const char *arg = options[i].arg;

		copy[i] = options[i];
		if (!arg || !options[i].doc || !strchr(arg, '|') || strlen(arg) <= WORDS_MAX)
			continue;
		copy[i].arg = "WORD";
		copy[i].doc = with_words(options[i].doc, arg);
		if (!copy[i].doc)
			return NULL;
	}
	return copy;
}

static const struct argp *words_below(const struct argp *argp);

static struct argp_child *children_copy(const struct argp_child *children)
{
	size_t nr = 0;
	struct argp_child *copy;

	while (children[nr].argp)
		nr++;
	copy = calloc(nr + 1, sizeof(*copy));
	for (size_t i = 0; copy && i < nr; i++) {
		copy[i] = children[i];
		copy[i].argp = words_below(children[i].argp);
	}
	return copy;
}

static const struct argp *words_below(const struct argp *argp)
{
	struct argp *copy = malloc(sizeof(*copy));

	if (!copy)
		return argp;
	*copy = *argp;
	if (argp->options)
		copy->options = options_copy(argp->options);
	if (argp->children)
		copy->children = children_copy(argp->children);
	return (argp->options && !copy->options) || (argp->children && !copy->children) ? argp : copy;
}

const struct argp *help_options(const struct argp *argp)
{
	return words_below(option_order(argp));
}
