// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/analyse.h"
#include "cmd/command.h"

ANALYSE_COMMAND(summary,
		"Shows on one page what a recording holds and what stands out in it: the first look after weft record.",
		.summary = "show on one page what a recording holds and what stands out", .brief = "one page",
		.examples = "  weft record -e sched -e raw_syscalls -- make\n  weft summary");
