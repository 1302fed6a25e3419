/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PAGES_RING_REMAINS_H
#define WEFT_PAGES_RING_REMAINS_H

#include <stdint.h>

#include "lib/pages/ring/page.h"

/*
 * What the kernel's file `trace` finds behind a record with `more` (struct record). Its iterator copies each record of
 * a CPU to the same memory (kernel/trace/ring_buffer.c: rb_iter_head_event()), so behind a short record it finds the
 * rest of longer ones that it read before. At first the memory is taken to be 0, as CONFIG_INIT_ON_ALLOC_DEFAULT_ON
 * makes it. All records of the CPU have to be taken, in order.
 */
struct remains {
	uint32_t taken; /* bytes of the current page whose records are in `bytes` */
	uint8_t bytes[];
};

/* The bytes that remains_copy() needs beyond the record's own. */
enum { REMAINS_ROOM = RECORD_MORE + 8 };

/* NULL when memory is short. free() frees it. */
struct remains *remains_new(const struct page_shape *shape);

/* Takes the records that the page has before this offset. The page is the current one. */
void remains_take(struct remains *remains, const struct page *page, uint32_t end);

/* The page that follows is another one. */
void remains_turn(struct remains *remains);

/* Copies the record that was taken last, and what follows it, to `to`, which has room for len + REMAINS_ROOM bytes. */
void remains_copy(const struct remains *remains, const struct record *record, uint8_t *to);

#endif
