/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TESTS_UNIT_ANALYSED_H
#define WEFT_TESTS_UNIT_ANALYSED_H

#include "lib/analysis/analysis.h"
#include "lib/analysis/findings.h"
#include "lib/analysis/pass.h"
#include "lib/reader/reader.h"
#include "tests/unit/loom.h"

#include <stdbool.h>

struct trace;

/* What an analysis finds in a script of loom.h. */
struct analysed {
	struct loom loom;
	struct trace *trace;
	struct reader reader;
	struct pass pass;
	struct findings findings;
};

/* `types` adds what the loom does not know; NULL. False, and nothing to end, when a test has failed. */
bool analysed_begin(struct analysed *analysed, const struct analysis_ops *ops, const void *options,
		    void (*types)(struct loom *loom), const char *script);
void analysed_end(struct analysed *analysed);

/* Whether a table has this value (as CSV has it) in a column, in its first row whose first cell is `row`; says what it has instead. */
bool analysed_is(struct analysed *analysed, const char *table, const char *row, const char *column, const char *value);

#endif
