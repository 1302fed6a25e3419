// SPDX-License-Identifier: GPL-2.0-only
/* Takes the place of lib/answers/frame/analyses.c and cmd/commands.c, with the lines of analyses.h. */
#include "tests/examples/analyses.h"

#include "cmd/commands.c"
#include "lib/answers/frame/analyses.c"
