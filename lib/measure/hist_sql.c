// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/measure/hist_sql.h"

#include "lib/base/fail.h"
#include "lib/measure/hist_internal.h"
#include "lib/probe/probe_define.h"
#include "lib/probe/probes.h"
#include "lib/tracefs/instance.h"
#include "lib/tracefs/sql.h"

#include <errno.h>
#include <stdio.h>

static int make_event(struct instance *top, struct undo *undo, const char *text, struct fail *fail)
{
	struct probe probe;
	int err = probe_define(top, text + 2, true, &probe, fail);

	if (err)
		return err;
	err = probe_add(top, undo, &probe, fail);
	probe_release(&probe);
	return err;
}

int hist_set_sql(struct instance *instance, struct instance *top, struct undo *undo, const struct sql *sql,
		 struct fail *fail)
{
	/* The triggers of a synthetic event are where its events come from. */
	struct instance *where = sql->nr && sql_is_event(&sql->writes[0]) ? top : instance;
	int err = 0;

	for (size_t i = 0; !err && i < sql->nr; i++) {
		const struct sql_write *write = &sql->writes[i];
		struct hist_event event;

		if (sql_is_event(write))
			err = make_event(top, undo, write->text, fail);
		else if (sscanf(write->file, "events/%127[^/]/%127[^/]/trigger", event.system, event.event) != 2)
			err = fail_set(fail, -EPROTO, "'%s' is not the triggers of an event", write->file);
		else
			err = hist_set_trigger(where, undo, &event, write->text, fail);
	}
	return err;
}
