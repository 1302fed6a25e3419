// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdio.h>

#include "lib/meaning/schema/arena_internal.h"
#include "lib/meaning/schema/expr_internal.h"
#include "lib/meaning/schema/make_internal.h"
#include "lib/meaning/schema/token_internal.h"

static const struct expr *parse_unary(struct expr_parser *parser);

static const struct expr *unexpected(struct expr_parser *parser)
{
	const struct token *now = &parser->tokens->now;

	if (now->kind == TOKEN_END)
		return make_fail(parser, "it ends too early");
	return make_fail(parser, "'%.*s' is not expected", (int)(now->len < 40 ? now->len : 40), now->text);
}

bool parse_mark(struct expr_parser *parser, uint32_t mark)
{
	if (tokens_take(parser->tokens, mark))
		return true;
	unexpected(parser);
	return false;
}

static const struct field *find_field(struct expr_parser *parser, const struct token *name)
{
	for (uint32_t i = 0; i < parser->format->nr_fields; i++)
		if (token_named(name, parser->format->fields[i].name))
			return &parser->format->fields[i];
	return make_fail(parser, "there is no field '%.*s'", (int)(name->len < 40 ? name->len : 40), name->text);
}

const struct field *parse_field_name(struct expr_parser *parser)
{
	const struct field *field;

	if (parser->tokens->now.kind != TOKEN_NAME)
		return unexpected(parser), NULL;
	field = find_field(parser, &parser->tokens->now);
	tokens_next(parser->tokens);
	return field;
}

const struct expr *parse_strings(struct expr_parser *parser)
{
	struct tokens *tokens = parser->tokens;
	char *text = NULL;
	size_t len = 0;

	while (tokens->now.kind == TOKEN_STRING) {
		size_t piece_len;
		char *piece = token_unescape(parser->arena, tokens->now.text, tokens->now.len, &piece_len);
		char *joined = text && piece ? arena_alloc(parser->arena, len + piece_len + 1) : piece;

		if (!joined)
			return make_fail(parser, "it is too large");
		if (text) {
			memcpy(joined, text, len);
			memcpy(joined + len, piece, piece_len);
		}
		text = joined;
		len += piece_len;
		tokens_next(tokens);
	}
	return text ? make_text(parser, text, len) : unexpected(parser);
}

static const struct expr *parse_number(struct expr_parser *parser)
{
	struct token token = parser->tokens->now;
	uint8_t size = token.longs > 1 ? 8 : token.longs ? parser->abi->long_size : 4;
	bool is_unsigned = token.is_unsigned;

	/* The type of a constant is the first one that holds it; a decimal without 'u' is never unsigned. */
	if (size == 4 && token.value > INT32_MAX && !is_unsigned) {
		if (token.is_hex && token.value <= UINT32_MAX)
			is_unsigned = true;
		else
			size = 8;
	}
	if (size == 4 && token.value > UINT32_MAX)
		size = 8;
	if (size == 8 && token.value > INT64_MAX)
		is_unsigned = true;
	tokens_next(parser->tokens);
	return make_const(parser, token.value, size, !is_unsigned);
}

static const struct expr *find_variable(struct expr_parser *parser, const struct token *name)
{
	for (struct expr_variable *at = parser->variables; at; at = at->next)
		if (at->value && at->len == name->len && !memcmp(at->name, name->text, at->len))
			return at->value;
	return NULL;
}

/* "type name = value;" inside ({ }). */
static bool parse_declaration(struct expr_parser *parser)
{
	struct expr_variable *variable = arena_alloc(parser->arena, sizeof(*variable));
	struct ctype type;

	if (!variable)
		return make_fail(parser, "it is too large"), false;
	if (!ctype_take(parser->tokens, parser->abi->long_size, true, &type) || parser->tokens->now.kind != TOKEN_NAME)
		return unexpected(parser), false;
	variable->name = parser->tokens->now.text;
	variable->len = parser->tokens->now.len;
	tokens_next(parser->tokens);
	if (!parse_mark(parser, '='))
		return false;
	variable->value = make_cast(parser, parse_assignment(parser), type);
	variable->next = parser->variables;
	parser->variables = variable;
	return variable->value && parse_mark(parser, ';');
}

static bool at_declaration(struct expr_parser *parser)
{
	struct tokens ahead = *parser->tokens;
	struct ctype type;

	return ctype_take(&ahead, parser->abi->long_size, true, &type) && ahead.now.kind == TOKEN_NAME;
}

