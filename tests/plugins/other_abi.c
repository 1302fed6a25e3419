// SPDX-License-Identifier: GPL-2.0-only
/* A plugin of an ABI that does not exist: the loader must refuse it. */
#include "include/weft/plugin.h"

extern __attribute__((visibility("default"))) const struct weft_plugin weft_plugin;
const struct weft_plugin weft_plugin = {
	.abi = WEFT_PLUGIN_ABI + 1,
	.size = sizeof(struct weft_plugin),
	.handler_size = sizeof(struct weft_handler),
	.system = "other_abi",
};
