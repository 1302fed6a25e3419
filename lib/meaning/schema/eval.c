// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ground/base/scale.h"
#include "lib/meaning/schema/expr_internal.h"
#include "lib/meaning/schema/format.h"
#include "lib/meaning/schema/program.h"

/* Signed division as the machine does it, without the cases that would trap. */
static uint64_t divide_signed(int64_t a, int64_t b, bool rest)
{
	if (!b)
		return 0;
	if (b == -1)
		return rest ? 0 : 0 - (uint64_t)a;
	return (uint64_t)(rest ? a % b : a / b);
}

static uint64_t number_binary(const struct expr *expr, const struct run *run)
{
	uint64_t a = expr_number(expr->a, run), b;

	if (expr->op == OP_BOTH)
		return a && expr_number(expr->b, run);
	if (expr->op == OP_EITHER)
		return a || expr_number(expr->b, run);
	b = expr_number(expr->b, run);
	switch ((enum expr_op)expr->op) {
	case OP_ADD:
		return a + b;
	case OP_SUB:
		return a - b;
	case OP_MUL:
		return a * b;
	case OP_DIV:
		return b ? a / b : 0;
	case OP_DIV_SIGNED:
		return divide_signed((int64_t)a, (int64_t)b, false);
	case OP_MOD:
		return b ? a % b : 0;
	case OP_MOD_SIGNED:
		return divide_signed((int64_t)a, (int64_t)b, true);
	case OP_SHL:
		return a << (b & expr->size);
	case OP_SHR:
		return a >> (b & expr->size);
	case OP_SAR:
		return (uint64_t)((int64_t)a >> (b & expr->size));
	case OP_AND:
		return a & b;
	case OP_OR:
		return a | b;
	case OP_XOR:
		return a ^ b;
	case OP_LT:
		return a < b;
	case OP_LT_SIGNED:
		return (int64_t)a < (int64_t)b;
	case OP_LE:
		return a <= b;
	case OP_LE_SIGNED:
		return (int64_t)a <= (int64_t)b;
	case OP_EQ:
		return a == b;
	case OP_NE:
		return a != b;
	case OP_BOTH:
	case OP_EITHER:
		break;
	}
	return 0;
}

static uint64_t number_swapped(uint64_t value, uint32_t size)
{
	if (size == 2)
		return __builtin_bswap16((uint16_t)value);
	return size == 4 ? __builtin_bswap32((uint32_t)value) : __builtin_bswap64(value);
}

static uint64_t number_scaled(const struct expr *expr, const struct run *run)
{
	uint64_t value = expr_number(expr->a, run);

	if (expr->value == 1)
		return value / expr->size;
	if (expr->value % expr->size == 0)
		return value * (expr->value / expr->size);
	return scale_mul_div(value, expr->value, expr->size);
}

static uint64_t number_index(const struct expr *expr, const struct run *run)
{
	struct place place = expr_place(expr->a, run);
	uint64_t index = expr_number(expr->b, run);

	if (index >= place.len / expr->size)
		return 0;
	return expr_load(place.at + index * expr->size, expr->load);
}

static uint64_t symbol_address(const struct expr *expr, const struct run *run)
{
	uint64_t address;

	if (run->env->address && run->env->address(run->env->arg, expr->text, &address))
		return address;
	return 0;
}

uint64_t expr_number(const struct expr *expr, const struct run *run)
{
	switch ((enum expr_kind)expr->kind) {
	case EXPR_CONST:
		return expr->value;
	case EXPR_LOAD:
		return expr_load(run->data + expr->offset, expr->load);
	case EXPR_LOAD_MASK:
		return expr_load(run->data + expr->offset, expr->load) & expr->value;
	case EXPR_DYN_LEN:
		return load_u32(run->data + expr->offset, expr->swap) >> 16;
	case EXPR_CAST:
		return ctype_fit(expr_number(expr->a, run), (uint8_t)expr->size, expr->load);
	case EXPR_NEGATE:
		return 0 - expr_number(expr->a, run);
	case EXPR_INVERT:
		return ~expr_number(expr->a, run);
	case EXPR_NOT:
		return !expr_number(expr->a, run);
	case EXPR_BINARY:
		return number_binary(expr, run);
	case EXPR_CHOOSE:
		return expr_number(expr_number(expr->a, run) ? expr->b : expr->c, run);
	case EXPR_INDEX:
		return number_index(expr, run);
	case EXPR_SCALE:
		return number_scaled(expr, run);
	case EXPR_MODULO:
		return expr_number(expr->a, run) % expr->value;
	case EXPR_SWAP:
		return number_swapped(expr_number(expr->a, run), expr->type.size);
	case EXPR_SYMBOL_ADDRESS:
		return symbol_address(expr, run);
	case EXPR_PLACE:
	case EXPR_DYN_PLACE:
	case EXPR_MOVE:
	case EXPR_TEXT:
	case EXPR_FLAGS:
	case EXPR_SYMBOLIC:
	case EXPR_HEX:
	case EXPR_ARRAY:
	case EXPR_BITMASK:
	case EXPR_HEX_DUMP:
	case EXPR_NAMED:
	case EXPR_HELPER:
	case EXPR_LAYERS:
		break;
	}
	return 0;
}

static struct place place_dynamic(const struct expr *expr, const struct run *run)
{
	uint32_t where = load_u32(run->data + expr->offset, expr->swap);
	size_t offset = where & 0xffff, len = where >> 16;
	struct place place = { .at = run->data };

	if (expr->relative)
		offset += expr->offset + sizeof(where);
	/* A place outside the record is empty; a part of it would mislead. */
	if (offset > run->len)
		return place;
	if (len > run->len - offset)
		return place;
	place.at += offset;
	place.len = len;
	return place;
}

static struct place place_fixed(const struct expr *expr, const struct run *run)
{
	if (expr->size)
		return (struct place){ .at = run->data + expr->offset, .len = expr->size };
	if (expr->offset > run->len)
		return (struct place){ .at = run->data, .len = 0 };
	return (struct place){ .at = run->data + expr->offset, .len = run->len - expr->offset };
}

static struct place place_moved(const struct expr *expr, const struct run *run)
{
	struct place place = expr_place(expr->a, run);
	uint64_t by = expr_number(expr->b, run);

	/* Moving before the start of the place, or after its end, leaves nothing. */
	if (by > place.len / expr->size)
		return (struct place){ .at = run->data, .len = 0 };
	place.at += by * expr->size;
	place.len -= by * expr->size;
	return place;
}

struct place expr_place(const struct expr *expr, const struct run *run)
{
	switch (expr->kind) {
	case EXPR_PLACE:
		return place_fixed(expr, run);
	case EXPR_DYN_PLACE:
		return place_dynamic(expr, run);
	case EXPR_MOVE:
		return place_moved(expr, run);
	case EXPR_CHOOSE:
		return expr_place(expr_number(expr->a, run) ? expr->b : expr->c, run);
	default:
		return (struct place){ .at = run->data, .len = 0 };
	}
}
