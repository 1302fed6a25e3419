/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_COLUMNS_FILLER_H
#define WEFT_MEANING_COLUMNS_FILLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct batch;
struct column_list;
struct column_shape;
struct event;
struct fail;
struct out;
struct reader;

/*
 * The events of a reader as columns: the names say which (list.h). The type of each column is known before the first
 * event: that of a field has room for the field of every event that the reader's selections let pass. Gaps are rows
 * only if a column shows losses. Memory is that of one batch.
 * Not supported: COLUMN_FIELDS and COLUMN_DECODED, which have a type for each event.
 */
struct filler;

struct filler_options {
	size_t rows; /* of a batch, at most; 0: BATCH_ROWS; never more than BATCH_ROWS_MAX */
	/* Writes the kernel's text of an event, for the column "text"; NULL: there is none. False without memory. */
	bool (*text)(void *arg, const struct event *event, struct out *out);
	void *text_arg;
};

/*
 * Borrows the reader, whose buffers must have their contexts and selections. -ENOENT: no event that it lets pass has a
 * field of this name; -EINVAL: a name is not that of a column, or events have fields of this name with types that
 * cannot be in one column.
 */
int must_check filler_new(const struct reader *reader, const char *const *names, size_t nr,
			  const struct filler_options *options, struct filler **ret, struct fail *fail);
void filler_free(struct filler *filler);

/*
 * -ENOENT: a column is a field, or what a plugin knows, that no event has of those that the reader's buffers know,
 * whatever they let pass.
 */
int must_check column_list_check(const struct column_list *list, const struct reader *reader, struct fail *fail);

const struct column_shape *filler_shapes(const struct filler *filler, size_t *ret_nr);

/* Adds the row of an event; false without memory. */
bool filler_add(struct filler *filler, const struct event *event);

/* Whether the batch should be taken before the next event is added. */
bool filler_is_full(const struct filler *filler);

/* Gives the rows that were added since the last call to the caller, who frees them; NULL: there are none. */
struct batch *filler_take(struct filler *filler);

/* The number of gaps that were shown to filler_add(). */
uint64_t filler_gaps(const struct filler *filler);

#endif
