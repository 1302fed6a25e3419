// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/command_path.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char shell[] = "/bin/sh";

static int check(const char *path)
{
	struct stat file;

	if (stat(path, &file))
		return -errno;
	if (!S_ISREG(file.st_mode) || access(path, X_OK))
		return -EACCES;
	return 0;
}

int command_path_find(struct command_path *ret, const char *name, const char *list)
{
	const char *end;
	int err = -ENOENT;

	*ret = (struct command_path){ .path = NULL };
	if (!*name || strchr(name, '/')) {
		ret->path = strdup(name);
		return ret->path ? 0 : -ENOMEM;
	}
	for (list = list ? list : "/bin:/usr/bin"; list; list = *end ? end + 1 : NULL) {
		cleanup_free char *path = NULL;
		int failed;

		end = strchrnul(list, ':');
		/* An empty entry of PATH means the current directory. */
		if (asprintf(&path, "%.*s%s%s", (int)(end - list), list, end > list ? "/" : "", name) < 0) {
			path = NULL;
			return -ENOMEM;
		}
		failed = check(path);
		if (!failed) {
			ret->path = take(path);
			return 0;
		}
		if (failed == -EACCES)
			err = failed;
	}
	return err;
}

int command_path_exec(const struct command_path *path, char *const *argv)
{
	cleanup_free char **with_shell = NULL;
	size_t nr = 0;

	execv(path->path, argv);
	if (errno != ENOEXEC)
		return -errno;
	while (argv[nr])
		nr++;
	with_shell = calloc(nr + 2, sizeof(*with_shell));
	if (!with_shell)
		return -ENOMEM;
	with_shell[0] = (char *)shell;
	with_shell[1] = path->path;
	for (size_t i = 1; i < nr; i++)
		with_shell[i + 1] = argv[i];
	execv(shell, with_shell);
	return -errno;
}
