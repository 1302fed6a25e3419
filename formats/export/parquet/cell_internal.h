/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FORMATS_EXPORT_PARQUET_CELL_INTERNAL_H
#define WEFT_FORMATS_EXPORT_PARQUET_CELL_INTERNAL_H

#include "formats/export/parquet/column_internal.h"
#include "lib/base/out.h"
#include "lib/event/place.h"
#include "lib/plugin/decoded_row.h"

#include <stdbool.h>
#include <stddef.h>

struct event;
struct field;
struct format;
struct parquet_file;
struct schema_abi;

/* One value of each event of a type: a field of the record, or a fact that a plugin may know. */
struct parquet_cell {
	struct place place;
	enum parquet_form form;
	bool stack;                      /* a list with more elements than its field has */
	const struct decoded_name *fact; /* NULL: a field. Borrowed from the plugin */
};

/* What the values of one event are made with. */
struct parquet_making {
	struct out scratch, json;
	struct decoded_row row; /* the facts of the event */
};

/* Binds a cell, and describes its column but for the name. */
void parquet_cell_bind(struct parquet_cell *cell, const struct field *field, const struct format *format,
		       const struct schema_abi *abi, struct parquet_shape *ret_shape);
void parquet_cell_bind_fact(struct parquet_cell *cell, const struct decoded_name *fact,
			    struct parquet_shape *ret_shape);

/* Adds the event's value, or null, to the column. */
void parquet_cell_put(const struct parquet_cell *cell, const struct schema_abi *abi, const struct event *event,
		      struct parquet_making *making, struct parquet_file *file, size_t column);

#endif
