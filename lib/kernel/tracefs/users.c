// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/tracefs/users.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/tracefs/pids.h"

struct search {
	int (*each)(const struct tracing_user *user, void *data);
	void *data;
	/* the directories where tracefs may be mounted, each with a slash at the end; NULL ends the list */
	const char *roots[3];
};

/* The part of the path after the mount directory, or NULL. */
static const char *below(const struct search *search, const char *path)
{
	for (size_t i = 0; search->roots[i]; i++) {
		size_t len = strlen(search->roots[i]);

		if (!strncmp(path, search->roots[i], len))
			return path + len;
	}
	return NULL;
}

static void read_comm(pid_t pid, char *into, size_t size)
{
	cleanup_buf struct buf buf = BUF_INIT;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	if (tracing_read_path(path, &buf, NULL))
		buf_clear(&buf);
	snprintf(into, size, "%.*s", (int)strcspn(buf_str(&buf), "\n"), buf_str(&buf));
}

static int search_process(const struct search *search, pid_t pid)
{
	char path[64], comm[64] = "", target[PATH_MAX];
	struct dirent *entry;
	int ret = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	if (!dir)
		return 0;
	while (!ret && (entry = readdir(dir))) {
		ssize_t len = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);
		const char *file;

		if (len <= 0)
			continue;
		target[len] = '\0';
		file = below(search, target);
		if (!file)
			continue;
		if (!*comm)
			read_comm(pid, comm, sizeof(comm));
		ret = search->each(&(struct tracing_user){ .pid = pid, .comm = comm, .file = file }, search->data);
	}
	closedir(dir);
	return ret;
}

int tracing_each_user(const struct tracing *tracing, int (*each)(const struct tracing_user *user, void *data),
		      void *data)
{
	struct search search = { .each = each, .data = data };
	cleanup_free char *root = NULL;
	cleanup_pids DIR *all = NULL;
	int ret = 0;
	pid_t pid;

	if (asprintf(&root, "%s/", tracing->dir) < 0) {
		root = NULL;
		return 0;
	}
	search.roots[0] = root;
	search.roots[1] = "/sys/kernel/debug/tracing/";
	all = pids_of_all();
	while (!ret && (pid = pids_next(all)) != 0)
		if (pid != getpid())
			ret = search_process(&search, pid);
	return ret;
}

const char *tracing_user_file(const struct tracing_user *user, const char *instance)
{
	static const char dir[] = "instances/";
	size_t len = strlen(instance);
	const char *name;

	if (strncmp(user->file, dir, strlen(dir)) != 0)
		return len ? NULL : user->file;
	name = user->file + strlen(dir);
	return len && !strncmp(name, instance, len) && name[len] == '/' ? name + len + 1 : NULL;
}

struct holder {
	const char *instance;
	struct fail *fail;
};

static int tell_holder(const struct tracing_user *user, void *data)
{
	const struct holder *holder = data;
	const char *file = tracing_user_file(user, holder->instance);

	if (!file)
		return 0;
	fail_set(holder->fail, -EBUSY, "cannot remove the instance '%s': %s (process %d) has its '%s' open",
		 holder->instance, user->comm, (int)user->pid, file);
	return 1;
}

int tracing_instance_kept(const struct tracing *tracing, const char *instance, int err, struct fail *fail)
{
	struct holder holder = { .instance = instance, .fail = fail };

	if (!fail || (err == -EBUSY && tracing_each_user(tracing, tell_holder, &holder)))
		return err;
	return fail_set(fail, err, "cannot remove the instance '%s': %s", instance, strerror(-err));
}
