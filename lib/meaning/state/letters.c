// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/state/letters.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Reads the next pair { NUMBER, "LETTER" } at *at and moves *at behind it. Returns false after the last pair. */
static bool next_pair(const char **at, uint64_t *ret_mask, char *ret_letter)
{
	const char *brace = strchr(*at, '{'), *quote;
	char *end;

	if (!brace || (strchr(*at, ')') && strchr(*at, ')') < brace))
		return false;
	*ret_mask = strtoull(brace + 1, &end, 0);
	quote = strchr(end, '"');
	if (!quote || !quote[1])
		return false;
	*ret_letter = quote[1];
	*at = strchr(quote, '}');
	return *at != NULL;
}

/* Returns the mask of "REC->prev_state & 0x100 ? "+" : """, if it is a number; 0: it is an expression. */
static uint64_t plus_of(const char *print_fmt)
{
	static const char state[] = "REC->prev_state & ", plus[] = " ? \"+\"";

	for (const char *at = print_fmt; (at = strstr(at, state));) {
		char *end;
		uint64_t mask = strtoull(at + strlen(state), &end, 0);

		at += strlen(state);
		if (end != at && !strncmp(end, plus, strlen(plus)))
			return mask;
	}
	return 0;
}

static void read_table(struct letters *letters, const char *print_fmt)
{
	const char *at = strstr(print_fmt, "__print_flags("), *quote = at ? strchr(at, '"') : NULL;
	uint64_t mask, highest = 0;
	char letter;

	*letters = (struct letters){ .at = { 'S', 'D', 'T', 't', 'X', 'Z' } };
	/* The pairs follow the first argument, which has parentheses of its own. */
	if (!quote || !strchr(quote, '{'))
		return;
	memset(letters->at, 0, sizeof(letters->at));
	while (next_pair(&quote, &mask, &letter)) {
		if (!mask || mask & (mask - 1) || mask >> LETTERS_BITS)
			continue;
		letters->at[__builtin_ctzll(mask)] = letter;
		highest = mask > highest ? mask : highest;
	}
	letters->preempted = plus_of(print_fmt) ?: highest << 1;
}

char letters_choose(const struct letters *letters, uint64_t prev_state)
{
	/*
	 * The order of preference: first the letters of a dead task, then those that say why a task does not run, then
	 * flags that only accompany these.
	 */
	static const char order[] = "XZxDTtSIP";
	const char *first = NULL;

	if (prev_state & letters->preempted)
		return '+';
	for (uint64_t bits = prev_state & ((1U << LETTERS_BITS) - 1); bits; bits &= bits - 1) {
		char letter = letters->at[__builtin_ctzll(bits)];
		const char *found = letter ? strchr(order, letter) : NULL;

		if (found && (!first || found < first))
			first = found;
	}
	return first ? *first : 'R';
}

void letters_init_numbers(struct letters *letters)
{
	*letters = (struct letters){ .at = { 'S', 'D', 'T', 't', 'X', 'Z', 'P', 'I' }, .by_number = true };
}

void letters_init(struct letters *letters, const char *print_fmt)
{
	read_table(letters, print_fmt);
	for (unsigned bit = 0; bit < LETTERS_BITS; bit++)
		letters->alone[bit] = letters_choose(letters, UINT64_C(1) << bit);
}
