// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/schema/arena_internal.h"
#include "lib/meaning/schema/helper_internal.h"
#include "lib/meaning/schema/make_internal.h"
#include "lib/meaning/schema/token_internal.h"

/*
 * The macros of include/trace/stages/stage3_trace_output.h, and pure kernel functions that trace events call. Any other
 * call is an error that names it.
 */
enum call {
	CALL_DYN_PLACE,
	CALL_DYN_LEN,
	CALL_BITMASK,
	CALL_FLAGS,
	CALL_FLAGS_U64,
	CALL_SYMBOLIC,
	CALL_SYMBOLIC_U64,
	CALL_HEX,
	CALL_HEX_STR,
	CALL_ARRAY,
	CALL_DYN_ARRAY,
	CALL_HEX_DUMP,
	CALL_NS_TO_SECS,
	CALL_NS_WITHOUT_SECS,
	CALL_SAME,
	CALL_EXPECT,
	CALL_CHOOSE_EXPR,
	CALL_JIFFIES,
	CALL_KTIME_US,
	CALL_KTIME_MS,
	CALL_SWAP16,
	CALL_SWAP32,
	CALL_SWAP64,
	CALL_EDAC,
	CALL_CONSTANT,
};

struct call_name {
	const char *name;
	enum call call;
};

static const struct call_name call_names[] = {
	{ "__get_str", CALL_DYN_PLACE },
	{ "__get_rel_str", CALL_DYN_PLACE },
	{ "__get_dynamic_array", CALL_DYN_PLACE },
	{ "__get_rel_dynamic_array", CALL_DYN_PLACE },
	{ "__get_sockaddr", CALL_DYN_PLACE },
	{ "__get_rel_sockaddr", CALL_DYN_PLACE },
	{ "__get_dynamic_array_len", CALL_DYN_LEN },
	{ "__get_rel_dynamic_array_len", CALL_DYN_LEN },
	{ "__get_bitmask", CALL_BITMASK },
	{ "__get_rel_bitmask", CALL_BITMASK },
	{ "__get_cpumask", CALL_BITMASK },
	{ "__get_rel_cpumask", CALL_BITMASK },
	{ "__print_flags", CALL_FLAGS },
	{ "__print_flags_u64", CALL_FLAGS_U64 },
	{ "__print_symbolic", CALL_SYMBOLIC },
	{ "__print_symbolic_u64", CALL_SYMBOLIC_U64 },
	{ "__print_hex", CALL_HEX },
	{ "__print_hex_str", CALL_HEX_STR },
	{ "__print_array", CALL_ARRAY },
	{ "__print_dynamic_array", CALL_DYN_ARRAY },
	{ "__print_hex_dump", CALL_HEX_DUMP },
	{ "__print_ns_to_secs", CALL_NS_TO_SECS },
	{ "__print_ns_without_secs", CALL_NS_WITHOUT_SECS },
	{ "__builtin_expect", CALL_EXPECT },
	{ "__builtin_choose_expr", CALL_CHOOSE_EXPR },
	{ "__builtin_constant_p", CALL_CONSTANT },
	{ "__builtin_bswap16", CALL_SWAP16 },
	{ "__builtin_bswap32", CALL_SWAP32 },
	{ "__builtin_bswap64", CALL_SWAP64 },
	{ "jiffies_to_msecs", CALL_JIFFIES },
	{ "ktime_to_ns", CALL_SAME },
	{ "ktime_to_us", CALL_KTIME_US },
	{ "ktime_to_ms", CALL_KTIME_MS },
	{ "pte_val", CALL_SAME },
	{ "pmd_val", CALL_SAME },
	{ "pud_val", CALL_SAME },
	{ "pgd_val", CALL_SAME },
	{ "native_make_pte", CALL_SAME },
	{ "native_make_pmd", CALL_SAME },
	{ "native_make_pud", CALL_SAME },
	{ "native_make_pgd", CALL_SAME },
	{ "mc_event_error_type", CALL_EDAC },
};

static const struct expr *parse_place(struct expr_parser *parser)
{
	const struct expr *place = parse_assignment(parser);

	if (place && !expr_is_place(place))
		return make_fail(parser, "it prints memory outside the record");
	return place;
}

