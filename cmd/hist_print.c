// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/hist_print.h"

#include "cmd/terminal/terminal.h"
#include "lib/base/fail.h"
#include "lib/base/out.h"
#include "lib/measure/hist_text.h"

int hist_print(const struct hist_text *hist, const struct hist_title *title, enum hist_format format, struct fail *fail)
{
	/* Blocks on a terminal whose locale has them. */
	struct hist_shape shape = { .width = terminal_width(), .blocks = terminal_width() && terminal_utf8() };
	struct out out;
	int err = 0;

	if (!out_init(&out, 1 << 16))
		return fail_memory(fail);
	if (format == HIST_AS_JSON)
		hist_table_json(hist, title, &out);
	else
		err = hist_table_text(hist, title, &shape, &out, fail);
	if (!err && hist->dropped && format == HIST_AS_TABLE)
		out_str(&out, "hits were dropped because all rows were in use: raise --size\n");
	if (!err)
		err = terminal_flush(&out, fail);
	out_release(&out);
	return err;
}
