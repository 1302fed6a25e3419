// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/columns/own.h"

#include <string.h>

#include "lib/meaning/clock/wall.h"
#include "lib/meaning/event/comms.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/follow/mark_at.h"
#include "lib/meaning/follow/who.h"

/* clang-format off */
static const struct column_shape shapes[] = {
	[COLUMN_TS] = { .name = "ts", .bits = 64, .is_signed = true },
	[COLUMN_WALL] = { .name = "wall", .bits = 64, .is_signed = true, .optional = true },
	[COLUMN_CPU] = { .name = "cpu", .bits = 32, .is_signed = true },
	[COLUMN_INSTANCE] = { .name = "instance", .form = COLUMN_OF_TEXT },
	[COLUMN_CLOCK_ERROR] = { .name = "clock_error", .bits = 64, .is_signed = true, .optional = true },
	[COLUMN_PID] = { .name = "pid", .bits = 32, .is_signed = true },
	[COLUMN_TGID] = { .name = "tgid", .bits = 32, .is_signed = true, .optional = true },
	[COLUMN_COMM] = { .name = "comm", .form = COLUMN_OF_TEXT, .optional = true },
	[COLUMN_MARK] = { .name = "mark", .form = COLUMN_OF_TEXT, .optional = true },
	[COLUMN_FLAGS] = { .name = "flags", .bits = 8 },
	[COLUMN_PREEMPT_COUNT] = { .name = "preempt_count", .bits = 8 },
	[COLUMN_SYSTEM] = { .name = "system", .form = COLUMN_OF_TEXT, .optional = true },
	[COLUMN_EVENT] = { .name = "event", .form = COLUMN_OF_TEXT, .optional = true },
	[COLUMN_LOST] = { .name = "lost", .bits = 64, .is_signed = true, .optional = true },
};
/* clang-format on */

/* Named by the column. */
static const struct column_shape of_who = { .form = COLUMN_OF_TEXT, .optional = true };

const struct column_shape *column_own_shape(enum column_what what)
{
	if (what >= COLUMN_WHO && what <= COLUMN_WHO_LAST)
		return &of_who;
	return (size_t)what < array_size(shapes) && *shapes[what].name ? &shapes[what] : NULL;
}

static void set_integer(struct column_value *ret, uint64_t number)
{
	*ret = (struct column_value){ .kind = VALUE_IS_INTEGER, .number = number };
}

static void set_text(struct column_value *ret, const char *text)
{
	*ret = (struct column_value){ .kind = VALUE_IS_TEXT, .text = text, .len = strlen(text) };
}

static void read_comm(const struct context *context, const struct event *event, struct column_value *ret)
{
	struct task_name name = context_comm(context, event->pid, event->ts);

	if (name.text != task_no_name)
		*ret = (struct column_value){ .kind = VALUE_IS_TEXT, .text = name.text, .len = name.len };
}

const char *column_who_text(enum column_what what, const struct context *context, const struct event *event)
{
	enum who_part part = (enum who_part)(what - COLUMN_WHO);
	uint32_t who = who_is(context, part, event->pid, event->ts, NULL);

	return who ? who_text(context, part, who) : NULL;
}

static void read_of_record(enum column_what what, const struct context *context, const struct event *event,
			   struct column_value *ret)
{
	const struct format *format = event->type->format;
	const char *text;
	int32_t tgid;

	if (what >= COLUMN_WHO && what <= COLUMN_WHO_LAST) {
		text = column_who_text(what, context, event);
		if (text)
			set_text(ret, text);
		return;
	}
	switch (what) {
	case COLUMN_PID:
		set_integer(ret, (uint64_t)(int64_t)event->pid);
		return;
	case COLUMN_TGID:
		tgid = who_process(context, event->pid, event->ts, NULL);
		if (tgid)
			set_integer(ret, (uint64_t)(int64_t)tgid);
		return;
	case COLUMN_COMM:
		read_comm(context, event, ret);
		return;
	case COLUMN_MARK:
		text = mark_at(context, event->pid, event->ts);
		if (text)
			set_text(ret, text);
		return;
	case COLUMN_FLAGS:
		set_integer(ret, event->flags);
		return;
	case COLUMN_PREEMPT_COUNT:
		set_integer(ret, event->preempt_count);
		return;
	case COLUMN_SYSTEM:
		if (format)
			set_text(ret, format->system);
		return;
	case COLUMN_EVENT:
		if (format)
			set_text(ret, format->name);
		return;
	case COLUMN_WHO:
	case COLUMN_WHO_LAST:
	case COLUMN_TS:
	case COLUMN_WALL:
	case COLUMN_CPU:
	case COLUMN_INSTANCE:
	case COLUMN_CLOCK_ERROR:
	case COLUMN_LOST:
	case COLUMN_FIELDS:
	case COLUMN_TEXT:
	case COLUMN_DECODED:
	case COLUMN_FIELD:
	case COLUMN_FACT:
		return;
	}
}

void column_own_read(enum column_what what, const struct context *context, const struct event *event,
		     struct column_value *ret)
{
	int64_t ns;

	*ret = (struct column_value){ .kind = VALUE_IS_NULL };
	if (what == COLUMN_TS) {
		set_integer(ret, event->ts);
	} else if (what == COLUMN_WALL) {
		if (wall_of(context->wall, event->ts, &ns, NULL))
			set_integer(ret, (uint64_t)ns);
	} else if (what == COLUMN_CPU) {
		set_integer(ret, event->cpu);
	} else if (what == COLUMN_INSTANCE) {
		set_text(ret, context->instance);
	} else if (what == COLUMN_CLOCK_ERROR) {
		if (context->compared)
			set_integer(ret, context->clock_error_ns);
	} else if (event->kind != EVENT_LOST) {
		read_of_record(what, context, event, ret);
	} else if (what == COLUMN_EVENT) {
		set_text(ret, "lost");
	} else if (what == COLUMN_LOST && event->lost > 0) {
		set_integer(ret, (uint64_t)event->lost);
	}
}
