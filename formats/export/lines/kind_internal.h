/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_LINES_KIND_INTERNAL_H
#define WEFT_FORMATS_EXPORT_LINES_KIND_INTERNAL_H

#include "lib/base/buf.h"
#include "lib/event/place.h"

#include <stdbool.h>
#include <stddef.h>

struct column_list;
struct decoder;
struct format;
struct schema_abi;

/* A cell of a type of event: a column, or a field inside "fields", with its key. */
struct line_cell {
	struct place place;
	bool text;
	struct buf key; /* "\"name\":", for the fields of COLUMN_FIELDS */
};

/* Where the lines of a type of event get their cells from. */
struct line_kind {
	const struct format *format;   /* NULL: unknown */
	const struct decoder *decoder; /* NULL: no plugin knows more; borrowed */
	struct line_cell *columns;     /* for each COLUMN_FIELD */
	struct line_cell *fields;      /* all fields, after the common ones */
	size_t nr_columns, nr_fields;
};

/*
 * NULL without memory. Sets found[i] for each column that is a field of the type. Borrows `format`, which may be NULL.
 */
struct line_kind *line_kind_new(const struct format *format, const struct schema_abi *abi,
				const struct column_list *list, bool *found);
void line_kind_free(void *kind);

/* Adds a name as the key of a JSON object, "\"name\":"; false without memory. */
bool line_key(const char *name, struct buf *ret);

#endif
