// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/schema/make_internal.h"

#include <stdarg.h>
#include <stdio.h>

#include "lib/meaning/schema/arena_internal.h"
#include "lib/meaning/schema/token_internal.h"

void *make_fail(struct expr_parser *parser, const char *format, ...)
{
	va_list args;

	if (!*parser->why) {
		va_start(args, format);
		vsnprintf(parser->why, sizeof(parser->why), format, args);
		va_end(args);
	}
	return NULL;
}

struct expr *make_node(struct expr_parser *parser, enum expr_kind kind, struct ctype type)
{
	struct expr *expr = parser->nodes < EXPR_NODES_MAX ? arena_alloc(parser->arena, sizeof(*expr)) : NULL;

	if (!expr)
		return make_fail(parser, "it is too large");
	parser->nodes++;
	expr->cost = 1;
	expr->kind = (uint8_t)kind;
	expr->type = type;
	expr->swap = parser->abi->swap;
	return expr;
}

uint8_t make_load(const struct expr_parser *parser, uint32_t size, bool is_signed)
{
	unsigned log = size == 8 ? 3 : size == 4 ? 2 : size == 2 ? 1 : 0;

	return (uint8_t)(log | (is_signed ? LOAD_SIGNED : 0) | (parser->abi->swap ? LOAD_SWAP : 0));
}

const struct expr *make_const(struct expr_parser *parser, uint64_t value, uint8_t size, bool is_signed)
{
	struct expr *expr = make_node(parser, EXPR_CONST, (struct ctype){ .size = size, .is_signed = is_signed });

	if (expr)
		expr->value = ctype_fit(value, size, is_signed);
	return expr;
}

const struct expr *make_text(struct expr_parser *parser, const char *text, size_t len)
{
	struct expr *expr = make_node(parser, EXPR_TEXT, (struct ctype){ .size = 1, .stars = 1 });

	if (!expr)
		return NULL;
	/* A string literal ends at its first NUL. */
	expr->text = text;
	expr->text_len = (uint32_t)strnlen(text, len);
	return expr;
}

static bool is_number(const struct expr *expr)
{
	return !expr_is_place(expr) && !expr_is_text(expr);
}

static void add_operand(struct expr *expr, const struct expr *operand)
{
	if (!operand)
		return;
	if (expr->depth <= operand->depth)
		expr->depth = (uint16_t)(operand->depth + 1);
	expr->cost += operand->cost;
}

struct expr *make_done(struct expr_parser *parser, struct expr *expr)
{
	expr->cost = 1;
	expr->depth = 0;
	add_operand(expr, expr->a);
	add_operand(expr, expr->b);
	add_operand(expr, expr->c);
	for (int i = 0; expr->args && i < EXPR_ARGS_MAX; i++)
		add_operand(expr, expr->args[i]);
	if (expr->depth > EXPR_DEPTH_MAX || expr->cost > EXPR_COST_MAX)
		return make_fail(parser, "it is nested too deeply");
	return expr;
}

static const struct expr *fold(struct expr_parser *parser, struct expr *expr)
{
	if (!make_done(parser, expr))
		return NULL;
	if ((expr->a && expr->a->kind != EXPR_CONST) || (expr->b && expr->b->kind != EXPR_CONST) ||
	    (expr->c && expr->c->kind != EXPR_CONST))
		return expr;
	expr->value = expr_number(expr, NULL);
	expr->kind = EXPR_CONST;
	expr->a = expr->b = expr->c = NULL;
	return make_done(parser, expr);
}

static const struct expr *retyped(struct expr_parser *parser, const struct expr *a, struct ctype type)
{
	struct expr *copy = make_node(parser, EXPR_CONST, type);

	if (!copy)
		return NULL;
	*copy = *a;
	copy->type = type;
	return copy;
}

