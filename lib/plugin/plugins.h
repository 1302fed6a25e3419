/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_PLUGIN_PLUGINS_H
#define WEFT_PLUGIN_PLUGINS_H

#include "lib/base/cleanup.h"
#include "lib/plugin/decoded.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct fail;
struct format;
struct schema_abi;

/*
 * The plugins of one directory, all loaded at once: DIR/SYSTEM.so, with RTLD_LOCAL. The directory is the caller's choice, never that
 * of the environment or of the file. A system without a plugin is no failure. A plugin that cannot be used is told, and is a failure
 * once an event asks for it.
 */
struct plugins;

struct plugins_options {
	const char *dir;
	const char *machine;          /* the traced one; "" when unknown */
	const struct schema_abi *abi; /* borrowed */
	/*
	 * A file, the program itself: nobody may write the directory or a plugin who may not write that file. NULL: whoever chose the
	 * directory trusts it.
	 */
	const struct stat *trusted;
};

/* What one plugin says about one event type. Lives as long as the plugins. */
struct decoder;

/* -ENOENT without the directory, or without a plugin in it. Copies its texts. */
int must_check plugins_new(const struct plugins_options *options, struct plugins **ret, struct fail *fail);
void plugins_free(struct plugins *plugins);

/* The decoder of an event type: NULL when no plugin has one. Not for several threads at once. */
const struct decoder *plugins_decoder(struct plugins *plugins, const struct format *format);

/* The first plugin that an event asked for and that could not be used, and why; NULL. */
const char *plugins_failure(const struct plugins *plugins);

/* Why others could not be used: NULL behind the last. */
const char *plugins_unused(const struct plugins *plugins, size_t index);

#endif
