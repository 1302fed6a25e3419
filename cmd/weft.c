// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In the order of `weft help`. */
static const struct command *const commands[] = {
	NULL,
};

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

void command_parse(const struct command *command, int argc, char **argv, unsigned flags, void *input)
{
	error_t err;

	argp_err_exit_status = EXIT_USAGE;
	err = argp_parse(command->argp, argc, argv, flags, NULL, input);
	if (err) {
		fprintf(stderr, "weft: %s\n", strerror(err));
		exit(EXIT_FAILED);
	}
}

int command_failed(const struct fail *fail)
{
	fflush(stdout);
	fprintf(stderr, "weft: %s\n", fail->text);
	return EXIT_FAILED;
}

void command_warn(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fputs("weft: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

int main(int argc, char **argv)
{
	static char name[64];
	const struct command *command;

	if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		argv[1] = (char *)"help", argc = argc < 2 ? 2 : argc;
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("weft " WEFT_VERSION);
		return EXIT_OK;
	}
	command = command_find(argv[1]);
	if (!command) {
		fprintf(stderr, "weft: no command '%s'; 'weft help' lists them\n", argv[1]);
		return EXIT_USAGE;
	}
	snprintf(name, sizeof(name), "weft %s", argv[1]);
	argv[1] = name;
	return command->run(argc - 1, argv + 1);
}
