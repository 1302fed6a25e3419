// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/flight/upload_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/dir.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/flight/message_internal.h"

enum { NOT_RUN = 127 };

int upload_init(struct upload *upload, const struct upload_options *options, void (*tell_it)(const char *text),
		struct fail *fail)
{
	const struct passwd *entry;

	*upload = (struct upload){ .options = options, .tell = tell_it, .spawn = SPAWN_NONE };
	/* Without root's rights the command has those of the flight. */
	if (!options->command || geteuid())
		return 0;
	errno = 0;
	entry = getpwnam(options->user);
	if (!entry)
		return fail_set(fail, -EINVAL, "--upload-user: there is no user '%s'", options->user);
	if (!entry->pw_uid)
		return fail_set(fail, -EINVAL,
				"--upload-user: an upload has no rights of root, so '%s' cannot be the user",
				options->user);
	upload->uid = entry->pw_uid;
	upload->gid = entry->pw_gid;
	return 0;
}

char *upload_command(const char *command)
{
	cleanup_buf struct buf text = BUF_INIT;
	const char *at;
	bool ok = true;

	for (; ok && (at = strstr(command, "{}")); command = at + 2)
		ok = buf_add(&text, command, (size_t)(at - command)) && buf_addf(&text, "\"$1\"");
	ok = ok && buf_add(&text, command, strlen(command));
	return ok ? strdup(buf_str(&text)) : NULL;
}

/* In the child of a process with threads: only what a handler of signals may call. */
__attribute__((noreturn)) static void become(const struct upload *upload, char *const *argv, int null_fd)
{
	static char *const environment[] = { (char *)"PATH=/usr/local/bin:/usr/bin:/bin", NULL };
	struct sigaction usual = { .sa_handler = SIG_DFL };
	sigset_t none;

	sigemptyset(&none);
	sigaction(SIGPIPE, &usual, NULL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (setpgid(0, 0) || dup2(upload->files[0].fd, 0) < 0 || dup2(null_fd, 1) < 0 || dup2(null_fd, 2) < 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		_exit(NOT_RUN);
	if (upload->uid && (setgroups(0, NULL) || setresgid(upload->gid, upload->gid, upload->gid) ||
			    setresuid(upload->uid, upload->uid, upload->uid) || !setuid(0)))
		_exit(NOT_RUN);
	if (chdir("/"))
		_exit(NOT_RUN);
	execve("/bin/sh", argv, environment);
	_exit(NOT_RUN);
}

static int spawn(struct upload *upload)
{
	cleanup_fd int null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	cleanup_free char *command = upload_command(upload->options->command);
	char *argv[] = { (char *)"sh", (char *)"-c", command, (char *)"sh", upload->files[0].path, NULL };
	pid_t pid;

	if (!command)
		return -ENOMEM;
	if (null_fd < 0)
		return -errno;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid)
		become(upload, argv, null_fd);
	/* Both sides do it, so that it is done whoever comes first. */
	(void)setpgid(pid, pid);
	upload->killed = false;
	upload->until = now_ns() + upload->options->limit_ns;
	return spawn_adopt(&upload->spawn, pid, NULL);
}

static void next(struct upload *upload)
{
	free(upload->files[0].path);
	cleanup_fd_close(&upload->files[0].fd);
	upload->nr_files--;
	memmove(&upload->files[0], &upload->files[1], upload->nr_files * sizeof(upload->files[0]));
}

static void told(struct upload *upload, int status)
{
	const char *path = upload->files[0].path;
	char limit[TEXT_HUMAN];

	if (WIFEXITED(status) && !WEXITSTATUS(status) && !upload->killed) {
		upload->done++;
		message_line(upload->tell, "uploaded %s", path);
		return;
	}
	upload->failed++;
	if (upload->killed)
		message_line(upload->tell, "%s is not uploaded: the command took more than %s (--upload-timeout)", path,
			     text_time(limit, upload->options->limit_ns));
	else if (WIFEXITED(status))
		message_line(upload->tell, "%s is not uploaded: the command ended with status %d", path,
			     WEXITSTATUS(status));
	else
		message_line(upload->tell, "%s is not uploaded: the command was killed by signal %d", path,
			     WTERMSIG(status));
}

/* Whether the process has ended. What it has left in its group ends, too. */
static bool reap(struct upload *upload)
{
	if (!spawn_has_ended(&upload->spawn))
		return false;
	told(upload, spawn_end(&upload->spawn));
	next(upload);
	return true;
}

static void begin(struct upload *upload)
{
	while (upload->nr_files && !upload->spawn.pid) {
		int err = spawn(upload);

		if (!err)
			return;
		(void)spawn_end(&upload->spawn);
		upload->failed++;
		message_line(upload->tell, "%s is not uploaded: %s", upload->files[0].path, strerror(-err));
		next(upload);
	}
}

/*
 * Opens the file that was just written. In a directory of others the name may lead to another one by now: it must be a
 * file of the flight's user with no other name, or the command would get what its user may not read.
 */
static int open_file(const char *path, int *ret_fd, struct fail *fail)
{
	cleanup_fd int dir = -1, fd = -1;
	cleanup_free char *leaf = NULL;
	struct stat stat;
	int err = dir_above(AT_FDCWD, path, path, &dir, &leaf, fail);

	if (err)
		return err;
	fd = openat(dir, leaf, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &stat))
		return fail_set(fail, -errno, "%s", strerror(errno));
	if (!S_ISREG(stat.st_mode) || stat.st_uid != geteuid() || stat.st_nlink != 1)
		return fail_set(fail, -ESTALE, "another file has its name");
	*ret_fd = fd_take(&fd);
	return 0;
}

