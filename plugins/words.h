/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_PLUGINS_WORDS_H
#define WEFT_PLUGINS_WORDS_H

#include <stdio.h>
#include <string.h>

#include "include/weft/plugin.h"

/*
 * Numbers that have names. A table of them is constant data of a plugin; a number without a name gives no fact, so that
 * nothing is printed that the event's own text does not have already.
 */
struct word {
	uint64_t value;
	const char *name;
};

#define WORDS(table) (table), sizeof(table) / sizeof((table)[0])

static inline const char *word_of(const struct word *words, size_t nr, uint64_t value)
{
	for (size_t i = 0; i < nr; i++)
		if (words[i].value == value)
			return words[i].name;
	return NULL;
}

static inline void put_string(const struct weft_host *host, const char *fact, const char *text,
			      struct weft_output *output)
{
	if (text)
		host->put_text(output, fact, text, strlen(text));
}

static inline void put_word(const struct weft_host *host, const char *fact, const struct word *words, size_t nr,
			    uint64_t value, struct weft_output *output)
{
	put_string(host, fact, word_of(words, nr, value), output);
}

/*
 * Adds "A|B|0x40": the names of the bits that are set, then the bits that have no name. Nothing where no bit that has a
 * name is set.
 */
static inline void put_flags(const struct weft_host *host, const char *fact, const struct word *words, size_t nr,
			     uint64_t value, struct weft_output *output)
{
	char text[512];
	size_t len = 0;

	for (size_t i = 0; i < nr && len < sizeof(text); i++) {
		if (!words[i].value || (value & words[i].value) != words[i].value)
			continue;
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", len ? "|" : "", words[i].name);
		value &= ~words[i].value;
	}
	if (len && value && len < sizeof(text))
		len += (size_t)snprintf(text + len, sizeof(text) - len, "|0x%llx", (unsigned long long)value);
	if (len && len < sizeof(text))
		host->put_text(output, fact, text, len);
}

#endif