static const struct expr *parse_value(struct expr_parser *parser)
{
	const struct expr *value = parse_assignment(parser);

	if (value && (expr_is_place(value) || expr_is_text(value)))
		return make_fail(parser, "it looks up a value that is not a number");
	return value;
}

static struct expr *text_node(struct expr_parser *parser, enum expr_kind kind)
{
	return make_node(parser, kind, (struct ctype){ .size = 1, .stars = 1 });
}

/* (value, { ... }) or (value, delimiter, { ... }). */
static const struct expr *parse_lookup(struct expr_parser *parser, bool flags, bool wide)
{
	uint64_t mask = wide || parser->abi->long_size == 8 ? UINT64_MAX : UINT32_MAX;
	struct expr *expr = text_node(parser, flags ? EXPR_FLAGS : EXPR_SYMBOLIC);
	const struct expr *delimiter = NULL;

	if (!expr)
		return NULL;
	expr->a = parse_value(parser);
	if (!expr->a)
		return NULL;
	/* For a table without entries only the number is printed: error codes of kvm. */
	if (!flags && token_is(&parser->tokens->now, ')')) {
		expr->table = parse_table(parser, mask);
		return expr->table ? make_done(parser, expr) : NULL;
	}
	if (!parse_mark(parser, ','))
		return NULL;
	if (flags) {
		delimiter = parse_assignment(parser);
		if (!delimiter || !parse_mark(parser, ','))
			return NULL;
		if (delimiter->kind == EXPR_TEXT) {
			expr->text = delimiter->text;
			expr->text_len = delimiter->text_len;
		} else if (delimiter->kind != EXPR_CONST || delimiter->value) {
			return make_fail(parser, "a delimiter is not constant");
		}
	}
	expr->table = parse_table(parser, mask);
	return expr->table ? make_done(parser, expr) : NULL;
}

static const struct expr *parse_hex(struct expr_parser *parser, bool together)
{
	struct expr *expr = text_node(parser, EXPR_HEX);

	if (!expr)
		return NULL;
	expr->size = together;
	expr->a = parse_place(parser);
	if (!expr->a || !parse_mark(parser, ','))
		return NULL;
	expr->b = parse_value(parser);
	return expr->b ? make_done(parser, expr) : NULL;
}

static const struct expr *parse_array(struct expr_parser *parser)
{
	struct expr *expr = text_node(parser, EXPR_ARRAY);

	if (!expr)
		return NULL;
	expr->a = parse_place(parser);
	if (!expr->a || !parse_mark(parser, ','))
		return NULL;
	expr->b = parse_value(parser);
	if (!expr->b || !parse_mark(parser, ','))
		return NULL;
	expr->c = parse_value(parser);
	return expr->c ? make_done(parser, expr) : NULL;
}

static const struct expr *parse_dyn_array(struct expr_parser *parser)
{
	const struct field *field = parse_field_name(parser);
	struct expr *expr = text_node(parser, EXPR_ARRAY);

	if (!expr || !field)
		return NULL;
	expr->a = make_dynamic(parser, field, false);
	if (!expr->a || !parse_mark(parser, ','))
		return NULL;
	expr->c = parse_value(parser);
	expr->b = make_binary(parser, '/', make_dynamic(parser, field, true), expr->c);
	return expr->b ? make_done(parser, expr) : NULL;
}

static const struct expr *parse_bitmask(struct expr_parser *parser)
{
	struct expr *expr = text_node(parser, EXPR_BITMASK);

	if (!expr)
		return NULL;
	expr->a = make_dynamic(parser, parse_field_name(parser), false);
	return expr->a ? make_done(parser, expr) : NULL;
}

