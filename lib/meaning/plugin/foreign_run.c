// SPDX-License-Identifier: LGPL-2.1-or-later
/* The runner: libtraceevent and the plugins, in the sandbox. All that it is told comes from files of strangers. */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <traceevent/event-parse.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/sandbox.h"
#include "lib/ground/base/trust.h"
#include "lib/meaning/plugin/foreign_internal.h"

/* The memory that the library and the plugins may take; formats and symbols need about 50 MB. */
enum { MEMORY_MAX = 512 << 20 };

/* clang-format off */
#define CALLS(call)                                                                                           \
	call(tep_alloc) call(tep_set_long_size) call(tep_set_page_size) call(tep_set_file_bigendian)          \
	call(tep_set_local_bigendian) call(tep_parse_event) call(tep_parse_kallsyms) call(tep_parse_printk_formats) \
	call(tep_parse_saved_cmdlines) call(tep_get_event) call(tep_get_events_count) call(tep_print_event)   \
	call(tep_plugin_add_options) call(tep_plugin_add_option) call(trace_seq_init) call(trace_seq_reset)
/* clang-format on */

/* The functions of the library that are used. */
#define MEMBER(name) __typeof__(name) *name;
struct library {
	CALLS(MEMBER)
};

struct runner {
	struct foreign_memory *memory;
	struct library call;
	struct tep_handle *tep;
	struct trace_seq seq;
	struct buf symbols, strings, tasks;
};

/* Notes the first reason why a plugin, or all of them, cannot be used. */
static void tell(struct foreign_memory *memory, const char *what, const char *why)
{
	if (!*memory->told)
		snprintf(memory->told, sizeof(memory->told), "%.120s: %.380s", what, why);
}

static void tell_no_library(struct foreign_memory *memory, const char *why)
{
#ifdef WEFT_STATIC
	struct fail fail = FAIL_INIT;

	(void)why;
	fail_without(&fail, "libtraceevent", "a plugin of it", "use the weft of a package, or of 'make'");
	if (!*memory->told)
		snprintf(memory->told, sizeof(memory->told), "%.500s", fail.text);
#else
	tell(memory, "the library libtraceevent cannot be loaded", why);
#endif
}

static bool load_library(struct runner *runner)
{
	void *object = dlopen("libtraceevent.so.1", RTLD_NOW | RTLD_GLOBAL);
	const struct {
		const char *name;
		void *to;
	} calls[] = {
#define ROW(name) { #name, &runner->call.name },
		CALLS(ROW)
	};

	if (!object) {
		tell_no_library(runner->memory, dlerror());
		return false;
	}
	for (size_t i = 0; i < array_size(calls); i++) {
		void *function = dlsym(object, calls[i].name);

		if (!function) {
			tell(runner->memory, "the library libtraceevent is too old, it lacks", calls[i].name);
			return false;
		}
		memcpy(calls[i].to, &function, sizeof(function));
	}
	return true;
}

/* Root loads only what nobody else may write; other users trust their folders. */
static void *load(const char *path, struct foreign_memory *memory)
{
	struct fail fail = FAIL_INIT;
	cleanup_fd int fd = -1;
	char opened[32];
	void *object;

	if (!geteuid() && (trust_open(path, &fd, &fail) < 0 || trust_check(fd, S_IFREG, path, &fail) < 0)) {
		tell(memory, "a plugin is not loaded", fail.text);
		return NULL;
	}
	snprintf(opened, sizeof(opened), "/proc/self/fd/%d", fd);
	object = dlopen(fd < 0 ? path : opened, RTLD_NOW | RTLD_GLOBAL);
	if (!object)
		tell(memory, "a plugin cannot be loaded", dlerror());
	else if (!dlsym(object, TEP_PLUGIN_LOADER_NAME))
		tell(memory, path, "it has no function " TEP_PLUGIN_LOADER_NAME);
	return object;
}

/* Loads the code only, because this needs files; tep_plugin_loader() of each runs in the sandbox. */
static void load_plugins(struct runner *runner, char *const *paths, void **objects, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		objects[i] = load(paths[i], runner->memory);
}

