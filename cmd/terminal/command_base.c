// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"

#include "cmd/options/options_check.h"
#include "cmd/terminal/config.h"
#include "cmd/terminal/defaults.h"
#include "cmd/terminal/progress.h"
#include "cmd/terminal/terminal.h"
#include "cmd/terminal/usage.h"
#include "lib/base/cleanup.h"
#include "lib/base/near.h"

#include <errno.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

const struct command *command_at(size_t index)
{
	return commands[index];
}

const struct command *command_find(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

/* Names that other programs have for a command. */
static const struct {
	const char *name, *whose, *ours;
} elsewhere[] = {
	{ "restore", "trace-cmd's", "recover" },
	{ "dump", "trace-cmd's", "info" },
	{ "options", "trace-cmd's", "list options" },
	{ "sqlhist", "trace-cmd's", "hist" },
	{ "profile", "trace-cmd's", "profile-functions" },
	{ "check-events", "trace-cmd's", "doctor" },
	{ "script", "perf's", "report" },
	{ "trace", "perf's", "stream -e syscalls" },
	{ "replay", "uftrace's", "report" },
	{ "execsnoop", "bcc's", "tasks" },
	{ "exitsnoop", "bcc's", "tasks" },
};

int command_unknown(const char *name)
{
	struct near near = near_to(name);
	struct fail fail = FAIL_INIT;

	for (size_t i = 0; commands[i]; i++)
		if (commands[i]->group)
			near_offer(&near, commands[i]->name);
	for (size_t i = 0; i < array_size(elsewhere); i++) {
		if (strcmp(elsewhere[i].name, name))
			continue;
		fprintf(stderr, "weft: no command '%s'; %s %s is 'weft %s' here\n", name, elsewhere[i].whose, name,
			elsewhere[i].ours);
		return EXIT_USAGE;
	}
	near_fail(&near, &fail, -ENOENT, "no command '%s'", name);
	fprintf(stderr, "weft: %s%s\n", fail.text, near.found ? "" : "; 'weft help' lists them");
	return EXIT_USAGE;
}

void command_parse(const struct command *command, int argc, char **argv, unsigned flags, void *input)
{
	error_t err;

	argp_err_exit_status = EXIT_USAGE;
	defaults_expand(command, &argc, &argv);
	config_expand(command->argp, &argc, &argv);
	options_check(command, argc, argv, flags);
	/* Words before "--" do not belong to the COMMAND. */
	if (command->argp->args_doc && strstr(command->argp->args_doc, "| -- COMMAND"))
		flags |= ARGP_IN_ORDER;
	err = usage_parse(command, argc, argv, flags, input);
	if (err) {
		fprintf(stderr, "weft: %s\n", strerror(err));
		exit(EXIT_FAILED);
	}
}

int command_failed(const struct fail *fail)
{
	command_warn("%s", fail->text);
	return fail->usage ? EXIT_USAGE : EXIT_FAILED;
}

void command_warn(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	progress_hide();
	fputs("weft: ", stderr);
	terminal_message(true);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	terminal_message(false);
	fputc('\n', stderr);
}

/* Clears the error of the stream, so that end_output() does not report it again. */
static int output_failed(int err, struct fail *fail)
{
	__fpurge(stdout);
	clearerr(stdout);
	return fail_set(fail, -err, "cannot write to standard output: %s", strerror(err));
}

int command_write(const void *data, size_t len, struct fail *fail)
{
	return fwrite(data, 1, len, stdout) == len ? 0 : output_failed(errno, fail);
}

int command_flush(struct fail *fail)
{
	errno = 0;
	return !fflush(stdout) && !ferror(stdout) ? 0 : output_failed(errno ? errno : EIO, fail);
}
