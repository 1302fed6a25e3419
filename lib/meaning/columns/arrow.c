// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/columns/arrow.h"

#include <stdlib.h>
#include <string.h>

#include "lib/meaning/columns/batch.h"

/* Formats of the C data interface by the bits of an integer: 8, 16, 32, 64. */
static const char *format_of(const struct column_shape *shape)
{
	static const char *const with[] = { "c", "s", "i", "l" }, *const without[] = { "C", "S", "I", "L" };
	unsigned size = shape->bits >= 64 ? 3 : shape->bits >= 32 ? 2 : shape->bits / 16;

	if (column_is_text(shape))
		return "u";
	if (shape->form == COLUMN_REAL)
		return "g";
	return shape->is_signed ? with[size] : without[size];
}

/* What a schema, or an array, owns besides what its public part points to. */
struct schema_own {
	char name[sizeof(((struct column_shape *)NULL)->name)];
	struct ArrowSchema *children, **pointers;
};

static void schema_release(struct ArrowSchema *schema)
{
	struct schema_own *own = schema->private_data;

	for (int64_t i = 0; i < schema->n_children; i++)
		if (schema->children[i]->release)
			schema->children[i]->release(schema->children[i]);
	free(own->children);
	free(own->pointers);
	free(own);
	schema->release = NULL;
}

static bool schema_init(struct ArrowSchema *schema, const char *format, const char *name, size_t nr_children)
{
	struct schema_own *own = calloc(1, sizeof(*own));

	if (!own)
		return false;
	own->children = calloc(nr_children + 1, sizeof(*own->children));
	own->pointers = calloc(nr_children + 1, sizeof(struct ArrowSchema *));
	if (!own->children || !own->pointers) {
		free(own->children);
		free(own->pointers);
		free(own);
		return false;
	}
	memcpy(own->name, name, strnlen(name, sizeof(own->name) - 1));
	for (size_t i = 0; i < nr_children; i++)
		own->pointers[i] = &own->children[i];
	*schema = (struct ArrowSchema){ .format = format,
					.name = own->name,
					.children = nr_children ? own->pointers : NULL,
					.release = schema_release,
					.private_data = own };
	return true;
}

static bool column_schema(const struct column_shape *shape, struct ArrowSchema *ret)
{
	bool list = shape->form == COLUMN_LIST;

	if (!schema_init(ret, list ? "+l" : format_of(shape), shape->name, list))
		return false;
	ret->flags = shape->optional ? ARROW_FLAG_NULLABLE : 0;
	if (!list)
		return true;
	if (!schema_init(ret->children[0], format_of(shape), "item", 0)) {
		ret->release(ret);
		return false;
	}
	ret->n_children = 1;
	return true;
}

bool arrow_schema(const struct column_shape *shapes, size_t nr, struct ArrowSchema *ret)
{
	struct ArrowSchema schema;

	if (!schema_init(&schema, "+s", "", nr))
		return false;
	for (size_t i = 0; i < nr; i++) {
		if (!column_schema(&shapes[i], schema.children[i])) {
			schema.release(&schema);
			return false;
		}
		schema.n_children++;
	}
	*ret = schema;
	return true;
}

struct array_own {
	struct batch_column column; /* of a column: its memory */
	const void *buffers[3];
	struct ArrowArray *children, **pointers;
};

static void array_release(struct ArrowArray *array)
{
	struct array_own *own = array->private_data;

	for (int64_t i = 0; i < array->n_children; i++)
		if (array->children[i]->release)
			array->children[i]->release(array->children[i]);
	batch_column_release(&own->column);
	free(own->children);
	free(own->pointers);
	free(own);
	array->release = NULL;
}

static bool array_init(struct ArrowArray *array, size_t rows, size_t nr_children)
{
	struct array_own *own = calloc(1, sizeof(*own));

	if (!own)
		return false;
	own->children = calloc(nr_children + 1, sizeof(*own->children));
	own->pointers = calloc(nr_children + 1, sizeof(struct ArrowArray *));
	if (!own->children || !own->pointers) {
		free(own->children);
		free(own->pointers);
		free(own);
		return false;
	}
	for (size_t i = 0; i < nr_children; i++)
		own->pointers[i] = &own->children[i];
	*array = (struct ArrowArray){ .length = (int64_t)rows,
				      .n_buffers = 1,
				      .n_children = (int64_t)nr_children,
				      .buffers = own->buffers,
				      .children = nr_children ? own->pointers : NULL,
				      .release = array_release,
				      .private_data = own };
	return true;
}

/* Makes all structures of a column; its memory is still the batch's. */
static bool column_array(const struct batch_column *column, size_t rows, struct ArrowArray *ret)
{
	bool list = column->shape.form == COLUMN_LIST;

	return array_init(ret, rows, list) &&
	       (!list || array_init(ret->children[0], column->bytes.len / batch_width(&column->shape), 0));
}

/* Moves the memory of a column into its array. */
static void fill(struct batch_column *column, struct ArrowArray *array)
{
	struct array_own *own = array->private_data;

	own->column = *column;
	column->values = NULL;
	column->valid = NULL;
	column->bytes = (struct buf)BUF_INIT;
	array->null_count = (int64_t)own->column.nulls;
	own->buffers[0] = own->column.valid;
	own->buffers[1] = own->column.values;
	array->n_buffers = 2;
	if (column_is_text(&own->column.shape)) {
		own->buffers[2] = own->column.bytes.data;
		array->n_buffers = 3;
	} else if (own->column.shape.form == COLUMN_LIST) {
		struct array_own *child = array->children[0]->private_data;

		/* The child may outlive the list. */
		child->column.bytes = own->column.bytes;
		own->column.bytes = (struct buf)BUF_INIT;
		child->buffers[1] = child->column.bytes.data;
		array->children[0]->n_buffers = 2;
	}
}

bool arrow_array(struct batch *batch, struct ArrowArray *ret)
{
	struct ArrowArray array;

	if (!array_init(&array, batch->rows, batch->nr_columns))
		return false;
	for (size_t i = 0; i < batch->nr_columns; i++) {
		if (!column_array(&batch->columns[i], batch->rows, array.children[i])) {
			array.release(&array);
			return false;
		}
	}
	for (size_t i = 0; i < batch->nr_columns; i++)
		fill(&batch->columns[i], array.children[i]);
	batch_free(batch);
	*ret = array;
	return true;
}