/* "static const struct trace_print_flags name[] = { ... };": a table that a later call uses */
static bool parse_names(struct expr_parser *parser)
{
	struct expr_variable *variable = arena_alloc(parser->arena, sizeof(*variable));
	struct tokens *tokens = parser->tokens;

	if (!variable)
		return make_fail(parser, "it is too large"), false;
	while (tokens->now.kind == TOKEN_NAME) {
		variable->name = tokens->now.text;
		variable->len = tokens->now.len;
		tokens_next(tokens);
	}
	if (!variable->name || !parse_mark(parser, '[') || !parse_mark(parser, ']') || !parse_mark(parser, '=') ||
	    !parse_mark(parser, '{'))
		return false;
	variable->table = parse_table(parser, UINT64_MAX);
	variable->next = parser->variables;
	parser->variables = variable;
	return variable->table && parse_mark(parser, '}') && parse_mark(parser, ';');
}

const struct expr_table *parse_table_name(struct expr_parser *parser)
{
	const struct token *name = &parser->tokens->now;
	const struct expr_table *table = NULL;

	for (struct expr_variable *at = parser->variables; at && !table && name->kind == TOKEN_NAME; at = at->next)
		if (at->len == name->len && !memcmp(at->name, name->text, at->len))
			table = at->table;
	if (!table)
		return unexpected(parser), NULL;
	tokens_next(parser->tokens);
	return table;
}

/* ({ declarations; value; }), after its '(': the expansion of the kernel's min() and max(). */
static const struct expr *parse_block(struct expr_parser *parser)
{
	struct expr_variable *outer = parser->variables;
	const struct expr *value;

	tokens_next(parser->tokens);
	while (token_named(&parser->tokens->now, "static") || at_declaration(parser))
		if (!(token_named(&parser->tokens->now, "static") ? parse_names(parser) : parse_declaration(parser)))
			return NULL;
	value = parse_assignment(parser);
	tokens_take(parser->tokens, ';');
	parser->variables = outer;
	return value && parse_mark(parser, '}') && parse_mark(parser, ')') ? value : NULL;
}

/* Whether the next token can begin an operand: then the name in parentheses before it was a cast. */
static bool at_operand(const struct token *token)
{
	return token->kind == TOKEN_NAME || token->kind == TOKEN_NUMBER || token->kind == TOKEN_STRING ||
	       token_is(token, '(') || token_is(token, '~') || token_is(token, '!');
}

static bool at_cast(struct expr_parser *parser, struct ctype *type)
{
	struct tokens ahead = *parser->tokens, known = ahead;

	if (token_named(&ahead.now, "REC") || !ctype_take(&ahead, parser->abi->long_size, true, type))
		return false;
	if (!tokens_take(&ahead, ')'))
		return false;
	if (!type->stars && !ctype_take(&known, parser->abi->long_size, false, type) && !at_operand(&ahead.now))
		return false;
	if (!type->stars && find_variable(parser, &parser->tokens->now))
		return false;
	*parser->tokens = ahead;
	return true;
}

static const struct expr *parse_parentheses(struct expr_parser *parser)
{
	const struct expr *value;
	struct ctype type;

	tokens_next(parser->tokens);
	if (token_is(&parser->tokens->now, '{'))
		return parse_block(parser);
	if (at_cast(parser, &type))
		return make_cast(parser, parse_unary(parser), type);
	value = parse_assignment(parser);
	return value && parse_mark(parser, ')') ? value : NULL;
}

static const struct expr *parse_sizeof(struct expr_parser *parser)
{
	const struct expr *value;
	uint64_t size;
	struct ctype type;

	if (!parse_mark(parser, '('))
		return NULL;
	if (!token_named(&parser->tokens->now, "REC") &&
	    ctype_take(parser->tokens, parser->abi->long_size, false, &type)) {
		size = type.stars ? parser->abi->long_size : type.size;
	} else {
		value = parse_assignment(parser);
		if (!value)
			return NULL;
		size = value->kind == EXPR_PLACE ? value->size :
		       value->kind == EXPR_TEXT  ? value->text_len + 1 :
		       value->type.stars         ? parser->abi->long_size :
						   value->type.size;
	}
	if (!size)
		return make_fail(parser, "it asks for the size of an unknown type");
	return parse_mark(parser, ')') ? make_const(parser, size, parser->abi->long_size, false) : NULL;
}

