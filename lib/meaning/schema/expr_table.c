// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/schema/arena_internal.h"
#include "lib/meaning/schema/make_internal.h"
#include "lib/meaning/schema/token_internal.h"

enum { TABLE_MAX = 8192, DIRECT_FROM = 6 };

/* Counts the entries first: "{" at the depth of the call. The count only bounds the parsing. */
static uint32_t count_entries(struct tokens tokens)
{
	uint32_t count = 0, depth = 0;

	for (; tokens.now.kind != TOKEN_END && tokens.now.kind != TOKEN_BAD && count < TABLE_MAX;
	     tokens_next(&tokens)) {
		if (token_is(&tokens.now, '('))
			depth++;
		else if (token_is(&tokens.now, ')') && !depth--)
			break;
		count += token_is(&tokens.now, '{');
	}
	return count;
}

/* Skips the rest of an entry whose value is unknown, up to its '}'. */
static void skip_entry(struct expr_parser *parser)
{
	while (parser->tokens->now.kind != TOKEN_END && parser->tokens->now.kind != TOKEN_BAD &&
	       !token_is(&parser->tokens->now, '}'))
		tokens_next(parser->tokens);
}

/* Takes "value, name". False when it cannot be parsed. */
static bool parse_entry(struct expr_parser *parser, uint64_t mask, struct expr_entry *entry, bool *left_out)
{
	char before[sizeof(parser->unknown)];
	const struct expr *value, *name;

	memcpy(before, parser->unknown, sizeof(before));
	*parser->unknown = 0;
	value = parse_assignment(parser);
	if (!value && *parser->unknown) {
		/* weft does not know the value of this name: its value prints as a number, the others by name. */
		*parser->why = 0;
		skip_entry(parser);
		*left_out = true;
		return true;
	}
	memcpy(parser->unknown, before, sizeof(before));
	if (!value || !parse_mark(parser, ','))
		return false;
	name = parse_assignment(parser);
	if (!name)
		return false;
	if (name->kind == EXPR_CONST && !name->value)
		return true;
	if (value->kind != EXPR_CONST || name->kind != EXPR_TEXT)
		return make_fail(parser, "a table entry is not constant"), false;
	entry->value = value->value & mask;
	entry->name = name->text;
	entry->len = name->text_len;
	return true;
}

/* Small values are found without a search; the first entry of a value counts. */
static bool make_direct(struct expr_parser *parser, struct expr_table *table)
{
	uint16_t *direct;

	if (table->nr < DIRECT_FROM)
		return true;
	direct = arena_array(parser->arena, EXPR_DIRECT_MAX, sizeof(*direct));
	if (!direct)
		return false;
	for (uint32_t i = 0; i < table->nr; i++)
		if (table->entries[i].value < EXPR_DIRECT_MAX && !direct[table->entries[i].value])
			direct[table->entries[i].value] = (uint16_t)(i + 1);
	table->direct = direct;
	return true;
}

const struct expr_table *parse_table(struct expr_parser *parser, uint64_t mask)
{
	uint32_t max = count_entries(*parser->tokens);
	struct expr_table *table = arena_alloc(parser->arena, sizeof(*table));
	struct expr_entry *entries = arena_array(parser->arena, max ? max : 1, sizeof(*entries));
	bool ended = false;

	if (!table || !entries || max >= TABLE_MAX)
		return make_fail(parser, "a table is too large");
	table->entries = entries;
	table->mask = mask;
	while (table->nr < max && tokens_take(parser->tokens, '{')) {
		struct expr_entry entry = { .name = NULL };
		bool left_out = false;

		if (!token_is(&parser->tokens->now, '}') && !parse_entry(parser, mask, &entry, &left_out))
			return NULL;
		if (!parse_mark(parser, '}'))
			return NULL;
		/* The kernel stops at the first entry without a name. */
		ended = ended || (!entry.name && !left_out);
		if (!ended && entry.name)
			entries[table->nr++] = entry;
		while (tokens_take(parser->tokens, ','))
			;
	}
	if (!make_direct(parser, table))
		return make_fail(parser, "a table is too large");
	return table;
}
