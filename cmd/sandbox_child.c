// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/sandbox_child.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/command.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/io.h"

static const int signals[] = { SIGINT, SIGHUP, SIGTERM };

/* For the signal handlers. */
static volatile pid_t reader;
static bool killed;                /* sandbox_child_kill() was called */
static volatile sig_atomic_t wish; /* the first signal that asked weft to end; 0: none */

/* A reader process that a file took over may ignore the signal. */
static void insist(int sig)
{
	int saved = errno;

	(void)sig;
	if (reader > 0)
		kill(reader, SIGKILL);
	errno = saved;
}

/*
 * From now on a clock ticks: each tick kills the reader process, and interrupts whatever this process is waiting for,
 * such as the reader of a pipe.
 */
static void pass_on(int sig)
{
	const struct itimerval ticks = { .it_interval.tv_sec = 1, .it_value.tv_sec = 1 };
	int saved = errno;

	if (reader > 0)
		kill(reader, sig);
	if (!wish)
		setitimer(ITIMER_REAL, &ticks, NULL);
	wish = sig;
	errno = saved;
}

void sandbox_child_kill(void)
{
	killed = true;
	insist(SIGALRM);
}

int sandbox_child_signal(void)
{
	return wish;
}

static void forward(pid_t pid)
{
	/* Without SA_RESTART: a write to a pipe that nobody reads ends with EINTR. */
	const struct sigaction action = { .sa_handler = pass_on }, tick = { .sa_handler = insist };
	struct sigaction old;

	reader = pid;
	sigaction(SIGALRM, &tick, NULL);
	for (size_t i = 0; i < array_size(signals); i++)
		if (!sigaction(signals[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
}

pid_t sandbox_child_fork(void)
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

void *sandbox_child_share(size_t size)
{
	void *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared != MAP_FAILED)
		return shared;
	command_warn("cannot get memory: %s", strerror(errno));
	return NULL;
}

int sandbox_child_end(pid_t pid, const char *input)
{
	siginfo_t ended;
	int status = 0;

	/* First only waits: until the process is reaped, its PID belongs to no other one. */
	(void)!io_again(waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT));
	reader = 0;
	if (io_again(waitpid(pid, &status, 0)) < 0) {
		command_warn("cannot wait for the process that reads '%s': %s", input, strerror(errno));
		return EXIT_FAILED;
	}
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	if (wish && WTERMSIG(status) == SIGKILL)
		return SANDBOX_CHILD_SIGNAL + wish;
	if (killed)
		return EXIT_FAILED;
	if (is_wish(WTERMSIG(status)) || WTERMSIG(status) == SIGPIPE)
		return SANDBOX_CHILD_SIGNAL + WTERMSIG(status);
	command_warn("the process that reads '%s' was killed by signal %d", input, WTERMSIG(status));
	return EXIT_FAILED;
}
