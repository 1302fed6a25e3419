/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_HIST_PRINT_H
#define WEFT_CMD_HIST_PRINT_H

#include "lib/base/cleanup.h"
#include "lib/tally/hist_table.h"

struct fail;
struct hist_text;

enum hist_format { HIST_AS_TABLE, HIST_AS_JSON, HIST_AS_KERNEL };

/* Prints to standard output, in any format but the kernel's own text, which exists already. */
int must_check hist_print(const struct hist_text *hist, const struct hist_title *title, enum hist_format format,
			  struct fail *fail);

#endif
