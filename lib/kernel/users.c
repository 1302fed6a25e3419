// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/users.h"

#include "lib/base/buf.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

struct search {
	int (*each)(const struct tracing_user *user, void *data);
	void *data;
	const char *roots[3];           /* where tracefs may be seen, each with a slash at its end; NULL ends them */
};

/* The name behind the root, or NULL. */
static const char *below(const struct search *search, const char *path)
{
	for (size_t i = 0; search->roots[i]; i++) {
		size_t len = strlen(search->roots[i]);

		if (!strncmp(path, search->roots[i], len))
			return path + len;
	}
	return NULL;
}

static void read_comm(const char *pid, char *into, size_t size)
{
	cleanup_buf struct buf buf = BUF_INIT;
	char path[300];

	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	if (tracing_read_path(path, &buf, NULL))
		buf_clear(&buf);
	snprintf(into, size, "%.*s", (int)strcspn(buf_str(&buf), "\n"), buf_str(&buf));
}

static int search_process(const struct search *search, const char *pid)
{
	char path[300], comm[64] = "", target[PATH_MAX];
	struct dirent *entry;
	int ret = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
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
		ret = search->each(&(struct tracing_user){ .pid = (pid_t)strtol(pid, NULL, 10), .comm = comm, .file = file },
				   search->data);
	}
	closedir(dir);
	return ret;
}

int tracing_each_user(const struct tracing *tracing, int (*each)(const struct tracing_user *user, void *data), void *data)
{
	struct search search = { .each = each, .data = data };
	cleanup_free char *root = NULL;
	struct dirent *entry;
	int ret = 0;
	DIR *proc;

	if (asprintf(&root, "%s/", tracing->dir) < 0) {
		root = NULL;
		return 0;
	}
	search.roots[0] = root;
	search.roots[1] = "/sys/kernel/debug/tracing/";
	proc = opendir("/proc");
	if (!proc)
		return 0;
	while (!ret && (entry = readdir(proc)))
		if (isdigit((unsigned char)entry->d_name[0]) && strtol(entry->d_name, NULL, 10) != getpid())
			ret = search_process(&search, entry->d_name);
	closedir(proc);
	return ret;
}
