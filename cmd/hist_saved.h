/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_HIST_SAVED_H
#define WEFT_CMD_HIST_SAVED_H

#include "cmd/hist_print.h"

struct analyse;
struct hist_wanted;

/* Makes the histogram of events in a file. Returns the exit status. */
int hist_saved_run(const struct analyse *file, const struct hist_wanted *wanted, const struct hist_title *title,
		   enum hist_format format);

#endif
