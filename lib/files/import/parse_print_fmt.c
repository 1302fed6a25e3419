// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/files/import/parse_print_fmt_internal.h"

#include <ctype.h>
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/bytes.h"
#include "lib/meaning/schema/format.h"

enum { PIECES_MAX = 64, NAMES_MAX = 64, STEPS_MAX = 20000, RECORD_MAX = 12500, WORD = 48 };

enum piece_what {
	PIECE_LITERAL,
	PIECE_DECIMAL,
	PIECE_HEX,
	PIECE_TEXT,
	PIECE_NAME,
	PIECE_STATE,
	PIECE_PLUS,
	PIECE_SYMBOL
};

struct piece {
	enum piece_what what;
	char literal[128]; /* for a PIECE_LITERAL */
	size_t len;
	const struct field *field;
	uint32_t element; /* of a number: its index in an array */
	unsigned shift;   /* of a number: the text has the field's bits from this one on */
	struct name {
		char text[WORD];
		int64_t value;
	} * names; /* for a PIECE_NAME */
	size_t nr_names;
};

struct parse_print_fmt {
	const struct format *format;
	struct piece pieces[PIECES_MAX];
	size_t nr;
};

/* The values found in a text, one for each piece. */
struct match {
	const struct parse_print_fmt *parse;
	const char *end;
	struct found {
		uint64_t value;
		const char *text;
		size_t len;
	} found[PIECES_MAX];
	unsigned steps;
};

/* Returns the end of an argument: a comma outside of parentheses, braces and strings, or the end of the text. */
static const char *argument_end(const char *at)
{
	int deep = 0;

	for (; *at; at++) {
		if (*at == '"') {
			for (at++; *at && *at != '"'; at++)
				at += *at == '\\' && at[1];
			if (!*at)
				return at;
		} else if (*at == '(' || *at == '{') {
			deep++;
		} else if (*at == ')' || *at == '}') {
			deep--;
		} else if (*at == ',' && deep <= 0) {
			return at;
		}
	}
	return at;
}

static const struct field *field_named(const struct format *format, const char *at, size_t *ret_len)
{
	char name[WORD];
	size_t len = 0;

	while (isalnum((unsigned char)at[len]) || at[len] == '_')
		len++;
	if (!len || len >= sizeof(name))
		return NULL;
	memcpy(name, at, len);
	name[len] = '\0';
	*ret_len = len;
	return format_field(format, name);
}

/* Returns whether only parentheses and casts are left up to `end`. */
static bool is_wrapping(const char *at, const char *end)
{
	for (; at < end; at++)
		if (!isalnum((unsigned char)*at) && !strchr("() _*", *at))
			return false;
	return true;
}

/* Reads pairs such as "{ 1, "TIMER" }". Names of enumerators instead of numbers are not supported. */
static bool take_names(struct piece *piece, const char *at, const char *end)
{
	piece->names = calloc(NAMES_MAX, sizeof(*piece->names));
	while (piece->names && (at = memchr(at, '{', (size_t)(end - at)))) {
		struct name *name = &piece->names[piece->nr_names];
		char *rest;

		if (piece->nr_names == NAMES_MAX)
			return false;
		name->value = (int64_t)strtoull(at + 1, &rest, 0);
		if (rest == at + 1 || sscanf(rest, " , \"%47[^\"]\"", name->text) != 1)
			return false;
		piece->nr_names++;
		at = rest;
	}
	return piece->nr_names;
}

static bool take_choice(struct piece *piece, const char *at)
{
	piece->names = calloc(2, sizeof(*piece->names));
	if (!piece->names ||
	    sscanf(at, " ? \"%47[^\"]\" : \"%47[^\"]\"", piece->names[0].text, piece->names[1].text) != 2)
		return false;
	piece->names[0].value = 1;
	piece->nr_names = 2;
	return true;
}

static bool is_number(const struct field *field)
{
	return field && !(field->flags & (FIELD_ARRAY | FIELD_DYNAMIC | FIELD_STRING)) && field_int_size(field->size);
}

