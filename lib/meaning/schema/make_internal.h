/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_SCHEMA_MAKE_INTERNAL_H
#define WEFT_MEANING_SCHEMA_MAKE_INTERNAL_H

#include "lib/meaning/schema/expr_internal.h"
#include "lib/meaning/schema/format.h"

struct token;

/*
 * Makes nodes of expressions, with types and constant folding. Each function returns NULL when an operand is NULL, when
 * memory is short, or when C has no such operation; parser->why then has the first reason.
 */
__attribute__((format(printf, 2, 3))) void *make_fail(struct expr_parser *parser, const char *format, ...);
/* Call it when the operands are set: bounds the depth of the tree and the cost of evaluating it. */
struct expr *make_done(struct expr_parser *parser, struct expr *expr);
struct expr *make_node(struct expr_parser *parser, enum expr_kind kind, struct ctype type);
const struct expr *make_const(struct expr_parser *parser, uint64_t value, uint8_t size, bool is_signed);
const struct expr *make_text(struct expr_parser *parser, const char *text, size_t len);
const struct expr *make_cast(struct expr_parser *parser, const struct expr *a, struct ctype type);
const struct expr *make_unary(struct expr_parser *parser, enum expr_kind kind, const struct expr *a);
const struct expr *make_binary(struct expr_parser *parser, uint32_t mark, const struct expr *a, const struct expr *b);
const struct expr *make_choose(struct expr_parser *parser, const struct expr *a, const struct expr *b,
			       const struct expr *c);
const struct expr *make_index(struct expr_parser *parser, const struct expr *a, const struct expr *b);
const struct expr *make_address(struct expr_parser *parser, const struct expr *a);
const struct expr *make_field(struct expr_parser *parser, const struct field *field);
const struct expr *make_dynamic(struct expr_parser *parser, const struct field *field, bool length);
uint8_t make_load(const struct expr_parser *parser, uint32_t size, bool is_signed);

/* expr_parse.c, for the macros */
const struct expr *parse_assignment(struct expr_parser *parser);
/* The same for a value of which only a hash may be printed (expr_parser::hides). */
const struct expr *parse_hidden(struct expr_parser *parser);
const struct expr *parse_strings(struct expr_parser *parser);
bool parse_mark(struct expr_parser *parser, uint32_t mark);
const struct field *parse_field_name(struct expr_parser *parser);

/* expr_names.c: a name that is neither a variable nor a field. */
const struct expr *parse_known_name(struct expr_parser *parser, const struct token *name);

/* expr_call.c: the call of a macro or function; the name is taken, '(' is next. */
const struct expr *parse_call(struct expr_parser *parser, const struct token *name);

/* expr_table.c: "{ value, name }, ..." up to the ')' of the call. */
const struct expr_table *parse_table(struct expr_parser *parser, uint64_t mask);

/* expr_parse.c: the name of a table that was declared before. */
const struct expr_table *parse_table_name(struct expr_parser *parser);

#endif
