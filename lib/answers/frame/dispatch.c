// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/frame/dispatch.h"

#include <stdlib.h>

#include "lib/ground/base/vec.h"
#include "lib/meaning/follow/roles.h"
#include "lib/meaning/state/state.h"

static void forget_types(struct dispatch *dispatch)
{
	for (size_t i = 0; i < dispatch->nr_buffers; i++) {
		for (size_t at = 0; at < dispatch->buffers[i].nr; at++)
			free(dispatch->buffers[i].types[at].to);
		free(dispatch->buffers[i].types);
	}
	free(dispatch->buffers);
	dispatch->buffers = NULL;
	dispatch->nr_buffers = 0;
}

void dispatch_clear(struct dispatch *dispatch)
{
	forget_types(dispatch);
	dispatch->nr_items = 0;
}

void dispatch_release(struct dispatch *dispatch)
{
	forget_types(dispatch);
	free(dispatch->items);
	*dispatch = (struct dispatch){ .items = NULL };
}

bool dispatch_add(struct dispatch *dispatch, const struct analysis_ops *ops, void *analysis)
{
	struct dispatch_item *item = vec_push(dispatch->items, dispatch->nr_items);

	if (item)
		*item = (struct dispatch_item){ ops, analysis };
	return item;
}

static struct dispatch_type *slot_of(struct dispatch *dispatch, const struct event *event)
{
	struct dispatch_buffer *buffer;

	while (dispatch->nr_buffers <= event->buffer)
		if (!vec_push(dispatch->buffers, dispatch->nr_buffers))
			return NULL;
	buffer = &dispatch->buffers[event->buffer];
	while (buffer->nr <= event->type->index)
		if (!vec_push(buffer->types, buffer->nr))
			return NULL;
	return &buffer->types[event->type->index];
}

static const struct dispatch *parts_of(const struct dispatch_item *item)
{
	return item->ops->parts ? item->ops->parts(item->analysis) : NULL;
}

static size_t nr_items(const struct dispatch *dispatch)
{
	size_t nr = dispatch->nr_items;

	for (size_t i = 0; i < dispatch->nr_items; i++)
		nr += parts_of(&dispatch->items[i]) ? nr_items(parts_of(&dispatch->items[i])) : 0;
	return nr;
}

/* Parts get their events from here: what has them does not pass them on. */
static void ask_items(const struct dispatch *dispatch, const struct event *event, struct dispatch_type *type)
{
	for (size_t i = 0; i < dispatch->nr_items; i++) {
		const struct dispatch_item *item = &dispatch->items[i];
		uint8_t role = item->ops->look ? item->ops->look(item->analysis, event) : 1;

		if (role != ROLE_NONE)
			type->to[type->nr++] = (struct dispatch_to){ item->ops->see, item->analysis, role };
		if (parts_of(item))
			ask_items(parts_of(item), event, type);
	}
}

static bool ask_all(const struct dispatch *dispatch, const struct event *event, struct dispatch_type *type)
{
	type->state_role = dispatch->state ? state_look(dispatch->state, event) : ROLE_NONE;
	type->to = calloc(nr_items(dispatch) + 1, sizeof(*type->to));
	if (type->to)
		ask_items(dispatch, event, type);
	type->known = type->to;
	return type->known;
}

const struct dispatch_type *dispatch_ask(struct dispatch *dispatch, const struct event *event)
{
	struct dispatch_type *type = slot_of(dispatch, event);

	if (type && ask_all(dispatch, event, type))
		return type;
	dispatch->failed = true;
	return NULL;
}

void dispatch_rest(const struct dispatch *dispatch, const struct event *event)
{
	for (size_t i = 0; i < dispatch->nr_items; i++) {
		const struct dispatch_item *item = &dispatch->items[i];

		if (item->ops->across)
			item->ops->see(item->analysis, event, ROLE_NONE);
		else if (item->ops->parts)
			dispatch_rest(item->ops->parts(item->analysis), event);
	}
}

void dispatch_gap(const struct dispatch *dispatch, const struct event *event)
{
	for (size_t i = 0; i < dispatch->nr_items; i++)
		dispatch->items[i].ops->see(dispatch->items[i].analysis, event, ROLE_NONE);
}