/* Reads the two arguments for the prev_state of sched_switch: the letters, and the "+" of a preempted task. */
static bool take_state(const struct parse_print_fmt *parse, struct piece *piece, const char *at, const char *end)
{
	const char *flags;

	piece->field = format_field(parse->format, "prev_state");
	if (!is_number(piece->field) || !memmem(at, (size_t)(end - at), "REC->prev_state", 15))
		return false;
	flags = memmem(at, (size_t)(end - at), "__print_flags", 13);
	piece->what = flags ? PIECE_STATE : PIECE_PLUS;
	return flags ? take_names(piece, flags, end) : memmem(at, (size_t)(end - at), "? \"+\" : \"\"", 10) != NULL;
}

/* Reads the argument of a conversion to text (%s). */
static bool take_text(const struct parse_print_fmt *parse, struct piece *piece, const char *at, const char *end)
{
	const char *rec = memmem(at, (size_t)(end - at), "REC->", 5);
	size_t len = 0;

	if (!strncmp(at, "__get_str(", 10)) {
		piece->what = PIECE_TEXT;
		piece->field = field_named(parse->format, at + 10, &len);
		return piece->field && piece->field->flags & FIELD_STRING && end == at + 11 + len;
	}
	if (take_state(parse, piece, at, end))
		return true;
	piece->field = rec ? field_named(parse->format, rec + 5, &len) : NULL;
	if (!piece->field)
		return false;
	piece->what = PIECE_NAME;
	if (!strncmp(at, "__print_symbolic(", 17))
		return is_number(piece->field) && is_wrapping(at + 17, rec) && take_names(piece, rec, end);
	if (!is_wrapping(at, rec))
		return false;
	if (is_number(piece->field))
		return take_choice(piece, rec + 5 + len);
	piece->what = PIECE_TEXT;
	return piece->field->flags & FIELD_STRING && is_wrapping(rec + 5 + len, end);
}

/* Reads the "[3]" of an element of an array of numbers. */
static bool take_element(struct piece *piece, const char **at, const char *end)
{
	const struct field *field = piece->field;
	char *close;
	unsigned long index;

	if (field->flags & (FIELD_DYNAMIC | FIELD_STRING) || !(field->flags & FIELD_ARRAY) ||
	    !field_int_size(field->elem_size) || *at == end || **at != '[' || !isdigit((unsigned char)(*at)[1]))
		return false;
	index = strtoul(*at + 1, &close, 10);
	if (*close != ']' || close >= end || index >= field->size / field->elem_size)
		return false;
	piece->element = (uint32_t)index;
	*at = close + 1;
	return true;
}

/*
 * Reads " >> 20" or " & ((1U << 20) - 1)", as MAJOR() and MINOR() have it: a part of the field, whose other part is in
 * another place of the text.
 */
static bool take_part(struct piece *piece, const char **at, const char *end)
{
	const char *from = *at;
	unsigned shift = 0;
	int len = 0;

	while (from < end && (*from == ')' || *from == ' '))
		from++;
	if (from == end || (*from != '>' && *from != '&'))
		return true;
	if (sscanf(from, ">> %2u%n", &shift, &len) != 1 && sscanf(from, "& ((1U << %*2u) - 1)%n", &len) < 0)
		return false;
	if (len <= 0 || len > end - from || shift >= 8 * piece->field->size)
		return false;
	piece->shift = shift;
	*at = from + len;
	return true;
}

static bool take_number(const struct parse_print_fmt *parse, struct piece *piece, char conversion, const char *at,
			const char *end)
{
	const char *rec = memmem(at, (size_t)(end - at), "REC->", 5);
	size_t len = 0;

	piece->what = conversion == 'd' || conversion == 'i' || conversion == 'u' ? PIECE_DECIMAL : PIECE_HEX;
	piece->field = rec && is_wrapping(at, rec) ? field_named(parse->format, rec + 5, &len) : NULL;
	if (!piece->field)
		return false;
	at = rec + 5 + len;
	if (is_number(piece->field) ? !take_part(piece, &at, end) : !take_element(piece, &at, end))
		return false;
	return is_wrapping(at, end);
}

