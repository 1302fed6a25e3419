// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options/hist_sql.h"

#include <stdio.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/options/kernel.h"
#include "cmd/terminal/terminal.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/measure/hist.h"
#include "lib/kernel/tracefs/sql.h"
#include "lib/kernel/tracefs/tracing.h"
#include "lib/kernel/undo/instance_open.h"
#include "lib/kernel/undo/undo.h"

/* echo 'TEXT' >> DIR/FILE: appended, because a trigger that is written with > would remove the others. */
static void print_command(const struct kernel *kernel, const struct sql_write *write, bool in_instance)
{
	fputs("echo '", stdout);
	for (const char *at = write->text; *at; at++)
		if (*at == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*at);
	printf("' >> %s/%s%s%s%s\n", kernel->tracing.dir, in_instance ? "instances/" : "",
	       in_instance ? kernel->name : "", in_instance ? "/" : "", write->file);
}

static void tell(const struct sql *sql)
{
	const struct sql_write *first = &sql->writes[0];
	cleanup_free char *text = NULL;

	if (sql_is_event(first)) {
		text = terminal_line(first->text + 2);
		printf("synthetic:%.*s: %s\n", (int)strcspn(text, " ;"), text, text + strcspn(text, " ;"));
		return;
	}
	text = terminal_line(first->text);
	printf("%s: %s\n", first->file, text);
}

static int make(struct kernel *kernel, const struct sql *sql, struct fail *fail)
{
	struct instance *top = NULL, *instance = NULL;
	struct undo *undo = NULL;
	int err = undo_new(&kernel->tracing, NULL, &undo, fail);

	if (!err)
		err = instance_open_top(&kernel->tracing, undo, &top, fail);
	if (!err && kernel->name)
		err = instance_open(&kernel->tracing, kernel->name, false, undo, &instance, fail);
	if (!err)
		err = hist_set_sql(instance ? instance : top, top, undo, sql, fail);
	err = kernel_keep(undo, err, fail);
	instance_close(instance, NULL);
	instance_close(top, NULL);
	undo_free(undo);
	if (!err)
		tell(sql);
	return err;
}

int hist_sql(const struct hist_sql *asked, struct fail *fail)
{
	struct kernel *kernel = asked->kernel;
	struct sql sql;
	int err;

	if (sql_missing())
		return fail_without(fail, sql_missing(), "'weft hist --sql'",
				    "'weft hist EVENT --keys KEY' and 'weft hist --latency EVENT..EVENT' need no "
				    "library");
	err = asked->dir ? tracing_at(asked->dir, &kernel->tracing, fail) : kernel_find(kernel, fail);
	if (!err)
		err = sql_compile(&kernel->tracing, asked->query, &sql, fail);
	if (err)
		return err;
	if (asked->dry_run)
		for (size_t i = 0; i < sql.nr; i++)
			print_command(kernel, &sql.writes[i], kernel->name && !sql_is_event(&sql.writes[0]));
	else
		err = make(kernel, &sql, fail);
	sql_release(&sql);
	return err;
}
