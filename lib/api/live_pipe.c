// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/api/live_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/now.h"

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

	*pipe = (struct live_pipe){ .fd = -1, .said_fd = memfd_create("weft-live-said", MFD_CLOEXEC) };
	if (!argv)
		return fail_memory(fail);
	memcpy(argv, own, sizeof(own));
	memcpy(argv + OWN, words, nr * sizeof(*words));
	if (pipe->said_fd < 0 || pipe2(fds, O_CLOEXEC)) {
		r = fail_set(fail, -errno, "cannot make a pipe: %s", strerror(errno));
	} else {
		pipe->fd = fds[0];
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
	*pipe = (struct live_pipe){ .fd = fcntl(fd, F_DUPFD_CLOEXEC, 3), .said_fd = -1 };
	return pipe->fd < 0 ? fail_set(fail, -errno, "cannot use the descriptor: %s", strerror(errno)) : 0;
}

void live_pipe_close(struct live_pipe *pipe)
{
	if (pipe->fd >= 0)
		close(pipe->fd);
	while (pipe->pid && waitpid(pipe->pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	if (pipe->said_fd >= 0)
		close(pipe->said_fd);
	free(pipe->data);
	*pipe = (struct live_pipe){ .fd = -1, .said_fd = -1 };
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

/* Waits until there are bytes. 1; 0: not until then; -EINTR. */
static int wait_for(const struct live_pipe *pipe, uint64_t end_ns, struct fail *fail)
{
	struct pollfd fd = { .fd = pipe->fd, .events = POLLIN };
	uint64_t now = now_ns(), left = end_ns > now ? (end_ns - now + 999999) / 1000000 : 0;
	int r = poll(&fd, 1, end_ns == UINT64_MAX ? -1 : left > INT_MAX ? INT_MAX : (int)left);

	return r < 0 ? fail_set(fail, -errno, "%s", strerror(errno)) : r;
}

/* Makes room for `more` bytes behind those that are there. */
static int make_room(struct live_pipe *pipe, size_t more, struct fail *fail)
{
	size_t have = pipe->to - pipe->from;
	uint8_t *data = pipe->data;

	if (pipe->size - pipe->to >= more)
		return 0;
	if (have)
		memmove(data, data + pipe->from, have);
	pipe->from = 0;
	pipe->to = have;
	if (pipe->size - have >= more)
		return 0;
	more = more < ROOM ? ROOM : more;
	data = realloc(data, have + more);
	if (!data)
		return fail_memory(fail);
	pipe->data = data;
	pipe->size = have + more;
	return 0;
}

/* Reads until `need` bytes are there. As live_pipe_next(). */
static int fill(struct live_pipe *pipe, size_t need, uint64_t end_ns, struct fail *fail)
{
	size_t have;

	while ((have = pipe->to - pipe->from) < need) {
		/* Memory follows from what has come, not from what a head claims. */
		int r = make_room(pipe, need - have < have + ROOM ? need - have : have + ROOM, fail);
		ssize_t got;

		if (!r)
			r = wait_for(pipe, end_ns, fail);
		if (r <= 0)
			return r;
		got = read(pipe->fd, pipe->data + pipe->to, pipe->size - pipe->to);
		if (!got)
			return told(pipe, fail);
		if (got < 0 && errno != EAGAIN)
			return fail_set(fail, -errno, "cannot read the pages: %s", strerror(errno));
		if (got > 0)
			pipe->to += (size_t)got;
	}
	return 1;
}

int live_pipe_next(struct live_pipe *pipe, uint64_t end_ns, struct relay_head *ret, const uint8_t **ret_data,
		   struct fail *fail)
{
	struct relay_head head;
	int r = fill(pipe, sizeof(head), end_ns, fail);

	if (r <= 0)
		return r;
	memcpy(&head, pipe->data + pipe->from, sizeof(head));
	r = relay_check(&head, !pipe->met, fail);
	if (!r)
		r = fill(pipe, sizeof(head) + head.len, end_ns, fail);
	if (r <= 0)
		return r;
	pipe->met = true;
	*ret = head;
	*ret_data = pipe->data + pipe->from + sizeof(head);
	pipe->from += sizeof(head) + head.len;
	return 1;
}
