// SPDX-License-Identifier: GPL-2.0-only
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "cmd/command.h"
#include "cmd/options/option_rows.h"
#include "cmd/options/options_check.h"
#include "cmd/terminal/config.h"
#include "cmd/terminal/progress.h"
#include "cmd/terminal/terminal.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/near.h"

/* The root of every command line: the command's own argp is its only child. */
struct usage {
	const struct command *command;
	void *input;
	FILE *errors; /* argp's; NULL: stderr */
};

/* How argp's own hint begins: "Try `weft sched --help' or `weft sched --usage' for more information." */
static const char argps[] = "Try `";

/* argp writes a message, and its hint as a line behind it. */
static ssize_t put_error(void *cookie, const char *text, size_t len)
{
	const struct usage *usage = cookie;
	const char *hint = NULL, *at = text;

	/* The last one: a name in the message may look like it. */
	while ((at = memmem(at, (size_t)(text + len - at), argps, sizeof(argps) - 1)))
		hint = at++;
	if (!hint || (hint != text && hint[-1] != '\n')) {
		fwrite(text, 1, len, stderr);
		return (ssize_t)len;
	}
	fwrite(text, 1, (size_t)(hint - text), stderr);
	fprintf(stderr, "'weft help %s' lists the options.\n", usage->command->name);
	return (ssize_t)len;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	const struct usage *usage = state->input;

	(void)arg;
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	state->child_inputs[0] = usage->input;
	if (usage->errors)
		state->err_stream = usage->errors;
	return 0;
}

/* argp_parse() of a command, whose usage errors end with weft's own words instead of argp's: where the options are. */
static error_t usage_parse(const struct command *command, const struct argp *argp, int argc, char **argv,
			   unsigned flags, void *input)
{
	/* What argp leaves in the stream when it ends the process is written at exit. */
	static struct usage usage;
	const struct argp_child children[] = { { argp, 0, NULL, 0 }, { 0 } };
	const struct argp root = { .parser = parse, .children = children };
	error_t err;

	usage = (struct usage){ .command = command,
				.input = options_input(argp, input),
				.errors = fopencookie(&usage, "w", (cookie_io_functions_t){ .write = put_error }) };
	/* The whole message arrives at once: only its end is a newline of weft's, others are those of a name in it. */
	if (usage.errors)
		setvbuf(usage.errors, NULL, _IOFBF, 1 << 16);
	err = argp_parse(&root, argc, argv, flags, NULL, &usage);
	if (usage.errors)
		fclose(usage.errors);
	return err;
}

static int usage_status = EXIT_USAGE, last_errno;

const struct command *command_at(size_t index)
{
	return commands[index];
}

const struct command *command_find(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (!strcmp(commands[i]->name, name) || (commands[i]->former && !strcmp(commands[i]->former, name)))
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

/* Words of people who do not know the names of the field yet. */
static const struct {
	const char *word, *ours;
} everyday[] = {
	{ "disk", "block" },      { "disks", "block" },    { "io", "block" },        { "cpu", "sched" },
	{ "cpus", "sched" },      { "wakeup", "latency" }, { "wakeups", "latency" }, { "lock", "locks" },
	{ "mutex", "locks" },     { "futex", "locks" },    { "interrupt", "irq" },   { "interrupts", "irq" },
	{ "strace", "syscalls" }, { "calls", "syscalls" }, { "processes", "tasks" }, { "programs", "tasks" },
	{ "slow", "why" },        { "mem", "memory" },     { "functions", "graph" }, { "spans", "marks" },
};

const char *command_about(const char *word)
{
	for (size_t i = 0; i < array_size(everyday); i++)
		if (!strcmp(everyday[i].word, word))
			return everyday[i].ours;
	return NULL;
}

int command_unknown(const char *name)
{
	const char *about = command_about(name);
	struct near near = near_to(name);
	struct fail fail = FAIL_INIT;
	struct stat status;

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
	if (!stat(name, &status) && S_ISREG(status.st_mode)) {
		command_warn("no command '%s', but a file: 'weft summary FILE' is the first look at one", name);
		return EXIT_USAGE;
	}
	if (about) {
		fprintf(stderr, "weft: no command '%s'; 'weft %s' answers questions about that\n", name, about);
		return EXIT_USAGE;
	}
	near_fail(&near, &fail, -ENOENT, "no command '%s'", name);
	fprintf(stderr, "weft: %s%s\n", fail.text, near.found ? "" : "; 'weft help' lists them");
	return EXIT_USAGE;
}

void command_parse(const struct command *command, int argc, char **argv, unsigned flags, void *input)
{
	const struct argp *argp = options_argp(command->options);
	error_t err;

	argp_err_exit_status = usage_status;
	defaults_expand(command, argp, &argc, &argv);
	config_expand(argp, &argc, &argv);
	options_check(command, argp, argc, argv, flags);
	/* Words before "--" do not belong to the COMMAND. */
	if (argp->args_doc && strstr(argp->args_doc, "| -- COMMAND"))
		flags |= ARGP_IN_ORDER;
	err = usage_parse(command, argp, argc, argv, flags, input);
	if (err) {
		fprintf(stderr, "weft: %s\n", strerror(err));
		exit(EXIT_FAILED);
	}
}

void command_usage_status(int status)
{
	usage_status = status;
}

int command_errno(void)
{
	return last_errno;
}

int command_failed(const struct fail *fail)
{
	last_errno = fail->err < 0 ? -fail->err : 0;
	command_warn("%s", fail->text);
	return fail->usage ? EXIT_USAGE : EXIT_FAILED;
}

void command_warn(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	progress_pause();
	fputs("weft: ", stderr);
	terminal_message(true);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	terminal_message(false);
	fputc('\n', stderr);
	progress_go_on();
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
