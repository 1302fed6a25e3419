// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/flight/explainer_internal.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/io.h"
#include "lib/base/now.h"

enum { WORDS_MAX = 8 };

/* Starts the program with an empty environment, and its output in the pipe. 0: it cannot be started. */
static pid_t start(char *const argv[], int out_fd)
{
	char *const env[] = { (char *)"PATH=/usr/sbin:/usr/bin:/sbin:/bin", (char *)"WEFT_CONFIG=", NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none;
	pid_t pid = 0;
	int err;

	sigemptyset(&none);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, out_fd, STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	err = posix_spawn(&pid, argv[0], &files, &attr, argv, env);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	return err ? 0 : pid;
}

/* Reads until the program ends, the line is full, or the time is over: then false. */
static bool take_text(int fd, char into[EXPLAINED])
{
	uint64_t end = now_ns() + EXPLAINER_MS * UINT64_C(1000000), now;
	size_t len = 0;
	ssize_t got = 1;

	while (got > 0 && len < EXPLAINED - 1 && (now = now_ns()) < end) {
		struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

		if (poll(&poll_fd, 1, (int)((end - now) / 1000000) + 1) <= 0)
			continue;
		got = io_again(read(fd, into + len, EXPLAINED - 1 - len));
		len += got > 0 ? (size_t)got : 0;
	}
	into[len] = '\0';
	return got <= 0 || len == EXPLAINED - 1;
}

bool explainer_ask(const char *const *program, const char *file, char into[EXPLAINED])
{
	char *argv[WORDS_MAX + 2] = { NULL };
	int status = 0, fds[2];
	size_t nr = 0;
	pid_t pid;
	bool ok;

	for (; program[nr] && nr < WORDS_MAX; nr++)
		argv[nr] = (char *)(uintptr_t)program[nr];
	argv[nr] = (char *)(uintptr_t)file;
	if (pipe2(fds, O_CLOEXEC))
		return false;
	pid = start(argv, fds[1]);
	close(fds[1]);
	ok = pid && take_text(fds[0], into);
	close(fds[0]);
	if (pid && !ok)
		kill(pid, SIGKILL);
	if (pid && io_again(waitpid(pid, &status, 0)) != pid)
		ok = false;
	if (!ok || !WIFEXITED(status) || WEXITSTATUS(status) || !*into)
		return false;
	into[strcspn(into, "\n")] = '\0';
	return true;
}
