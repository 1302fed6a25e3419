// SPDX-License-Identifier: GPL-2.0-only
/* A plugin whose file is named after another system than it is for. */
#include "include/weft/plugin.h"

static const struct weft_handler handlers[] = { { "event", NULL, NULL, NULL } };

WEFT_PLUGIN("elsewhere", handlers);
