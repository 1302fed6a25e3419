// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/pager.h"

#include "cmd/command.h"
#include "cmd/terminal.h"
#include "lib/base/cleanup.h"
#include "lib/base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* As in a shell: 128 plus the signal's number. */
enum { STATUS_SIGNAL = 128 };

static bool is_installed(const char *name)
{
	const char *path = getenv("PATH");
	cleanup_free char *copy = strdup(path ? path : "/usr/bin:/bin"), *file = NULL;
	char *rest = copy, *dir;

	while (copy && (dir = strsep(&rest, ":"))) {
		free(take(file));
		if (asprintf(&file, "%s/%s", *dir ? dir : ".", name) < 0)
			file = NULL;
		if (file && !access(file, X_OK))
			return true;
	}
	return false;
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
	return *pager && strcmp(pager, "cat") != 0 ? pager : NULL;
}

__attribute__((noreturn)) static void run_pager(const char *pager, const int pipe_fds[2])
{
	/*
	 * F: less ends if the text fits the screen; X: it leaves the text there; R: it shows colours; S: it cuts long
	 * lines.
	 */
	setenv("LESS", "FRSX", 0);
	setenv("LESSCHARSET", "utf-8", 0);
	if (dup2(pipe_fds[0], STDIN_FILENO) < 0)
		_exit(EXIT_FAILED);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	execl("/bin/sh", "sh", "-c", pager, NULL);
	_exit(EXIT_FAILED);
}

static int wait_for(pid_t pid)
{
	int status = 0;

	(void)io_again(waitpid(pid, &status, 0));
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	/* SIGPIPE means that the user left the pager, which is no failure. */
	return WTERMSIG(status) == SIGPIPE ? EXIT_OK : STATUS_SIGNAL + WTERMSIG(status);
}

__attribute__((noreturn)) static void wait_for_both(pid_t command, pid_t pager)
{
	int status;

	/* Ctrl-C is meant for the command; and for the pager, which then returns to its prompt. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	status = wait_for(command);
	wait_for(pager);
	_exit(status);
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
	const char *pager = chosen();
	pid_t command, reader;
	int pipe_fds[2];

	if (!terminal_escapes() || !pager || pipe2(pipe_fds, O_CLOEXEC))
		return;
	fflush(stdout);
	reader = fork();
	if (!reader)
		run_pager(pager, pipe_fds);
	command = reader > 0 ? fork() : -1;
	if (command > 0) {
		close(pipe_fds[0]);
		close(pipe_fds[1]);
		wait_for_both(command, reader);
	}
	/* If no second process can be made, this process prints to the pager, and nobody waits for the pager. */
	if (reader > 0)
		print_into(pipe_fds);
}
