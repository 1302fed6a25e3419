// SPDX-License-Identifier: LGPL-2.1-or-later
/* weft_event: the values of an event's fields. */
#include "lib/api/api_internal.h"

#include <errno.h>
#include <string.h>

#include "lib/meaning/follow/stack.h"

/* weft_event::reserved[0] has what the rooms below know of an event besides: struct kept. */
struct kept {
	uint32_t more;
	uint16_t cpu_index;
	bool first;
};

_Static_assert(sizeof(struct kept) == sizeof(uint64_t), "it has to fit");

void api_event_outside(const struct event *event, const weft_type *type, struct weft_event *ret)
{
	const struct kept kept = { .more = event->more, .cpu_index = event->cpu_index, .first = event->first };
	bool is_lost = event->kind == EVENT_LOST;

	*ret = (struct weft_event){ .ts = event->ts,
				    .type = type,
				    .data = event->data,
				    .len = event->len,
				    .lost = event->lost,
				    .pid = event->pid,
				    .cpu = event->cpu,
				    .buffer = event->buffer,
				    .kind = is_lost ? WEFT_LOST : WEFT_RECORD,
				    .flags = event->flags,
				    .preempt = event->preempt_count };
	memcpy(&ret->reserved[0], &kept, sizeof(kept));
}

/* The kernel prints some bytes behind the record, too, and of a stack whole addresses. */
size_t api_event_size(const struct weft_event *event)
{
	const size_t address = sizeof(uint64_t);
	struct kept kept;
	size_t bytes;

	memcpy(&kept, &event->reserved[0], sizeof(kept));
	bytes = event->kind == WEFT_LOST ? 0 : (size_t)event->len + kept.more;
	return kept.more && !strcmp(event->type->name, "kernel_stack") ? (bytes + address - 1) / address * address :
									 bytes;
}

size_t weft_event_copy(const struct weft_event *event, void *memory, size_t size, struct weft_event *ret)
{
	size_t need = api_event_size(event);

	if (size < need)
		return need;
	if (need)
		memcpy(memory, event->data, need);
	*ret = *event;
	ret->data = memory;
	return need;
}

void api_event_inside(const struct weft_event *event, struct event *ret)
{
	struct kept kept;

	memcpy(&kept, &event->reserved[0], sizeof(kept));
	*ret = (struct event){ .ts = event->ts,
			       .data = event->data,
			       /* Nobody below the library changes a type but the reader that made it. */
			       .type = (struct event_type *)(uintptr_t)event->type->event,
			       .lost = event->lost,
			       .id = (uint16_t)weft_type_id(event->type),
			       .flags = event->flags,
			       .preempt_count = event->preempt,
			       .pid = event->pid,
			       .cpu = event->cpu,
			       .cpu_index = kept.cpu_index,
			       .buffer = event->buffer,
			       .kind = event->kind == WEFT_LOST ? EVENT_LOST : EVENT_RECORD,
			       .first = kept.first,
			       .len = event->len,
			       .more = kept.more };
}

/* What lib/meaning/event/place.h reads of an event. */
static inline struct event bytes_of_event(const struct weft_event *event)
{
	return (struct event){ .data = event->data, .len = event->len };
}

static inline bool is_of(const struct weft_event *event, const weft_field *field)
{
	return field && field->type == event->type;
}

uint64_t weft_event_u64(const struct weft_event *event, const weft_field *field)
{
	const struct event bytes = bytes_of_event(event);

	return is_of(event, field) && field->kind == WEFT_FIELD_INTEGER ? place_u64(&field->place, &bytes) : 0;
}

int64_t weft_event_s64(const struct weft_event *event, const weft_field *field)
{
	return (int64_t)weft_event_u64(event, field);
}

int weft_event_bytes(const struct weft_event *event, const weft_field *field, const void **ret, size_t *ret_len)
{
	const struct event bytes = bytes_of_event(event);
	const uint8_t *at;

	if (!is_of(event, field))
		return -EINVAL;
	if (field->is_stack && field->place.offset <= event->len) {
		*ret = event->data + field->place.offset;
		*ret_len = event->len - field->place.offset;
		return 0;
	}
	if (!place_bytes(&field->place, &bytes, &at, ret_len))
		return -ENODATA;
	*ret = at;
	return 0;
}

int weft_event_string(const struct weft_event *event, const weft_field *field, const char **ret, size_t *ret_len)
{
	const struct event bytes = bytes_of_event(event);

	if (!is_of(event, field) || field->kind != WEFT_FIELD_STRING)
		return -EINVAL;
	return place_string(&field->place, &bytes, ret, ret_len) ? 0 : -ENODATA;
}

/* The addresses of a stack: the number of them, of which at most `max` are written after the first `skip`. */
static int stack_addresses(const struct weft_event *event, const weft_field *caller, uint64_t *ret, size_t skip,
			   size_t max)
{
	struct stack stack;
	struct event inside;
	uint64_t address;
	size_t nr = 0;

	api_event_inside(event, &inside);
	if (caller->is_stack)
		stack_of_kernel(&caller->place, &inside, &stack);
	else
		stack_of_user(&caller->place, &inside, &stack);
	for (; nr < INT32_MAX && stack_next(&stack, &address); nr++)
		if (nr >= skip && nr - skip < max)
			ret[nr - skip] = address;
	return (int)nr;
}

int weft_event_element(const struct weft_event *event, const weft_field *field, size_t index, uint64_t *ret)
{
	const struct event bytes = bytes_of_event(event);

	if (!is_of(event, field) || field->kind != WEFT_FIELD_ARRAY)
		return 0;
	if (field->is_stack)
		return (size_t)stack_addresses(event, field, ret, index, 1) > index;
	return place_element(&field->place, &bytes, index, ret);
}

int weft_event_stack(const struct weft_event *event, uint64_t *ret, size_t max)
{
	const weft_field *caller = weft_field_find(event->type, "caller");
	bool is_stack = !strcmp(event->type->name, "kernel_stack") || !strcmp(event->type->name, "user_stack");

	if (!caller || !is_stack || strcmp(event->type->system, "ftrace") || caller->kind != WEFT_FIELD_ARRAY)
		return 0;
	return stack_addresses(event, caller, ret, 0, max);
}
