/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_EVENT_INODE_H
#define WEFT_MEANING_EVENT_INODE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/meaning/event/place.h"

/* Which inode an event of the page cache, of a file system or of writeback is about. */
struct inode_place {
	struct place ino, device, name, order;
};

enum { INODE_MINOR_BITS = 20 };

/* False: events of this type have none. */
bool inode_place_find(struct inode_place *ret, const struct event_type *type);

static inline uint64_t inode_of(const struct inode_place *place, const struct event *event)
{
	return place_u64(&place->ino, event);
}

/*
 * The device of its file system: major << INODE_MINOR_BITS | minor. 0: the event does not tell it. Of an event of
 * writeback, the disk by the name of its struct backing_dev_info, which is "MAJOR:MINOR".
 */
uint32_t inode_device(const struct inode_place *place, const struct event *event);

#endif
