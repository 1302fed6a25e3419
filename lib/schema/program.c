// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/schema/program.h"

#include "lib/base/digits.h"
#include "lib/base/out.h"
#include "lib/base/siphash.h"
#include "lib/schema/arena_internal.h"
#include "lib/schema/compile_internal.h"
#include "lib/schema/fields_internal.h"
#include "lib/schema/format.h"
#include "lib/schema/format_internal.h"
#include "lib/schema/text_internal.h"

#include <stdio.h>

struct program *program_compile(const struct schema_abi *abi, const struct format *format, struct arena *arena,
				const char **ret_note)
{
	struct program *program = arena_alloc(arena, sizeof(*program));
	char why[120] = "", note[256];

	*ret_note = NULL;
	if (!program) {
		/* The arena has reached its cap: raise it a little for a program that prints the fields. */
		arena->cap += sizeof(*program) + sizeof(note);
		program = arena_alloc(arena, sizeof(*program));
		if (!program)
			return NULL;
	}
	program->abi = abi;
	program->format = format;
	program->size = format->size;
	if (compile_print_fmt(program, arena, why, sizeof(why), ret_note))
		return program;
	program->ops = NULL;
	program->nr_ops = 0;
	program->as_fields = true;
	snprintf(note, sizeof(note), "its print fmt cannot be compiled: %s", why);
	arena->cap += sizeof(note) + 16;
	*ret_note = arena_text(arena, note, strlen(note));
	if (!*ret_note)
		*ret_note = "its print fmt cannot be compiled";
	return program;
}

bool program_shows_fields(const struct program *program)
{
	return program->as_fields;
}

/* Copies more than the prefix: the caller has made room. Few prefixes are longer. */
static inline char *put_prefix(char *at, const struct op *op)
{
	uint32_t len = op->prefix_len;

	memcpy(at, op->head, OP_HEAD);
	if (__builtin_expect(len > OP_HEAD, 0))
		memcpy(at + OP_HEAD, op->tail, len - OP_HEAD);
	return at + len;
}

