// SPDX-License-Identifier: GPL-2.0-only
#include "lib/plugin/plugins.h"

#include "lib/base/fail.h"
#include "lib/plugin/decoder.h"
#include "lib/plugin/plugin.h"
#include "lib/schema/format.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One system that was asked for, with its plugin if there is one. */
struct loaded {
	struct loaded *next;
	char *system;
	void *object;                           /* of dlopen(); NULL: no plugin, or none that can be used */
	const struct weft_plugin *plugin;
};

/* What the first weft of this ABI had; all that came later is optional. */
#define END_OF(type, member) (offsetof(type, member) + sizeof(((type *)NULL)->member))
#define PLUGIN_SIZE_MIN END_OF(struct weft_plugin, handlers)
#define HANDLER_SIZE_MIN END_OF(struct weft_handler, format)

struct plugins {
	char *dir;
	char *machine;
	const struct schema_abi *abi;
	struct loaded *loaded;
	struct decoder *decoders;
	struct fail fail;                       /* the first */
};

int plugins_new(const char *dir, const char *machine, const struct schema_abi *abi, struct plugins **ret, struct fail *fail)
{
	struct plugins *plugins = calloc(1, sizeof(*plugins));

	if (!plugins)
		return fail_memory(fail);
	plugins->abi = abi;
	plugins->dir = strdup(dir);
	plugins->machine = strdup(machine);
	if (!plugins->dir || !plugins->machine) {
		plugins_free(plugins);
		return fail_memory(fail);
	}
	*ret = plugins;
	return 0;
}

void plugins_free(struct plugins *plugins)
{
	struct decoder *decoder;
	struct loaded *loaded;

	if (!plugins)
		return;
	while ((decoder = plugins->decoders)) {
		plugins->decoders = decoder->next;
		free(decoder);
	}
	while ((loaded = plugins->loaded)) {
		plugins->loaded = loaded->next;
		if (loaded->object)
			dlclose(loaded->object);
		free(loaded->system);
		free(loaded);
	}
	free(plugins->dir);
	free(plugins->machine);
	free(plugins);
}

/* The name becomes part of a path, and it comes from the file. */
static bool is_plain_word(const char *text)
{
	size_t len = strlen(text);

	for (size_t i = 0; i < len; i++)
		if (!isascii(text[i]) || (!isalnum((unsigned char)text[i]) && text[i] != '_' && (text[i] != '-' || !i)))
			return false;
	return len && len < 64;
}

static int check_plugin(const struct weft_plugin *plugin, const char *path, const char *system, struct fail *fail)
{
	if (plugin->abi != WEFT_PLUGIN_ABI)
		return fail_set(fail, -EINVAL, "plugin '%s' has ABI %u, this weft has %d", path, plugin->abi, WEFT_PLUGIN_ABI);
	if (plugin->size < PLUGIN_SIZE_MIN || plugin->handler_size < HANDLER_SIZE_MIN)
		return fail_set(fail, -EINVAL, "plugin '%s' is incomplete: its structures are too small", path);
	if (!plugin->system || strcmp(plugin->system, system))
		return fail_set(fail, -EINVAL, "plugin '%s' is for system '%s'", path, plugin->system ? plugin->system : "");
	return 0;
}

static int load(struct loaded *loaded, const char *path, struct fail *fail)
{
	void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const struct weft_plugin *plugin;
	int r;

	if (!object)
		return fail_set(fail, -ENOEXEC, "cannot load plugin: %s", dlerror());
	plugin = dlsym(object, "weft_plugin");
	if (!plugin)
		r = fail_set(fail, -ENOEXEC, "plugin '%s' has no weft_plugin", path);
	else
		r = check_plugin(plugin, path, loaded->system, fail);
	if (r < 0) {
		dlclose(object);
		return r;
	}
	loaded->object = object;
	loaded->plugin = plugin;
	return 0;
}

/* The entry of a system, its plugin loaded if there is one. NULL without memory. */
static struct loaded *loaded_for(struct plugins *plugins, const char *system)
{
	struct fail fail = FAIL_INIT;
	struct loaded *loaded;
	char path[PATH_MAX];
	int len;

	for (loaded = plugins->loaded; loaded; loaded = loaded->next)
		if (!strcmp(loaded->system, system))
			return loaded;
	loaded = calloc(1, sizeof(*loaded));
	if (!loaded)
		return NULL;
	loaded->system = strdup(system);
	if (!loaded->system) {
		free(loaded);
		return NULL;
	}
	loaded->next = plugins->loaded;
	plugins->loaded = loaded;
	len = snprintf(path, sizeof(path), "%s/%s.so", plugins->dir, system);
	if (!is_plain_word(system) || len < 0 || (size_t)len >= sizeof(path) || access(path, F_OK))
		return loaded;
	if (load(loaded, path, &fail) < 0 && !plugins->fail.text[0])
		plugins->fail = fail;
	return loaded;
}

static const struct weft_handler *handler_at(const struct weft_plugin *plugin, uint32_t index)
{
	return (const void *)((const char *)plugin->handlers + (size_t)index * plugin->handler_size);
}

const struct decoder *plugins_decoder(struct plugins *plugins, const struct format *format)
{
	struct loaded *loaded = loaded_for(plugins, format->system);
	struct decoder *decoder;

	if (!loaded || !loaded->plugin)
		return NULL;
	for (decoder = plugins->decoders; decoder; decoder = decoder->next)
		if (decoder->format == format)
			return decoder;
	decoder = malloc(sizeof(*decoder));
	if (!decoder)
		return NULL;
	for (uint32_t i = 0; i < loaded->plugin->nr_handlers; i++) {
		if (!decoder_bind(handler_at(loaded->plugin, i), format, plugins->abi, plugins->machine, decoder))
			continue;
		decoder->next = plugins->decoders;
		plugins->decoders = decoder;
		return decoder;
	}
	free(decoder);
	return NULL;
}

const char *plugins_failure(const struct plugins *plugins)
{
	return plugins->fail.text[0] ? plugins->fail.text : NULL;
}
