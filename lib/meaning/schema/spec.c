// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/schema/spec_internal.h"

#include "lib/ground/base/digits.h"
#include "lib/ground/base/out.h"

static int32_t read_digits(const char **at, const char *end)
{
	int32_t value = 0;

	for (; *at < end && **at >= '0' && **at <= '9'; (*at)++)
		if (value <= SPEC_WIDTH_MAX)
			value = value * 10 + (**at - '0');
	return value < SPEC_WIDTH_MAX ? value : SPEC_WIDTH_MAX;
}

void spec_set_width(struct spec *spec, int32_t width)
{
	if (width < 0) {
		spec->flags |= SPEC_LEFT;
		width = width == INT32_MIN ? INT32_MAX : -width;
	}
	spec->width = width < SPEC_WIDTH_MAX ? width : SPEC_WIDTH_MAX;
}

void spec_set_precision(struct spec *spec, int32_t precision)
{
	if (precision < INT16_MIN)
		spec->precision = 0;
	else if (precision < 0)
		spec->precision = -1;
	else
		spec->precision = precision < SPEC_WIDTH_MAX ? precision : SPEC_WIDTH_MAX;
}

static void read_flags(struct spec *spec, const char **at, const char *end)
{
	static const char letters[] = "-+ #0";

	for (; *at < end; (*at)++) {
		const char *letter = **at ? strchr(letters, **at) : NULL;

		if (!letter)
			return;
		spec->flags |= (uint16_t)(1 << (letter - letters));
	}
}

static void read_sizes(struct spec *spec, const char **at, const char *end)
{
	spec->width = spec->precision = -1;
	if (*at < end && **at == '*') {
		spec->flags |= SPEC_STAR_WIDTH;
		(*at)++;
	} else if (*at < end && **at >= '0' && **at <= '9') {
		spec->width = read_digits(at, end);
	}
	if (*at == end || **at != '.')
		return;
	(*at)++;
	if (*at < end && **at == '*') {
		spec->flags |= SPEC_STAR_PRECISION;
		(*at)++;
	} else if (*at < end && **at >= '0' && **at <= '9') {
		spec->precision = read_digits(at, end);
	}
}

static uint8_t read_qualifier(const char **at, const char *end, uint8_t long_size)
{
	char c = *at < end ? **at : 0;
	bool twice = end - *at > 1 && (*at)[1] == c;

	if (c == 'h') {
		*at += twice ? 2 : 1;
		return twice ? 1 : 2;
	}
	if (c == 'l') {
		*at += twice ? 2 : 1;
		return twice ? 8 : long_size;
	}
	if (c == 'L' || c == 'q' || c == 'j') {
		(*at)++;
		return 8;
	}
	if (c == 'z' || c == 't' || c == 'Z') {
		(*at)++;
		return long_size;
	}
	return 4;
}

static bool is_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static void read_how(struct spec *spec, const char **at, const char *end)
{
	size_t len = 0;

	for (; *at < end && is_alnum(**at); (*at)++)
		if (len + 1 < sizeof(spec->how))
			spec->how[len++] = **at;
}

void spec_read(struct spec *spec, const char **at, const char *end, uint8_t long_size)
{
	*spec = (struct spec){ .kind = SPEC_NONE, .base = 10 };
	read_flags(spec, at, end);
	read_sizes(spec, at, end);
	spec->size = read_qualifier(at, end, long_size);
	if (*at == end)
		return;
	spec->kind = SPEC_NUMBER;
	switch (*(*at)++) {
	case 'd':
	case 'i':
		spec->flags |= SPEC_SIGNED;
		return;
	case 'u':
		return;
	case 'o':
		spec->base = 8;
		return;
	case 'x':
		spec->flags |= SPEC_SMALL;
		spec->base = 16;
		return;
	case 'X':
		spec->base = 16;
		return;
	case 'c':
		spec->kind = SPEC_CHAR;
		return;
	case 's':
		spec->kind = SPEC_STRING;
		return;
	case 'p':
		spec->kind = SPEC_POINTER;
		read_how(spec, at, end);
		return;
	case '%':
		spec->kind = SPEC_PERCENT;
		return;
	}
	(*at)--;
	spec->kind = SPEC_NONE;
}