void upload_add(struct upload *upload, const char *path)
{
	struct upload_file *file = &upload->files[upload->nr_files];
	struct fail fail = FAIL_INIT;

	if (!upload->options || !upload->options->command)
		return;
	if (upload->nr_files == UPLOAD_WAITING) {
		upload->failed++;
		message_line(upload->tell, "%s is not uploaded: %d files wait already", path, UPLOAD_WAITING);
		return;
	}
	*file = (struct upload_file){ .fd = -1 };
	if (open_file(path, &file->fd, &fail)) {
		upload->failed++;
		message_line(upload->tell, "%s is not uploaded: %s", path, fail.text);
		return;
	}
	/* Whole, so that no name looks like an option. */
	file->path = realpath(path, NULL);
	if (!file->path) {
		upload->failed++;
		message_line(upload->tell, "%s is not uploaded: %s", path, strerror(errno));
		cleanup_fd_close(&file->fd);
		return;
	}
	upload->nr_files++;
	begin(upload);
}

void upload_look(struct upload *upload)
{
	if (!upload->spawn.pid)
		return;
	if (now_ns() >= upload->until && !upload->killed) {
		upload->killed = true;
		spawn_kill(&upload->spawn);
	}
	if (reap(upload))
		begin(upload);
}

int upload_fd(const struct upload *upload)
{
	return upload->spawn.fd;
}

uint64_t upload_ms(const struct upload *upload)
{
	uint64_t now = now_ns();

	if (!upload->spawn.pid || upload->killed)
		return UINT64_MAX;
	return upload->until > now ? (upload->until - now) / 1000000 + 1 : 0;
}

void upload_end(struct upload *upload)
{
	uint64_t until = now_ns() + (upload->options ? upload->options->limit_ns : 0);

	while (upload->spawn.pid && now_ns() < until) {
		struct pollfd fd = { .fd = upload->spawn.fd, .events = POLLIN };

		(void)!poll(&fd, 1, (int)((until - now_ns()) / 1000000 + 1));
		upload_look(upload);
	}
	(void)spawn_end(&upload->spawn);
	while (upload->nr_files) {
		upload->failed++;
		message_line(upload->tell, "%s is not uploaded: the flight has ended", upload->files[0].path);
		next(upload);
	}
}
