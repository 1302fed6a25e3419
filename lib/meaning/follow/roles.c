// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/follow/roles.h"

#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/vec.h"

void roles_init(struct roles *roles, const struct role_name *names)
{
	*roles = (struct roles){ .names = names };
}

void roles_release(struct roles *roles)
{
	for (size_t i = 0; i < roles->nr_buffers; i++)
		free(roles->buffers[i].at);
	free(roles->buffers);
	free(roles->owners);
	roles_init(roles, roles->names);
}

static bool matches(const char *pattern, const char *name)
{
	size_t len = strlen(pattern);

	if (len && pattern[len - 1] == '*')
		return !strncmp(pattern, name, len - 1);
	/* "*_entry" */
	if (*pattern == '*')
		return strlen(name) >= len - 1 && !strcmp(name + strlen(name) - (len - 1), pattern + 1);
	return !strcmp(pattern, name);
}

uint8_t role_named(const struct role_name *names, const struct format *format)
{
	for (const struct role_name *name = names; name->name; name++)
		if (matches(name->system, format->system) && matches(name->name, format->name))
			return name->role;
	return ROLE_NONE;
}

/* Whether events of these names count in this buffer: only one buffer counts for each. */
static bool owns(struct roles *roles, const struct format *format, uint16_t buffer)
{
	struct roles_owner *owner;

	for (size_t i = 0; i < roles->nr_owners; i++) {
		const struct format *other = roles->owners[i].format;

		if (!strcmp(other->name, format->name) && !strcmp(other->system, format->system))
			return roles->owners[i].buffer == buffer;
	}
	owner = vec_push(roles->owners, roles->nr_owners);
	if (!owner) {
		roles->failed = true;
		return false;
	}
	*owner = (struct roles_owner){ format, buffer };
	return true;
}

static uint8_t *slot_of(struct roles *roles, uint16_t index, uint16_t buffer)
{
	struct roles_buffer *row;

	while (roles->nr_buffers <= buffer)
		if (!vec_push(roles->buffers, roles->nr_buffers))
			return NULL;
	row = &roles->buffers[buffer];
	while (row->nr <= index)
		if (!vec_push(row->at, row->nr))
			return NULL;
	return &row->at[index];
}

uint8_t roles_look_up(struct roles *roles, const struct event *event, bool *ret_fresh)
{
	const struct format *format = event->type->format;
	uint8_t *slot = slot_of(roles, event->type->index, event->buffer), role = ROLE_NONE;

	*ret_fresh = false;
	if (!slot) {
		roles->failed = true;
		return ROLE_NONE;
	}
	if (format) {
		role = role_named(roles->names, format);
		if (role && !owns(roles, format, event->buffer))
			role = ROLE_NONE;
	}
	*slot = (uint8_t)(role + 1);
	*ret_fresh = role != ROLE_NONE;
	return role;
}
