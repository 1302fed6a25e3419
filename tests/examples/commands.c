// SPDX-License-Identifier: GPL-2.0-only
/* Takes the place of lib/analysis/analyses.c and cmd/commands.c, with the lines of analyses.h. */
#include "tests/examples/analyses.h"

#include "cmd/commands.c"
#include "lib/analysis/analyses.c"
