// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/schema/texts_internal.h"

#include "lib/base/out.h"
#include "lib/schema/arena_internal.h"
#include "lib/schema/env.h"
#include "lib/schema/format_internal.h"
#include "lib/schema/ops_internal.h"

/* Above these, making the texts would take longer than reading a small file. */
enum { COST_MAX = 64, ENTRIES_MAX = 64 };

/* The field that an expression depends on. */
struct source {
	const struct expr *load; /* NULL as long as none was seen */
	uint64_t mask;
	unsigned entries; /* of all tables that are searched */
};

uint64_t texts_mask(const struct expr *load)
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

const struct texts *texts_new(const struct expr *expr, const struct schema_abi *abi, struct arena *arena,
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
