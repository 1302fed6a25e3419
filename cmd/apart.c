// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/apart.h"

#include "cmd/command.h"
#include "lib/base/cleanup.h"
#include "lib/base/io.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const int signals[] = { SIGINT, SIGHUP, SIGTERM };

/* For the signal handler. */
static volatile pid_t reader;

static void pass_on(int sig)
{
	int saved = errno;

	kill(reader, sig);
	errno = saved;
}

static void forward(pid_t pid)
{
	const struct sigaction action = { .sa_handler = pass_on, .sa_flags = SA_RESTART };
	struct sigaction old;

	reader = pid;
	for (size_t i = 0; i < array_size(signals); i++)
		if (!sigaction(signals[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
}

pid_t apart_fork(void)
{
	sigset_t blocked, old;
	pid_t pid;

	/* Signals stay blocked until the child's PID is known: they are forwarded to it. */
	sigemptyset(&blocked);
	for (size_t i = 0; i < array_size(signals); i++)
		sigaddset(&blocked, signals[i]);
	sigprocmask(SIG_BLOCK, &blocked, &old);
	fflush(NULL);
	pid = fork();
	if (pid > 0)
		forward(pid);
	else if (pid < 0)
		command_warn("cannot start a process: %s", strerror(errno));
	sigprocmask(SIG_SETMASK, &old, NULL);
	return pid;
}

static bool is_wish(int sig)
{
	for (size_t i = 0; i < array_size(signals); i++)
		if (signals[i] == sig)
			return true;
	return false;
}

int apart_end(pid_t pid, const char *input)
{
	int status = 0;

	if (io_again(waitpid(pid, &status, 0)) < 0) {
		command_warn("cannot wait for the process that reads '%s': %s", input, strerror(errno));
		return EXIT_FAILED;
	}
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	if (is_wish(WTERMSIG(status)) || WTERMSIG(status) == SIGPIPE)
		return APART_SIGNAL + WTERMSIG(status);
	command_warn("the process that reads '%s' was killed by signal %d", input, WTERMSIG(status));
	return EXIT_FAILED;
}
