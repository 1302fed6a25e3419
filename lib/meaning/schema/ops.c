// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/schema/ops_internal.h"

#include "lib/ground/base/digits.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/siphash.h"
#include "lib/meaning/schema/env.h"
#include "lib/meaning/schema/text_internal.h"
#include "lib/meaning/uapi/names.h"

/* The op after one that has written as much as its room has. */
static inline void next(const struct op *op, char *at, const uint8_t *data, const struct run *run, struct out *out)
{
	op_begin(op + 1, at, data, run, out);
}

static inline char *make_room(struct out *out, char *at, const struct op *op)
{
	out->at = at;
	out_need(out, op->room);
	return out->at;
}

/* The op after one that has left no room. */
static inline void next_with_room(const struct op *op, char *at, const uint8_t *data, const struct run *run,
				  struct out *out)
{
	op_begin(op + 1, make_room(out, at, op + 1), data, run, out);
}

static void put_literal(const struct op *op, char *at, const uint8_t *data, const struct run *run, struct out *out)
{
	(void)op;
	(void)data;
	(void)run;
	out->at = at;
}

static void put_tail(const struct op *op, char *at, const uint8_t *data, const struct run *run, struct out *out)
{
	for (uint32_t done = 0; done < op->size; done += OP_HEAD)
		memcpy(at + done, op->tail + done, OP_HEAD);
	next(op, at + op->size, data, run, out);
}

static inline char *put_hex_zeros(char *at, uint64_t value, unsigned width)
{
	unsigned nibbles = (67 - (unsigned)__builtin_clzll(value | 1)) / 4;

	while (nibbles < width) {
		*at++ = '0';
		width--;
	}
	return digits_put_hex(at, value);
}

/* "%03d": the sign stands before the zeros, and takes a place. */
static inline char *put_zeros(char *at, int64_t value, unsigned width)
{
	uint64_t size = (uint64_t)value;
	unsigned len;

	if (value < 0) {
		*at++ = '-';
		size = 0 - size;
		width--;
	}
	for (len = digits_count(size); len < width; len++)
		*at++ = '0';
	return digits_put_u64(at, size);
}

/*
 * A function for each size of a field, in this machine's byte order: loads have no branch.
 */
#define NUMBER_OF(name, bits, type, write)                                                                   \
	static void name##_##bits(const struct op *op, char *at, const uint8_t *data, const struct run *run, \
				  struct out *out)                                                           \
	{                                                                                                    \
		type value;                                                                                  \
                                                                                                             \
		memcpy(&value, data + op->offset, sizeof(value));                                            \
		next(op, write, data, run, out);                                                             \
	}
