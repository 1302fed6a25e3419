// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ground/base/json_tree.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/vec.h"

struct parser {
	const char *at, *end, *text;
	struct json_tree *tree;
	size_t most; /* values */
	struct fail *fail;
};

static int wrong(struct parser *parser, const char *what)
{
	return fail_set(parser->fail, -EBADMSG, "byte %zu: %s", (size_t)(parser->at - parser->text), what);
}

static void skip_blanks(struct parser *parser)
{
	while (parser->at < parser->end && strchr(" \t\r\n", *parser->at) && *parser->at)
		parser->at++;
}

static bool take_char(struct parser *parser, char c)
{
	if (parser->at == parser->end || *parser->at != c)
		return false;
	parser->at++;
	return true;
}

static bool take_word(struct parser *parser, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(parser->end - parser->at) < len || memcmp(parser->at, word, len))
		return false;
	parser->at += len;
	return true;
}

/* Four hexadecimal digits. */
static bool hex_of(const char *at, const char *end, unsigned *ret)
{
	*ret = 0;
	if (end - at < 4)
		return false;
	for (int i = 0; i < 4; i++) {
		if (!isxdigit((unsigned char)at[i]))
			return false;
		*ret = *ret << 4 | (unsigned)(isdigit((unsigned char)at[i]) ? at[i] - '0' : (at[i] | 32) - 'a' + 10);
	}
	return true;
}

static int take_string(struct parser *parser)
{
	unsigned code;

	for (parser->at++; parser->at < parser->end && *parser->at != '"'; parser->at++) {
		if ((unsigned char)*parser->at < ' ')
			return wrong(parser, "a string has a control character");
		if (*parser->at != '\\')
			continue;
		parser->at++;
		if (parser->at == parser->end || !strchr("\"\\/bfnrtu", *parser->at) || !*parser->at)
			return wrong(parser, "a string has an unknown escape");
		if (*parser->at != 'u')
			continue;
		if (!hex_of(parser->at + 1, parser->end, &code))
			return wrong(parser, "\\u needs four hexadecimal digits");
		parser->at += 4;
	}
	return take_char(parser, '"') ? 0 : wrong(parser, "a string does not end");
}

static size_t take_digits(struct parser *parser)
{
	const char *from = parser->at;

	while (parser->at < parser->end && isdigit((unsigned char)*parser->at))
		parser->at++;
	return (size_t)(parser->at - from);
}

static int take_number(struct parser *parser)
{
	const char *from;
	size_t nr;

	(void)take_char(parser, '-');
	from = parser->at;
	nr = take_digits(parser);
	if (!nr || (nr > 1 && *from == '0'))
		return wrong(parser, "there is no value");
	if (take_char(parser, '.') && !take_digits(parser))
		return wrong(parser, "a number has no digits behind its point");
	if (take_char(parser, 'e') || take_char(parser, 'E')) {
		if (!take_char(parser, '-'))
			(void)take_char(parser, '+');
		if (!take_digits(parser))
			return wrong(parser, "a number has no digits in its exponent");
	}
	return 0;
}

static int add_node(struct parser *parser, uint32_t *ret)
{
	struct json_tree *tree = parser->tree;
	struct json_node *node;

	if (tree->nr >= parser->most)
		return wrong(parser, "there are too many values");
	node = vec_push(tree->nodes, tree->nr);
	if (!node)
		return fail_memory(parser->fail);
	*node = (struct json_node){ .at = parser->at };
	*ret = (uint32_t)(tree->nr - 1);
	return 0;
}

static int take_value(struct parser *parser, unsigned depth, uint32_t *ret);

/* Puts a value behind the last one of an array or an object. */
static int take_item(struct parser *parser, unsigned depth, uint32_t of, uint32_t *last)
{
	uint32_t item = 0;
	int r = take_value(parser, depth + 1, &item);

	if (r)
		return r;
	if (*last)
		parser->tree->nodes[*last].next = item;
	else
		parser->tree->nodes[of].first = item;
	*last = item;
	return 0;
}

static int take_items(struct parser *parser, unsigned depth, uint32_t of, bool pairs)
{
	char end = pairs ? '}' : ']';
	uint32_t last = 0;
	int r;

	parser->at++;
	skip_blanks(parser);
	if (take_char(parser, end))
		return 0;
	do {
		skip_blanks(parser);
		if (pairs && (parser->at == parser->end || *parser->at != '"'))
			return wrong(parser, "a key is no string");
		r = take_item(parser, depth, of, &last);
		skip_blanks(parser);
		if (!r && pairs)
			r = take_char(parser, ':') ? take_item(parser, depth, of, &last) :
						     wrong(parser, "a key has no value");
		if (r)
			return r;
		skip_blanks(parser);
	} while (take_char(parser, ','));
	return take_char(parser, end) ? 0 : wrong(parser, pairs ? "an object does not end" : "an array does not end");
}

