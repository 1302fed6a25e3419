// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/plugin/plugins.h"

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "include/weft/plugin.h"
#include "lib/ground/base/bytes.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/plugin/decoded.h"
#include "lib/meaning/schema/format.h"
#include "lib/meaning/uapi/arguments.h"
#include "lib/meaning/uapi/names.h"

/* A handler bound to one event type. Private to lib/meaning/plugin. Invariant: immutable once made. */
enum { DECODER_FIELDS = 16, DECODER_NAMES = 16 };

struct decoder {
	struct decoder *next;
	const struct weft_handler *handler;
	const struct format *format;
	const struct schema_abi *abi;
	const char *machine;
	unsigned nr_fields;
	const struct field *fields[DECODER_FIELDS]; /* NULL: an optional field that the event lacks */
	size_t nr_names;
	struct decoded_name names[DECODER_NAMES];
};

/* The room in which the arguments of an event become text: made when an argument needs it. */
struct scratch {
	struct out out;
	bool failed; /* there was no memory for it, and the event has lost an argument */
};

struct weft_record {
	const struct decoder *decoder;
	const uint8_t *data;
	size_t len;
	struct scratch *scratch;
};

enum { ARGUMENT_TEXT = 512 }; /* room for the names of an argument of a system call */

struct weft_output {
	decoded_fn *put;
	void *arg;
};

static bool record_field(const struct weft_record *record, unsigned index, const struct field **ret,
			 struct bytes *ret_bytes)
{
	const struct decoder *decoder = record->decoder;
	const uint8_t *at;
	size_t len;

	if (index >= decoder->nr_fields || !decoder->fields[index] ||
	    !field_bytes(decoder->fields[index], decoder->abi, record->data, record->len, &at, &len))
		return false;
	*ret = decoder->fields[index];
	*ret_bytes = bytes_of(at, len, decoder->abi->swap);
	return true;
}

static uint64_t host_integer(const struct weft_record *record, unsigned index, size_t element)
{
	const struct field *field;
	struct field single;
	struct bytes bytes;

	if (!record_field(record, index, &field, &bytes) || !field->elem_size ||
	    element >= bytes.left / field->elem_size)
		return 0;
	single = (struct field){ .size = field->elem_size, .flags = field->flags & FIELD_SIGNED };
	return field_int(&single, record->decoder->abi, bytes.at + element * single.size, single.size);
}

static size_t host_count(const struct weft_record *record, unsigned index)
{
	const struct field *field;
	struct bytes bytes;

	if (!record_field(record, index, &field, &bytes) || !field->elem_size)
		return 0;
	return bytes.left / field->elem_size;
}

static const void *host_bytes(const struct weft_record *record, unsigned index, size_t *ret_len)
{
	const struct field *field;
	struct bytes bytes;

	if (!record_field(record, index, &field, &bytes))
		return NULL;
	*ret_len = bytes.left;
	return bytes.at;
}

static const char *host_machine(const struct weft_record *record)
{
	return record->decoder->machine;
}

static const char *host_system_call(const struct weft_record *record, int64_t number)
{
	return system_call_name(record->decoder->machine, number);
}

static const char *host_error(const struct weft_record *record, int64_t error)
{
	return error_name(record->decoder->machine, error);
}

static size_t host_argument(const struct weft_record *record, const char *call, const char *argument, uint64_t value,
			    char *text, size_t size)
{
	struct scratch *scratch = record->scratch;
	struct out *out = &scratch->out;

	if (!out->start && !out_init(out, ARGUMENT_TEXT)) {
		scratch->failed = true;
		return 0;
	}
	out_clear(out);
	if (!argument_put(record->decoder->machine, call, argument, value, out))
		return 0;
	scratch->failed |= out->failed;
	if (out->failed || out_len(out) > size)
		return 0;
	memcpy(text, out->start, out_len(out));
	return out_len(out);
}

static void host_put_text(struct weft_output *output, const char *name, const char *text, size_t len)
{
	output->put(output->arg, &(struct decoded){ .name = name, .kind = DECODED_TEXT, .text = text, .len = len });
}

static void host_put_integer(struct weft_output *output, const char *name, int64_t value)
{
	output->put(output->arg, &(struct decoded){ .name = name, .kind = DECODED_INTEGER, .value = (uint64_t)value });
}

static void host_put_hex(struct weft_output *output, const char *name, uint64_t value)
{
	output->put(output->arg, &(struct decoded){ .name = name, .kind = DECODED_HEX, .value = value });
}

static const char call_prefix[] = "sys_enter_";

