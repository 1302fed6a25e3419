// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/export/lines/kind_internal.h"

#include "lib/base/json.h"
#include "lib/base/out.h"
#include "lib/columns/list.h"
#include "lib/columns/value.h"
#include "lib/schema/format.h"

#include <stdlib.h>

static void cells_free(struct line_cell *cells, size_t nr)
{
	for (size_t i = 0; cells && i < nr; i++)
		buf_release(&cells[i].key);
	free(cells);
}

void line_kind_free(void *memory)
{
	struct line_kind *kind = memory;

	cells_free(kind->columns, kind->nr_columns);
	cells_free(kind->fields, kind->nr_fields);
	free(kind);
}

bool line_key(const char *name, struct buf *ret)
{
	struct out out;
	bool added;

	if (!out_init(&out, 64))
		return false;
	json_text(&out, name);
	out_char(&out, ':');
	added = !out.failed && buf_add(ret, out.start, out_len(&out));
	out_release(&out);
	return added;
}

static struct line_cell *cells_new(const struct format *format, const struct schema_abi *abi, size_t nr)
{
	struct line_cell *cells = calloc(nr + 1, sizeof(*cells));

	for (size_t i = 0; cells && i < nr; i++) {
		const struct field *field = &format->fields[format->nr_common + i];

		cells[i].place = place_of(field, abi);
		cells[i].text = value_is_text(field);
		if (!line_key(field->name, &cells[i].key)) {
			cells_free(cells, i + 1);
			return NULL;
		}
	}
	return cells;
}

static bool fill(struct line_kind *kind, const struct schema_abi *abi, const struct column_list *list, bool *found)
{
	kind->columns = calloc(list->nr + 1, sizeof(*kind->columns));
	if (!kind->columns)
		return false;
	kind->nr_columns = list->nr;
	for (size_t i = 0; kind->format && i < list->nr; i++) {
		struct line_cell *cell = &kind->columns[i];

		if (list->at[i].what != COLUMN_FIELD || !place_bind(&cell->place, kind->format, abi, list->at[i].field))
			continue;
		cell->text = value_is_text(cell->place.field);
		found[i] = true;
	}
	if (!kind->format)
		return true;
	kind->fields = cells_new(kind->format, abi, kind->format->nr_fields - kind->format->nr_common);
	if (kind->fields)
		kind->nr_fields = kind->format->nr_fields - kind->format->nr_common;
	return kind->fields;
}

struct line_kind *line_kind_new(const struct format *format, const struct schema_abi *abi,
				const struct column_list *list, bool *found)
{
	struct line_kind *kind = calloc(1, sizeof(*kind));

	if (!kind)
		return NULL;
	kind->format = format;
	if (!fill(kind, abi, list, found)) {
		line_kind_free(kind);
		return NULL;
	}
	return kind;
}
