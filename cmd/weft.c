// SPDX-License-Identifier: GPL-2.0-only
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/terminal/config.h"
#include "cmd/terminal/keeper.h"
#include "cmd/terminal/terminal.h"

/*
 * Who starts weft may have closed descriptors 0, 1 or 2. Without this, the next file that weft opens would get such a
 * number, and messages would go into it. What fills it cannot be read or written, as if it were closed; only messages
 * are thrown away. Where there is no /dev/null, the root directory fills it.
 */
static void fill_closed(void)
{
	static const int flags[] = {
		[STDIN_FILENO] = O_WRONLY, [STDOUT_FILENO] = O_RDONLY, [STDERR_FILENO] = O_WRONLY
	};

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", flags[fd]) != fd && open("/", O_RDONLY) != fd)
			_exit(EXIT_FAILED);
}

/* However the command ended: if standard output did not take everything, that is a failure. A closed pipe is not. */
static void end_output(void)
{
	struct fail fail = FAIL_INIT;
	int err = command_flush(&fail);

	if (!err || err == -EPIPE)
		return;
	command_failed(&fail);
	_exit(EXIT_FAILED);
}

static bool asks_version(const char *word)
{
	return !strcmp(word, "--version") || !strcmp(word, "-V") || !strcmp(word, "-v") || !strcmp(word, "version");
}

static void do_nothing(int sig)
{
	(void)sig;
}

/*
 * At the limit of a file's size (ulimit -f) a write then fails with EFBIG, as it fails on a full disk, and weft is not
 * killed while it traces. A handler and not SIG_IGN: the programs that weft starts do not inherit it.
 */
static void survive_size_limit(void)
{
	const struct sigaction action = { .sa_handler = do_nothing, .sa_flags = SA_RESTART };
	struct sigaction old;

	if (!sigaction(SIGXFSZ, NULL, &old) && old.sa_handler == SIG_DFL)
		sigaction(SIGXFSZ, &action, NULL);
}

/* A link of this name: weft in place of trace-cmd. */
static bool is_trace_cmd(const char *program)
{
	const char *slash = strrchr(program, '/');

	return !strcmp(slash ? slash + 1 : program, "trace-cmd");
}

/* On a terminal, `weft FILE` is `weft view FILE`, unless that is the name of a command. */
static bool is_file_to_view(int argc, const char *word)
{
	return argc == 2 && *word != '-' && keeper_has_terminal() && !access(word, R_OK);
}

/* `weft` alone, on a terminal: the help, and what can be looked at here. */
static void offer_view(void)
{
	if (keeper_has_terminal() && !access("trace.dat", R_OK))
		puts("\nThere is a trace.dat here: 'weft view' looks around in it.");
}

int main(int argc, char **argv)
{
	static char name[64], help[] = "help", view[] = "weft view";
	bool alone = argc < 2;
	char *only_help[] = { argv[0], help, NULL };
	const struct command *command;
	int status;

	fill_closed();
	survive_size_limit();
	terminal_guard(argv);
	if (atexit(end_output)) {
		fputs("weft: out of memory\n", stderr);
		return EXIT_FAILED;
	}
	/* The text that --version prints, for weft and for each command. */
	argp_program_version = "weft " WEFT_VERSION WEFT_COMMIT;
	if (argc > 0 && is_trace_cmd(argv[0]))
		return trace_cmd_command.run(argc, argv);
	if (argc > 1 && !strcmp(argv[1], "--no-config")) {
		defaults_leave_out();
		argv[1] = argv[0];
		argv++;
		argc--;
	}
	if (argc < 2) {
		argc = 2;
		argv = only_help;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "-?"))
		argv[1] = help;
	if (asks_version(argv[1])) {
		puts(argp_program_version);
		return EXIT_OK;
	}
	command = command_find(argv[1]);
	if (!command && is_file_to_view(argc, argv[1]))
		return view_command.run(2, (char *[]){ view, argv[1], NULL });
	if (!command && help_knows(argv[1]) && !command_about(argv[1])) {
		command_warn("no command '%s'; 'weft help %s' is about that", argv[1], argv[1]);
		return EXIT_USAGE;
	}
	if (!command)
		return command_unknown(argv[1]);
	snprintf(name, sizeof(name), "weft %s", argv[1]);
	argv[1] = name;
	status = command->run(argc - 1, argv + 1);
	if (alone && !status)
		offer_view();
	return status;
}