/* Reads a conversion such as "%03d" and the first of *args, which is its argument. */
static bool take_conversion(struct parse_print_fmt *parse, const char **at, const char **args)
{
	struct piece *piece = &parse->pieces[parse->nr];
	const char *end;
	bool symbol;

	for ((*at)++; **at && strchr("0123456789#-+ .lhzq", **at); (*at)++)
		;
	if (parse->nr == PIECES_MAX || **args != ',' || !strchr("disuxXp", **at) || !**at)
		return false;
	/* %ps: the name of a function. Other addresses are hashed. */
	if (**at == 'p' && *++*at != 's')
		return false;
	symbol = (*at)[-1] == 'p';
	for ((*args)++; **args == ' '; (*args)++)
		;
	end = argument_end(*args);
	if (**at == 's' && !symbol ? !take_text(parse, piece, *args, end) :
				     !take_number(parse, piece, **at, *args, end))
		return parse->nr++, false;
	if (symbol)
		piece->what = PIECE_SYMBOL;
	(*at)++;
	*args = end;
	parse->nr++;
	return true;
}

static bool take_literal(struct parse_print_fmt *parse, char c)
{
	struct piece *piece = parse->nr ? &parse->pieces[parse->nr - 1] : NULL;

	if (!piece || piece->what != PIECE_LITERAL || piece->len == sizeof(piece->literal)) {
		if (parse->nr == PIECES_MAX)
			return false;
		piece = &parse->pieces[parse->nr++];
		piece->what = PIECE_LITERAL;
	}
	piece->literal[piece->len++] = c;
	return true;
}

static bool compile(struct parse_print_fmt *parse)
{
	const char *at = parse->format->print_fmt, *args;

	if (*at != '"')
		return false;
	args = argument_end(at);
	for (at++; at < args && *at != '"';) {
		if (*at == '\\')
			return false;
		if (*at == '%' && at[1] != '%') {
			if (!take_conversion(parse, &at, &args))
				return false;
			continue;
		}
		at += *at == '%';
		if (!take_literal(parse, *at++))
			return false;
	}
	return true;
}

struct parse_print_fmt *parse_print_fmt_new(const struct format *format)
{
	struct parse_print_fmt *parse = calloc(1, sizeof(*parse));

	if (!parse)
		return NULL;
	parse->format = format;
	if (compile(parse))
		return parse;
	parse_print_fmt_free(parse);
	return NULL;
}

void parse_print_fmt_free(struct parse_print_fmt *parse)
{
	if (!parse)
		return;
	for (size_t i = 0; i < PIECES_MAX; i++)
		free(parse->pieces[i].names);
	free(parse);
}

static bool match(struct match *match, size_t piece, const char *at);

static bool match_number(struct match *m, size_t i, const char *at)
{
	bool hex = m->parse->pieces[i].what == PIECE_HEX, minus;
	uint64_t value = 0;
	const char *start;

	while (at < m->end && *at == ' ')
		at++;
	if (hex && m->end - at > 2 && at[0] == '0' && at[1] == 'x')
		at += 2;
	minus = !hex && at < m->end && *at == '-';
	start = at += minus;
	for (; at < m->end && at - start < 20 && (hex ? isxdigit((unsigned char)*at) : isdigit((unsigned char)*at));
	     at++)
		value = value * (hex ? 16 : 10) + (uint64_t)(*at <= '9' ? *at - '0' : (*at | 0x20) - 'a' + 10);
	m->found[i].value = minus ? 0 - value : value;
	return at > start && match(m, i + 1, at);
}

static bool match_text(struct match *m, size_t i, const char *at)
{
	/* Takes the shortest text after which the rest matches. */
	for (const char *end = at; end <= m->end; end++) {
		m->found[i].text = at;
		m->found[i].len = (size_t)(end - at);
		if (match(m, i + 1, end))
			return true;
		if (m->steps >= STEPS_MAX)
			return false;
	}
	return false;
}

static bool match_name(struct match *m, size_t i, const char *at)
{
	const struct piece *piece = &m->parse->pieces[i];

	for (size_t n = 0; n < piece->nr_names; n++) {
		size_t len = strlen(piece->names[n].text);

		if ((size_t)(m->end - at) < len || memcmp(at, piece->names[n].text, len))
			continue;
		m->found[i].value = (uint64_t)piece->names[n].value;
		if (match(m, i + 1, at + len))
			return true;
	}
	return false;
}

