// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdint.h>
#include <stdio.h>

#include "lib/ground/base/out.h"
#include "lib/meaning/schema/arena_internal.h"
#include "lib/meaning/schema/compile_internal.h"
#include "lib/meaning/schema/env.h"
#include "lib/meaning/schema/format.h"
#include "lib/meaning/schema/format_internal.h"
#include "lib/meaning/schema/make_internal.h"
#include "lib/meaning/schema/ops_internal.h"
#include "lib/meaning/schema/token_internal.h"

/* Above these, making the texts would take longer than reading a small file. */
enum { COST_MAX = 64, ENTRIES_MAX = 64 };

/* The field that an expression depends on. */
struct source {
	const struct expr *load; /* NULL as long as none was seen */
	uint64_t mask;
	unsigned entries; /* of all tables that are searched */
};

/* The bits of its field that a load tests or prints. Those above the field's size are its sign. */
static uint64_t texts_mask(const struct expr *load)
{
	unsigned bits = 8u << (load->load & LOAD_SIZE);
	uint64_t all = UINT64_MAX >> (64 - bits), mask = load->kind == EXPR_LOAD_MASK ? load->value : all;

	if (mask & ~all && load->load & LOAD_SIGNED)
		mask |= UINT64_C(1) << (bits - 1);
	return mask & all;
}

static bool add_load(struct source *source, const struct expr *load)
{
	if (source->load &&
	    (source->load->offset != load->offset || (source->load->load & LOAD_SIZE) != (load->load & LOAD_SIZE)))
		return false;
	source->load = load;
	source->mask |= texts_mask(load);
	return true;
}

/* Whether a number or a text depends on the source alone. The depth of expressions is bounded. */
static bool has_one_source(struct source *source, const struct expr *expr)
{
	switch ((enum expr_kind)expr->kind) {
	case EXPR_CONST:
	case EXPR_TEXT:
		return true;
	case EXPR_LOAD:
	case EXPR_LOAD_MASK:
		return add_load(source, expr);
	case EXPR_CAST:
	case EXPR_NEGATE:
	case EXPR_INVERT:
	case EXPR_NOT:
	case EXPR_MODULO:
		return has_one_source(source, expr->a);
	case EXPR_BINARY:
		return has_one_source(source, expr->a) && has_one_source(source, expr->b);
	case EXPR_CHOOSE:
		return has_one_source(source, expr->a) && has_one_source(source, expr->b) &&
		       has_one_source(source, expr->c);
	case EXPR_FLAGS:
	case EXPR_SYMBOLIC:
	case EXPR_NAMED:
		source->entries += expr->kind != EXPR_FLAGS && expr->table->direct ? 1 : expr->table->nr;
		return has_one_source(source, expr->a);
	case EXPR_DYN_LEN:
	case EXPR_INDEX:
	case EXPR_SCALE:
	case EXPR_SWAP:
	case EXPR_SYMBOL_ADDRESS:
	case EXPR_PLACE:
	case EXPR_DYN_PLACE:
	case EXPR_MOVE:
	case EXPR_HEX:
	case EXPR_ARRAY:
	case EXPR_BITMASK:
	case EXPR_HEX_DUMP:
	case EXPR_HELPER:
	case EXPR_LAYERS:
		return false;
	}
	return false;
}

/* A choice of numbers is printed as the text at an address, which depends on the file. */
static bool is_known_text(const struct expr *expr)
{
	if (expr->kind == EXPR_CHOOSE)
		return is_known_text(expr->b) && is_known_text(expr->c);
	return expr->kind == EXPR_TEXT || expr->kind == EXPR_FLAGS || expr->kind == EXPR_SYMBOLIC ||
	       expr->kind == EXPR_NAMED;
}

static void make_text_of(struct short_text *text, const struct expr *expr, const struct run *run, struct out *out)
{
	size_t len;

	out_clear(out);
	expr_text(expr, run, out);
	len = out_len(out);
	text->len = (uint8_t)(len <= TEXTS_TEXT ? len : TEXTS_TEXT + 1);
	if (len <= TEXTS_TEXT)
		memcpy(text->text, out->start, len);
}

/*
 * The texts of an expression for each small value of the one field that it depends on, with the field's place. NULL
 * when it depends on more than one field, or on more than the record, when making them takes long, or without memory.
 */
