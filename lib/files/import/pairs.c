// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/files/import/pairs_internal.h"

#include <ctype.h>
#include <string.h>

#include "lib/ground/base/buf.h"

enum { PAIRS_MAX = 30, NAME_MAX_LEN = 40, DIGITS_MAX = 18 };

struct pair {
	const char *name, *value, *end; /* the value ends at the blank before the next name */
	size_t name_len;
};

static size_t name_at(const char *at, const char *end)
{
	size_t len = 0;

	if (at >= end || (!isalpha((unsigned char)*at) && *at != '_'))
		return 0;
	while (at + len < end && (isalnum((unsigned char)at[len]) || at[len] == '_'))
		len++;
	return at + len < end && at[len] == '=' && len <= NAME_MAX_LEN ? len : 0;
}

/* Reads the next pair from `at` on, which is the start of a word. */
static bool next(const char *at, const char *end, struct pair *ret)
{
	for (; at < end; at = memchr(at, ' ', (size_t)(end - at)) ?: end, at += at < end) {
		ret->name_len = name_at(at, end);
		if (!ret->name_len)
			continue;
		ret->name = at;
		ret->value = ret->end = at + ret->name_len + 1;
		for (; ret->end < end; ret->end++)
			if (*ret->end == ' ' && name_at(ret->end + 1, end))
				break;
		return true;
	}
	return false;
}

bool pairs_are(const char *text, size_t len)
{
	struct pair pair;

	return next(text, text + len, &pair);
}

/* Adds literal text to a print fmt, with each '%' doubled. Returns false if a print fmt cannot contain the text. */
static bool put_literal(struct buf *print, const char *at, const char *end)
{
	for (; at < end; at++)
		if (*at == '"' || *at == '\\' || (unsigned char)*at < ' ' || (unsigned char)*at > '~' ||
		    !buf_add(print, at, 1) || (*at == '%' && !buf_add(print, at, 1)))
			return false;
	return true;
}

/* Returns how many bytes of a value are a decimal number as the kernel prints it, without leading zeros; 0: none. */
static size_t decimal(const struct pair *pair)
{
	const char *at = pair->value + (pair->end > pair->value && *pair->value == '-');
	size_t len = 0;

	while (at + len < pair->end && isdigit((unsigned char)at[len]))
		len++;
	if (!len || len > DIGITS_MAX || (*at == '0' && (len > 1 || at != pair->value)))
		return 0;
	return at + len == pair->end || at[len] == ' ' ? (size_t)(at - pair->value) + len : 0;
}

static size_t hexadecimal(const struct pair *pair)
{
	const char *at = pair->value + 2;
	size_t len = 0;

	if (pair->end - pair->value < 3 || pair->value[0] != '0' || pair->value[1] != 'x')
		return 0;
	while (at + len < pair->end && isxdigit((unsigned char)at[len]) && !isupper((unsigned char)at[len]))
		len++;
	if (!len || len > 16 || (*at == '0' && len > 1))
		return 0;
	return at + len == pair->end || at[len] == ' ' ? len + 2 : 0;
}

/* Adds one field, its conversion and its argument; *at moves behind the text that they print. */
static bool put_pair(const struct pair *pair, struct buf *fields, struct buf *print, struct buf *args, const char **at)
{
	size_t number = decimal(pair), hex = number ? 0 : hexadecimal(pair);
	const char *type = number ? "s64" : hex ? "u64" : "__data_loc char[]";
	int len = (int)pair->name_len;

	if (!put_literal(print, *at, pair->value) ||
	    !buf_addf(fields, "%s%s %.*s", fields->len ? ";" : "", type, len, pair->name))
		return false;
	*at = number ? pair->value + number : hex ? pair->value + hex : pair->end;
	if (!buf_add_str(print, number ? "%lld" : hex ? "0x%llx" : "%s"))
		return false;
	return number || hex ? buf_addf(args, ", REC->%.*s", len, pair->name) :
			       buf_addf(args, ", __get_str(%.*s)", len, pair->name);
}

/*
 * Returns whether another field has this name, as two fields cannot share one, or whether an event with it is
 * printed as a probe is.
 */
static bool is_taken(const struct pair *pair, const struct pair *pairs, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (pairs[i].name_len == pair->name_len && !memcmp(pairs[i].name, pair->name, pair->name_len))
			return true;
	return !strncmp(pair->name, "common_", 7) || !strncmp(pair->name, "__probe_", 8);
}

bool pairs_shape(const char *text, size_t len, struct buf *fields, struct buf *print)
{
	cleanup_buf struct buf args = BUF_INIT;
	struct pair pairs[PAIRS_MAX];
	const char *end = text + len, *at = text;
	size_t nr = 0;

	if (!buf_add_str(print, "\""))
		return false;
	for (const char *from = text; nr < PAIRS_MAX && next(from, end, &pairs[nr]); from = pairs[nr].end + 1, nr++)
		if (is_taken(&pairs[nr], pairs, nr) || !put_pair(&pairs[nr], fields, print, &args, &at)) {
			return false;
		} else if (pairs[nr].end == end) {
			nr++;
			break;
		}
	if (nr == PAIRS_MAX || !put_literal(print, at, end) || !buf_add_str(print, "\""))
		return false;
	return !args.len || buf_add(print, args.data, args.len);
}

bool pairs_shape_behind(const char *before, const char *text, size_t len, struct buf *fields, struct buf *print)
{
	cleanup_buf struct buf more = BUF_INIT;
	const char *end = strchr(before + 1, '"'), *more_end;

	if (!end || !pairs_shape(text, len, fields, &more))
		return false;
	more_end = strchr(buf_str(&more) + 1, '"');
	return more_end && buf_add(print, before, (size_t)(end - before)) &&
	       buf_addf(print, "%.*s\"%s%s", (int)(more_end - buf_str(&more) - 1), buf_str(&more) + 1, end + 1,
			more_end + 1);
}