/* (prefix, prefix type, row size, group size, place, length, ascii) */
static const struct expr *parse_hex_dump(struct expr_parser *parser)
{
	struct expr *expr = text_node(parser, EXPR_HEX_DUMP);
	const struct expr **args = arena_array(parser->arena, EXPR_ARGS_MAX, sizeof(*args));
	const struct expr *prefix = parse_assignment(parser);

	if (!expr || !args || !prefix)
		return NULL;
	if (prefix->kind != EXPR_TEXT)
		return make_fail(parser, "the prefix of a dump is not constant");
	expr->text = prefix->text;
	expr->text_len = prefix->text_len;
	for (int i = 0; i < EXPR_ARGS_MAX; i++) {
		if (!parse_mark(parser, ','))
			return NULL;
		/* linux/printk.h: DUMP_PREFIX_* */
		if (token_named(&parser->tokens->now, "DUMP_PREFIX_NONE") ||
		    token_named(&parser->tokens->now, "DUMP_PREFIX_OFFSET") ||
		    token_named(&parser->tokens->now, "DUMP_PREFIX_ADDRESS")) {
			char last = parser->tokens->now.text[12];

			args[i] = make_const(parser, last == 'N' ? 0 : last == 'A' ? 1 : 2, 4, true);
			tokens_next(parser->tokens);
		} else {
			args[i] = i == 3 ? parse_place(parser) : parse_value(parser);
		}
		if (!args[i])
			return NULL;
	}
	expr->args = args;
	return make_done(parser, expr);
}

/* a * by / under, or % modulo, in 64 bits. */
static const struct expr *make_scale(struct expr_parser *parser, const struct expr *a, enum expr_kind kind, uint64_t by,
				     uint32_t under, uint8_t size)
{
	struct expr *expr = a ? make_node(parser, kind, (struct ctype){ .size = size }) : NULL;

	if (!expr)
		return NULL;
	expr->a = a;
	expr->value = by;
	expr->size = under;
	return make_done(parser, expr);
}

/*
 * kernel/time/time.c: jiffies_to_msecs(), with the HZ of the traced kernel. Debian's kernels and most others have 250.
 */
static const struct expr *parse_jiffies(struct expr_parser *parser)
{
	struct ctype type = { .size = 4 };
	uint32_t hz = parser->abi->hz ? parser->abi->hz : 250;
	const struct expr *value =
		make_cast(parser, parse_value(parser), (struct ctype){ .size = parser->abi->long_size });

	return make_cast(parser, make_scale(parser, value, EXPR_SCALE, 1000, hz, 8), type);
}

/* include/linux/edac.h: mc_event_error_type() */
static const struct expr *parse_edac(struct expr_parser *parser)
{
	static const struct expr_entry entries[] = {
		{ 0, "Corrected", 9 },
		{ 1, "Uncorrected", 11 },
		{ 2, "Deferred", 8 },
		{ 3, "Fatal", 5 },
	};
	static const struct expr_table table = { .entries = entries, .nr = 4, .mask = UINT64_MAX };
	struct expr *expr = text_node(parser, EXPR_NAMED);

	if (!expr)
		return NULL;
	expr->a = parse_value(parser);
	expr->table = &table;
	expr->text = "Info";
	expr->text_len = 4;
	return expr->a ? make_done(parser, expr) : NULL;
}

static const struct expr *parse_choose_expr(struct expr_parser *parser)
{
	const struct expr *a = parse_assignment(parser), *b, *c;

	b = a && parse_mark(parser, ',') ? parse_assignment(parser) : NULL;
	c = b && parse_mark(parser, ',') ? parse_assignment(parser) : NULL;
	return make_choose(parser, a, b, c);
}