/* Writes digits that end before `end`; returns the first. */
static char *put_digits(char *end, uint64_t value, unsigned base, bool small)
{
	const char *digits = small ? "0123456789abcdef" : "0123456789ABCDEF";

	do {
		*--end = digits[value % base];
		value /= base;
	} while (value);
	return end;
}

static void put_padded(const struct spec *spec, char sign, bool prefix, bool zero, const char *digits, int32_t len,
		       struct out *out)
{
	int32_t precision = spec->precision > len ? spec->precision : len,
		width = spec->width - precision - (sign != 0);
	bool left = spec->flags & SPEC_LEFT, zeros = !left && spec->flags & SPEC_ZEROS;

	if (prefix)
		width -= spec->base == 16 ? 2 : !zero;
	if (width > 0 && !left && !zeros)
		out_fill(out, ' ', (size_t)width);
	if (sign)
		out_char(out, sign);
	if (prefix && (spec->base == 16 || !zero))
		out_char(out, '0');
	if (prefix && spec->base == 16)
		out_char(out, spec->flags & SPEC_SMALL ? 'x' : 'X');
	if (width > 0 && zeros)
		out_fill(out, '0', (size_t)width);
	if (precision > len)
		out_fill(out, '0', (size_t)(precision - len));
	out_mem(out, digits, (size_t)len);
	if (width > 0 && left)
		out_fill(out, ' ', (size_t)width);
}

void spec_number(const struct spec *spec, uint64_t value, struct out *out)
{
	char text[24], *end = text + sizeof(text), *at, sign = 0;
	bool prefix = spec->flags & SPEC_SPECIAL && spec->base != 10, zero = !value;

	if (spec->flags & SPEC_SIGNED) {
		if ((int64_t)value < 0) {
			sign = '-';
			value = 0 - value;
		} else if (spec->flags & SPEC_PLUS) {
			sign = '+';
		} else if (spec->flags & SPEC_SPACE) {
			sign = ' ';
		}
	}
	if (spec->base == 10 && spec->width <= 1 && spec->precision <= 1) {
		out_need(out, DIGITS_MAX);
		if (sign)
			*out->at++ = sign;
		out->at = digits_put_u64(out->at, value);
		return;
	}
	at = put_digits(end, value, spec->base, spec->flags & SPEC_SMALL);
	put_padded(spec, sign, prefix, zero, at, (int32_t)(end - at), out);
}

void spec_char(const struct spec *spec, char c, struct out *out)
{
	if (spec->width > 1 && !(spec->flags & SPEC_LEFT))
		out_fill(out, ' ', (size_t)spec->width - 1);
	out_char(out, c);
	if (spec->width > 1 && spec->flags & SPEC_LEFT)
		out_fill(out, ' ', (size_t)spec->width - 1);
}

void spec_widen(const struct spec *spec, size_t start, struct out *out)
{
	size_t len = out_len(out), spaces;

	/* An append that lacked memory has moved to the start of the buffer. */
	if (len < start)
		return;
	len -= start;
	if (spec->precision >= 0 && len > (size_t)spec->precision) {
		out->at -= len - (size_t)spec->precision;
		len = (size_t)spec->precision;
	}
	if (spec->width < 0 || len >= (size_t)spec->width)
		return;
	spaces = (size_t)spec->width - len;
	out_fill(out, ' ', spaces);
	if (!(spec->flags & SPEC_LEFT) && out_len(out) == start + len + spaces) {
		memmove(out->start + start + spaces, out->start + start, len);
		memset(out->start + start, ' ', spaces);
	}
}

void spec_string(const struct spec *spec, const char *text, size_t len, struct out *out)
{
	size_t start = out_len(out);

	out_mem(out, text, len);
	spec_widen(spec, start, out);
}
