/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_SCHEMA_HELPER_INTERNAL_H
#define WEFT_MEANING_SCHEMA_HELPER_INTERNAL_H

#include "lib/meaning/schema/expr_internal.h"

struct token;

/*
 * Kernel functions that print fmts call to format data of the record. `takes` has a letter for each argument: p the
 * kernel's trace_seq, which has no value; n a number; m a place in the record. text() reads expr->args, without the
 * trace_seq.
 */
struct helper {
	const char *name;
	const char *takes;
	void (*text)(const struct expr *expr, const struct run *run, struct out *out);
};

/* NULL when the name is not among them. */
const struct helper *helper_find(const struct token *name);

/* Parses the call's arguments up to its ')'; the name and '(' are taken. */
const struct expr *parse_helper(struct expr_parser *parser, const struct helper *helper);

/* "yes" : "no" of include/linux/string_choices.h: str_yes_no() and the like. False when the name is not among them. */
bool helper_choice(const struct token *name, const char **ret_yes, const char **ret_no);

void text_layers(const struct expr *expr, const struct run *run, struct out *out);

#endif
