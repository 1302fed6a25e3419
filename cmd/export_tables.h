/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_EXPORT_TABLES_H
#define WEFT_CMD_EXPORT_TABLES_H

#include "lib/analysis/pass.h"
#include "lib/base/cleanup.h"
#include "lib/base/out.h"

#include <stdbool.h>

struct fail;
struct reader;
struct reader_consumer;

/* The text of weft summary about the exported events, made in the same pass. */
struct export_tables {
	struct pass pass;
	struct out text;
	bool possible; /* false if the clock counts no time, or if there are several clocks */
};

/* Reads all events and shows each to `after`. Returns 0, with the text if there can be one; or -errno. */
int must_check export_tables_run(struct export_tables *tables, struct reader *reader,
				 const struct reader_consumer *after, const char *input, struct fail *fail);
void export_tables_release(struct export_tables *tables);

#endif
