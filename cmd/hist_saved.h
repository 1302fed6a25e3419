/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_HIST_SAVED_H
#define WEFT_CMD_HIST_SAVED_H

#include "lib/base/cleanup.h"
#include "lib/tally/hist_table.h"

struct analyse;
struct fail;
struct hist_text;
struct hist_wanted;

enum hist_format { HIST_AS_TABLE, HIST_AS_JSON, HIST_AS_KERNEL };

/* Prints to standard output, in any format but the kernel's own text, which exists already. */
int must_check hist_print(const struct hist_text *hist, const struct hist_title *title, enum hist_format format,
			  struct fail *fail);

/* Makes the histogram of events in a file. Returns the exit status. */
int hist_saved_run(const struct analyse *file, const struct hist_wanted *wanted, const struct hist_title *title,
		   enum hist_format format);

#endif