/* "R", or the letters of the bits of a state; a '|' separates several. */
static bool match_state(struct match *m, size_t i, const char *at)
{
	const struct piece *piece = &m->parse->pieces[i];
	uint64_t value = 0;

	if (at < m->end && *at == 'R') {
		at++;
	} else {
		for (;; at++) {
			size_t n = 0;

			while (n < piece->nr_names && (at == m->end || piece->names[n].text[0] != *at))
				n++;
			if (n == piece->nr_names)
				return false;
			value |= (uint64_t)piece->names[n].value;
			if (++at >= m->end || *at != '|')
				break;
		}
	}
	m->found[i].value = value;
	return match(m, i + 1, at);
}

static bool match(struct match *m, size_t i, const char *at)
{
	const struct piece *piece = &m->parse->pieces[i];

	if (++m->steps >= STEPS_MAX)
		return false;
	if (i == m->parse->nr)
		return at == m->end;
	switch (piece->what) {
	case PIECE_LITERAL:
		return (size_t)(m->end - at) >= piece->len && !memcmp(at, piece->literal, piece->len) &&
		       match(m, i + 1, at + piece->len);
	case PIECE_DECIMAL:
	case PIECE_HEX:
		return match_number(m, i, at);
	case PIECE_TEXT:
	case PIECE_SYMBOL:
		return match_text(m, i, at);
	case PIECE_NAME:
		return match_name(m, i, at);
	case PIECE_STATE:
		return match_state(m, i, at);
	case PIECE_PLUS:
		/*
		 * TASK_STATE_MAX since 4.14. Where it differs, printing the record gives another text, and the guess is
		 * dropped.
		 */
		m->found[i].value = at < m->end && *at == '+' ? 0x100 : 0;
		return match(m, i + 1, at + (m->found[i].value ? 1 : 0));
	}
	return false;
}

static void put_number(const struct piece *piece, uint64_t value, struct buf *record)
{
	uint32_t size = piece->field->flags & FIELD_ARRAY ? piece->field->elem_size : piece->field->size;
	char *at = record->data + piece->field->offset + piece->element * size;
	uint64_t stored = htole64(value << piece->shift), old = 0;

	memcpy(&old, at, size);
	stored |= old;
	memcpy(at, &stored, size);
}

static bool put_text(const struct field *field, const char *text, size_t len, struct buf *record)
{
	uint32_t place;

	if (!(field->flags & FIELD_DYNAMIC)) {
		if (len >= field->size)
			return false;
		memcpy(record->data + field->offset, text, len);
		return true;
	}
	if (record->len + len + 1 > RECORD_MAX || field->size != sizeof(place))
		return false;
	place = htole32((uint32_t)(record->len - (field->flags & FIELD_RELATIVE ? field->offset + 4 : 0)) |
			(uint32_t)(len + 1) << 16);
	memcpy(record->data + field->offset, &place, sizeof(place));
	return buf_add(record, text, len) && buf_add(record, "", 1);
}

static bool put(const struct piece *piece, const struct found *found, const struct parse_print_fmt_symbols *symbols,
		struct buf *record)
{
	uint64_t value = found->value;

	if (piece->what == PIECE_LITERAL)
		return true;
	if (piece->what == PIECE_TEXT)
		return put_text(piece->field, found->text, found->len, record);
	if (piece->what == PIECE_SYMBOL)
		value = symbols->address(symbols->arg, found->text, found->len);
	put_number(piece, value, record);
	return value || piece->what != PIECE_SYMBOL;
}

bool parse_print_fmt_run(const struct parse_print_fmt *parse, const struct parse_print_fmt_symbols *symbols,
			 const char *text, size_t len, struct buf *record)
{
	struct match m = { .parse = parse, .end = text + len };
	uint32_t size = parse->format->size;

	if (len > RECORD_MAX || size > RECORD_MAX || !match(&m, 0, text))
		return false;
	buf_clear(record);
	if (!buf_reserve(record, size + 1))
		return false;
	memset(record->data, 0, size);
	record->len = size;
	for (size_t i = 0; i < parse->nr; i++)
		if (!put(&parse->pieces[i], &m.found[i], symbols, record))
			return false;
	return true;
}