const struct expr *make_cast(struct expr_parser *parser, const struct expr *a, struct ctype type)
{
	uint8_t size = type.stars ? parser->abi->long_size : type.size;
	bool is_signed = !type.stars && type.is_signed;
	struct expr *expr;

	if (!a)
		return NULL;
	if (expr_is_text(a) || expr_is_place(a)) {
		if (!type.stars && type.size)
			return make_fail(parser, "it uses an address in the record as a number");
		return retyped(parser, a, type.stars ? type : a->type);
	}
	/* A cast to an unknown type leaves the number unchanged. */
	if (!size)
		return a;
	if (a->kind == EXPR_CAST && !a->type.stars && a->type.size >= size)
		a = a->a;
	expr = make_node(parser, EXPR_CAST, type);
	if (!expr)
		return NULL;
	expr->a = a;
	expr->size = size;
	expr->load = is_signed;
	if (a->kind == EXPR_CONST)
		return fold(parser, expr);
	if (size == (a->type.stars ? parser->abi->long_size : a->type.size) &&
	    is_signed == (!a->type.stars && a->type.is_signed))
		return retyped(parser, a, type);
	/* A number is stored sign-extended to eight bytes already. */
	if (size == 8)
		return retyped(parser, a, type);
	return make_done(parser, expr);
}

const struct expr *make_unary(struct expr_parser *parser, enum expr_kind kind, const struct expr *a)
{
	struct expr *expr;
	struct ctype type;

	if (!a)
		return NULL;
	if (!is_number(a))
		return make_fail(parser, "it computes with a value that is not a number");
	type = kind == EXPR_NOT ? (struct ctype){ .size = 4, .is_signed = true } :
				  ctype_promote(a->type, parser->abi->long_size);
	expr = make_node(parser, kind,
			 kind == EXPR_NOT ? type : (struct ctype){ .size = 8, .is_signed = type.is_signed });
	if (!expr)
		return NULL;
	expr->a = a;
	a = fold(parser, expr);
	return kind == EXPR_NOT ? a : make_cast(parser, a, type);
}

/* A place moved by b elements. */
static const struct expr *make_move(struct expr_parser *parser, const struct expr *a, const struct expr *b)
{
	struct expr *expr = make_node(parser, EXPR_MOVE, a->type);

	if (!expr)
		return NULL;
	expr->a = a;
	expr->b = b;
	expr->size = a->type.stars > 1 ? parser->abi->long_size : a->type.size ? a->type.size : 1;
	return b ? make_done(parser, expr) : NULL;
}

static int binary_op(uint32_t mark, bool is_signed, bool left_signed)
{
	switch (mark) {
	case '+':
		return OP_ADD;
	case '-':
		return OP_SUB;
	case '*':
		return OP_MUL;
	case '/':
		return is_signed ? OP_DIV_SIGNED : OP_DIV;
	case '%':
		return is_signed ? OP_MOD_SIGNED : OP_MOD;
	case '&':
		return OP_AND;
	case '|':
		return OP_OR;
	case '^':
		return OP_XOR;
	case TOKEN_MARK2('<', '<'):
		return OP_SHL;
	case TOKEN_MARK2('>', '>'):
		return left_signed ? OP_SAR : OP_SHR;
	case '<':
	case '>':
		return is_signed ? OP_LT_SIGNED : OP_LT;
	case TOKEN_MARK2('<', '='):
	case TOKEN_MARK2('>', '='):
		return is_signed ? OP_LE_SIGNED : OP_LE;
	case TOKEN_MARK2('=', '='):
		return OP_EQ;
	case TOKEN_MARK2('!', '='):
		return OP_NE;
	case TOKEN_MARK2('&', '&'):
		return OP_BOTH;
	case TOKEN_MARK2('|', '|'):
		return OP_EITHER;
	default:
		return -1;
	}
}

