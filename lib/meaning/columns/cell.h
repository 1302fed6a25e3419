/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_COLUMNS_CELL_H
#define WEFT_MEANING_COLUMNS_CELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/out.h"
#include "lib/meaning/columns/shape.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/plugin/decoded.h"

struct event;
struct field;
struct format;
struct schema_abi;

/* Where the value of a column is in the events of one type: a field of the record, or a fact that a plugin may know. */
struct cell {
	struct place place;
	enum column_form form;
	bool stack;                      /* a list with more elements than its field has */
	const struct decoded_name *fact; /* NULL: a field. Borrowed from the plugin */
};

/* What the values of one event are made with. */
struct cell_making {
	struct out scratch, json;
	struct decoded_row row; /* the facts of the event; the caller fills it */
	uint64_t *list;
	size_t list_size;
};

bool cell_making_init(struct cell_making *making);
void cell_making_release(struct cell_making *making);

/* Binds a cell, and describes its column but for the name. */
void cell_bind(struct cell *cell, const struct field *field, const struct format *format, const struct schema_abi *abi,
	       struct column_shape *ret_shape);
void cell_bind_fact(struct cell *cell, const struct decoded_name *fact, struct column_shape *ret_shape);

/* Reads the event's value; null beyond the record's end. False without memory. */
bool cell_read(const struct cell *cell, const struct schema_abi *abi, const struct event *event,
	       struct cell_making *making, struct column_value *ret);

#endif
