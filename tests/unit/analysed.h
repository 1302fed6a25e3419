/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TESTS_UNIT_ANALYSED_H
#define WEFT_TESTS_UNIT_ANALYSED_H

#include <stdbool.h>

#include "lib/answers/frame/analysis.h"
#include "lib/answers/frame/findings.h"
#include "lib/answers/frame/pass.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/reader/reader.h"
#include "tests/unit/loom.h"

struct trace;
struct vcpus;

/* The result of an analysis of a script of loom.h. */
struct analysed {
	struct loom loom;
	struct trace *trace;
	struct reader reader;
	struct pass pass;
	struct findings findings;
	struct out lines; /* the lines before its tables */
};

/*
 * Runs an analysis. `types` adds events that the loom does not know; NULL: none. False when the test failed: then there
 * is nothing to end.
 */
bool analysed_begin(struct analysed *analysed, const struct analysis_ops *ops, const void *options,
		    void (*types)(struct loom *loom), const char *script);
/* The same of the interval that begins at `from`, as `weft stream --summary` has it. */
bool analysed_from(struct analysed *analysed, const struct analysis_ops *ops, void (*types)(struct loom *loom),
		   const char *script, uint64_t from);
/* The same of the tasks of this name, as --comm chooses them. */
bool analysed_named(struct analysed *analysed, const struct analysis_ops *ops, const char *comm,
		    void (*types)(struct loom *loom), const char *script);
/* The same of the tasks that belong to this, as --unit and its like choose them. */
bool analysed_wanted(struct analysed *analysed, const struct analysis_ops *ops, const struct who_want *want,
		     void (*types)(struct loom *loom), const char *script);
/* The same of a guest with what its host says of its CPUs. */
bool analysed_guest(struct analysed *analysed, const struct analysis_ops *ops, const struct vcpus *vcpus,
		    void (*types)(struct loom *loom), const char *script);
void analysed_end(struct analysed *analysed);

/*
 * Whether a table has this value (in CSV form) in a column of the first row whose first cell is `row`; prints the
 * actual value if not.
 */
bool analysed_is(struct analysed *analysed, const char *table, const char *row, const char *column, const char *value);

/* Whether the lines are equal to these; prints them if not. */
bool analysed_prints(const struct analysed *analysed, const char *lines);

#endif