static const struct expr *make_number_binary(struct expr_parser *parser, uint32_t mark, const struct expr *a,
					     const struct expr *b)
{
	struct ctype int_type = { .size = 4, .is_signed = true };
	struct ctype left = ctype_promote(a->type, parser->abi->long_size);
	struct ctype common = ctype_common(a->type, b->type, parser->abi->long_size), type = common;
	bool shift = mark == TOKEN_MARK2('<', '<') || mark == TOKEN_MARK2('>', '>');
	int op = binary_op(mark, common.is_signed, left.is_signed);
	bool logic = op == OP_BOTH || op == OP_EITHER, compare = op >= OP_LT && op <= OP_NE;
	struct expr *expr;

	if (op < 0)
		return make_fail(parser, "it has an unknown operator");
	if (shift)
		type = left;
	else if (!logic) {
		a = make_cast(parser, a, common);
		b = make_cast(parser, b, common);
	}
	if (mark == '>' || mark == TOKEN_MARK2('>', '=')) {
		const struct expr *swapped = a;

		a = b;
		b = swapped;
	}
	/* Evaluated in 64 bits, then cut to the type, so overflow is as in C. */
	expr = make_node(parser, EXPR_BINARY, compare || logic ? int_type : type);
	if (!expr || !a || !b)
		return NULL;
	if (op == OP_AND && a->kind == EXPR_LOAD && b->kind == EXPR_CONST) {
		expr->kind = EXPR_LOAD_MASK;
		expr->offset = a->offset;
		expr->load = a->load;
		expr->value = b->value;
		return expr;
	}
	expr->op = (uint8_t)op;
	expr->size = (uint32_t)left.size * 8 - 1;
	expr->a = a;
	expr->b = b;
	if (type.size == 8 || compare || logic || op == OP_AND || op == OP_OR || op == OP_XOR)
		return fold(parser, expr);
	expr->type = (struct ctype){ .size = 8, .is_signed = type.is_signed };
	return make_cast(parser, fold(parser, expr), type);
}

/* A kernel pointer moved by b elements. */
static const struct expr *make_pointer_move(struct expr_parser *parser, uint32_t mark, const struct expr *a,
					    const struct expr *b)
{
	uint8_t long_size = parser->abi->long_size, size = a->type.stars > 1 ? long_size :
							   a->type.size      ? a->type.size :
									       1;
	struct ctype type = a->type;

	b = make_number_binary(parser, '*', b, make_const(parser, size, long_size, false));
	a = make_cast(parser, a, (struct ctype){ .size = long_size });
	return a && b ? make_cast(parser, make_number_binary(parser, mark, a, b), type) : NULL;
}

const struct expr *make_binary(struct expr_parser *parser, uint32_t mark, const struct expr *a, const struct expr *b)
{
	if (!a || !b)
		return NULL;
	if (expr_is_place(a) && is_number(b) && mark == '+')
		return make_move(parser, a, b);
	if (expr_is_place(b) && is_number(a) && mark == '+')
		return make_move(parser, b, a);
	if (expr_is_place(a) && is_number(b) && mark == '-')
		return make_move(parser, a, make_unary(parser, EXPR_NEGATE, b));
	if (!is_number(a) || !is_number(b))
		return make_fail(parser, "it computes with a value that is not a number");
	if (a->type.stars && !b->type.stars && (mark == '+' || mark == '-'))
		return make_pointer_move(parser, mark, a, b);
	return make_number_binary(parser, mark, a, b);
}

const struct expr *make_choose(struct expr_parser *parser, const struct expr *a, const struct expr *b,
			       const struct expr *c)
{
	struct ctype type;
	struct expr *expr;

	if (!a || !b || !c)
		return NULL;
	if (!is_number(a))
		return make_fail(parser, "it asks whether an address in the record is set");
	if (is_number(b) && is_number(c) && !b->type.stars && !c->type.stars) {
		type = ctype_common(b->type, c->type, parser->abi->long_size);
		b = make_cast(parser, b, type);
		c = make_cast(parser, c, type);
	} else {
		type = b->type;
	}
	if (!b || !c)
		return NULL;
	if (a->kind == EXPR_CONST)
		return a->value ? b : c;
	/*
	 * A number beside a text or a place is a pointer, or NULL. The program decides at run time which one it prints.
	 */
	expr = make_node(parser, EXPR_CHOOSE, type);
	if (!expr)
		return NULL;
	expr->a = a;
	expr->b = is_number(b) && !is_number(c) ? c : b;
	expr->c = expr->b == b ? c : b;
	if (expr->b != b)
		expr->a = make_unary(parser, EXPR_NOT, a);
	return expr->a ? make_done(parser, expr) : NULL;
}

