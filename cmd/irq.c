// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/analyse.h"

ANALYSE_COMMAND(irq,
		"Shows from a recording how often interrupts, softirqs, timers and work items ran, how long each took "
		"with and without what nested inside, how long they waited before, and from which tasks they took the "
		"time.",
		.summary = "show how long interrupts took, and how late softirqs were", .brief = "interrupts",
		.examples = "  weft record -e irq -e irq_vectors -e timer -- make\n"
			    "  weft irq --sort d-max --top 5 trace.dat");
