/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_RING_PAGE_TRIM_H
#define WEFT_RING_PAGE_TRIM_H

#include "lib/base/cleanup.h"

#include <stdint.h>

struct fail;
struct page_shape;

/*
 * Copies the events from `from` to `to` of a page into another one of the same shape. A page with no other events is
 * copied as it is. Events that were lost before the page are told only if its first event stays.
 * Returns 1, 0 if there is no such event, or -EBADMSG. *ret_first, *ret_last: times of the events in the copy.
 */
int must_check page_trim(const struct page_shape *shape, const void *data, uint64_t from, uint64_t to, void *into,
			 uint64_t *ret_first, uint64_t *ret_last, struct fail *fail);

#endif