static const struct texts *texts_new(const struct expr *expr, const struct schema_abi *abi, struct arena *arena,
				     uint32_t *ret_offset, uint32_t *ret_size)
{
	static const struct program_env env;
	struct source source = { .mask = 0 };
	uint32_t nr = TEXTS_MAX;
	uint8_t record[FORMAT_SIZE_MAX + 1] = { 0 };
	struct run run = { .data = record, .env = &env, .abi = abi };
	struct texts *texts;
	struct out out;
	bool failed;

	if (!is_known_text(expr) || !has_one_source(&source, expr) || !source.load || abi->swap ||
	    __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ || expr->cost > COST_MAX || source.entries > ENTRIES_MAX)
		return NULL;
	while (nr > 1 && nr / 2 > source.mask)
		nr /= 2;
	texts = arena_alloc(arena, sizeof(*texts) + nr * sizeof(*texts->of));
	if (!texts || !out_init(&out, OUT_NEED_MAX))
		return NULL;
	texts->mask = source.mask;
	texts->nr = nr;
	for (uint32_t i = 0; i < nr; i++) {
		record[source.load->offset] = (uint8_t)i;
		make_text_of(&texts->of[i], expr, &run, &out);
	}
	failed = out.failed;
	out_release(&out);
	*ret_offset = source.load->offset;
	*ret_size = 1u << (source.load->load & LOAD_SIZE);
	return failed ? NULL : texts;
}

enum { OPS_MAX = 512, PRINT_FMT_MAX = 1 << 18 };

struct compiler {
	struct program *program;
	struct arena *arena;
	struct expr_parser parser;
	struct tokens tokens;
	struct op *ops;
	const char *at, *end; /* the format of the print fmt, between its quotes */
	char *literal;        /* the part of the text that belongs to the next op's prefix */
	size_t literal_len;
};

static bool too_large(struct compiler *compiler)
{
	snprintf(compiler->parser.why, sizeof(compiler->parser.why), "it is too large");
	return false;
}

static const struct expr *next_argument(struct compiler *compiler)
{
	if (!tokens_take(&compiler->tokens, ',')) {
		snprintf(compiler->parser.why, sizeof(compiler->parser.why),
			 "it has fewer arguments than its format asks for");
		return NULL;
	}
	return expr_parse(&compiler->parser);
}

/* The code for a number that is stored in the record as it is printed; else CODE_NUMBER. */
static enum op_code simple_code(const struct op *op, bool load_signed)
{
	const struct spec *spec = &op->conversion->spec;

	if (spec->precision > 1 || spec->flags & (SPEC_PLUS | SPEC_SPACE | SPEC_STAR_WIDTH | SPEC_STAR_PRECISION))
		return CODE_NUMBER;
	if (spec->base == 10 && spec->width <= 1)
		return load_signed ? CODE_SIGNED : CODE_UNSIGNED;
	if (spec->base == 10 && load_signed && spec->flags & SPEC_ZEROS && !(spec->flags & SPEC_LEFT) &&
	    spec->width <= 16)
		return CODE_ZEROS;
	if (spec->base != 16 || !(spec->flags & SPEC_SMALL) || spec->flags & (SPEC_SPECIAL | SPEC_LEFT))
		return CODE_NUMBER;
	if (spec->width <= 1)
		return CODE_HEX;
	return spec->flags & SPEC_ZEROS && spec->width <= 16 ? CODE_HEX_ZEROS : CODE_NUMBER;
}