static int take_value(struct parser *parser, unsigned depth, uint32_t *ret)
{
	enum json_kind kind = JSON_NUMBER;
	uint32_t node = 0;
	int r;

	skip_blanks(parser);
	if (depth > JSON_TREE_DEPTH)
		return wrong(parser, "values are too deep in one another");
	if (parser->at == parser->end)
		return wrong(parser, "there is no value");
	r = add_node(parser, &node);
	if (r)
		return r;
	if (*parser->at == '{' || *parser->at == '[') {
		kind = *parser->at == '{' ? JSON_OBJECT : JSON_ARRAY;
		r = take_items(parser, depth, node, kind == JSON_OBJECT);
	} else if (*parser->at == '"') {
		kind = JSON_STRING;
		r = take_string(parser);
	} else if (take_word(parser, "true") || take_word(parser, "false")) {
		kind = JSON_BOOL;
	} else if (take_word(parser, "null")) {
		kind = JSON_NULL;
	} else {
		r = take_number(parser);
	}
	parser->tree->nodes[node].kind = kind;
	parser->tree->nodes[node].len = (size_t)(parser->at - parser->tree->nodes[node].at);
	*ret = node;
	return r;
}

int json_tree_parse(const char *text, size_t len, struct json_tree *ret, struct fail *fail)
{
	return json_tree_parse_most(text, len, JSON_TREE_MAX, ret, fail);
}

int json_tree_parse_most(const char *text, size_t len, size_t most, struct json_tree *ret, struct fail *fail)
{
	struct parser parser = { .at = text, .end = text + len, .text = text, .tree = ret, .most = most, .fail = fail };
	uint32_t top = 0;
	int r;

	*ret = (struct json_tree){ .nodes = NULL };
	r = add_node(&parser, &top);
	if (!r)
		r = take_value(&parser, 0, &top);
	skip_blanks(&parser);
	if (!r && parser.at < parser.end)
		r = wrong(&parser, "there is more behind the value");
	if (r)
		json_tree_release(ret);
	return r;
}

void json_tree_release(struct json_tree *tree)
{
	free(tree->nodes);
	*tree = (struct json_tree){ .nodes = NULL };
}

const struct json_node *json_tree_top(const struct json_tree *tree)
{
	return tree->nr > 1 ? &tree->nodes[1] : NULL;
}

bool json_tree_is(const struct json_node *node, const char *text)
{
	return node && node->kind == JSON_STRING && node->len == strlen(text) + 2 &&
	       !memcmp(node->at + 1, text, node->len - 2);
}

const struct json_node *json_tree_member(const struct json_tree *tree, const struct json_node *of, const char *key)
{
	if (!of || of->kind != JSON_OBJECT)
		return NULL;
	for (uint32_t at = of->first; at; at = tree->nodes[tree->nodes[at].next].next)
		if (json_tree_is(&tree->nodes[at], key))
			return &tree->nodes[tree->nodes[at].next];
	return NULL;
}

static bool put_code(struct buf *into, unsigned code)
{
	char text[4];
	size_t nr = 0;

	if (code < 0x80) {
		text[nr++] = (char)code;
	} else if (code < 0x800) {
		text[nr++] = (char)(0xc0 | code >> 6);
	} else if (code < 0x10000) {
		text[nr++] = (char)(0xe0 | code >> 12);
		text[nr++] = (char)(0x80 | (code >> 6 & 63));
	} else {
		text[nr++] = (char)(0xf0 | code >> 18);
		text[nr++] = (char)(0x80 | (code >> 12 & 63));
		text[nr++] = (char)(0x80 | (code >> 6 & 63));
	}
	if (code >= 0x80)
		text[nr++] = (char)(0x80 | (code & 63));
	return buf_add(into, text, nr);
}

/* Moves behind an escape, two of which may be one character. */
static bool put_escape(const char **at, const char *end, struct buf *into)
{
	static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
	unsigned code = 0, low = 0;
	char c = *(*at)++;

	if (c != 'u')
		return buf_add(into, &values[strchr(names, c) - names], 1);
	if (!hex_of(*at, end, &code) || !code)
		return false;
	*at += 4;
	if (code >= 0xd800 && code < 0xdc00 && end - *at >= 6 && (*at)[0] == '\\' && (*at)[1] == 'u' &&
	    hex_of(*at + 2, end, &low) && low >= 0xdc00 && low < 0xe000) {
		*at += 6;
		code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
	}
	return put_code(into, code >= 0xd800 && code < 0xe000 ? 0xfffd : code);
}

bool json_tree_string(const struct json_node *node, struct buf *into)
{
	const char *at, *end;

	if (!node || node->kind != JSON_STRING || node->len < 2)
		return false;
	at = node->at + 1;
	end = node->at + node->len - 1;
	while (at < end) {
		if (*at != '\\') {
			if (!buf_add(into, at++, 1))
				return false;
			continue;
		}
		at++;
		if (!put_escape(&at, end, into))
			return false;
	}
	return true;
}

bool json_tree_number(const struct json_node *node, int64_t *ret)
{
	int64_t value = 0;
	size_t i = 0;
	bool minus;

	if (!node || node->kind != JSON_NUMBER)
		return false;
	minus = *node->at == '-';
	for (i = minus; i < node->len; i++)
		if (!isdigit((unsigned char)node->at[i]) || __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, node->at[i] - '0', &value))
			return false;
	*ret = minus ? -value : value;
	return true;
}
