// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/analyse.h"

ANALYSE_COMMAND(power,
		"Shows from a recording how long and how deep CPUs idled, how often they were woken and by what, "
		"at which frequencies they ran, and how many cycles each task ran.",
		.summary = "show how deep CPUs idled, what woke them, and how fast they ran",
		.brief = "idle, frequency",
		.examples = "  weft record --for power -- sleep 10\n"
			    "  weft power");
