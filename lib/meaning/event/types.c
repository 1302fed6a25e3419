// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/event/types.h"

#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/pages/trace/trace.h"

/* A line without its letter. Lines are sorted by letter and then by first word. */
struct line {
	char letter;
	struct text_word name, rest;
};

struct types {
	struct line *lines; /* ascending */
	size_t nr;
};

static int word_compare(struct text_word a, struct text_word b)
{
	int order = memcmp(a.at, b.at, a.len < b.len ? a.len : b.len);

	return order ? order : (a.len > b.len) - (a.len < b.len);
}

/* Where two lines disagree about a name, the first one counts. */
static int line_compare(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	int order = x->letter != y->letter ? x->letter - y->letter : word_compare(x->name, y->name);

	return order ? order : (x->name.at > y->name.at) - (x->name.at < y->name.at);
}

static bool take_word(struct text_word *from, struct text_word *ret)
{
	const char *blank;

	while (from->len && *from->at == ' ') {
		from->at++;
		from->len--;
	}
	blank = from->len ? memchr(from->at, ' ', from->len) : NULL;
	*ret = (struct text_word){ from->at, blank ? (size_t)(blank - from->at) : from->len };
	from->at += ret->len;
	from->len -= ret->len;
	return ret->len;
}

static bool line_parse(struct text_word text, struct line *ret)
{
	if (text.len < 3 || text.at[1] != ' ' || !memchr("fev", *text.at, 3))
		return false;
	ret->letter = *text.at;
	ret->rest = (struct text_word){ text.at + 2, text.len - 2 };
	return take_word(&ret->rest, &ret->name);
}

int types_of_text(const char *text, size_t len, struct types **ret, struct fail *fail)
{
	struct types *types = calloc(1, sizeof(*types));
	struct text_word line;

	if (!types)
		return fail_memory(fail);
	while (text && types->nr < TYPES_LINES_MAX && text_next_line(&text, &len, &line)) {
		struct line *added = vec_push(types->lines, types->nr);

		if (!added) {
			types_free(types);
			return fail_memory(fail);
		}
		types->nr -= !line_parse(line, added);
	}
	if (types->nr)
		qsort(types->lines, types->nr, sizeof(*types->lines), line_compare);
	*ret = types;
	return 0;
}

int types_new(struct trace *trace, struct types **ret, struct fail *fail)
{
	struct trace_text text = trace_setting(trace, 0, "weft/types");

	return types_of_text(text.text, text.len, ret, fail);
}

void types_free(struct types *types)
{
	if (!types)
		return;
	free(types->lines);
	free(types);
}

static const struct line *find_line(const struct types *types, char letter, struct text_word name)
{
	size_t low = vec_count(types->nr, i,
			       types->lines[i].letter != letter ? types->lines[i].letter < letter :
								  word_compare(types->lines[i].name, name) < 0);

	if (low == types->nr || types->lines[low].letter != letter || word_compare(types->lines[low].name, name))
		return NULL;
	return &types->lines[low];
}

/* Parses a word that is a decimal number. */
static bool word_number(struct text_word word, uint64_t *ret)
{
	bool minus = word.len && *word.at == '-';
	uint64_t value = 0;
	size_t at = minus;

	if (at == word.len || word.len - at > 20)
		return false;
	for (; at < word.len; at++) {
		if (word.at[at] < '0' || word.at[at] > '9')
			return false;
		value = value * 10 + (uint64_t)(word.at[at] - '0');
	}
	*ret = minus ? 0 - value : value;
	return true;
}

bool types_value(const struct types *types, const char *name, size_t len, uint64_t *ret)
{
	const struct line *line = find_line(types, 'v', (struct text_word){ name, len });
	struct text_word rest, value;

	if (!line)
		return false;
	rest = line->rest;
	return take_word(&rest, &value) && word_number(value, ret);
}

/* The text before the next ':' of a parameter. */
static bool take_part(struct text_word *from, struct text_word *ret)
{
	const char *colon = memchr(from->at, ':', from->len);

	if (!colon)
		return false;
	*ret = (struct text_word){ from->at, (size_t)(colon - from->at) };
	from->len -= ret->len + 1;
	from->at = colon + 1;
	return true;
}

static void put_hex(uint64_t value, struct out *out)
{
	out_mem(out, "0x", 2);
	out_hex(out, value);
}

/* Prints " [NAME]" if the enum has a name for the value. */
static void put_enumerator(const struct types *types, struct text_word index, uint64_t value, struct out *out)
{
	const struct line *line = find_line(types, 'e', index);
	struct text_word rest = line ? line->rest : (struct text_word){ "", 0 }, pair;

	while (take_word(&rest, &pair)) {
		const char *equals = memchr(pair.at, '=', pair.len);
		size_t name_len = equals ? (size_t)(equals - pair.at) : 0;
		uint64_t known;

		if (!equals || !word_number((struct text_word){ equals + 1, pair.len - name_len - 1 }, &known) ||
		    known != value)
			continue;
		out_mem(out, " [", 2);
		out_mem(out, pair.at, name_len);
		out_char(out, ']');
		return;
	}
}

/*
 * Prints a structure that is passed by value in several registers: "(STRUCT)[0x1:0x2]". False: no registers are left.
 */
static bool put_complex(struct text_word kind, uint64_t size, const struct call_args *args, unsigned *at,
			struct out *out)
{
	out_char(out, '(');
	out_mem(out, kind.at, kind.len);
	out_mem(out, ")[", 2);
	put_hex(args->values[*at], out);
	for (uint64_t done = args->long_size; done < size; done += args->long_size) {
		out_char(out, ':');
		if (++*at == args->nr) {
			out_str(out, "...]");
			return false;
		}
		put_hex(args->values[*at], out);
	}
	out_char(out, ']');
	return true;
}

static uint64_t value_signed(const struct call_args *args, uint64_t value)
{
	return args->long_size == 4 ? (uint64_t)(int64_t)(int32_t)value : value;
}

static bool put_param(const struct types *types, struct text_word param, const struct call_args *args, unsigned *at,
		      struct out *out)
{
	uint64_t value = args->values[*at], size = 0;
	struct text_word part = { "", 0 }, kind = { "", 0 };
	char how = *param.at;

	param.at++;
	param.len--;
	if ((how == 'e' || how == 's') && !take_part(&param, &part))
		how = '?';
	if (how == 's' && (!word_number(part, &size) || !take_part(&param, &kind)))
		how = '?';
	out_mem(out, param.at, param.len);
	out_char(out, '=');
	switch (how) {
	case 's':
		return put_complex(kind, size, args, at, out);
	case 'i':
		out_s64(out, (int64_t)value_signed(args, value));
		return true;
	case 'e':
		value = value_signed(args, value);
		out_s64(out, (int64_t)value);
		if (args->enumerators)
			put_enumerator(types, part, value, out);
		return true;
	case '?':
		out_char(out, '?');
		break;
	}
	put_hex(value, out);
	return true;
}

void types_print_args(const struct types *types, const char *function, size_t len, const struct call_args *args,
		      struct out *out)
{
	const struct line *line = find_line(types, 'f', (struct text_word){ function, len });
	struct text_word rest = line ? line->rest : (struct text_word){ "", 0 }, param;
	bool first = true, more = true;

	out_char(out, '(');
	for (unsigned at = 0; more && take_word(&rest, &param); at++) {
		if (!first)
			out_mem(out, ", ", 2);
		first = false;
		if (at >= args->nr) {
			out_str(out, "...");
			break;
		}
		more = put_param(types, param, args, &at, out);
	}
	out_char(out, ')');
}
