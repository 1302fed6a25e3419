// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/tally/call_list.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/answers/tally/tally_calls_internal.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/schema/format.h"
#include "lib/meaning/uapi/names.h"

static const char enter[] = "sys_enter_";

/* Where the tables of names have numbers: mips begins at 4000, and arm has a few of its own. */
static const struct {
	int64_t from, to;
} ranges[] = { { 0, 7000 }, { 0xf0000, 0xf0010 } };

struct visit {
	const struct context *context;
	int (*each)(const struct call_row *row, void *data);
	void *data;
	struct fail *fail;
	uint8_t *named; /* a byte for each format: its call has a number */
};

/*
 * Prints the arguments of a call. The first own field is the number. The dynamic fields of Linux 6.19 are copies of
 * what arguments point to.
 */
static bool print_arguments(const struct format *format, struct buf *buf)
{
	bool ok = true;

	for (uint32_t i = format->nr_common + 1; ok && i < format->nr_fields; i++)
		if (!(format->fields[i].flags & (FIELD_DYNAMIC | FIELD_RELATIVE)))
			ok = buf_addf(buf, "%s%s %s", buf->len ? ", " : "", format->fields[i].type,
				      format->fields[i].name);
	return ok;
}

static int visit_one(const struct visit *visit, int64_t number, const char *name, int32_t id)
{
	cleanup_buf struct buf arguments = BUF_INIT;
	const struct format *format = id < 0 ? NULL : schema_format(visit->context->schema, id, NULL);
	struct call_row row = { .number = number, .name = name };

	if (format && !print_arguments(format, &arguments))
		return fail_memory(visit->fail);
	row.arguments = format ? buf_str(&arguments) : NULL;
	return visit->each(&row, visit->data);
}

static int32_t find_event(const struct visit *visit, const char *call)
{
	char event[TALLY_CALL_SIZE + sizeof(enter)];

	snprintf(event, sizeof(event), "%s%s", enter, call);
	return schema_find(visit->context->schema, "syscalls", event);
}

/* The id of the event of this call, or a negative number. The event has the name of the call's SYSCALL_DEFINE. */
static int32_t event_of(const struct visit *visit, int64_t number, const char *name)
{
	char defined[TALLY_CALL_SIZE];
	const char *as = tally_call_name(visit->context, (uint64_t)number, defined);
	int32_t id = strncmp(as, "sys_", 4) ? -ENOENT : find_event(visit, as + 4);

	return id < 0 ? find_event(visit, name) : id;
}

static int visit_numbers(const struct visit *visit)
{
	int ret = 0;

	for (size_t i = 0; i < array_size(ranges); i++)
		for (int64_t number = ranges[i].from; !ret && number < ranges[i].to; number++) {
			const char *name = system_call_name(visit->context->machine, number);
			int32_t id = name ? event_of(visit, number, name) : -ENOENT;

			if (id >= 0 && id <= UINT16_MAX)
				visit->named[id] = 1;
			if (name)
				ret = visit_one(visit, number, name, id);
		}
	return ret;
}

static int visit_others(const struct visit *visit)
{
	const char *system, *name;
	int32_t id;
	int ret = 0;

	for (size_t i = 0; !ret && schema_at(visit->context->schema, i, &id, &system, &name); i++)
		if (!strcmp(system, "syscalls") && !strncmp(name, enter, strlen(enter)) && id >= 0 &&
		    id <= UINT16_MAX && !visit->named[id])
			ret = visit_one(visit, -1, name + strlen(enter), id);
	return ret;
}

int call_list_each(const struct context *context, int (*each)(const struct call_row *row, void *data), void *data,
		   struct fail *fail)
{
	cleanup_free uint8_t *named = calloc(UINT16_MAX + 1, 1);
	const struct visit visit = {
		.context = context,
		.each = each,
		.data = data,
		.fail = fail,
		.named = named,
	};
	int ret = named ? visit_numbers(&visit) : fail_memory(fail);

	return ret ? ret : visit_others(&visit);
}