/* Makes an op read `size` bytes at `offset` of a record in this machine's byte order; false when it cannot. */
static bool set_load(struct compiler *compiler, struct op *op, uint32_t offset, uint32_t size)
{
	if (compiler->program->abi->swap || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
		return false;
	op->offset = offset;
	op->size = size;
	return true;
}

static void choose_number(struct compiler *compiler, struct op *op)
{
	const struct expr *expr = op->expr;
	uint32_t have = 1u << (expr->load & LOAD_SIZE),
		 size = have < op->conversion->spec.size ? have : op->conversion->spec.size;
	bool is_signed = op->conversion->spec.flags & SPEC_SIGNED, load_signed = expr->load & LOAD_SIGNED;
	enum op_code code;

	op->code = CODE_NUMBER;
	if (expr->kind != EXPR_LOAD)
		return;
	/* A field narrower than the printed number is sign-extended by its own sign, then cut. */
	if (have < op->conversion->spec.size && load_signed && !is_signed)
		return;
	code = simple_code(op, have < op->conversion->spec.size ? load_signed : is_signed);
	if (code == CODE_NUMBER || !set_load(compiler, op, expr->offset, size))
		return;
	op->code = (uint8_t)code;
	op->width = (uint8_t)(op->conversion->spec.width > 0 ? op->conversion->spec.width : 0);
}

static void choose_pointer(struct compiler *compiler, struct op *op)
{
	const struct spec *spec = &op->conversion->spec;

	if (op->expr->kind != EXPR_LOAD || (op->expr->load & LOAD_SIZE) != 3 || compiler->program->abi->long_size != 8)
		return;
	if (spec->width >= 0 || spec->precision >= 0 || spec->flags || (*spec->how && strcmp(spec->how, "x")))
		return;
	if (set_load(compiler, op, op->expr->offset, 8))
		op->code = CODE_POINTER;
}

static const struct choice *make_choice(struct compiler *compiler, const struct expr *expr)
{
	const struct expr *const texts[] = { expr->b, expr->c };
	struct choice *choice = arena_alloc(compiler->arena, sizeof(*choice));

	for (size_t i = 0; choice && i < 2; i++) {
		memcpy(choice->texts[i], texts[i]->text, texts[i]->text_len);
		choice->lens[i] = texts[i]->text_len;
	}
	if (choice)
		choice->mask = texts_mask(expr->a);
	return choice;
}

static bool is_short_text(const struct expr *expr)
{
	return expr->kind == EXPR_TEXT && expr->text_len <= CHOICE_TEXT;
}

/* `field & mask ? "a" : "b"`; when memory is short it is printed like any other text. */
static void choose_choice(struct compiler *compiler, struct op *op)
{
	const struct expr *expr = op->expr, *what = expr->a;
	const struct choice *choice;

	if (what->kind != EXPR_LOAD && what->kind != EXPR_LOAD_MASK)
		return;
	if (!is_short_text(expr->b) || !is_short_text(expr->c) ||
	    !set_load(compiler, op, what->offset, 1u << (what->load & LOAD_SIZE)))
		return;
	choice = make_choice(compiler, expr);
	if (!choice)
		return;
	op->choice = choice;
	op->code = CODE_CHOICE;
}

/* A text that depends on one field alone is made for each small value of the field. */
static void choose_texts(struct compiler *compiler, struct op *op)
{
	uint32_t offset, size;
	const struct texts *texts = texts_new(op->expr, compiler->program->abi, compiler->arena, &offset, &size);

	if (!texts || !set_load(compiler, op, offset, size))
		return;
	op->texts = texts;
	op->code = CODE_TEXTS;
}

static void choose_string(struct compiler *compiler, struct op *op)
{
	const struct spec *spec = &op->conversion->spec;
	const struct expr *expr = op->expr;

	op->code = CODE_OTHER;
	if (spec->width > 0 || spec->precision >= 0 || spec->flags & (SPEC_STAR_WIDTH | SPEC_STAR_PRECISION))
		return;
	op->code = CODE_TEXT;
	op->offset = expr->offset;
	op->size = expr->size;
	if (expr->kind == EXPR_PLACE && expr->size)
		op->code = expr->size == 16 ? CODE_STRING_16 : CODE_STRING;
	if (expr->kind == EXPR_DYN_PLACE && !expr->relative && !expr->swap)
		op->code = CODE_DYN_STRING;
	if (expr->kind == EXPR_CHOOSE)
		choose_choice(compiler, op);
	if (op->code == CODE_TEXT)
		choose_texts(compiler, op);
}

static bool compile_conversion(struct compiler *compiler, struct op *op)
{
	if (op->conversion->spec.flags & SPEC_STAR_WIDTH) {
		op->conversion->star_width = next_argument(compiler);
		if (!op->conversion->star_width)
			return false;
	}
	if (op->conversion->spec.flags & SPEC_STAR_PRECISION) {
		op->conversion->star_precision = next_argument(compiler);
		if (!op->conversion->star_precision)
			return false;
	}
	compiler->parser.unknowable = compiler->parser.unknown_address = false;
	compiler->parser.hides = op->conversion->spec.kind == SPEC_POINTER && !*op->conversion->spec.how;
	op->expr = next_argument(compiler);
	compiler->parser.hides = false;
	/* Only a hashed value hides that the number is unknown: spec_pointer(). */
	if (compiler->parser.unknown_address && op->conversion->spec.kind == SPEC_POINTER && !*op->conversion->spec.how)
		memcpy(op->conversion->spec.how, "?", 2);
	else if (compiler->parser.unknown_address)
		compiler->parser.unknowable = true;
	if (op->expr && compiler->parser.unknowable) {
		op->expr = make_text(&compiler->parser, "?", 1);
		op->conversion->spec.kind = SPEC_STRING;
	}
	if (!op->expr)
		return false;
	op->code = CODE_OTHER;
	if (op->conversion->spec.kind == SPEC_NUMBER) {
		if (expr_is_text(op->expr)) {
			snprintf(compiler->parser.why, sizeof(compiler->parser.why), "it prints a text as a number");
			return false;
		}
		choose_number(compiler, op);
	} else if (op->conversion->spec.kind == SPEC_STRING) {
		choose_string(compiler, op);
	} else if (op->conversion->spec.kind == SPEC_POINTER) {
		choose_pointer(compiler, op);
	}
	return true;
}

/* Adjacent string literals, which formats of the ftrace system contain, are concatenated. */
static bool skip_seam(struct compiler *compiler)
{
	const char *at = compiler->at;

	while (at < compiler->end && (*at == ' ' || *at == '\n' || *at == '\t'))
		at++;
	if (at == compiler->at || at == compiler->end || *at != '"')
		return false;
	compiler->at = at + 1;
	return true;
}

/* Collects literal text up to the next conversion, which stays SPEC_NONE at the end. */
static void take_literal(struct compiler *compiler, struct conversion *conversion)
{
	static const char escapes[] = "n\nt\t\"\"\\\\";

	conversion->spec.kind = SPEC_NONE;
	while (compiler->at < compiler->end) {
		char c = *compiler->at++;

		if (c == '%') {
			spec_read(&conversion->spec, &compiler->at, compiler->end, compiler->program->abi->long_size);
			if (conversion->spec.kind != SPEC_PERCENT && conversion->spec.kind != SPEC_NONE)
				return;
			/* The kernel stops at a conversion that it does not know. */
			if (conversion->spec.kind == SPEC_NONE)
				compiler->at = compiler->end;
			else
				compiler->literal[compiler->literal_len++] = '%';
			conversion->spec.kind = SPEC_NONE;
			continue;
		}
		if (c == '"' && skip_seam(compiler))
			continue;
		if (c == '\\' && compiler->at < compiler->end) {
			for (size_t i = 0; i + 1 < sizeof(escapes); i += 2) {
				if (escapes[i] == *compiler->at) {
					c = escapes[i + 1];
					compiler->at++;
					break;
				}
			}
		}
		compiler->literal[compiler->literal_len++] = c;
	}
}

/* An op for a literal that is too long for one prefix: all of it but the last bytes, which become the next prefix. */
static bool compile_tail(struct compiler *compiler, struct op *op)
{
	size_t len = compiler->literal_len - OP_HEAD, more = len > OP_HEAD ? len - OP_HEAD : 0;
	char *tail = arena_alloc(compiler->arena, more + OP_HEAD);

	if (!tail || len > OUT_NEED_MAX)
		return too_large(compiler);
	memcpy(op->head, compiler->literal, OP_HEAD);
	memcpy(tail, compiler->literal + OP_HEAD, more);
	op->code = CODE_TAIL;
	op->prefix_len = OP_HEAD;
	op->tail = tail;
	op->size = (uint32_t)more;
	compiler->literal_len = len - more;
	memmove(compiler->literal, compiler->literal + OP_HEAD + more, compiler->literal_len);
	return true;
}

/* The next literal and its conversion; *ret_last is set where no conversion follows. */
static bool compile_op(struct compiler *compiler, bool *ret_last)
{
	struct conversion *conversion = arena_alloc(compiler->arena, sizeof(*conversion));
	struct op *op;

	compiler->literal_len = 0;
	if (!conversion)
		return too_large(compiler);
	take_literal(compiler, conversion);
	/*
	 * The kernel adds the newline at the end; a print fmt that has its own prints one empty line less than it asks
	 * for.
	 */
	if (compiler->literal_len > OP_HEAD && !compile_tail(compiler, &compiler->ops[compiler->program->nr_ops++]))
		return false;
	op = &compiler->ops[compiler->program->nr_ops++];
	op->conversion = conversion;
	memcpy(op->head, compiler->literal, compiler->literal_len);
	op->prefix_len = (uint8_t)compiler->literal_len;
	op->code = CODE_LITERAL;
	*ret_last = conversion->spec.kind == SPEC_NONE;
	return *ret_last || compile_conversion(compiler, op);
}

static bool compile_ops(struct compiler *compiler)
{
	bool last = false;

	for (uint32_t i = 0; !last; i++) {
		if (i == OPS_MAX) {
			snprintf(compiler->parser.why, sizeof(compiler->parser.why), "it has too many conversions");
			return false;
		}
		if (!compile_op(compiler, &last))
			return false;
	}
	if (compiler->tokens.now.kind == TOKEN_END || token_is(&compiler->tokens.now, ','))
		return true;
	snprintf(compiler->parser.why, sizeof(compiler->parser.why), "something follows its arguments");
	return false;
}

/* Room is reserved once for consecutive ops of bounded length. */
static bool compile_room(struct compiler *compiler)
{
	const struct op *next = NULL;

	for (uint32_t i = compiler->program->nr_ops; i-- > 0;) {
		struct op *op = &compiler->ops[i];
		uint64_t room = (uint64_t)op->prefix_len + (op->code == CODE_TAIL ? op->size : 0) + OP_ROOM +
				(next && op->code <= CODE_SHORT_MAX ? next->room : 0);

		if (room > OUT_NEED_MAX)
			return too_large(compiler);
		op->room = (uint32_t)room;
		op_link(op);
		next = op;
	}
	return true;
}

static uint32_t count_conversions(const char *at, const char *end)
{
	uint32_t count = 1;

	for (; at < end; at++)
		count += *at == '%';
	return count < OPS_MAX ? count : OPS_MAX;
}

/*
 * The kernel prints the format's quotes unescaped: a quote inside is distinguished from the closing one by the text
 * after it, and by whether the arguments can then be parsed.
 */
static const char *find_end(const char *at)
{
	for (; *at; at++) {
		const char *behind = at + 1;

		if (*at == '\\' && at[1]) {
			at++;
			continue;
		}
		if (*at != '"')
			continue;
		while (*behind == ' ' || *behind == '\n' || *behind == '\t')
			behind++;
		if (!*behind || *behind == ',')
			return at;
	}
	return NULL;
}

static bool compile_from(struct compiler *compiler, const char *start, const char *end)
{
	compiler->at = start;
	compiler->end = end;
	compiler->program->nr_ops = 0;
	compiler->program->ops = NULL;
	compiler->ops = arena_array(compiler->arena, 2 * count_conversions(start, end), sizeof(*compiler->ops));
	compiler->literal = arena_alloc(compiler->arena, (size_t)(end - start) + 1);
	tokens_init(&compiler->tokens, end + 1, strlen(end + 1));
	compiler->parser = (struct expr_parser){
		.tokens = &compiler->tokens,
		.arena = compiler->arena,
		.format = compiler->program->format,
		.abi = compiler->program->abi,
	};
	if (!compiler->ops || !compiler->literal)
		return too_large(compiler);
	if (!compile_ops(compiler) || !compile_room(compiler))
		return false;
	compiler->program->ops = compiler->ops;
	return true;
}

static const char *note_unknown(struct compiler *compiler)
{
	char note[160];

	if (!*compiler->parser.unknown)
		return NULL;
	snprintf(note, sizeof(note), "the format has no value of '%s': it prints as a number",
		 compiler->parser.unknown);
	return arena_text(compiler->arena, note, strlen(note));
}

bool compile_print_fmt(struct program *program, struct arena *arena, char *why, size_t why_len, const char **ret_note)
{
	struct compiler compiler = { .program = program, .arena = arena };
	const char *start = program->format->print_fmt, *end;

	if (*start++ != '"' || strlen(start) > PRINT_FMT_MAX) {
		snprintf(why, why_len, "it does not begin with a text");
		return false;
	}
	end = find_end(start);
	if (!end) {
		snprintf(why, why_len, "its text does not end");
		return false;
	}
	/* A quoted '"%s", ' inside the text looks like the end: a few of the next quotes are also tried. */
	for (int tries = 0; tries < 8 && end; tries++, end = find_end(end + 1)) {
		if (compile_from(&compiler, start, end)) {
			*ret_note = note_unknown(&compiler);
			return true;
		}
		if (!tries)
			snprintf(why, why_len, "%s", compiler.parser.why);
	}
	return false;
}
