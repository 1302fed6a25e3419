// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options/decode.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/options/option_value.h"
#include "lib/ground/base/fail.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/plugin/foreign.h"
#include "lib/meaning/plugin/plugins.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/trace/trace.h"

int user_plugins_start(struct user_plugins *plugins, bool must, struct fail *fail)
{
	const char *home = getenv("HOME"), *set = getenv("TRACEEVENT_PLUGIN_DIR");
	const char *dirs[2];
	struct foreign_options options = {
		.dirs = dirs,
		.values = plugins->values.at,
		.nr_values = plugins->values.len,
	};
	cleanup_free char *own = NULL;
	int r = 0;

	if (!plugins->dir && home && asprintf(&own, "%s/.local/lib/traceevent/plugins", home) < 0)
		return fail_memory(fail);
	if (plugins->dir)
		dirs[options.nr_dirs++] = plugins->dir;
	else if (set)
		dirs[options.nr_dirs++] = set;
	if (own)
		dirs[options.nr_dirs++] = own;
	if (foreign_any(&options))
		r = foreign_new(&options, &plugins->foreign, fail);
	else if (must)
		r = fail_set(fail, -ENOENT, "there is no plugin of libtraceevent in '%s'",
			     plugins->dir ? plugins->dir :
			     own          ? own :
					    "~");
	return r;
}

void user_plugins_end(struct user_plugins *plugins)
{
	const char *why = plugins->foreign ? foreign_failure(plugins->foreign) : NULL;

	if (why)
		command_warn("note: %s", why);
	foreign_free(plugins->foreign);
	plugins->foreign = NULL;
}

static const struct option_row options[] = {
	{ "decode", 0, NULL, 0, "Add what plugins know about an event, such as names of system calls and errors", 0,
	  OPTION_FLAG(struct decode, wanted) },
	{ "no-plugins", 'N', NULL, 0, "Use no plugin: cancels an earlier --decode, such as one in your defaults", 0,
	  OPTION_VALUE(struct decode, wanted, false) },
	{ "plugin-dir", 0, "DIR", 0, "Take the plugins of --decode from DIR", 0,
	  OPTION_ONCE(struct decode, dir, "directory of plugins"), OPTION_GIVEN(struct decode, wanted) },
	{ 0 },
};

const struct options decode_options = {
	.rows = options,
};

/*
 * Finds the directory of plugins beside the program, as in a build: DIR/weft and DIR/plugins. An installed weft has
 * none: a directory that somebody puts there is not weft's. *ret_program tells who may write the program.
 */
static bool plugins_beside(char *path, size_t size, struct stat *ret_program)
{
	ssize_t len = readlink("/proc/self/exe", path, size);
	char *name;

	if (len < 0 || (size_t)len + sizeof("/plugins") > size || stat("/proc/self/exe", ret_program))
		return false;
	path[len] = 0;
	name = strrchr(path, '/');
	if (!name)
		return false;
	*name = 0;
	if (!strcmp(path, WEFT_BINDIR))
		return false;
	memcpy(name, "/plugins", sizeof("/plugins"));
	return !access(path, F_OK);
}

int decode_open(const struct decode *decode, struct context *context, struct fail *fail)
{
	struct plugins_options options = { .dir = decode->dir, .abi = &context->abi, .machine = context->machine };
	char beside[PATH_MAX];
	struct stat program;
	int r;

	if (!decode->wanted)
		return 0;
	if (!decode->dir) {
		options.dir = WEFT_LIBDIR "/plugins";
		if (plugins_beside(beside, sizeof(beside), &program)) {
			options.dir = beside;
			options.trusted = &program;
		}
	}
	r = plugins_new(&options, &context->plugins, fail);
	if (r < 0 && !decode->dir)
		return fail_set(
			fail, r,
			"%s; 'make install' puts weft's own into '%s', --plugin-dir DIR names another directory",
			strdupa(fail->text), WEFT_LIBDIR "/plugins");
	return r;
}

int decode_prepare(const void *decode, struct context *context, struct fail *fail)
{
	return decode_open(decode, context, fail);
}

int decode_seal(const struct decode *decode, struct trace *trace, bool keeps_rights, struct fail *fail)
{
	return !decode->wanted || keeps_rights ? 0 : trace_sandbox(trace, fail);
}

int decode_check(const struct context *context, struct fail *fail)
{
	const char *why = context->plugins ? plugins_failure(context->plugins) : NULL;

	return why ? fail_set(fail, -ENOEXEC, "%s", why) : 0;
}

int decode_check_all(const struct reader *reader, struct fail *fail)
{
	int r = 0;

	for (size_t i = 0; !r && i < reader->nr_buffers; i++)
		r = decode_check(reader->buffers[i].context, fail);
	return r;
}

void decode_close(struct context *context)
{
	static bool told;
	const char *why;

	for (size_t i = 0; context->plugins && !told && (why = plugins_unused(context->plugins, i)); i++)
		command_warn("note: %s", why);
	told |= context->plugins != NULL;
	plugins_free(context->plugins);
	context->plugins = NULL;
}

void decode_end(struct reader *reader)
{
	for (size_t i = 0; i < reader->nr_buffers; i++)
		decode_close(reader->buffers[i].context);
}
