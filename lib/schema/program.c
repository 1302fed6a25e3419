// SPDX-License-Identifier: GPL-2.0-only
#include "lib/schema/program.h"

#include "lib/base/digits.h"
#include "lib/base/out.h"
#include "lib/schema/arena.h"
#include "lib/schema/compile.h"
#include "lib/schema/fallback.h"
#include "lib/schema/fields.h"
#include "lib/schema/format.h"
#include "lib/schema/parse.h"
#include "lib/schema/text.h"

#include <stdio.h>

struct program *program_compile(const struct schema_abi *abi, const struct format *format, const char *text, size_t len,
				struct arena *arena, const char **ret_note)
{
	struct program *program = arena_alloc(arena, sizeof(*program));
	char why[120] = "", note[256];

	*ret_note = NULL;
	if (!program) {
		/* The format took all that it may have: what is left is to print its fields. */
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
	program->fallback = abi->no_fallback ? NULL : fallback_new(abi, format, text, len);
	program->as_fields = !program->fallback;
	snprintf(note, sizeof(note), "its print fmt cannot be compiled: %s; %s", why,
		 program->fallback ? "libtraceevent prints it" : "its fields are printed as name=value");
	arena->cap += sizeof(note) + 16;
	*ret_note = arena_text(arena, note, strlen(note));
	if (!*ret_note)
		*ret_note = "its print fmt cannot be compiled";
	return program;
}

void program_release(struct program *program)
{
	if (program)
		fallback_free(program->fallback);
}

/* Copies in steps of 16 bytes, over the end: the prefix is padded and the caller has made room. */
static inline char *put_prefix(char *at, const struct op *op)
{
	uint32_t len = op->prefix_len;

	if (__builtin_expect(len > 64, 0)) {
		memcpy(at, op->prefix, len);
		return at + len;
	}
	for (uint32_t done = 0; done < len; done += 16)
		memcpy(at + done, op->prefix + done, 16);
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

static void put_dyn_string(const struct op *op, const struct run *run, struct out *out)
{
	uint32_t where = load_u32(run->data + op->offset, false);
	size_t offset = where & 0xffff, len = where >> 16;

	if (offset > run->len || len > run->len - offset)
		return;
	out_mem(out, run->data + offset, strnlen((const char *)run->data + offset, len));
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

static void put_other(const struct op *op, const struct run *run, struct out *out)
{
	struct spec spec = op->spec;
	size_t start = out_len(out);

	if (op->star_width)
		spec_set_width(&spec, (int32_t)expr_number(op->star_width, run));
	if (op->star_precision)
		spec_set_precision(&spec, (int32_t)expr_number(op->star_precision, run));
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

/* Room is asked for once per op: its prefix, and the most that the simple codes write. */
static void run_ops(const struct program *program, const struct run *run, struct out *out)
{
	const struct op *op = program->ops, *end = op + program->nr_ops;
	const uint8_t *data = run->data;

	for (; op < end; op++) {
		out_need(out, (size_t)op->prefix_len + 64);
		out->at = put_prefix(out->at, op);
		switch ((enum op_code)op->code) {
		case CODE_LITERAL:
			break;
		case CODE_UNSIGNED:
			out->at = digits_put_u64(out->at, expr_load(data + op->offset, op->load));
			break;
		case CODE_SIGNED:
			out->at = digits_put_s64(out->at, (int64_t)expr_load(data + op->offset, op->load));
			break;
		case CODE_HEX:
			out->at = digits_put_hex(out->at, expr_load(data + op->offset, op->load));
			break;
		case CODE_HEX_ZEROS:
			out->at = put_hex_zeros(out->at, expr_load(data + op->offset, op->load), op->width);
			break;
		case CODE_STRING_16:
			memcpy(out->at, data + op->offset, 16);
			out->at += length_16(data + op->offset);
			break;
		case CODE_STRING:
			out_mem(out, data + op->offset, strnlen((const char *)data + op->offset, op->size));
			break;
		case CODE_DYN_STRING:
			put_dyn_string(op, run, out);
			break;
		case CODE_TEXT:
			expr_text(op->expr, run, out);
			break;
		case CODE_NUMBER:
		case CODE_OTHER:
			put_other(op, run, out);
			break;
		}
	}
}

static void run_any(const struct program *program, const struct run *run, struct out *out)
{
	if (program->fallback)
		fallback_run(program->fallback, run, out);
	else if (program->as_fields)
		fields_put(program->format, run, out);
	else
		run_ops(program, run, out);
}

/* A record that was cut: what it lacks of its fixed fields is 0. Rare, so the copy costs nobody anything. */
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
