/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_API_TABLE_INTERNAL_H
#define WEFT_API_TABLE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "include/weft/weft.h"
#include "lib/ground/base/table.h"

struct finding;

/* A table of a result. Its columns are those that JSON and CSV show. */
struct weft_table {
	const struct finding *finding;
	size_t analysis;
	struct weft_table_column {
		size_t at; /* its index in the table below */
		char key[TABLE_KEY_SIZE];
	} * columns;
	size_t nr_columns;
};

/* Borrows the finding. False without memory. */
bool api_table_init(weft_table *table, const struct finding *finding, size_t analysis);
void api_table_release(weft_table *table);

#endif
