/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_SCHEMA_TOKEN_INTERNAL_H
#define WEFT_MEANING_SCHEMA_TOKEN_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/*
 * The tokens of a piece of C, with one token of lookahead. It borrows its text, allocates nothing and never reads
 * beyond `end`; a copy of the struct saves the position. Anything that is not a token of C is TOKEN_BAD, and the
 * position stays there.
 */
enum token_kind { TOKEN_END, TOKEN_NAME, TOKEN_NUMBER, TOKEN_STRING, TOKEN_MARK, TOKEN_BAD };

struct token {
	enum token_kind kind;
	const char *text; /* for a string, what is between its quotes, escapes unresolved */
	size_t len;
	uint64_t value;   /* of a number or character constant */
	uint32_t mark;    /* for punctuation: its characters, packed as by TOKEN_MARK2() */
	bool is_unsigned; /* for a number, by its suffix or size */
	bool is_hex;
	uint8_t longs; /* the number of 'l' in its suffix */
};

struct tokens {
	struct token now;
	const char *at, *end;
};

#define TOKEN_MARK2(a, b) ((uint32_t)(a) | (uint32_t)(b) << 8)

void tokens_init(struct tokens *tokens, const char *text, size_t len);
void tokens_next(struct tokens *tokens);

bool token_is(const struct token *token, uint32_t mark);
bool token_named(const struct token *token, const char *name);

/* Consumes the mark when it is the next token. */
bool tokens_take(struct tokens *tokens, uint32_t mark);

/* Copies a text with its escapes resolved; NULL when memory is short. *ret_len does not count the NUL at its end. */
char *token_unescape(struct arena *arena, const char *text, size_t len, size_t *ret_len);

#endif