const struct expr *make_index(struct expr_parser *parser, const struct expr *a, const struct expr *b)
{
	struct ctype type;
	struct expr *expr;

	if (!a || !b)
		return NULL;
	if (!expr_is_place(a) || !is_number(b))
		return make_fail(parser, "it reads memory outside the record");
	type = a->type;
	if (type.stars > 1)
		type = (struct ctype){ .size = parser->abi->long_size, .stars = (uint8_t)(type.stars - 1) };
	else
		type.stars = 0;
	if (type.size != 1 && type.size != 2 && type.size != 4 && type.size != 8)
		return make_fail(parser, "it reads elements of an unknown size");
	/* A constant element of a fixed array is read like a field. */
	if (a->kind == EXPR_PLACE && b->kind == EXPR_CONST && b->value < a->size / type.size) {
		expr = make_node(parser, EXPR_LOAD, type);
		if (!expr)
			return NULL;
		expr->offset = a->offset + (uint32_t)b->value * type.size;
		expr->load = make_load(parser, type.size, type.is_signed && !type.stars);
		return expr;
	}
	expr = make_node(parser, EXPR_INDEX, type);
	if (!expr)
		return NULL;
	expr->a = a;
	expr->b = b;
	expr->size = type.size;
	expr->load = make_load(parser, type.size, type.is_signed);
	return make_done(parser, expr);
}

const struct expr *make_address(struct expr_parser *parser, const struct expr *a)
{
	struct expr *expr;

	if (!a || expr_is_place(a))
		return a;
	if (a->kind == EXPR_INDEX)
		return make_move(parser, a->a, a->b);
	if (a->kind != EXPR_LOAD)
		return make_fail(parser, "it takes an address outside the record");
	expr = make_node(parser, EXPR_PLACE,
			 (struct ctype){ .size = a->type.size, .is_signed = a->type.is_signed, .stars = 1 });
	if (!expr)
		return NULL;
	expr->offset = a->offset;
	expr->size = 1u << (a->load & LOAD_SIZE);
	return expr;
}

/* The type that a pointer field points to, from its declaration. */
static struct ctype declared_type(const struct expr_parser *parser, const struct field *field)
{
	struct ctype type = { .size = 0 };
	struct tokens tokens;

	tokens_init(&tokens, field->type, strlen(field->type));
	if (token_named(&tokens.now, "__data_loc") || token_named(&tokens.now, "__rel_loc"))
		tokens_next(&tokens);
	ctype_take(&tokens, parser->abi->long_size, true, &type);
	return type;
}

static struct ctype element_type(const struct expr_parser *parser, const struct field *field)
{
	struct ctype type = declared_type(parser, field);

	if (type.stars || !type.size) {
		uint32_t size = field->elem_size;

		type.size = (uint8_t)(field_int_size(size) ? size : 0);
		type.is_signed = field->flags & FIELD_SIGNED;
	}
	type.stars = 1;
	return type;
}

const struct expr *make_field(struct expr_parser *parser, const struct field *field)
{
	bool is_signed = field->flags & FIELD_SIGNED;
	struct ctype type = { .size = (uint8_t)field->size, .is_signed = is_signed };
	struct expr *expr;

	if (field->flags & FIELD_ARRAY ||
	    (field->size != 1 && field->size != 2 && field->size != 4 && field->size != 8)) {
		expr = make_node(parser, EXPR_PLACE, element_type(parser, field));
		if (!expr)
			return NULL;
		expr->offset = field->offset;
		expr->size = field->size;
		return expr;
	}
	if (field->flags & FIELD_POINTER && field->size == parser->abi->long_size) {
		type = declared_type(parser, field);
		is_signed = false;
	}
	expr = make_node(parser, EXPR_LOAD, type);
	if (!expr)
		return NULL;
	expr->offset = field->offset;
	expr->load = make_load(parser, field->size, is_signed);
	return expr;
}

const struct expr *make_dynamic(struct expr_parser *parser, const struct field *field, bool length)
{
	struct ctype type = { .size = 4, .is_signed = true };
	struct expr *expr;

	if (!field)
		return NULL;
	if (!(field->flags & FIELD_DYNAMIC))
		return make_fail(parser, "field '%.40s' is not dynamic", field->name);
	expr = make_node(parser, length ? EXPR_DYN_LEN : EXPR_DYN_PLACE, length ? type : element_type(parser, field));
	if (!expr)
		return NULL;
	expr->offset = field->offset;
	expr->relative = field->flags & FIELD_RELATIVE;
	return expr;
}
