// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/flight/spawn_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"

int spawn_adopt(struct spawn *spawn, pid_t pid, struct fail *fail)
{
	int err;

	spawn->pid = pid;
	spawn->fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (spawn->fd >= 0)
		return 0;
	err = fail_set(fail, -errno, "cannot wait for process %d: %s", (int)pid, strerror(errno));
	(void)spawn_end(spawn);
	return err;
}

int spawn_start(struct spawn *spawn, char *const argv[], const char *more, int out_fd, struct fail *fail)
{
	char *const env[] = { (char *)"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
			      (char *)(uintptr_t)more, NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, usual;
	pid_t pid;
	int err;

	sigemptyset(&none);
	sigemptyset(&usual);
	sigaddset(&usual, SIGPIPE);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &usual);
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (out_fd >= 0)
		posix_spawn_file_actions_adddup2(&files, out_fd, STDOUT_FILENO);
	else
		posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	err = posix_spawn(&pid, argv[0], &files, &attr, argv, env);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	if (err)
		return fail_set(fail, -err, "cannot run '%s': %s", argv[0], strerror(err));
	return spawn_adopt(spawn, pid, fail);
}

bool spawn_has_ended(const struct spawn *spawn)
{
	struct pollfd fd = { .fd = spawn->fd, .events = POLLIN };

	return spawn->pid && poll(&fd, 1, 0) > 0;
}

void spawn_kill(const struct spawn *spawn)
{
	if (spawn->pid)
		kill(-spawn->pid, SIGKILL);
}

int spawn_end(struct spawn *spawn)
{
	int status = 0;

	if (!spawn->pid)
		return 0;
	/* Before waitpid(), after which the number of the group may be that of another one. */
	spawn_kill(spawn);
	(void)!io_again(waitpid(spawn->pid, &status, 0));
	cleanup_fd_close(&spawn->fd);
	*spawn = (struct spawn)SPAWN_NONE;
	return status;
}
