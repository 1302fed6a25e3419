// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ground/base/out.h"
#include "lib/meaning/schema/expr_internal.h"
#include "lib/meaning/schema/format.h"
#include "lib/meaning/schema/program.h"
#include "lib/meaning/schema/spec_internal.h"

/* The words that vbin_printf() packed. Arguments that are missing read as 0 and "". */
struct words {
	const uint8_t *start;
	size_t at, len;
	bool swap;
};

/* Values of eight bytes are aligned to four, smaller ones to their size: save_arg() of lib/vsprintf.c. */
static uint64_t take_word(struct words *words, uint8_t size, bool is_signed)
{
	size_t align = size > 4 ? 4 : size, at = (words->at + align - 1) & ~(align - 1);
	uint8_t log = size == 8 ? 3 : size == 4 ? 2 : size == 2 ? 1 : 0;

	if (at > words->len || size > words->len - at) {
		words->at = words->len;
		return 0;
	}
	words->at = at + size;
	return expr_load(words->start + at,
			 (uint8_t)(log | (is_signed ? LOAD_SIGNED : 0) | (words->swap ? LOAD_SWAP : 0)));
}

static const char *take_string(struct words *words, size_t *ret_len)
{
	const char *text = (const char *)words->start + words->at;

	*ret_len = strnlen(text, words->len - words->at);
	words->at += *ret_len;
	if (words->at < words->len)
		words->at++;
	return text;
}

/* bstr_printf(): pointers whose target is printed were formatted when they were recorded; the others are numbers. */
static bool is_packed_pointer(const struct spec *spec)
{
	return !*spec->how || strchr("SsxKeBfF", *spec->how);
}

static void put_conversion(const struct spec *spec, struct words *words, const struct run *run, struct out *out)
{
	const char *text;
	size_t len;

	switch ((enum spec_kind)spec->kind) {
	case SPEC_NUMBER:
		spec_number(spec, take_word(words, spec->size, spec->flags & SPEC_SIGNED), out);
		return;
	case SPEC_CHAR:
		spec_char(spec, (char)take_word(words, 1, false), out);
		return;
	case SPEC_STRING:
		text = take_string(words, &len);
		spec_string(spec, text, len, out);
		return;
	case SPEC_POINTER:
		if (is_packed_pointer(spec)) {
			spec_pointer(spec, take_word(words, run->abi->long_size, false), run, out);
			return;
		}
		text = take_string(words, &len);
		out_mem(out, text, len);
		return;
	case SPEC_PERCENT:
		out_char(out, '%');
		return;
	case SPEC_NONE:
		return;
	}
}

void program_bprintf(const struct schema *schema, const struct program_env *env, const char *format,
		     const uint8_t *args, size_t len, struct out *out)
{
	const struct schema_abi *abi = schema_abi(schema);
	struct words words = { .start = args, .len = len, .swap = abi->swap };
	struct run run = { .data = args, .len = len, .env = env, .abi = abi };
	const char *end = format + strlen(format);
	struct spec spec;

	while (format < end) {
		const char *percent = memchr(format, '%', (size_t)(end - format));
		const char *stop = percent ? percent : end;

		out_mem(out, format, (size_t)(stop - format));
		if (!percent)
			return;
		format = percent + 1;
		spec_read(&spec, &format, end, abi->long_size);
		if (spec.kind == SPEC_NONE)
			return;
		if (spec.flags & SPEC_STAR_WIDTH)
			spec_set_width(&spec, (int32_t)take_word(&words, 4, true));
		if (spec.flags & SPEC_STAR_PRECISION)
			spec_set_precision(&spec, (int32_t)take_word(&words, 4, true));
		put_conversion(&spec, &words, &run, out);
	}
}
