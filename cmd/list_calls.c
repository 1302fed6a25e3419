// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"
#include "cmd/list.h"
#include "lib/event/context.h"
#include "lib/plugin/plugins.h"
#include "lib/schema/format.h"
#include "lib/tally/call_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Whether a system call was asked for, by its name or its number. */
static bool call_wanted(struct list *list, const struct call_row *row)
{
	bool any = list_wanted(list, row->name);
	char number[24];

	snprintf(number, sizeof(number), "%" PRId64, row->number);
	for (size_t i = 0; i < list->nr_globs && row->number >= 0; i++)
		if (!strcmp(list->globs[i], number))
			list->matched[i] = any = true;
	return any;
}

static int print_call(const struct call_row *row, void *data)
{
	struct list *list = data;

	if (!call_wanted(list, row))
		return 0;
	if (row->number < 0)
		printf("-\t%s", row->name);
	else
		printf("%" PRId64 "\t%s", row->number, row->name);
	if (row->arguments)
		printf("\t%s\n", *row->arguments ? row->arguments : "void");
	else
		putchar('\n');
	return 0;
}

int list_calls(struct list *list, struct fail *fail)
{
	int err = listed_schema(&list->listed, "syscalls", fail);

	if (!err && !*list->listed.context->machine)
		command_warn("note: '%s' does not say on which machine it was recorded, so the calls have no numbers",
			     list->input);
	return err ? err : call_list_each(list->listed.context, print_call, list, fail);
}

/* Prints the events to which a plugin adds facts (weft report --decode). */
int list_plugins(struct list *list, struct fail *fail)
{
	const char *system, *name;
	int32_t id;

	(void)fail;
	for (size_t i = 0; schema_at(list->listed.context->schema, i, &id, &system, &name); i++) {
		const struct format *format = schema_format(list->listed.context->schema, id, NULL);

		if (format && plugins_decoder(list->listed.context->plugins, format) && list_wanted(list, system))
			printf("%s:%s\n", system, name);
	}
	return 0;
}