#define NUMBER(name, sign, write)              \
	NUMBER_OF(name, 8, sign##8_t, write)   \
	NUMBER_OF(name, 16, sign##16_t, write) \
	NUMBER_OF(name, 32, sign##32_t, write) \
	NUMBER_OF(name, 64, sign##64_t, write)

NUMBER(put_unsigned, uint, digits_put_u64(at, value))
NUMBER(put_signed, int, digits_put_s64(at, value))
NUMBER(put_zeros, int, put_zeros(at, value, op->width))
NUMBER(put_hex, uint, digits_put_hex(at, value))
NUMBER(put_hex_zeros, uint, put_hex_zeros(at, value, op->width))

static char *pointer_text(char *at, uint64_t value, const struct run *run)
{
	if (run->env->libc_pointers) {
		if (!value) {
			memcpy(at, "(nil)", 5);
			return at + 5;
		}
		memcpy(at, "0x", 2);
		return digits_put_hex(at + 2, value);
	}
	if (!value && run->env->null_text) {
		memcpy(at, "          (null)", 16);
		return at + 16;
	}
	if (!run->env->hash_pointers || !value || value >= (uint64_t)-ERRNO_MAX)
		return put_hex_zeros(at, value, 16);
	if (run->env->hash_key)
		return put_hex_zeros(at, (uint32_t)siphash_u64(run->env->hash_key, value), 16);
	memcpy(at, "(____ptrval____)", 16);
	return at + 16;
}

static void put_pointer(const struct op *op, char *at, const uint8_t *data, const struct run *run, struct out *out)
{
	uint64_t value = load_u64(data + op->offset, false);

	/* %px is never hashed. */
	at = *op->conversion->spec.how ? put_hex_zeros(at, value, 16) : pointer_text(at, value, run);
	next(op, at, data, run, out);
}

/* Copies 16 bytes of a text, and returns the length of the text in them, at most 16. */
static inline unsigned copy_16(char *at, const uint8_t *text)
{
#ifdef __x86_64__
	__m128i bytes = _mm_loadu_si128((const __m128i *)text);
	unsigned zeros = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_setzero_si128()));

	_mm_storeu_si128((__m128i *)at, bytes);
	return (unsigned)__builtin_ctz(zeros | 1u << 16);
#else
	uint64_t low = load_u64(text, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__),
		 high = load_u64(text + 8, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);

	memcpy(at, text, 16);
	low = (low - 0x0101010101010101) & ~low & 0x8080808080808080;
	if (low)
		return (unsigned)__builtin_ctzll(low) / 8;
	high = (high - 0x0101010101010101) & ~high & 0x8080808080808080;
	return high ? 8 + (unsigned)__builtin_ctzll(high) / 8 : 16;
#endif
}

static void put_string_16(const struct op *op, char *at, const uint8_t *data, const struct run *run, struct out *out)
{
	unsigned len = copy_16(at, data + op->offset);

	next(op, at + len, data, run, out);
}

/* Prints a text of any length: room for it is asked for here. */
__attribute__((noinline)) static char *string_text(struct out *out, char *at, const uint8_t *text, size_t max)
{
	out->at = at;
	out_mem(out, text, strnlen((const char *)text, max));
	return out->at;
}

/* Most strings are shorter than 16 bytes: those are copied with what follows them, as far as that is in the record. */
static inline void put_max(const struct op *op, char *at, const uint8_t *text, size_t max, size_t have,
			   const uint8_t *data, const struct run *run, struct out *out)
{
	size_t len = have >= 16 ? copy_16(at, text) : 16;

	if (len > max)
		len = max;
	if (len < 16 && have >= 16)
		next(op, at + len, data, run, out);
	else
		next_with_room(op, string_text(out, at, text, max), data, run, out);
}

static void put_string(const struct op *op, char *at, const uint8_t *data, const struct run *run, struct out *out)
{
	put_max(op, at, data + op->offset, op->size, op->size, data, run, out);
}

static void put_dyn_string(const struct op *op, char *at, const uint8_t *data, const struct run *run, struct out *out)
{
	uint32_t where = load_u32(data + op->offset, false);
	size_t offset = where & 0xffff, len = where >> 16;

	if (offset > run->len || len > run->len - offset)
		next(op, at, data, run, out);
	else
		put_max(op, at, data + offset, len, run->len - offset, data, run, out);
}

/* A field without its sign: the sizes of fields are few, and a branch on them is well predicted. */
static inline uint64_t load_field(const struct op *op, const uint8_t *data)
{
	if (op->size == 4)
		return load_u32(data + op->offset, false);
	if (op->size == 8)
		return load_u64(data + op->offset, false);
	return op->size == 1 ? data[op->offset] : load_u16(data + op->offset, false);
}

static void put_choice(const struct op *op, char *at, const uint8_t *data, const struct run *run, struct out *out)
{
	const struct choice *choice = op->choice;
	bool second = !(load_field(op, data) & choice->mask);

	memcpy(at, choice->texts[second], CHOICE_TEXT);
	next(op, at + choice->lens[second], data, run, out);
}

static inline char *any_text(const struct op *op, char *at, const struct run *run, struct out *out)
{
	out->at = at;
	expr_text(op->expr, run, out);
	return out->at;
}

static void put_text(const struct op *op, char *at, const uint8_t *data, const struct run *run, struct out *out)
{
	next_with_room(op, any_text(op, at, run, out), data, run, out);
}

static void put_texts(const struct op *op, char *at, const uint8_t *data, const struct run *run, struct out *out)
{
	const struct texts *texts = op->texts;
	uint64_t value = load_field(op, data) & texts->mask;
	const struct short_text *text;

	if (__builtin_expect(value < texts->nr, 1)) {
		text = &texts->of[value];
		memcpy(at, text, sizeof(*text));
		if (__builtin_expect(text->len <= TEXTS_TEXT, 1)) {
			next(op, at + text->len, data, run, out);
			return;
		}
	}
	put_text(op, at, data, run, out);
}

static void other_text(const struct op *op, const struct run *run, struct out *out)
{
	const struct conversion *conversion = op->conversion;
	struct spec spec = conversion->spec;
	size_t start = out_len(out);

	if (conversion->star_width)
		spec_set_width(&spec, (int32_t)expr_number(conversion->star_width, run));
	if (conversion->star_precision)
		spec_set_precision(&spec, (int32_t)expr_number(conversion->star_precision, run));
	switch ((enum spec_kind)spec.kind) {
	case SPEC_NUMBER:
		spec_number(&spec, ctype_fit(expr_number(op->expr, run), spec.size, spec.flags & SPEC_SIGNED), out);
		return;
	case SPEC_CHAR:
		spec_char(&spec, (char)expr_number(op->expr, run), out);
		return;
	case SPEC_STRING:
		expr_text(op->expr, run, out);
		spec_widen(&spec, start, out);
		return;
	case SPEC_POINTER:
		if (expr_is_place(op->expr))
			spec_place(&spec, expr_place(op->expr, run), run, out);
		else
			spec_pointer(&spec, expr_number(op->expr, run), run, out);
		return;
	case SPEC_NONE:
	case SPEC_PERCENT:
		return;
	}
}

static void put_other(const struct op *op, char *at, const uint8_t *data, const struct run *run, struct out *out)
{
	out->at = at;
	other_text(op, run, out);
	next_with_room(op, out->at, data, run, out);
}

#define SIZES(name)                                       \
	{                                                 \
		name##_8, name##_16, name##_32, name##_64 \
	}

void op_link(struct op *op)
{
	static op_put *const numbers[][4] = {
		[CODE_UNSIGNED] = SIZES(put_unsigned),   [CODE_SIGNED] = SIZES(put_signed),
		[CODE_ZEROS] = SIZES(put_zeros),         [CODE_HEX] = SIZES(put_hex),
		[CODE_HEX_ZEROS] = SIZES(put_hex_zeros),
	};
	static op_put *const others[] = {
		[CODE_LITERAL] = put_literal,       [CODE_TAIL] = put_tail,     [CODE_POINTER] = put_pointer,
		[CODE_STRING_16] = put_string_16,   [CODE_CHOICE] = put_choice, [CODE_TEXTS] = put_texts,
		[CODE_DYN_STRING] = put_dyn_string, [CODE_STRING] = put_string, [CODE_TEXT] = put_text,
		[CODE_NUMBER] = put_other,          [CODE_OTHER] = put_other,
	};

	op->put = others[op->code] ? others[op->code] :
				     numbers[op->code][op->size == 8 ? 3 :
						       op->size == 4 ? 2 :
						       op->size == 2 ? 1 :
								       0];
}
