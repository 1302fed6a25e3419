// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/columns/list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/vec.h"

static const char *const names[] = {
	[COLUMN_TS] = "ts",
	[COLUMN_WALL] = "wall",
	[COLUMN_CPU] = "cpu",
	[COLUMN_INSTANCE] = "instance",
	[COLUMN_PID] = "pid",
	[COLUMN_TGID] = "tgid",
	[COLUMN_COMM] = "comm",
	[COLUMN_MARK] = "mark",
	[COLUMN_FLAGS] = "flags",
	[COLUMN_SYSTEM] = "system",
	[COLUMN_EVENT] = "event",
	[COLUMN_LOST] = "lost",
	[COLUMN_FIELDS] = "fields",
	[COLUMN_TEXT] = "text",
	[COLUMN_DECODED] = "decoded",
	[COLUMN_PREEMPT_COUNT] = "preempt_count",
	[COLUMN_CLOCK_ERROR] = "clock_error",
};

static void column_name(struct column *column)
{
	static const char own[] = "fields.", decoded[] = COLUMN_FACT_PREFIX;

	column->what = COLUMN_FIELD;
	column->field = column->name;
	if (!strncmp(column->name, own, strlen(own))) {
		column->field += strlen(own);
		return;
	}
	if (!strncmp(column->name, decoded, strlen(decoded))) {
		column->what = COLUMN_FACT;
		column->field += strlen(decoded);
		return;
	}
	for (size_t i = 0; i < array_size(names); i++)
		if (names[i] && !strcmp(column->name, names[i]))
			column->what = (enum column_what)i;
	for (enum who_part part = 0; part < WHO_PARTS; part++)
		if (!strcmp(column->name, who_part_word(part)))
			column->what = (enum column_what)(COLUMN_WHO + part);
}

int column_list_add(struct column_list *list, const char *at, size_t len, struct fail *fail)
{
	struct column *column;

	if (!len)
		return fail_set(fail, -EINVAL, "a name is empty");
	if (list->nr == COLUMNS_OF_TABLE_MAX)
		return fail_set(fail, -EINVAL, "more than %d names", COLUMNS_OF_TABLE_MAX);
	column = vec_push(list->at, list->nr);
	if (!column)
		return fail_memory(fail);
	column->name = strndup(at, len);
	if (!column->name)
		return fail_memory(fail);
	column_name(column);
	for (size_t i = 0; i + 1 < list->nr; i++)
		if (!strcmp(list->at[i].name, column->name))
			return fail_set(fail, -EINVAL, "'%s' is listed twice", column->name);
	return 0;
}

int column_list_parse(const char *text, struct column_list *ret, struct fail *fail)
{
	struct column_list list = { .nr = 0 };
	const char *at = text;
	int r;

	for (;;) {
		size_t len = strcspn(at, ",");

		r = column_list_add(&list, at, len, fail);
		if (r || !at[len])
			break;
		at += len + 1;
	}
	if (r)
		column_list_release(&list);
	else
		*ret = list;
	return r;
}

const char *column_list_name(size_t index)
{
	for (enum column_what what = 0; what < array_size(names); what++)
		if (names[what] && !index--)
			return names[what];
	return index < WHO_PARTS ? who_part_word((enum who_part)index) : NULL;
}

void column_list_drop_last(struct column_list *list)
{
	free(list->at[--list->nr].name);
}

void column_list_release(struct column_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->at[i].name);
	free(list->at);
	*list = (struct column_list){ .nr = 0 };
}