static const struct expr *parse_args(struct expr_parser *parser, enum call call)
{
	const struct expr *value;

	switch (call) {
	case CALL_DYN_PLACE:
		return make_dynamic(parser, parse_field_name(parser), false);
	case CALL_DYN_LEN:
		return make_dynamic(parser, parse_field_name(parser), true);
	case CALL_BITMASK:
		return parse_bitmask(parser);
	case CALL_FLAGS:
	case CALL_FLAGS_U64:
		return parse_lookup(parser, true, call == CALL_FLAGS_U64);
	case CALL_SYMBOLIC:
	case CALL_SYMBOLIC_U64:
		return parse_lookup(parser, false, call == CALL_SYMBOLIC_U64);
	case CALL_HEX:
	case CALL_HEX_STR:
		return parse_hex(parser, call == CALL_HEX_STR);
	case CALL_ARRAY:
		return parse_array(parser);
	case CALL_DYN_ARRAY:
		return parse_dyn_array(parser);
	case CALL_HEX_DUMP:
		return parse_hex_dump(parser);
	case CALL_NS_TO_SECS:
		return make_scale(parser, parse_value(parser), EXPR_SCALE, 1, 1000000000, 8);
	case CALL_NS_WITHOUT_SECS:
		return make_scale(parser, parse_value(parser), EXPR_MODULO, 1000000000, 0, 4);
	case CALL_SAME:
		return parse_assignment(parser);
	case CALL_EXPECT:
		value = parse_assignment(parser);
		return value && parse_mark(parser, ',') && parse_assignment(parser) ? value : NULL;
	case CALL_CHOOSE_EXPR:
		return parse_choose_expr(parser);
	case CALL_CONSTANT:
		value = parse_assignment(parser);
		return value ? make_const(parser, value->kind == EXPR_CONST, 4, true) : NULL;
	case CALL_JIFFIES:
		return parse_jiffies(parser);
	case CALL_KTIME_US:
	case CALL_KTIME_MS:
		return make_binary(parser, '/',
				   make_cast(parser, parse_value(parser),
					     (struct ctype){ .size = 8, .is_signed = true }),
				   make_const(parser, call == CALL_KTIME_US ? 1000 : 1000000, 8, true));
	case CALL_SWAP16:
	case CALL_SWAP32:
	case CALL_SWAP64:
		return make_scale(parser, parse_value(parser), EXPR_SWAP, 0, 0,
				  call == CALL_SWAP16 ? 2 :
				  call == CALL_SWAP32 ? 4 :
							8);
	case CALL_EDAC:
		return parse_edac(parser);
	}
	return NULL;
}

/* str_yes_no() and the like, after the '(' */
static const struct expr *parse_choice(struct expr_parser *parser, const char *yes, const char *no)
{
	const struct expr *value = parse_value(parser);

	return make_choose(parser, value, make_text(parser, yes, strlen(yes)), make_text(parser, no, strlen(no)));
}

/* (p, array, count, names, number of names): 7.3's landlock events */
static const struct expr *parse_layers(struct expr_parser *parser)
{
	struct expr *expr = text_node(parser, EXPR_LAYERS);

	if (!expr)
		return NULL;
	tokens_next(parser->tokens);
	if (!parse_mark(parser, ','))
		return NULL;
	expr->a = parse_place(parser);
	if (!expr->a || !parse_mark(parser, ','))
		return NULL;
	expr->b = parse_value(parser);
	expr->size = expr->a->type.size;
	if (!expr->b || !parse_mark(parser, ','))
		return NULL;
	expr->table = parse_table_name(parser);
	if (!expr->table)
		return NULL;
	/* Skips the number of names, which is the expansion of the kernel's ARRAY_SIZE(). */
	for (int depth = 0; parser->tokens->now.kind != TOKEN_END && parser->tokens->now.kind != TOKEN_BAD;
	     tokens_next(parser->tokens)) {
		if (token_is(&parser->tokens->now, ')') && !depth--)
			break;
		depth += token_is(&parser->tokens->now, '(');
	}
	return make_done(parser, expr);
}

const struct expr *parse_call(struct expr_parser *parser, const struct token *name)
{
	const struct helper *helper = helper_find(name);
	const struct expr *value;
	const char *yes, *no;

	if (token_named(name, "__trace_landlock_print_layers")) {
		tokens_next(parser->tokens);
		value = parse_layers(parser);
		return value && parse_mark(parser, ')') ? value : NULL;
	}
	if (helper || helper_choice(name, &yes, &no)) {
		tokens_next(parser->tokens);
		value = helper ? parse_helper(parser, helper) : parse_choice(parser, yes, no);
		return value && parse_mark(parser, ')') ? value : NULL;
	}
	for (size_t i = 0; i < array_size(call_names); i++) {
		if (!token_named(name, call_names[i].name))
			continue;
		tokens_next(parser->tokens);
		value = parse_args(parser, call_names[i].call);
		return value && parse_mark(parser, ')') ? value : NULL;
	}
	return make_fail(parser, "the function '%.*s' is not known", (int)(name->len < 60 ? name->len : 60),
			 name->text);
}
