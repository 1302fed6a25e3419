/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_QUERY_FILTER_PROGRAM_INTERNAL_H
#define WEFT_QUERY_FILTER_PROGRAM_INTERNAL_H

#include "lib/base/cpus.h"
#include "lib/event/place.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct context;
struct decoded_name;
struct decoder;

/* The compiled program: lib/query/filter_parse.c makes it and filter.c runs it. */
enum filter_op {
	FILTER_GLOB,
	FILTER_NE,
	FILTER_EQ,
	FILTER_LE,
	FILTER_LT,
	FILTER_GE,
	FILTER_GT,
	FILTER_AND,
	FILTER_OPS
};

enum filter_of { FILTER_OF_NUMBER, FILTER_OF_CPU, FILTER_OF_STRING, FILTER_OF_TASK, FILTER_OF_MASK, FILTER_OF_DECODED };

/* The values of filter_term::next that end a program. */
enum { FILTER_TRUE = -1, FILTER_FALSE = -2 };

struct filter_term {
	enum filter_op op;
	enum filter_of of;  /* what is compared */
	struct place place; /* the field's place */
	bool is_not;        /* the pattern began with '!' */
	bool has_cpus;      /* compare with `cpus`; else with `text` or `number` */
	bool is_glob;
	uint64_t number;                    /* cut to the field's size and sign-extended */
	const struct decoder *decoder;      /* FILTER_OF_DECODED */
	const struct decoded_name *decoded; /* its field */
	char *text;
	size_t len;
	struct cpus *cpus;
	int16_t next[2]; /* the term that follows when this one is false, and when it is true */
};

struct filter {
	const struct context *context;
	struct filter_term *terms; /* evaluation begins with terms[0] */
	size_t nr;
};

#endif
