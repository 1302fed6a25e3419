// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/event/inode.h"

#include <stdio.h>
#include <string.h>

bool inode_place_find(struct inode_place *ret, const struct event_type *type)
{
	*ret = (struct inode_place){ .ino = { .field = NULL } };
	if (!place_find(&ret->ino, type, "ino"))
		(void)place_find(&ret->ino, type, "i_ino");
	if (!place_find(&ret->device, type, "dev"))
		(void)place_find(&ret->device, type, "s_dev");
	(void)place_find(&ret->name, type, "name");
	(void)place_find(&ret->order, type, "order");
	return ret->ino.field && ret->ino.size;
}

uint32_t inode_device(const struct inode_place *place, const struct event *event)
{
	unsigned major, minor;
	const char *name;
	size_t len;
	char text[32];

	if (place->device.field)
		return (uint32_t)place_u64(&place->device, event);
	if (!place->name.field || !place_string(&place->name, event, &name, &len) || len >= sizeof(text))
		return 0;
	memcpy(text, name, len);
	text[len] = '\0';
	return sscanf(text, "%u:%u", &major, &minor) == 2 ? major << INODE_MINOR_BITS | minor : 0;
}
