/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_COLUMNS_ARROW_H
#define WEFT_MEANING_COLUMNS_ARROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct batch;
struct column_shape;

/*
 * The C data interface of Apache Arrow, https://arrow.apache.org/docs/format/CDataInterface.html, has these two
 * structures. include/weft/weft.h has the same ones, under the same guard. Whoever has one calls its release() once;
 * a child may be moved out of its parent and then lives on its own.
 */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
	const char *format;
	const char *name;
	const char *metadata;
	int64_t flags;
	int64_t n_children;
	struct ArrowSchema **children;
	struct ArrowSchema *dictionary;
	void (*release)(struct ArrowSchema *);
	void *private_data;
};

struct ArrowArray {
	int64_t length;
	int64_t null_count;
	int64_t offset;
	int64_t n_buffers;
	int64_t n_children;
	const void **buffers;
	struct ArrowArray **children;
	struct ArrowArray *dictionary;
	void (*release)(struct ArrowArray *);
	void *private_data;
};

#endif

/* A struct with a child for each column; false without memory, and then there is nothing to release. */
bool arrow_schema(const struct column_shape *shapes, size_t nr, struct ArrowSchema *ret);

/* The same for the rows of a batch, which is freed; after false it still is the caller's. */
bool arrow_array(struct batch *batch, struct ArrowArray *ret);

#endif
