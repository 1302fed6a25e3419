// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/analyse.h"

ANALYSE_COMMAND(memory,
		"Shows from a recording what the kernel allocated and has not freed, by the function that asked, "
		"and which tasks had to wait for memory.",
		.summary = "show what memory the kernel allocated and did not free, and which tasks waited for it",
		.brief = "allocations",
		.examples = "  weft record -e kmem -e vmscan -e compaction -e exceptions -- make\n"
			    "  weft memory --sort alive_bytes --top 10");
