/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_PLUGIN_PLUGINS_H
#define WEFT_MEANING_PLUGIN_PLUGINS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "lib/ground/base/cleanup.h"
#include "lib/meaning/plugin/decoded.h"

struct fail;
struct format;
struct schema_abi;

/*
 * The plugins of one directory, all loaded at once: DIR/SYSTEM.so, with RTLD_LOCAL. The caller chooses the directory,
 * never the environment or the file. A system without a plugin is not a failure. A plugin that cannot be used is
 * reported, and is a failure once an event needs it.
 */
struct plugins;

struct plugins_options {
	const char *dir;
	const char *machine;          /* the traced one; "" when unknown */
	const struct schema_abi *abi; /* borrowed */
	/*
	 * A trusted file, the program itself: users who may not write this file must not be able to write the directory
	 * or a plugin. NULL: the caller trusts the directory.
	 */
	const struct stat *trusted;
};

/* What one plugin decodes from one event type. It lives as long as the plugins. */
struct decoder;

/* Returns -ENOENT if the directory does not exist, or has no plugin. Copies its texts. */
int must_check plugins_new(const struct plugins_options *options, struct plugins **ret, struct fail *fail);
void plugins_free(struct plugins *plugins);

/* Returns the decoder of an event type; NULL: no plugin has one. Any thread. */
const struct decoder *plugins_decoder(struct plugins *plugins, const struct format *format);

/* Returns the first plugin that an event needed and that could not be used, and why; NULL: there is none. */
const char *plugins_failure(const struct plugins *plugins);

/* Returns why other plugins could not be used, by index; NULL after the last. */
const char *plugins_unused(const struct plugins *plugins, size_t index);

#endif
