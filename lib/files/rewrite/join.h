/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FILES_REWRITE_JOIN_H
#define WEFT_FILES_REWRITE_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/files/rewrite/recast.h"
#include "lib/ground/base/cleanup.h"

struct excerpt;
struct fail;
struct trace;

/*
 * Puts parts of one recording together again, as an excerpt: each event is in its own buffer, in the order of time.
 */

/* Whether the traces are parts of one recording: its id, kernel, buffers and formats are the same. */
bool join_is_of_one(struct trace *const *traces, size_t nr);

/*
 * *ret: the excerpt, for excerpt_write() and excerpt_free(); it borrows the traces. ret_damaged[i]: trace i is damaged,
 * and what can be read of it is there. -EEXIST: two parts have the same event, so they are no parts of a whole, or
 * clocks differ; nothing was made.
 */
int must_check join_new(struct trace *const *traces, size_t nr, const struct recast_options *form, struct excerpt **ret,
			bool *ret_damaged, struct fail *fail);

#endif
