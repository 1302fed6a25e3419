// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/api/live_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"

enum { ROOM = 1 << 20, SAID_MAX = 800 };

/* Its own process group, so that a Ctrl-C is for the caller; no signal of the caller's is blocked or ignored. */
static int spawn(struct live_pipe *pipe, char *const *argv, char *const *env, int out, struct fail *fail)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int err;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&files, pipe->said_fd, STDERR_FILENO);
	err = posix_spawn(&pipe->pid, argv[0], &files, &attr, argv, env);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	if (err)
		pipe->pid = 0;
	return err ? fail_set(fail, -err, "cannot run '%s': %s", argv[0], strerror(err)) : 0;
}

int live_pipe_start(struct live_pipe *pipe, const char *program, const char *const *env, const char *const *words,
		    size_t nr, struct fail *fail)
{
	static const char *const usual[] = { "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
					     NULL };
	const char *const own[] = { program, "stream", "--pages", "-q" };
	enum { OWN = sizeof(own) / sizeof(*own) };
	const char **argv = calloc(nr + OWN + 1, sizeof(*argv));
	cleanup_fd int out = -1;
	int fds[2], r;

	*pipe = (struct live_pipe){ .frames = { .fd = -1 }, .said_fd = memfd_create("weft-live-said", MFD_CLOEXEC) };
	if (!argv)
		return fail_memory(fail);
	memcpy(argv, own, sizeof(own));
	memcpy(argv + OWN, words, nr * sizeof(*words));
	if (pipe->said_fd < 0 || pipe2(fds, O_CLOEXEC)) {
		r = fail_set(fail, -errno, "cannot make a pipe: %s", strerror(errno));
	} else {
		pipe->frames.fd = fds[0];
		out = fds[1];
		(void)fcntl(out, F_SETPIPE_SZ, ROOM);
		r = spawn(pipe, (char *const *)(uintptr_t)argv, (char *const *)(uintptr_t)(env ? env : usual), out,
			  fail);
	}
	free(argv);
	return r;
}

int live_pipe_open(struct live_pipe *pipe, int fd, struct fail *fail)
{
	*pipe = (struct live_pipe){ .frames = { .fd = fcntl(fd, F_DUPFD_CLOEXEC, 3) }, .said_fd = -1 };
	return pipe->frames.fd < 0 ? fail_set(fail, -errno, "cannot use the descriptor: %s", strerror(errno)) : 0;
}

void live_pipe_close(struct live_pipe *pipe)
{
	cleanup_fd_close(&pipe->frames.fd);
	while (pipe->pid && waitpid(pipe->pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	if (pipe->said_fd >= 0)
		close(pipe->said_fd);
	relay_pipe_release(&pipe->frames);
	*pipe = (struct live_pipe){ .frames = { .fd = -1 }, .said_fd = -1 };
}

int live_pipe_stop(const struct live_pipe *pipe, struct fail *fail)
{
	if (!pipe->pid)
		return fail_set(fail, -ENOTSUP, "what was opened from a descriptor is ended by whoever writes to it");
	return kill(pipe->pid, SIGINT) && errno != ESRCH ? fail_set(fail, -errno, "%s", strerror(errno)) : 0;
}

/* The last line that the process said, without "weft: ". */
static int told(const struct live_pipe *pipe, struct fail *fail)
{
	char text[SAID_MAX + 1] = "";
	off_t end = pipe->said_fd < 0 ? 0 : lseek(pipe->said_fd, 0, SEEK_END);
	ssize_t len = end <= 0 ? 0 : pread(pipe->said_fd, text, SAID_MAX, end > SAID_MAX ? end - SAID_MAX : 0);
	char *line = text;

	if (len <= 0)
		return fail_set(fail, -EIO, "weft has ended before the end of its pages");
	while (len && text[len - 1] == '\n')
		len--;
	text[len] = '\0';
	for (char *at = text; (at = strstr(at, "\nweft: ")); at++)
		line = at + 1;
	if (!strncmp(line, "weft: ", 6))
		line += 6;
	line[strcspn(line, "\n")] = '\0';
	return fail_set(fail, -EIO, "%s", line);
}

int live_pipe_next(struct live_pipe *pipe, uint64_t end_ns, struct relay_head *ret, const uint8_t **ret_data,
		   struct fail *fail)
{
	int r = relay_pipe_next(&pipe->frames, end_ns, ret, ret_data, fail);

	return r == -ENODATA ? told(pipe, fail) : r;
}