static void set_limits(void)
{
	const struct rlimit none = { .rlim_cur = 0 };
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (file && fscanf(file, "%lu", &pages) == 1) {
		rlim_t most = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + MEMORY_MAX;
		const struct rlimit memory = { .rlim_cur = most, .rlim_max = most };

		(void)!setrlimit(RLIMIT_AS, &memory);
	}
	if (file)
		fclose(file);
	(void)!setrlimit(RLIMIT_CORE, &none);
	(void)!setrlimit(RLIMIT_FSIZE, &none);
}

/* The way of tep_load_plugins(): the name for options is the plugin's own, or that of its file. */
static void start_plugin(struct runner *runner, void *object, const char *path)
{
	struct tep_plugin_option *options = dlsym(object, TEP_PLUGIN_OPTIONS_NAME);
	const char *alias = dlsym(object, TEP_PLUGIN_ALIAS_NAME);
	void *loader = dlsym(object, TEP_PLUGIN_LOADER_NAME);
	tep_plugin_load_func load;

	if (!loader)
		return;
	memcpy(&load, &loader, sizeof(load));
	if (options)
		(void)!runner->call.tep_plugin_add_options(alias ? alias : strrchr(path, '/') + 1, options);
	(void)!load(runner->tep);
}

static void start_plugins(const struct foreign_options *options, struct runner *runner, char *const *paths,
			  void *const *objects, size_t nr)
{
	for (size_t i = 0; i < options->nr_values; i++) {
		char *name = strdup(options->values[i]), *value = name ? strchr(name, '=') : NULL;

		if (value)
			*value++ = 0;
		if (name)
			(void)!runner->call.tep_plugin_add_option(name, value);
	}
	for (size_t i = 0; i < nr; i++)
		if (objects[i])
			start_plugin(runner, objects[i], paths[i]);
}

/* Whether a print format calls a function: only plugins define some. */
static bool calls_function(const struct tep_print_arg *arg)
{
	for (; arg; arg = arg->next) {
		if (arg->type == TEP_PRINT_FUNC || (arg->type == TEP_PRINT_TYPE && calls_function(arg->typecast.item)))
			return true;
		if (arg->type == TEP_PRINT_OP && (calls_function(arg->op.left) || calls_function(arg->op.right)))
			return true;
	}
	return false;
}

static bool put(struct runner *runner, const void *data, size_t len)
{
	struct foreign_memory *memory = runner->memory;
	uint32_t at = atomic_load(&memory->reply_len), size = (uint32_t)len;
	size_t whole = foreign_padded(sizeof(size) + len);

	if (whole > FOREIGN_AREA - at)
		return false;
	memcpy(memory->reply + at, &size, sizeof(size));
	memcpy(memory->reply + at + sizeof(size), data, len);
	atomic_store(&memory->reply_len, at + (uint32_t)whole);
	return true;
}

/* The texts are whole now. Only events that have a handler will be asked for. */
static bool ready(struct runner *runner)
{
	int nr = runner->call.tep_get_events_count(runner->tep);
	uint8_t bits[FOREIGN_BITS] = { 0 };

	(void)!runner->call.tep_parse_kallsyms(runner->tep, buf_str(&runner->symbols));
	(void)!runner->call.tep_parse_printk_formats(runner->tep, buf_str(&runner->strings));
	(void)!runner->call.tep_parse_saved_cmdlines(runner->tep, buf_str(&runner->tasks));
	for (int i = 0; i < nr; i++) {
		const struct tep_event *event = runner->call.tep_get_event(runner->tep, i);

		if (event && event->id >= 0 && event->id < FOREIGN_TYPES &&
		    (event->handler || calls_function(event->print_fmt.args)))
			bits[event->id / 8] |= (uint8_t)(1 << event->id % 8);
	}
	return put(runner, bits, sizeof(bits));
}

