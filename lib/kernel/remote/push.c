// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/remote/push.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/vec.h"

enum { PATH_LENGTH_MAX = 256, FAILED = 127 };

static const char *const folders[] = { "/dev/shm", "/tmp" };
static const char stem[] = "weft-push-", random_part[] = "XXXXXXXXXX";

bool push_is_own(const char *path)
{
	for (size_t i = 0; i < array_size(folders); i++) {
		size_t len = strlen(folders[i]);
		const char *name = path + len + 1;

		if (!strncmp(path, folders[i], len) && path[len] == '/' && !strncmp(name, stem, strlen(stem)) &&
		    strlen(name) == strlen(stem) + strlen(random_part) &&
		    !name[strspn(name, "-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")])
			return true;
	}
	return false;
}

/* in: its standard input; out: its standard output. -1: there is none. */
__attribute__((noreturn)) static void be_program(const struct push *push, char *const *words, int in, int out)
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (push->mask)
		(void)!sigprocmask(SIG_SETMASK, push->mask, NULL);
	if (nothing >= 0 && dup2(in < 0 ? nothing : in, STDIN_FILENO) >= 0 &&
	    dup2(out < 0 ? nothing : out, STDOUT_FILENO) >= 0)
		execvp(words[0], words);
	_exit(FAILED);
}

static int start(const struct push *push, const char *const *added, int in, int out, pid_t *ret)
{
	char **words = NULL;
	size_t nr = 0;
	bool ok = true;

	for (size_t i = 0; ok && push->rsh[i]; i++) {
		char **word = vec_push(words, nr);

		ok = word != NULL;
		if (ok)
			*word = push->rsh[i];
	}
	for (size_t i = 0; ok; i++) {
		char **word = vec_push(words, nr);

		ok = word != NULL;
		if (ok)
			*word = (char *)(uintptr_t)added[i];
		if (!added[i])
			break;
	}
	*ret = ok ? fork() : -1;
	if (!*ret)
		be_program(push, words, in, out);
	free(words);
	return *ret < 0 ? -ENOMEM : 0;
}

/* Runs a program there. answer: its first line, of at most PATH_LENGTH_MAX bytes; NULL: none is expected. */
static int run(const struct push *push, const char *const *added, int in, char *answer, struct fail *fail)
{
	int ends[2] = { -1, -1 }, status = 0, err;
	pid_t pid;

	if (answer && pipe2(ends, O_CLOEXEC))
		return fail_set(fail, -errno, "cannot make a pipe: %s", strerror(errno));
	err = start(push, added, in, ends[1], &pid);
	cleanup_fd_close(&ends[1]);
	if (!err && answer) {
		ssize_t got = io_read(ends[0], answer, PATH_LENGTH_MAX - 1);

		answer[got > 0 ? got : 0] = '\0';
		answer[strcspn(answer, "\r\n")] = '\0';
	}
	cleanup_fd_close(&ends[0]);
	if (err)
		return fail_set(fail, err, "cannot start '%s'", push->rsh[0]);
	if (io_again(waitpid(pid, &status, 0)) < 0 || !WIFEXITED(status) || WEXITSTATUS(status))
		return fail_set(fail, -EREMOTEIO, "cannot bring weft there: '%s %s' has failed", push->rsh[0],
				added[0]);
	return 0;
}

/* A shell there would take a text for a script. */
static int open_program(const char *program, int *ret_fd, struct fail *fail)
{
	cleanup_fd int fd = open(program, O_RDONLY | O_CLOEXEC);
	char head[4] = "";

	if (fd < 0)
		return fail_set(fail, -errno, "cannot open '%s': %s", program, strerror(errno));
	if (io_pread(fd, head, sizeof(head), 0) != (ssize_t)sizeof(head) || memcmp(head, "\177ELF", sizeof(head)) != 0)
		return fail_set(fail, -ENOEXEC, "'%s' is no program", program);
	*ret_fd = fd_take(&fd);
	return 0;
}

static int make_file(const struct push *push, char path[PATH_LENGTH_MAX], struct fail *fail)
{
	int err = -ENOENT;

	for (size_t i = 0; err && i < array_size(folders); i++) {
		char form[64];

		snprintf(form, sizeof(form), "%s/%s%s", folders[i], stem, random_part);
		err = run(push, (const char *[]){ "mktemp", form, NULL }, -1, path, fail);
	}
	if (!err && !push_is_own(path))
		err = fail_set(fail, -EBADMSG,
			       "cannot bring weft there: mktemp there answers something else than a file");
	return err;
}

int push_bring(const struct push *push, const char *program, char **ret_path, struct fail *fail)
{
	char path[PATH_LENGTH_MAX], of[PATH_LENGTH_MAX + 8];
	cleanup_fd int in = -1;
	int err = open_program(program, &in, fail);

	if (!err)
		err = make_file(push, path, fail);
	if (err)
		return err;
	snprintf(of, sizeof(of), "of=%s", path);
	err = run(push, (const char *[]){ "dd", "bs=64k", "status=none", of, NULL }, in, NULL, fail);
	if (!err)
		err = run(push, (const char *[]){ "chmod", "700", path, NULL }, -1, NULL, fail);
	*ret_path = err ? NULL : strdup(path);
	if (!err && !*ret_path)
		err = fail_memory(fail);
	if (err)
		push_remove(push, path);
	return err;
}

void push_remove(const struct push *push, const char *path)
{
	(void)!run(push, (const char *[]){ "rm", "-f", path, NULL }, -1, NULL, NULL);
}