/* The name of the system call; NULL: the event is not its beginning. */
static const char *call_of(const struct format *format)
{
	size_t len = strlen(call_prefix);

	return strncmp(format->name, call_prefix, len) ? NULL : format->name + len;
}

/*
 * Returns the next argument that is a number, from index *at on, and steps behind it. NULL after the last, and if the
 * event has none.
 */
static const struct field *next_argument(const struct format *format, size_t *at)
{
	if (!*at)
		while (*at < format->nr_fields && strcmp(format->fields[(*at)++].name, "__syscall_nr"))
			;
	while (call_of(format) && *at < format->nr_fields) {
		const struct field *field = &format->fields[(*at)++];

		if (!(field->flags & (FIELD_DYNAMIC | FIELD_ARRAY | FIELD_POINTER)))
			return field;
	}
	return NULL;
}

/* The arguments follow __syscall_nr; in kernel 6.19 and later data of user space follows them (trace_syscalls.c). */
static void host_put_arguments(const struct weft_record *record, struct weft_output *output)
{
	const struct format *format = record->decoder->format;
	char text[ARGUMENT_TEXT];
	size_t at = 0;

	for (const struct field *field; (field = next_argument(format, &at));) {
		size_t len = host_argument(record, call_of(format), field->name,
					   field_int(field, record->decoder->abi, record->data, record->len), text,
					   sizeof(text));

		/* A mode or flags of 0 say nothing. */
		if (len && !(len == 1 && *text == '0'))
			host_put_text(output, field->name, text, len);
	}
}

static const struct weft_host host = {
	.size = sizeof(host),
	.integer = host_integer,
	.count = host_count,
	.bytes = host_bytes,
	.machine = host_machine,
	.put_text = host_put_text,
	.put_integer = host_put_integer,
	.put_hex = host_put_hex,
	.system_call = host_system_call,
	.error = host_error,
	.argument = host_argument,
	.put_arguments = host_put_arguments,
};

bool decoder_each(const struct decoder *decoder, const uint8_t *data, size_t len, decoded_fn *fn, void *arg)
{
	struct scratch scratch = { .failed = false };
	struct weft_record record = { .decoder = decoder, .data = data, .len = len, .scratch = &scratch };
	struct weft_output output = { .put = fn, .arg = arg };

	decoder->handler->format(&host, &record, &output);
	out_release(&scratch.out);
	return !scratch.failed;
}

static bool is_for(const struct weft_handler *handler, const char *event)
{
	size_t len = strlen(handler->event);

	if (len && handler->event[len - 1] == '*')
		return !strncmp(handler->event, event, len - 1);
	return !strcmp(handler->event, event);
}

static void add_name(struct decoder *decoder, const char *name, bool is_number)
{
	if (decoder->nr_names < DECODER_NAMES && !decoder_find(decoder, name))
		decoder->names[decoder->nr_names++] = (struct decoded_name){ .name = name, .is_number = is_number };
}

static void add_names(struct decoder *decoder, const char *const *facts)
{
	for (; facts && *facts; facts++) {
		bool is_number = **facts == '#';
		const struct field *field;
		size_t at = 0;

		if (strcmp(*facts, "*"))
			add_name(decoder, *facts + is_number, is_number);
		else
			while ((field = next_argument(decoder->format, &at)))
				if (argument_known(decoder->machine, call_of(decoder->format), field->name))
					add_name(decoder, field->name, false);
	}
}

const struct decoded_name *decoder_name(const struct decoder *decoder, size_t index)
{
	return index < decoder->nr_names ? &decoder->names[index] : NULL;
}

const struct decoded_name *decoder_find(const struct decoder *decoder, const char *name)
{
	for (size_t i = 0; i < decoder->nr_names; i++)
		if (!strcmp(decoder->names[i].name, name))
			return &decoder->names[i];
	return NULL;
}

/*
 * Returns whether the handler is for this event and all fields that it needs exist. Then *ret is bound, except `next`.
 * `facts` are the handler's; NULL: it has none.
 */
static bool decoder_bind(const struct weft_handler *handler, const char *const *facts, const struct format *format,
			 const struct schema_abi *abi, const char *machine, struct decoder *ret)
{
	struct decoder decoder = { .handler = handler, .format = format, .abi = abi, .machine = machine };

	if (!is_for(handler, format->name))
		return false;
	for (const char *const *name = handler->fields; name && *name; name++) {
		bool optional = **name == '?';
		const struct field *field = format_field(format, *name + optional);

		if (decoder.nr_fields == DECODER_FIELDS || (!field && !optional))
			return false;
		decoder.fields[decoder.nr_fields++] = field;
	}
	add_names(&decoder, facts);
	*ret = decoder;
	return true;
}

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