/* The length of a string in 16 bytes. */
static inline unsigned length_16(const uint8_t *text)
{
	uint64_t low, high;

	low = load_u64(text, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	high = load_u64(text + 8, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	low = (low - 0x0101010101010101) & ~low & 0x8080808080808080;
	if (low)
		return (unsigned)__builtin_ctzll(low) / 8;
	high = (high - 0x0101010101010101) & ~high & 0x8080808080808080;
	return high ? 8 + (unsigned)__builtin_ctzll(high) / 8 : 16;
}

/* Copies a text in words if the buffer has room beyond the end of the text; else with memcpy(). */
static inline char *put_text(char *at, const uint8_t *text, size_t have, size_t len)
{
	if (len > 64 || have < ((len + 7) & ~(size_t)7)) {
		memcpy(at, text, len);
		return at + len;
	}
	for (size_t done = 0; done < len; done += 8)
		memcpy(at + done, text + done, 8);
	return at + len;
}

/* The length of a string in at most `len` bytes. */
static inline size_t text_length(const uint8_t *text, size_t len)
{
	size_t at = 0;

	for (; len - at >= 8; at += 8) {
		uint64_t word = load_u64(text + at, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);

		word = (word - 0x0101010101010101) & ~word & 0x8080808080808080;
		if (word)
			return at + (size_t)__builtin_ctzll(word) / 8;
	}
	while (at < len && text[at])
		at++;
	return at;
}

/* Prints a text whose length depends on the record: room is reserved here. */
static inline char *put_string(struct out *out, char *at, const uint8_t *text, size_t max, size_t have)
{
	size_t len = text_length(text, max);

	out->at = at;
	if (len > OUT_NEED_MAX / 2) {
		out_mem(out, text, len);
		return out->at;
	}
	out_need(out, len + 8);
	return put_text(out->at, text, have, len);
}

static inline char *put_dyn_string(const struct op *op, const struct run *run, struct out *out, char *at)
{
	uint32_t where = load_u32(run->data + op->offset, false);
	size_t offset = where & 0xffff, len = where >> 16;

	if (offset > run->len || len > run->len - offset)
		return at;
	return put_string(out, at, run->data + offset, len, run->len - offset);
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

static void put_other(const struct op *op, const struct run *run, struct out *out)
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

static char *put_pointer(char *at, uint64_t value, const struct run *run)
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
	if (!run->env->hash_pointers || !value || value >= (uint64_t)-4095)
		return put_hex_zeros(at, value, 16);
	if (run->env->hash_key)
		return put_hex_zeros(at, (uint32_t)siphash_u64(run->env->hash_key, value), 16);
	memcpy(at, "(____ptrval____)", 16);
	return at + 16;
}

static inline char *put_choice(char *at, const struct choice *choice, uint64_t value)
{
	bool second = !(value & choice->mask);

	memcpy(at, choice->texts[second], CHOICE_TEXT);
	return at + choice->lens[second];
}

static inline char *make_room(struct out *out, char *at, const struct op *op)
{
	out->at = at;
	out_need(out, op->room);
	return out->at;
}

/*
 * The output position is kept in a register while short codes run; after a code of unbounded length the room for the
 * following ones is reserved.
 */
static void run_ops(const struct op *op, const struct run *run, struct out *out)
{
	const uint8_t *data = run->data;
	char *at = make_room(out, out->at, op);

	for (;; op++) {
		at = put_prefix(at, op);
		switch ((enum op_code)op->code) {
		case CODE_LITERAL:
			out->at = at;
			return;
		case CODE_UNSIGNED:
			at = digits_put_u64(at, load_u64(data + op->offset, false) >> op->shift);
			continue;
		case CODE_SIGNED:
			at = digits_put_s64(at, (int64_t)load_u64(data + op->offset, false) >> op->shift);
			continue;
		case CODE_ZEROS:
			at = put_zeros(at, (int64_t)load_u64(data + op->offset, false) >> op->shift, op->width);
			continue;
		case CODE_HEX:
			at = digits_put_hex(at, load_u64(data + op->offset, false) >> op->shift);
			continue;
		case CODE_HEX_ZEROS:
			at = put_hex_zeros(at, load_u64(data + op->offset, false) >> op->shift, op->width);
			continue;
		case CODE_POINTER:
			/* %px is never hashed. */
			at = *op->conversion->spec.how ? put_hex_zeros(at, load_u64(data + op->offset, false), 16) :
							 put_pointer(at, load_u64(data + op->offset, false), run);
			continue;
		case CODE_STRING_16:
			memcpy(at, data + op->offset, 16);
			at += length_16(data + op->offset);
			continue;
		case CODE_CHOICE:
			at = put_choice(at, op->choice, load_u64(data + op->offset, false) >> op->shift);
			continue;
		case CODE_STRING:
			at = put_string(out, at, data + op->offset, op->size, op->size);
			break;
		case CODE_DYN_STRING:
			at = put_dyn_string(op, run, out, at);
			break;
		case CODE_TEXT:
			out->at = at;
			expr_text(op->expr, run, out);
			at = out->at;
			break;
		case CODE_NUMBER:
		case CODE_OTHER:
			out->at = at;
			put_other(op, run, out);
			at = out->at;
			break;
		}
		at = make_room(out, at, op + 1);
	}
}

static void run_any(const struct program *program, const struct run *run, struct out *out)
{
	if (program->as_fields)
		fields_put(program->format, run, out);
	else
		run_ops(program->ops, run, out);
}

/* A record that was cut: the missing bytes of its fixed fields are 0. Rare, so the copy does not matter. */
__attribute__((noinline)) static void run_short(const struct program *program, const struct run *run, struct out *out)
{
	uint8_t padded[FORMAT_SIZE_MAX + 1];
	struct run whole = *run;

	memcpy(padded, run->data, run->len);
	memset(padded + run->len, 0, program->size - run->len);
	whole.data = padded;
	run_any(program, &whole, out);
}

void program_run(const struct program *program, const struct program_env *env, const uint8_t *data, size_t len,
		 struct out *out)
{
	struct run run = { .data = data, .len = len, .env = env, .abi = program->abi };

	if (__builtin_expect(len < program->size, 0))
		run_short(program, &run, out);
	else
		run_any(program, &run, out);
}

void program_fields(const struct schema *schema, const struct format *format, const struct program_env *env,
		    const uint8_t *data, size_t len, struct out *out)
{
	struct run run = { .data = data, .len = len, .env = env, .abi = schema_abi(schema) };

	fields_put(format, &run, out);
}
