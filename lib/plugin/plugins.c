// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/plugin/plugins.h"

#include "lib/base/fail.h"
#include "lib/plugin/decoder_internal.h"
#include "lib/plugin/plugin.h"
#include "lib/schema/format.h"

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One file of the directory. */
struct loaded {
	struct loaded *next;
	char *system; /* the file's name without ".so" */
	void *object; /* of dlopen(); NULL: it cannot be used */
	const struct weft_plugin *plugin;
	bool asked;       /* an event needed it */
	struct fail fail; /* why it cannot be used */
};

/* The size of the members that the first weft of this ABI had. All later members are optional. */
#define END_OF(type, member) (offsetof(type, member) + sizeof(((type *)NULL)->member))
#define PLUGIN_SIZE_MIN END_OF(struct weft_plugin, handlers)
#define HANDLER_SIZE_MIN END_OF(struct weft_handler, format)

struct plugins {
	char *dir;
	char *machine;
	const struct schema_abi *abi;
	struct loaded *loaded; /* by name */
	struct decoder *decoders;
	pthread_mutex_t lock; /* of the decoders: readers and formats look for them in threads of their own */
};

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
	pthread_mutex_destroy(&plugins->lock);
	free(plugins->dir);
	free(plugins->machine);
	free(plugins);
}

/* Returns whether a system of events can have this name. Other files in the directory are not plugins. */
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
		return fail_set(fail, -EINVAL, "plugin '%s' has ABI %u, this weft has %d", path, plugin->abi,
				WEFT_PLUGIN_ABI);
	if (plugin->size < PLUGIN_SIZE_MIN || plugin->handler_size < HANDLER_SIZE_MIN)
		return fail_set(fail, -EINVAL, "plugin '%s' was built for another ABI: its structures are too small",
				path);
	if (!plugin->system || strcmp(plugin->system, system))
		return fail_set(fail, -EINVAL, "plugin '%s' is for system '%s', whose plugin can only be '%s.so'", path,
				plugin->system ? plugin->system : "", plugin->system ? plugin->system : "");
	return 0;
}

/*
 * Returns why the file is not trusted: users other than those who may write the trusted file may write it. NULL: it is
 * trusted.
 */
static const char *distrust(const struct stat *stat, const struct stat *trusted)
{
	if (stat->st_uid && stat->st_uid != geteuid() && stat->st_uid != trusted->st_uid)
		return "it belongs to another user";
	if (stat->st_mode & S_IWOTH)
		return "everybody may write to it";
	if (stat->st_mode & S_IWGRP && !(trusted->st_mode & S_IWGRP && trusted->st_gid == stat->st_gid))
		return "its group may write to it";
	return NULL;
}

/* Checks that a file may be loaded. `dir` is open. */
static int check_file(int dir, const char *name, const char *path, const struct stat *trusted, struct fail *fail)
{
	const char *why = NULL;
	struct stat stat;

	if (fstatat(dir, name, &stat, trusted ? AT_SYMLINK_NOFOLLOW : 0))
		return fail_set(fail, -errno, "cannot load plugin '%s': %s", path, strerror(errno));
	if (!S_ISREG(stat.st_mode))
		why = "it is not a regular file";
	else if (trusted)
		why = distrust(&stat, trusted);
	return why ? fail_set(fail, -EPERM, "plugin '%s' is not loaded: %s", path, why) : 0;
}

/*
 * Opens the plugin relative to the open directory if the directory's name is not trusted, so that the plugin cannot be
 * replaced meanwhile.
 */
static int load(struct loaded *loaded, int dir, const char *name, const char *path, const struct stat *trusted,
		struct fail *fail)
{
	const struct weft_plugin *plugin;
	char within[PATH_MAX];
	const char *why;
	void *object;
	int r = check_file(dir, name, path, trusted, fail);

	if (r < 0)
		return r;
	snprintf(within, sizeof(within), "/proc/self/fd/%d/%s", dir, name);
	object = dlopen(trusted ? within : path, RTLD_NOW | RTLD_LOCAL);
	if (!object) {
		why = dlerror();
		why = strstr(why, ".so: ") ? strstr(why, ".so: ") + strlen(".so: ") : why;
		return fail_set(fail, -ENOEXEC, "cannot load plugin '%s': %s", path, why);
	}
	plugin = dlsym(object, "weft_plugin");
	if (!plugin)
		r = fail_set(fail, -ENOEXEC, "plugin '%s' does not define weft_plugin", path);
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

static int add(struct plugins *plugins, int dir, const char *name, const struct stat *trusted, struct loaded ***tail,
	       struct fail *fail)
{
	struct loaded *loaded = calloc(1, sizeof(*loaded));
	char path[PATH_MAX];

	if (!loaded)
		return fail_memory(fail);
	loaded->system = strndup(name, strlen(name) - strlen(".so"));
	if (!loaded->system) {
		free(loaded);
		return fail_memory(fail);
	}
	**tail = loaded;
	*tail = &loaded->next;
	if (snprintf(path, sizeof(path), "%s/%s", plugins->dir, name) >= (int)sizeof(path))
		return fail_set(fail, -ENAMETOOLONG, "the path of plugin '%s' is too long", name);
	/* Other plugins may be used all the same. */
	if (load(loaded, dir, name, path, trusted, &loaded->fail) == -ENOMEM)
		return fail_memory(fail);
	return 0;
}

static int is_plugin(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name), end = strlen(".so");
	char system[sizeof(entry->d_name)];

