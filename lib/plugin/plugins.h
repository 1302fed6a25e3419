/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_PLUGIN_PLUGINS_H
#define WEFT_PLUGIN_PLUGINS_H

#include "lib/base/cleanup.h"

#include <stddef.h>
#include <stdint.h>

struct fail;
struct format;
struct out;
struct schema_abi;

/*
 * The plugins of one directory, each loaded when the first event of its system is seen: DIR/SYSTEM.so, with RTLD_LOCAL. The
 * directory is the caller's choice, never that of the environment or of the file: a system whose name is not a plain word has no
 * plugin. A plugin that is missing is no failure; one that cannot be used is, and is told once.
 */
struct plugins;

/* What one plugin says about one event type. Lives as long as the plugins. */
struct decoder;

/* Copies its texts; `abi` is borrowed. `machine` is the traced one's, "" when unknown. */
int must_check plugins_new(const char *dir, const char *machine, const struct schema_abi *abi, struct plugins **ret,
			   struct fail *fail);
void plugins_free(struct plugins *plugins);

/* The decoder of an event type: NULL when no plugin has one. Not for several threads at once. */
const struct decoder *plugins_decoder(struct plugins *plugins, const struct format *format);

/* The first plugin that could not be used, and why; NULL. */
const char *plugins_failure(const struct plugins *plugins);

/* Appends " {NAME=VALUE NAME=VALUE}", or nothing when the plugin says nothing. Any thread. */
void decoder_run(const struct decoder *decoder, const uint8_t *data, size_t len, struct out *out);

#endif
