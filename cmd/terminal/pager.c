// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/terminal/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/terminal/terminal.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/io.h"
#include "lib/kernel/record/command_path.h"

/* As in a shell: 128 plus the signal's number. */
enum { STATUS_CANNOT_RUN = 126, STATUS_NOT_FOUND = 127, STATUS_SIGNAL = 128 };

static bool is_installed(const char *name)
{
	struct command_path found;
	int err = command_path_find(&found, name, getenv("PATH"));

	free(found.path);
	return !err;
}

/* Whether the command's program is there; what only a shell understands is left to it. */
static bool can_run(const char *pager)
{
	cleanup_free char *name = NULL;

	pager += strspn(pager, " \t");
	if (strpbrk(pager, "|&;<>()$`\\\"'*?[]#~=%{}!"))
		return true;
	name = strndup(pager, strcspn(pager, " \t"));
	return !name || (strchr(name, '/') ? !access(name, X_OK) : is_installed(name));
}

/* Returns a command for the shell; NULL: no pager is wanted, or there is none. */
static const char *chosen(void)
{
	const char *pager = getenv("WEFT_PAGER"), *term = getenv("TERM");

	if (!pager)
		pager = getenv("PAGER");
	if (!term || !strcmp(term, "dumb"))
		return NULL;
	if (!pager)
		return is_installed("less") ? "less" : NULL;
	if (!*pager || !strcmp(pager, "cat"))
		return NULL;
	if (can_run(pager))
		return pager;
	command_warn("note: the pager '%s' of $%s is not installed", pager,
		     getenv("WEFT_PAGER") ? "WEFT_PAGER" : "PAGER");
	return NULL;
}

/* Whether sudo or its like made this process root's for another user. */
static bool is_for_another_user(void)
{
	static const char *const names[] = { "SUDO_UID", "DOAS_USER", "PKEXEC_UID" };

	for (size_t i = 0; !geteuid() && i < array_size(names); i++) {
		const char *user = getenv(names[i]);

		if (user && strcmp(user, "0") != 0 && strcmp(user, "root") != 0)
			return true;
	}
	return false;
}

__attribute__((noreturn)) static void run_pager(const char *pager, const int pipe_fds[2])
{
	/*
	 * F: less ends if the text fits the screen; X: it leaves the text there; R: it shows colours; S: it cuts long
	 * lines.
	 */
	setenv("LESS", "FRSX", 0);
	setenv("LESSCHARSET", "utf-8", 0);
	/* A user who may call weft as root may not get a shell of root's from the pager. */
	if (is_for_another_user())
		setenv("LESSSECURE", "1", 1);
	if (dup2(pipe_fds[0], STDIN_FILENO) < 0)
		_exit(EXIT_FAILED);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	execl("/bin/sh", "sh", "-c", pager, NULL);
	_exit(EXIT_FAILED);
}

/* Whether nobody reads the pipe any more, whose other end is the pager's. */
static bool is_left(int pipe_end)
{
	struct pollfd end = { .fd = pipe_end };

	return io_again(poll(&end, 1, 0)) > 0 && end.revents & POLLERR;
}

/*
 * Waits for the command, which may have become another user, who may then stop it: it goes on. Ctrl-Z also stops
 * this process.
 */
static int wait_for_command(pid_t command)
{
	int status = 0;

	while (io_again(waitpid(command, &status, WUNTRACED)) == command && WIFSTOPPED(status))
		kill(command, SIGCONT);
	return status;
}

/* `pipe_end` is open until the command has ended, to see whether the user has left the pager before. */
__attribute__((noreturn)) static void wait_for_both(pid_t command, pid_t pager, int pipe_end)
{
	int status, shell = 0;
	bool left;

	/* Ctrl-C is meant for the command; and for the pager, which then returns to its prompt. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	status = wait_for_command(command);
	left = is_left(pipe_end);
	close(pipe_end);
	(void)io_again(waitpid(pager, &shell, 0));
	/* The shell could not run it, so that nobody has seen the output. */
	if (WIFEXITED(shell) && (WEXITSTATUS(shell) == STATUS_CANNOT_RUN || WEXITSTATUS(shell) == STATUS_NOT_FOUND)) {
		command_warn("the pager did not run, and the output is lost: correct $WEFT_PAGER or $PAGER, or set it "
			     "to cat");
		_exit(WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : EXIT_FAILED);
	}
	if (WIFEXITED(status))
		_exit(WEXITSTATUS(status));
	/* A user who leaves the pager is no failure. Anybody may send SIGPIPE. */
	if (WTERMSIG(status) == SIGPIPE && left)
		_exit(EXIT_OK);
	if (WTERMSIG(status) != SIGINT && WTERMSIG(status) != SIGQUIT)
		fprintf(stderr, "weft: signal %d ended the process that reads: the output is not complete\n",
			WTERMSIG(status));
	_exit(STATUS_SIGNAL + WTERMSIG(status));
}

static void print_into(const int pipe_fds[2])
{
	if (dup2(pipe_fds[1], STDOUT_FILENO) < 0 || (isatty(STDERR_FILENO) && dup2(pipe_fds[1], STDERR_FILENO) < 0))
		_exit(EXIT_FAILED);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

void pager_start(void)
{
	const char *pager = terminal_escapes() ? chosen() : NULL;
	pid_t command, reader;
	int pipe_fds[2];

	if (!pager || pipe2(pipe_fds, O_CLOEXEC))
		return;
	fflush(stdout);
	reader = fork();
	if (!reader)
		run_pager(pager, pipe_fds);
	command = reader > 0 ? fork() : -1;
	if (command > 0) {
		close(pipe_fds[0]);
		wait_for_both(command, reader, pipe_fds[1]);
	}
	/* If no second process can be made, this process prints to the pager, and nobody waits for the pager. */
	if (reader > 0)
		print_into(pipe_fds);
}
