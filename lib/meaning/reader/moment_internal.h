/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_READER_MOMENT_INTERNAL_H
#define WEFT_MEANING_READER_MOMENT_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct context;
struct fail;

/*
 * An event whose time a user asks for: the `nr`th of those that `name` selects, as lib/meaning/query/selection.h reads
 * it, or with a `mark` the `nr`th marker that contains this text.
 */
struct moment {
	const char *name; /* NULL: a marker */
	const char *mark;
	uint64_t nr; /* from 1 */
};

/*
 * Finds its time in all buffers of the context's file that have the context's clock, in their common order. -ENOENT:
 * the file has no such type of event; -ENODATA: it has fewer of them.
 */
int must_check moment_find(const struct context *context, const struct moment *moment, uint64_t *ret,
			   struct fail *fail);

/*
 * Shows the text of each marker of the same buffers, without a NUL, in the order of time. -ENOENT: the file cannot have
 * markers.
 */
int must_check moment_each_mark(const struct context *context,
				void (*see)(void *arg, uint64_t ts, const char *text, size_t len), void *arg,
				struct fail *fail);

#endif
