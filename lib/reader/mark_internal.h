/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_READER_MARK_INTERNAL_H
#define WEFT_READER_MARK_INTERNAL_H

#include "lib/base/cleanup.h"

#include <stdint.h>

struct context;
struct fail;

/*
 * The marker of a recording that a user names by its text: the whole text of one, or a part that only one has, or with
 * "#N" behind it the Nth that has this part. "trigger" is the trigger of which `weft flight` wrote the file. The marker
 * of a trigger tells the trigger's own time in us; that counts, not the time when the marker was written.
 *
 * *ret_from to *ret_to (included) is its time: 1 us, if it is not known better. -ENODATA: there is no such marker;
 * -EINVAL: there are several. The message lists those that are there.
 */
int must_check mark_find(const struct context *context, const char *text, uint64_t *ret_from, uint64_t *ret_to,
			 struct fail *fail);

#endif