	if (len <= end || strcmp(entry->d_name + len - end, ".so"))
		return 0;
	snprintf(system, sizeof(system), "%.*s", (int)(len - end), entry->d_name);
	return is_plain_word(system);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int scan(int dir, struct dirent ***entries)
{
#ifdef __GLIBC__
	return scandirat(dir, ".", entries, is_plugin, by_name);
#else
	/* musl has no scandirat(). */
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", dir);
	return scandir(path, entries, is_plugin, by_name);
#endif
}

static int add_all(struct plugins *plugins, int dir, const struct stat *trusted, struct fail *fail)
{
	struct loaded **tail = &plugins->loaded;
	struct dirent **entries = NULL;
	int r = 0, nr = scan(dir, &entries);

	if (nr < 0)
		return fail_set(fail, -errno, "cannot read '%s': %s", plugins->dir, strerror(errno));
	for (int i = 0; i < nr; i++) {
		if (!r)
			r = add(plugins, dir, entries[i]->d_name, trusted, &tail, fail);
		free(entries[i]);
	}
	free(entries);
	if (!r && !nr)
		return fail_set(fail, -ENOENT, "there is no plugin in '%s'", plugins->dir);
	return r;
}

static int open_dir(const struct plugins_options *options, int *ret, struct fail *fail)
{
	cleanup_fd int dir =
		open(options->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (options->trusted ? O_NOFOLLOW : 0));
	const char *why;
	struct stat stat;

	if (dir < 0 && errno == ENOENT)
		return fail_set(fail, -ENOENT, "there is no directory of plugins '%s'", options->dir);
	if (dir < 0 || fstat(dir, &stat))
		return fail_set(fail, -errno, "cannot read the directory of plugins '%s': %s", options->dir,
				strerror(errno));
	why = options->trusted ? distrust(&stat, options->trusted) : NULL;
	if (why)
		return fail_set(fail, -EPERM, "the plugins in '%s' are not loaded: %s", options->dir, why);
	*ret = fd_take(&dir);
	return 0;
}

int plugins_new(const struct plugins_options *options, struct plugins **ret, struct fail *fail)
{
	struct plugins *plugins;
	cleanup_fd int dir = -1;
	int r = open_dir(options, &dir, fail);

	if (r < 0)
		return r;
	plugins = calloc(1, sizeof(*plugins));
	if (!plugins)
		return fail_memory(fail);
	pthread_mutex_init(&plugins->lock, NULL);
	plugins->abi = options->abi;
	plugins->dir = strdup(options->dir);
	plugins->machine = strdup(options->machine);
	r = plugins->dir && plugins->machine ? add_all(plugins, dir, options->trusted, fail) : fail_memory(fail);
	if (r < 0) {
		plugins_free(plugins);
		return r;
	}
	*ret = plugins;
	return 0;
}

static struct loaded *loaded_for(struct plugins *plugins, const char *system)
{
	for (struct loaded *loaded = plugins->loaded; loaded; loaded = loaded->next)
		if (!strcmp(loaded->system, system))
			return loaded;
	return NULL;
}

static const struct weft_handler *handler_at(const struct weft_plugin *plugin, uint32_t index)
{
	return (const void *)((const char *)plugin->handlers + (size_t)index * plugin->handler_size);
}

static const char *const *facts_of(const struct weft_plugin *plugin, const struct weft_handler *handler)
{
	return plugin->handler_size >= END_OF(struct weft_handler, facts) ? handler->facts : NULL;
}

static bool bind(struct plugins *plugins, const struct weft_plugin *plugin, const struct format *format,
		 struct decoder *ret)
{
	for (uint32_t i = 0; i < plugin->nr_handlers; i++) {
		const struct weft_handler *handler = handler_at(plugin, i);

		if (decoder_bind(handler, facts_of(plugin, handler), format, plugins->abi, plugins->machine, ret))
			return true;
	}
	return false;
}

static const struct decoder *find_decoder(struct plugins *plugins, const struct format *format)
{
	struct loaded *loaded = loaded_for(plugins, format->system);
	struct decoder *decoder;

	if (loaded)
		loaded->asked = true;
	if (!loaded || !loaded->plugin)
		return NULL;
	for (decoder = plugins->decoders; decoder; decoder = decoder->next)
		if (decoder->format == format)
			return decoder;
	decoder = malloc(sizeof(*decoder));
	if (!decoder) {
		/* plugins_failure() reports it. */
		fail_memory(&loaded->fail);
		return NULL;
	}
	if (!bind(plugins, loaded->plugin, format, decoder)) {
		free(decoder);
		return NULL;
	}
	decoder->next = plugins->decoders;
	plugins->decoders = decoder;
	return decoder;
}

const struct decoder *plugins_decoder(struct plugins *plugins, const struct format *format)
{
	const struct decoder *decoder;

	pthread_mutex_lock(&plugins->lock);
	decoder = find_decoder(plugins, format);
	pthread_mutex_unlock(&plugins->lock);
	return decoder;
}

const char *plugins_failure(const struct plugins *plugins)
{
	for (const struct loaded *loaded = plugins->loaded; loaded; loaded = loaded->next)
		if (loaded->asked && (!loaded->plugin || loaded->fail.text[0]))
			return loaded->fail.text;
	return NULL;
}

const char *plugins_unused(const struct plugins *plugins, size_t index)
{
	const char *failure = plugins_failure(plugins);

	for (const struct loaded *loaded = plugins->loaded; loaded; loaded = loaded->next)
		if (!loaded->plugin && loaded->fail.text != failure && !index--)
			return loaded->fail.text;
	return NULL;
}