static const struct expr *parse_record(struct expr_parser *parser)
{
	return make_node(parser, EXPR_PLACE, (struct ctype){ .size = 0, .stars = 1 });
}

static const struct expr *parse_primary(struct expr_parser *parser)
{
	struct token token = parser->tokens->now;
	const struct expr *value;

	if (token.kind == TOKEN_NUMBER)
		return parse_number(parser);
	if (token.kind == TOKEN_STRING)
		return parse_strings(parser);
	if (token_is(&token, '('))
		return parse_parentheses(parser);
	if (token.kind != TOKEN_NAME)
		return unexpected(parser);
	tokens_next(parser->tokens);
	if (token_named(&token, "REC"))
		return parse_record(parser);
	if (token_named(&token, "sizeof"))
		return parse_sizeof(parser);
	if (token_is(&parser->tokens->now, '('))
		return parse_call(parser, &token);
	value = find_variable(parser, &token);
	return value ? value : parse_known_name(parser, &token);
}

static bool is_whole_record(const struct expr *expr)
{
	return expr->kind == EXPR_PLACE && !expr->offset && !expr->size;
}

/* struct trace_entry of include/linux/trace_events.h, which begins every record: ent.pid is the field common_pid. */
static const struct expr *parse_entry_member(struct expr_parser *parser)
{
	char name[80];
	const struct field *field;

	tokens_next(parser->tokens);
	if (!parse_mark(parser, '.') || parser->tokens->now.kind != TOKEN_NAME)
		return NULL;
	snprintf(name, sizeof(name), "common_%.*s", (int)(parser->tokens->now.len < 60 ? parser->tokens->now.len : 60),
		 parser->tokens->now.text);
	field = format_field(parser->format, name);
	if (!field)
		return make_fail(parser, "there is no field '%s'", name);
	tokens_next(parser->tokens);
	return make_field(parser, field);
}

/* A member of the record. __data_loc_x is the number that shows where x is. */
static const struct expr *parse_member(struct expr_parser *parser, const struct expr *of)
{
	static const char *const prefixes[] = { "__data_loc_", "__rel_loc_" };
	struct token name = parser->tokens->now;

	if (!of || !is_whole_record(of))
		return make_fail(parser, "it reads memory outside the record");
	if (token_named(&name, "ent") && !format_field(parser->format, "ent"))
		return parse_entry_member(parser);
	for (size_t i = 0; i < array_size(prefixes) && name.kind == TOKEN_NAME; i++) {
		size_t len = strlen(prefixes[i]);

		if (name.len > len && !memcmp(name.text, prefixes[i], len)) {
			parser->tokens->now.text += len;
			parser->tokens->now.len -= len;
			break;
		}
	}
	const struct field *field = parse_field_name(parser);

	return field ? make_field(parser, field) : NULL;
}

static const struct expr *parse_postfix(struct expr_parser *parser)
{
	const struct expr *value = parse_primary(parser);

	/* Each turn consumes a token; the depth of the tree also has to be bounded. */
	for (unsigned turns = 0; value && turns < 8; turns++) {
		if (tokens_take(parser->tokens, TOKEN_MARK2('-', '>'))) {
			value = parse_member(parser, value);
		} else if (tokens_take(parser->tokens, '[')) {
			value = make_index(parser, value, parse_assignment(parser));
			if (value && !parse_mark(parser, ']'))
				return NULL;
		} else {
			break;
		}
	}
	return value;
}

static const struct expr *parse_prefixed(struct expr_parser *parser)
{
	struct tokens *tokens = parser->tokens;

	if (tokens_take(tokens, '-'))
		return make_unary(parser, EXPR_NEGATE, parse_unary(parser));
	if (tokens_take(tokens, '~'))
		return make_unary(parser, EXPR_INVERT, parse_unary(parser));
	if (tokens_take(tokens, '!'))
		return make_unary(parser, EXPR_NOT, parse_unary(parser));
	if (tokens_take(tokens, '+'))
		return parse_unary(parser);
	if (tokens_take(tokens, '&'))
		return make_address(parser, parse_unary(parser));
	if (tokens_take(tokens, '*'))
		return make_index(parser, parse_unary(parser), make_const(parser, 0, 4, true));
	return parse_postfix(parser);
}

