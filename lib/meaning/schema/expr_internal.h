/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_SCHEMA_EXPR_INTERNAL_H
#define WEFT_MEANING_SCHEMA_EXPR_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/bytes.h"
#include "lib/meaning/schema/type_internal.h"

struct arena;
struct format;
struct helper;
struct out;
struct program_env;
struct schema_abi;
struct tokens;

/*
 * An argument of a print fmt as a tree. There are three families: numbers, places in the record, and texts. Every node
 * knows its C type; a number is always stored in the form of its type (ctype_fit), so operators do not look at types
 * again. Immutable once parsed; the depth is bounded by EXPR_DEPTH_MAX.
 */
enum expr_kind {
	/* numbers */
	EXPR_CONST,     /* value */
	EXPR_LOAD,      /* a fixed field: `load` at offset */
	EXPR_LOAD_MASK, /* EXPR_LOAD & value: the most frequent case of flags and conditions */
	EXPR_DYN_LEN,   /* the length half of the dynamic field at offset */
	EXPR_CAST,      /* a, fitted to the type */
	EXPR_NEGATE,
	EXPR_INVERT,
	EXPR_NOT,
	EXPR_BINARY,         /* a op b */
	EXPR_CHOOSE,         /* a ? b : c; of numbers, places or texts */
	EXPR_INDEX,          /* `load` at place a plus b elements */
	EXPR_SCALE,          /* a * value / size, for jiffies and the like; in 64 bits */
	EXPR_MODULO,         /* a % value, in 64 bits */
	EXPR_SWAP,           /* the bytes of a in reverse order */
	EXPR_SYMBOL_ADDRESS, /* the address of the kernel's symbol `text` */
	/* places */
	EXPR_PLACE,     /* size bytes at offset; size 0 is all that follows */
	EXPR_DYN_PLACE, /* where the dynamic field at offset points */
	EXPR_MOVE,      /* the place a plus b * size bytes */
	/* texts */
	EXPR_TEXT,     /* text */
	EXPR_FLAGS,    /* a in table, with the delimiter text */
	EXPR_SYMBOLIC, /* a in table */
	EXPR_HEX,      /* place a, length b; size 1 is without blanks */
	EXPR_ARRAY,    /* place a, count b, element size c */
	EXPR_BITMASK,  /* place a */
	EXPR_HEX_DUMP, /* prefix text; args: prefix type, row, group, place, length, ascii */
	EXPR_NAMED,    /* a-th name of table, else the text */
	/* the text that a kernel function makes of args; value selects a variant that depends on the kernel */
	EXPR_HELPER,
	EXPR_LAYERS, /* place a of b masks of size bytes, each as the names of table */
};

enum expr_op {
	OP_ADD,
	OP_SUB,
	OP_MUL,
	OP_DIV,
	OP_DIV_SIGNED,
	OP_MOD,
	OP_MOD_SIGNED,
	OP_SHL,
	OP_SHR,
	OP_SAR,
	OP_AND,
	OP_OR,
	OP_XOR,
	OP_LT,
	OP_LT_SIGNED,
	OP_LE,
	OP_LE_SIGNED,
	OP_EQ,
	OP_NE,
	OP_BOTH,
	OP_EITHER,
};

enum { EXPR_DEPTH_MAX = 160, EXPR_COST_MAX = 4096, EXPR_NODES_MAX = 20000, EXPR_ARGS_MAX = 6 };

/* How a number is stored in memory: the logarithm of its size, and two bits. */
enum { LOAD_SIZE = 3, LOAD_SIGNED = 4, LOAD_SWAP = 8 };

struct expr_entry {
	uint64_t value;
	const char *name;
	uint32_t len;
};

struct expr_table {
	const struct expr_entry *entries;
	uint32_t nr;
	uint64_t mask;          /* of the kernel's unsigned long */
	const uint16_t *direct; /* entry + 1 of each value below DIRECT_MAX; NULL for few entries */
};

