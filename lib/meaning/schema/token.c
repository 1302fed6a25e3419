// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/schema/token_internal.h"

#include <string.h>

#include "lib/meaning/schema/arena_internal.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static unsigned digit_value(char c)
{
	if (is_digit(c))
		return (unsigned)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned)(c - 'a') + 10;
	if (c >= 'A' && c <= 'F')
		return (unsigned)(c - 'A') + 10;
	return 99;
}

/* Resolves an escape; *at is the character after the backslash. */
static char escape(const char **at, const char *end)
{
	static const char letters[] = "n\nt\tr\ra\ab\bf\fv\ve\033";
	unsigned value = 0, count = 0;
	char c = *(*at)++;

	if (c >= '0' && c <= '7') {
		value = digit_value(c);
		while (++count < 3 && *at < end && digit_value(**at) < 8)
			value = value * 8 + digit_value(*(*at)++);
		return (char)value;
	}
	if (c == 'x') {
		while (*at < end && digit_value(**at) < 16 && count++ < 2)
			value = value * 16 + digit_value(*(*at)++);
		return (char)value;
	}
	for (size_t i = 0; i + 1 < sizeof(letters); i += 2)
		if (letters[i] == c)
			return letters[i + 1];
	return c;
}

char *token_unescape(struct arena *arena, const char *text, size_t len, size_t *ret_len)
{
	const char *end = text + len;
	char *copy = arena_alloc(arena, len + 1), *to = copy;

	if (!copy)
		return NULL;
	while (text < end) {
		if (*text == '\\' && end - text > 1) {
			text++;
			*to++ = escape(&text, end);
		} else {
			*to++ = *text++;
		}
	}
	*ret_len = (size_t)(to - copy);
	return copy;
}

static void take_number(struct tokens *tokens)
{
	struct token *token = &tokens->now;
	const char *at = tokens->at, *end = tokens->end;
	unsigned base = 10;

	if (*at == '0' && end - at > 2 && (at[1] == 'x' || at[1] == 'X')) {
		base = 16;
		at += 2;
	} else if (*at == '0') {
		base = 8;
	}
	token->is_hex = base != 10;
	for (; at < end && digit_value(*at) < base; at++)
		token->value = token->value * base + digit_value(*at);
	for (; at < end && is_letter(*at); at++) {
		if (*at == 'u' || *at == 'U')
			token->is_unsigned = true;
		else if (*at == 'l' || *at == 'L')
			token->longs++;
		else
			token->kind = TOKEN_BAD;
	}
	if (at < end && (is_digit(*at) || *at == '.'))
		token->kind = TOKEN_BAD;
	tokens->at = at;
}

static void take_char(struct tokens *tokens)
{
	struct token *token = &tokens->now;
	const char *at = tokens->at + 1, *end = tokens->end;

	token->kind = TOKEN_BAD;
	if (at == end)
		return;
	if (*at == '\\') {
		if (++at == end)
			return;
		token->value = (uint64_t)(int64_t)(signed char)escape(&at, end);
	} else {
		token->value = (uint64_t)(int64_t)(signed char)*at++;
	}
	if (at == end || *at != '\'')
		return;
	tokens->at = at + 1;
	token->kind = TOKEN_NUMBER;
}

static void take_string(struct tokens *tokens)
{
	struct token *token = &tokens->now;
	const char *at = tokens->at + 1, *end = tokens->end;

	token->text = at;
	while (at < end && *at != '"')
		at += *at == '\\' && end - at > 1 ? 2 : 1;
	if (at >= end) {
		token->kind = TOKEN_BAD;
		return;
	}
	token->len = (size_t)(at - token->text);
	tokens->at = at + 1;
}

static void take_mark(struct tokens *tokens)
{
	static const char pairs[] = "->&&||==!=<=>=<<>>";
	const char *at = tokens->at;

	tokens->now.mark = (unsigned char)*at;
	for (size_t i = 0; i + 1 < sizeof(pairs) && tokens->end - at > 1; i += 2) {
		if (at[0] != pairs[i] || at[1] != pairs[i + 1])
			continue;
		tokens->now.mark = TOKEN_MARK2(pairs[i], pairs[i + 1]);
		tokens->at++;
		break;
	}
	tokens->at++;
	if (!strchr("()[]{},;?:+-*/%&|^~!<>=.", *at) || !*at)
		tokens->now.kind = TOKEN_BAD;
}

void tokens_next(struct tokens *tokens)
{
	const char *at = tokens->at, *end = tokens->end;

	if (tokens->now.kind == TOKEN_BAD)
		return;
	while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
		at++;
	tokens->at = at;
	tokens->now = (struct token){ .kind = TOKEN_END, .text = at };
	if (at == end)
		return;
	if (is_letter(*at)) {
		while (at < end && (is_letter(*at) || is_digit(*at)))
			at++;
		tokens->now.kind = TOKEN_NAME;
		tokens->at = at;
	} else if (is_digit(*at)) {
		tokens->now.kind = TOKEN_NUMBER;
		take_number(tokens);
	} else if (*at == '"') {
		tokens->now.kind = TOKEN_STRING;
		take_string(tokens);
		return;
	} else if (*at == '\'') {
		take_char(tokens);
	} else {
		tokens->now.kind = TOKEN_MARK;
		take_mark(tokens);
	}
	tokens->now.len = (size_t)(tokens->at - tokens->now.text);
}

void tokens_init(struct tokens *tokens, const char *text, size_t len)
{
	*tokens = (struct tokens){ .at = text, .end = text + len };
	tokens_next(tokens);
}

bool token_is(const struct token *token, uint32_t mark)
{
	return token->kind == TOKEN_MARK && token->mark == mark;
}

bool token_named(const struct token *token, const char *name)
{
	return token->kind == TOKEN_NAME && strlen(name) == token->len && !memcmp(token->text, name, token->len);
}

bool tokens_take(struct tokens *tokens, uint32_t mark)
{
	if (!token_is(&tokens->now, mark))
		return false;
	tokens_next(tokens);
	return true;
}
