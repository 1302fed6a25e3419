// SPDX-License-Identifier: LGPL-2.1-or-later
/* The names of slices. */
#include "lib/timeline/timeline_internal.h"

#include "lib/event/context.h"
#include "lib/event/softirqs.h"
#include "lib/event/tasks.h"
#include "lib/names/symbols.h"
#include "lib/timeline/call_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *function_name(const struct part *part, uint64_t func, char text[TIMELINE_NAME], size_t *ret_len)
{
	struct symbol symbol;

	if (symbols_find(part->context->symbols, func, &symbol)) {
		*ret_len = symbol.name_len;
		return symbol.name;
	}
	*ret_len = (size_t)snprintf(text, TIMELINE_NAME, "0x%" PRIx64, func);
	return text;
}

static const char *softirq_text(int64_t number, char text[TIMELINE_NAME])
{
	const char *name = softirq_name((uint64_t)number);

	if (name)
		snprintf(text, TIMELINE_NAME, "softirq %s", name);
	else
		snprintf(text, TIMELINE_NAME, "softirq %" PRIu64, (uint64_t)number);
	return text;
}

static const char *handler_text(const struct part *part, int64_t number, char text[TIMELINE_NAME])
{
	const struct handler *handler = u64_map_find(&part->handlers, (uint64_t)number);

	if (handler)
		return handler->text;
	snprintf(text, TIMELINE_NAME, "irq %" PRIu64, (uint64_t)number);
	return text;
}

const char *timeline_name(const struct timeline *timeline, const struct timeline_slice *slice, char text[TIMELINE_NAME],
			  size_t *ret_len)
{
	const struct part *part = timeline->parts[slice->buffer];
	const struct type *type;
	struct task_name task;
	const char *name = "";

	switch (slice->kind) {
	case TIMELINE_RUN:
	case TIMELINE_STATE:
		task = task_name(part->context->tasks, slice->pid);
		*ret_len = task.len;
		return task.text;
	case TIMELINE_CALL:
		type = u64_map_find(&part->types, slice->event->type->index);
		name = call_name(part->context, &type->places[NUMBER], slice->event, text);
		break;
	case TIMELINE_IRQ:
		name = handler_text(part, slice->number, text);
		break;
	case TIMELINE_SOFTIRQ:
		name = softirq_text(slice->number, text);
		break;
	case TIMELINE_TASKLET:
	case TIMELINE_VECTOR:
		*ret_len = slice->stem_len;
		return slice->stem;
	case TIMELINE_FUNCTION:
		return function_name(part, slice->track->frames[slice->track->nr_frames - 1].func, text, ret_len);
	case TIMELINE_COUNTER:
		name = timeline_counters[slice->counter].name;
		break;
	case TIMELINE_LOSS:
		name = "lost events";
		break;
	}
	*ret_len = strlen(name);
	return name;
}