enum { EXPR_DIRECT_MAX = 512 };

struct expr {
	uint8_t kind;
	uint8_t op;
	uint8_t load;
	bool relative;
	bool swap;
	uint16_t depth;
	uint32_t cost; /* largest number of nodes that an evaluation visits */
	struct ctype type;
	uint32_t offset;
	uint32_t size;
	uint64_t value;
	const struct expr *a, *b, *c;
	const struct expr *const *args;
	const char *text;
	uint32_t text_len;
	const struct expr_table *table;
	const struct helper *helper;
};

static inline bool expr_is_place(const struct expr *expr)
{
	while (expr->kind == EXPR_CHOOSE)
		expr = expr->b;
	return expr->kind >= EXPR_PLACE && expr->kind <= EXPR_MOVE;
}

static inline bool expr_is_text(const struct expr *expr)
{
	while (expr->kind == EXPR_CHOOSE)
		expr = expr->b;
	return expr->kind >= EXPR_TEXT;
}

/* A record while a program runs. When the record was cut, the missing bytes of fixed fields are zeros. */
struct run {
	const uint8_t *data;
	size_t len; /* of the record */
	const struct program_env *env;
	const struct schema_abi *abi;
};

/* Bytes of the record. They always lie inside the record, even if an offset in the record points outside. */
struct place {
	const uint8_t *at;
	size_t len;
};

static inline uint64_t expr_load(const uint8_t *at, uint8_t how)
{
	switch (how) {
	case 0:
	case LOAD_SWAP:
		return *at;
	case LOAD_SIGNED:
	case LOAD_SIGNED | LOAD_SWAP:
		return (uint64_t)(int64_t)(int8_t)*at;
	case 1:
		return load_u16(at, false);
	case 1 | LOAD_SIGNED:
		return (uint64_t)(int64_t)(int16_t)load_u16(at, false);
	case 2:
		return load_u32(at, false);
	case 2 | LOAD_SIGNED:
		return (uint64_t)(int64_t)(int32_t)load_u32(at, false);
	case 3:
	case 3 | LOAD_SIGNED:
		return load_u64(at, false);
	case 1 | LOAD_SWAP:
		return load_u16(at, true);
	case 1 | LOAD_SWAP | LOAD_SIGNED:
		return (uint64_t)(int64_t)(int16_t)load_u16(at, true);
	case 2 | LOAD_SWAP:
		return load_u32(at, true);
	case 2 | LOAD_SWAP | LOAD_SIGNED:
		return (uint64_t)(int64_t)(int32_t)load_u32(at, true);
	default:
		return load_u64(at, true);
	}
}

uint64_t expr_number(const struct expr *expr, const struct run *run);
struct place expr_place(const struct expr *expr, const struct run *run);

/* Any expression as %s prints it, without width and precision. */
void expr_text(const struct expr *expr, const struct run *run, struct out *out);

/*
 * A variable that a statement expression ({ ... }) of a print fmt declares: "type name = value;", or an array of names.
 */
struct expr_variable {
	const char *name;
	size_t len;
	const struct expr *value;
	const struct expr_table *table; /* an array of names; it then has no value */
	struct expr_variable *next;
};

struct expr_parser {
	struct tokens *tokens;
	struct arena *arena;
	const struct format *format;
	const struct schema_abi *abi;
	struct expr_variable *variables;
	unsigned depth;
	unsigned nodes;
	bool hides;           /* the argument is for a plain %p, of which only a hash is printed */
	bool unknown_address; /* an argument depends on the address of the kernel's struct pages */
	bool unknowable;      /* an argument depends on the time of printing */
	char why[120];        /* set when something cannot be parsed: the reason */
	char unknown[64];     /* a name in a table whose value is unknown; its entry was left out */
};

/* Parses one argument, up to a ',' or the end. NULL: parser->why has the reason. */
const struct expr *expr_parse(struct expr_parser *parser);

#endif