static const struct expr *parse_unary(struct expr_parser *parser)
{
	const struct expr *value;

	if (parser->depth >= EXPR_DEPTH_MAX)
		return make_fail(parser, "it is nested too deeply");
	parser->depth++;
	value = parse_prefixed(parser);
	parser->depth--;
	return value;
}

static int precedence(const struct token *token)
{
	if (token->kind != TOKEN_MARK)
		return 0;
	switch (token->mark) {
	case '*':
	case '/':
	case '%':
		return 10;
	case '+':
	case '-':
		return 9;
	case TOKEN_MARK2('<', '<'):
	case TOKEN_MARK2('>', '>'):
		return 8;
	case '<':
	case '>':
	case TOKEN_MARK2('<', '='):
	case TOKEN_MARK2('>', '='):
		return 7;
	case TOKEN_MARK2('=', '='):
	case TOKEN_MARK2('!', '='):
		return 6;
	case '&':
		return 5;
	case '^':
		return 4;
	case '|':
		return 3;
	case TOKEN_MARK2('&', '&'):
		return 2;
	case TOKEN_MARK2('|', '|'):
		return 1;
	default:
		return 0;
	}
}

static const struct expr *parse_binary(struct expr_parser *parser, int above)
{
	const struct expr *value = parse_unary(parser);

	while (value) {
		uint32_t mark = parser->tokens->now.mark;
		int level = precedence(&parser->tokens->now);

		if (level <= above)
			break;
		tokens_next(parser->tokens);
		value = make_binary(parser, mark, value, parse_binary(parser, level));
	}
	return value;
}

/* Moves to the mark that ends an operand: outside of its parentheses. */
static bool skip_operand(struct tokens *tokens, struct tokens *ret_record)
{
	unsigned deep = 0;

	for (;; tokens_next(tokens)) {
		const struct token *now = &tokens->now;

		if (now->kind == TOKEN_BAD || now->kind == TOKEN_END)
			return now->kind == TOKEN_END && !deep;
		if (!deep && (token_is(now, ',') || token_is(now, ':') || token_is(now, ')')))
			return true;
		if (token_named(now, "REC"))
			*ret_record = *tokens;
		deep += token_is(now, '(') || token_is(now, '{') || token_is(now, '[');
		deep -= deep && (token_is(now, ')') || token_is(now, '}') || token_is(now, ']'));
	}
}

/*
 * What a plain %p prints may depend on variables of the kernel that no file has, as the address of a struct page does
 * (VMEMMAP_START, phys_ram_base): only its hash is printed, so any address serves that is another one for another value
 * of the field in the expression.
 */
static const struct expr *hidden_address(struct expr_parser *parser, struct tokens start)
{
	struct tokens record = { .at = NULL }, end = start;
	const struct expr *field, *base;

	if (!skip_operand(&end, &record))
		return NULL;
	base = make_const(parser, parser->abi->long_size == 8 ? 0xffffea0000000000 : 0xc0000000, parser->abi->long_size,
			  false);
	*parser->tokens = record;
	field = record.at ? parse_unary(parser) : make_const(parser, 0, 4, false);
	*parser->tokens = end;
	parser->unknown_address = true;
	return make_binary(parser, '+', base, field);
}

const struct expr *parse_hidden(struct expr_parser *parser)
{
	const struct tokens start = *parser->tokens;
	const struct expr *value;
	char before[sizeof(parser->unknown)];

	memcpy(before, parser->unknown, sizeof(before));
	value = parse_assignment(parser);
	if (value || !parser->hides)
		return value;
	memcpy(parser->unknown, before, sizeof(before));
	return hidden_address(parser, start);
}

const struct expr *parse_assignment(struct expr_parser *parser)
{
	const struct expr *value, *yes, *no;

	if (parser->depth >= EXPR_DEPTH_MAX)
		return make_fail(parser, "it is nested too deeply");
	parser->depth++;
	value = parse_binary(parser, 0);
	if (value && tokens_take(parser->tokens, '?')) {
		yes = parse_hidden(parser);
		no = yes && parse_mark(parser, ':') ? parse_hidden(parser) : NULL;
		value = make_choose(parser, value, yes, no);
	}
	parser->depth--;
	return value;
}

const struct expr *expr_parse(struct expr_parser *parser)
{
	const struct expr *value = parse_hidden(parser);

	if (value && parser->tokens->now.kind != TOKEN_END && !token_is(&parser->tokens->now, ','))
		return unexpected(parser);
	return value;
}
