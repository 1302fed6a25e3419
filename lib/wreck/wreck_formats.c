// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/fail.h"
#include "lib/base/vec.h"
#include "lib/wreck/wreck_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * The format files of events, as f_show() of kernel/trace/trace_events.c prints them, out of the lists from which the
 * kernel prints them.
 */
struct reading {
	struct wreck *wreck;
	uint64_t get_syscall_fields; /* the function that says where a system call's fields are; 0: not known */
	uint64_t common;             /* the list of fields that all events have */
	struct buf text;
};

/* A line of a field. An array's length stands behind the name; it is that of `len` where the kernel has this member. */
static bool put_field(struct reading *reading, uint64_t field)
{
	struct wreck *wreck = reading->wreck;
	const struct wreck_layout *layout = &wreck->layout;
	char name[WRECK_NAME_MAX], type[WRECK_NAME_MAX], *array;
	unsigned offset = (unsigned)wreck_at(wreck, field, &layout->field_offset);
	unsigned size = (unsigned)wreck_at(wreck, field, &layout->field_size);
	unsigned is_signed = wreck_at(wreck, field, &layout->field_signed) != 0;
	int len = (int)wreck_at(wreck, field, &layout->field_len);
	char length[24] = "";

	if (!wreck_text(wreck, wreck_at(wreck, field, &layout->field_name), name, sizeof(name)) ||
	    !wreck_text(wreck, wreck_at(wreck, field, &layout->field_type), type, sizeof(type)))
		return false;
	array = strncmp(type, "__data_loc", 10) != 0 ? strchr(type, '[') : NULL;
	if (!array)
		return buf_addf(&reading->text, "\tfield:%s %s;\toffset:%u;\tsize:%u;\tsigned:%u;\n", type, name,
				offset, size, is_signed);
	if (layout->field_len.found && len)
		snprintf(length, sizeof(length), "[%d]", len);
	return buf_addf(&reading->text, "\tfield:%.*s %s%s;\toffset:%u;\tsize:%u;\tsigned:%u;\n", (int)(array - type),
			type, name, layout->field_len.found ? length : array, offset, size, is_signed);
}

/* The kernel adds a field at the front of its list, and prints from the back. */
static bool put_fields(struct reading *reading, uint64_t list)
{
	struct wreck *wreck = reading->wreck;
	uint64_t fields[WRECK_FIELDS_MAX];
	struct wreck_walk walk;
	size_t nr = 0;

	if (!wreck_walk_begin(&walk, wreck, list, &wreck->layout.field_link, WRECK_FIELDS_MAX))
		return false;
	while (wreck_walk_next(&walk, &fields[nr]))
		nr++;
	/* A format without some of its fields would be wrong. */
	if (walk.cut)
		return false;
	while (nr)
		if (!put_field(reading, fields[--nr]))
			return false;
	return true;
}

static bool read_name(struct wreck *wreck, uint64_t call, char name[WRECK_NAME_MAX])
{
	uint64_t at = wreck_at(wreck, call, &wreck->layout.call_name);

	if (wreck_at(wreck, call, &wreck->layout.call_flags) & wreck->layout.is_tracepoint)
		at = wreck_at(wreck, at, &wreck->layout.point_name);
	return wreck_text(wreck, at, name, WRECK_NAME_MAX);
}

/* The list of the fields that this event alone has. */
static uint64_t fields_of(struct reading *reading, uint64_t call, uint64_t class)
{
	struct wreck *wreck = reading->wreck;
	uint64_t get = wreck_at(wreck, class, &wreck->layout.class_get_fields);

	if (get && get == reading->get_syscall_fields && wreck->layout.syscall_fields.found)
		return wreck_at(wreck, call, &wreck->layout.call_data) + wreck->layout.syscall_fields.offset;
	return class + wreck->layout.class_fields.offset;
}

/* Makes the text. False: a part of it cannot be read. */
static bool put_format(struct reading *reading, uint64_t call, uint64_t class, const char *name)
{
	struct wreck *wreck = reading->wreck;
	cleanup_free char *print = malloc(WRECK_TEXT_MAX);

	buf_clear(&reading->text);
	return print && wreck_text(wreck, wreck_at(wreck, call, &wreck->layout.call_print), print, WRECK_TEXT_MAX) &&
	       buf_addf(&reading->text, "name: %s\nID: %" PRId32 "\nformat:\n", name,
			(int32_t)wreck_at(wreck, call, &wreck->layout.call_type)) &&
	       put_fields(reading, reading->common) && buf_addf(&reading->text, "\n") &&
	       put_fields(reading, fields_of(reading, call, class)) &&
	       buf_addf(&reading->text, "\nprint fmt: %s\n", print);
}

static int add_format(struct reading *reading, uint64_t call, struct fail *fail)
{
	struct wreck *wreck = reading->wreck;
	uint64_t class = wreck_at(wreck, call, &wreck->layout.call_class);
	char name[WRECK_NAME_MAX], system[WRECK_NAME_MAX];
	struct writer_format *format;

	if (!read_name(wreck, call, name) ||
	    !wreck_text(wreck, wreck_at(wreck, class, &wreck->layout.class_system), system, sizeof(system)) ||
	    !put_format(reading, call, class, name) || wreck->formats_size + reading->text.len > WRECK_TEXTS_MAX) {
		wreck->facts.unread++;
		return 0;
	}
	format = vec_push(wreck->formats, wreck->nr_formats);
	if (!format)
		return fail_memory(fail);
	format->system = strdup(system);
	format->len = reading->text.len;
	format->text = strndup(buf_str(&reading->text), reading->text.len);
	wreck->formats_size += format->len;
	return format->system && format->text ? 0 : fail_memory(fail);
}

int wreck_formats_read(struct wreck *wreck, struct fail *fail)
{
	struct reading reading = { .wreck = wreck, .text = BUF_INIT };
	struct wreck_walk walk;
	uint64_t head, call;
	int r = 0;

	(void)wreck_symbol(wreck, "syscall_get_enter_fields", &reading.get_syscall_fields);
	if (!wreck_symbol(wreck, "ftrace_events", &head) ||
	    !wreck_symbol(wreck, "ftrace_common_fields", &reading.common) ||
	    !wreck_walk_begin(&walk, wreck, head, &wreck->layout.call_list, WRECK_EVENTS_MAX))
		return fail_set(fail, -ENODATA, "the dump does not have the kernel's list of events");
	while (!r && wreck_walk_next(&walk, &call))
		r = add_format(&reading, call, fail);
	buf_release(&reading.text);
	wreck->facts.cut = walk.cut;
	wreck->facts.events = wreck->nr_formats;
	return r || wreck->nr_formats ? r : fail_set(fail, -ENODATA, "the dump does not have the kernel's events");
}
