// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options/decode.h"

#include "cmd/command.h"
#include "cmd/options/option_value.h"
#include "lib/base/fail.h"
#include "lib/event/context.h"
#include "lib/plugin/plugins.h"
#include "lib/reader/reader.h"
#include "lib/trace/trace.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEY_DECODE = 0xd00, KEY_PLUGIN_DIR };

static const struct argp_option options[] = {
	{ "decode", KEY_DECODE, NULL, 0,
	  "Add what plugins know about an event, such as names of system calls and errors", 0 },
	{ "no-plugins", 'N', NULL, 0, "Use no plugin: cancels an earlier --decode, such as one in your defaults", 0 },
	{ "plugin-dir", KEY_PLUGIN_DIR, "DIR", 0, "Take the plugins of --decode from DIR", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct decode *decode = state->input;

	switch (key) {
	case KEY_DECODE:
		decode->wanted = true;
		return 0;
	case 'N':
		decode->wanted = false;
		return 0;
	case KEY_PLUGIN_DIR:
		option_once("directory of plugins", &decode->dir, arg, state);
		decode->wanted = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp decode_argp = {
	.options = options,
	.parser = parse,
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
