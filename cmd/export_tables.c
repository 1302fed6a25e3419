// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/export_tables.h"

#include "lib/analysis/analysis.h"
#include "lib/analysis/findings.h"
#include "lib/base/fail.h"
#include "lib/reader/reader.h"

enum { ROWS = 10 };

static int put_text(struct export_tables *tables, const char *input, struct fail *fail)
{
	const struct findings_options options = { .format = TABLE_AS_TEXT, .top = ROWS, .input = input };
	struct findings findings;
	int r;

	findings_init(&findings);
	r = pass_finish(&tables->pass, 0, &findings, fail);
	if (!r)
		r = findings_arrange(&findings, &options, fail);
	if (!r && (!out_init(&tables->text, 1 << 14) || !findings_write(&findings, &options, &tables->text)))
		r = fail_memory(fail);
	findings_release(&findings);
	return r;
}

int export_tables_run(struct export_tables *tables, struct reader *reader, const struct reader_consumer *after,
		      const char *input, struct fail *fail)
{
	struct fail why = FAIL_INIT;
	int r;

	if (!reader->nr_buffers || pass_init(&tables->pass, reader, &(struct pass_filter){ .self = false }, &why))
		return reader_run(reader, after, 1, fail);
	tables->possible = true;
	r = pass_add(&tables->pass, &summary_analysis, NULL, fail);
	if (!r)
		r = pass_run(&tables->pass, after, fail);
	return r ? r : put_text(tables, input, fail);
}

void export_tables_release(struct export_tables *tables)
{
	pass_release(&tables->pass);
	if (tables->text.start)
		out_release(&tables->text);
}
