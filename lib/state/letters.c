// SPDX-License-Identifier: GPL-2.0-only
#include "lib/state/letters.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* { NUMBER, "LETTER" } from *at on; false behind the last. */
static bool next_pair(const char **at, uint64_t *ret_mask, char *ret_letter)
{
	const char *brace = strchr(*at, '{'), *quote;
	char *end;

	if (!brace || (strchr(*at, ')') && strchr(*at, ')') < brace))
		return false;
	*ret_mask = strtoull(brace + 1, &end, 0);
	quote = strchr(end, '"');
	if (end == brace + 1 || !quote || !quote[1])
		return false;
	*ret_letter = quote[1];
	*at = strchr(quote, '}');
	return *at != NULL;
}

void letters_init(struct letters *letters, const char *print_fmt)
{
	const char *at = strstr(print_fmt, "__print_flags("), *quote = at ? strchr(at, '"') : NULL;
	uint64_t mask, highest = 0;
	char letter;

	*letters = (struct letters){ .at = { 'S', 'D', 'T', 't', 'X', 'Z' } };
	/* Behind the first argument, which has parentheses of its own. */
	if (!quote || !strchr(quote, '{'))
		return;
	memset(letters->at, 0, sizeof(letters->at));
	while (next_pair(&quote, &mask, &letter)) {
		if (!mask || mask & (mask - 1) || mask >> LETTERS_BITS)
			continue;
		letters->at[__builtin_ctzll(mask)] = letter;
		highest = mask > highest ? mask : highest;
	}
	letters->preempted = highest << 1;
}

char letters_of(const struct letters *letters, uint64_t prev_state)
{
	/* The end of a task, then what keeps it from running, then hints to those. */
	static const char order[] = "XZxDTtSIP";

	if (prev_state & letters->preempted)
		return '+';
	for (const char *wanted = order; *wanted; wanted++)
		for (unsigned bit = 0; bit < LETTERS_BITS; bit++)
			if (prev_state >> bit & 1 && letters->at[bit] == *wanted)
				return *wanted;
	return 'R';
}