static bool print(struct runner *runner, struct bytes item)
{
	struct foreign_event head;
	struct tep_record record;
	const uint8_t *at;

	if (!bytes_take(&item, sizeof(head), &at))
		return false;
	memcpy(&head, at, sizeof(head));
	record = (struct tep_record){
		.ts = head.ts,
		.size = (int)item.left,
		.record_size = (int)item.left,
		.data = (void *)(uintptr_t)item.at,
		.cpu = (int)head.cpu,
		.ref_count = 1,
	};
	runner->call.trace_seq_reset(&runner->seq);
	runner->call.tep_print_event(runner->tep, &runner->seq, &record, "%s", TEP_PRINT_INFO);
	if (runner->seq.state != TRACE_SEQ__GOOD || !runner->seq.buffer)
		return put(runner, "", 0);
	return put(runner, runner->seq.buffer, runner->seq.len < FOREIGN_TEXT_MAX ? runner->seq.len : FOREIGN_TEXT_MAX);
}

static bool add_format(struct runner *runner, struct bytes item)
{
	const char *system;
	size_t len;

	if (bytes_cstr(&item, &system, &len) && item.left)
		(void)!runner->call.tep_parse_event(runner->tep, (const char *)item.at, item.left, system);
	return true;
}

static bool set_abi(struct runner *runner, struct bytes item)
{
	struct foreign_abi abi;
	const uint8_t *at;

	if (!bytes_take(&item, sizeof(abi), &at))
		return false;
	memcpy(&abi, at, sizeof(abi));
	runner->call.tep_set_long_size(runner->tep, (int)abi.long_size);
	runner->call.tep_set_page_size(runner->tep, (int)abi.page_size);
	runner->call.tep_set_file_bigendian(runner->tep, abi.big_endian ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	runner->call.tep_set_local_bigendian(runner->tep, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? TEP_BIG_ENDIAN :
												   TEP_LITTLE_ENDIAN);
	return true;
}

/* False: the rest of the request has to be asked again, for lack of room. */
static bool answer(struct runner *runner, uint32_t kind, struct bytes item)
{
	switch ((enum foreign_kind)kind) {
	case FOREIGN_ABI:
		return set_abi(runner, item);
	case FOREIGN_FORMAT:
		return add_format(runner, item);
	case FOREIGN_SYMBOLS:
		return buf_add(&runner->symbols, item.at, item.left);
	case FOREIGN_STRINGS:
		return buf_add(&runner->strings, item.at, item.left);
	case FOREIGN_TASKS:
		return buf_add(&runner->tasks, item.at, item.left);
	case FOREIGN_READY:
		return ready(runner);
	case FOREIGN_EVENT:
		return print(runner, item);
	}
	return false;
}

static void answer_all(struct runner *runner)
{
	struct foreign_memory *memory = runner->memory;
	struct bytes request = bytes_of(memory->request, atomic_load(&memory->request_len), false);
	struct foreign_item item;
	const uint8_t *at;

	while (bytes_take(&request, sizeof(item), &at)) {
		memcpy(&item, at, sizeof(item));
		if (!bytes_take(&request, foreign_padded(item.len), &at) ||
		    !answer(runner, item.kind, bytes_of(at, item.len, false)))
			return;
		atomic_fetch_add(&memory->done, 1);
	}
}

void foreign_run(const struct foreign_options *options, struct foreign_memory *memory, uint32_t life, int weft)
{
	struct runner runner = { .memory = memory };
	char **paths = NULL;
	void **objects;
	size_t nr = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!load_library(&runner) || !foreign_find(options, &paths, &nr))
		_exit(1);
	objects = calloc(nr + 1, sizeof(*objects));
	if (!objects)
		_exit(1);
	load_plugins(&runner, paths, objects, nr);
	set_limits();
	if (sandbox_enter(0, 0, NULL) < 0) {
		tell(memory, "plugins are not used", "the sandbox cannot be entered");
		_exit(1);
	}
	runner.tep = runner.call.tep_alloc();
	if (!runner.tep)
		_exit(1);
	runner.call.trace_seq_init(&runner.seq);
	start_plugins(options, &runner, paths, objects, nr);
	while (atomic_load(&memory->turn) != FOREIGN_END && !foreign_is_gone(weft)) {
		if (atomic_load(&memory->turn) == FOREIGN_RUNNER) {
			if (atomic_load(&memory->life) == life)
				answer_all(&runner);
			foreign_give(memory, FOREIGN_WEFT);
		}
		foreign_wait(memory, FOREIGN_WEFT);
	}
	_exit(0);
}
