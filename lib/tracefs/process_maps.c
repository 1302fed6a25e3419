// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/tracefs/process_maps.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/base/text.h"

enum { DEPTH_MAX = 32 };

static bool runs_our_program(pid_t pid)
{
	char path[64], theirs[256], ours[256];
	ssize_t len, own = readlink("/proc/self/exe", ours, sizeof(ours));

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	len = readlink(path, theirs, sizeof(theirs));
	return len == own && len > 0 && !memcmp(theirs, ours, (size_t)len);
}

int process_maps_put(struct settings *settings, pid_t pid, struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	const struct setting *known;
	char path[64];
	int err;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	known = settings_find(settings, path + 1);
	if (runs_our_program(pid) || (!known && settings->nr >= PROCESS_MAPS_NR))
		return 0;
	err = tracing_read_path(path, &text, NULL);
	if (err == -ENOMEM)
		return fail_memory(fail);
	if (err || !text.len || text.len > PROCESS_MAPS_SIZE)
		return 0;
	if (known && known->len == text.len && !memcmp(known->text, text.data, text.len))
		return 0;
	err = settings_put(settings, path + 1, buf_str(&text), text.len, fail);
	return err ? err : 1;
}

/* The next entry of the directory that is a number; 0: there are no more. */
static pid_t next_number(DIR *dir)
{
	struct dirent *entry;

	while ((entry = readdir(dir)))
		if (*entry->d_name >= '1' && *entry->d_name <= '9')
			return (pid_t)strtol(entry->d_name, NULL, 10);
	return 0;
}

static DIR *open_tasks(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	return opendir(path);
}

/* The parent is field 4 of /proc/PID/stat. The name in field 2 may contain any character. */
static pid_t parent_of(pid_t pid)
{
	cleanup_buf struct buf text = BUF_INIT;
	const char *close;
	char path[64], state;
	int parent;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (tracing_read_path(path, &text, NULL))
		return 0;
	close = strrchr(buf_str(&text), ')');
	return close && sscanf(close, ") %c %d", &state, &parent) == 2 ? parent : 0;
}

static bool descends(pid_t pid, pid_t from)
{
	for (int depth = 0; pid > 1 && depth < DEPTH_MAX; depth++) {
		if (pid == from)
			return true;
		pid = parent_of(pid);
	}
	return false;
}

int process_maps_put_tree(struct settings *settings, pid_t from, struct fail *fail)
{
	DIR *proc = opendir("/proc");
	int r = 0, any = 0;
	pid_t pid;

	/* Descendants have higher PIDs, unless the PIDs have wrapped, so most processes need not be read. */
	while (proc && r >= 0 && (pid = next_number(proc))) {
		if (pid < from || !descends(pid, from))
			continue;
		r = process_maps_put(settings, pid, fail);
		any |= r > 0;
	}
	if (proc)
		closedir(proc);
	return r < 0 ? r : any;
}

struct pids {
	pid_t *at;
	size_t nr;
};

static int compare(const void *a, const void *b)
{
	pid_t left = *(const pid_t *)a, right = *(const pid_t *)b;

	return (left > right) - (left < right);
}

static bool is_known(const struct pids *pids, pid_t pid)
{
	return pids->nr && bsearch(&pid, pids->at, pids->nr, sizeof(pid), compare);
}

/* Reads the PIDs of the lines "PID NAME" of saved_cmdlines. */
static int read_known(const struct tracing *tracing, struct pids *ret, struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free char *path = NULL;
	struct text_word line;
	const char *at;
	size_t left, size = 1;

	if (asprintf(&path, "%s/saved_cmdlines", tracing->dir) < 0) {
		path = NULL;
		return fail_memory(fail);
	}
	if (tracing_read_path(path, &text, NULL))
		return 0;
	at = buf_str(&text);
	left = text.len;
	for (size_t i = 0; i < left; i++)
		size += at[i] == '\n';
	ret->at = calloc(size, sizeof(*ret->at));
	if (!ret->at)
		return fail_memory(fail);
	while (ret->nr < size && text_next_line(&at, &left, &line))
		ret->at[ret->nr++] = (pid_t)strtol(line.at, NULL, 10);
	qsort(ret->at, ret->nr, sizeof(*ret->at), compare);
	return 0;
}

static bool has_known_task(const struct pids *known, pid_t pid)
{
	bool found = is_known(known, pid);
	DIR *tasks = found ? NULL : open_tasks(pid);
	pid_t tid;

	while (tasks && !found && (tid = next_number(tasks)))
		found = is_known(known, tid);
	if (tasks)
		closedir(tasks);
	return found;
}

int process_maps_put_known(struct settings *settings, const struct tracing *tracing, struct fail *fail)
{
	struct pids known = { .at = NULL };
	int r = read_known(tracing, &known, fail);
	DIR *proc = opendir("/proc");
	pid_t pid;

	while (proc && r >= 0 && (pid = next_number(proc)))
		if (pid != getpid() && has_known_task(&known, pid))
			r = process_maps_put(settings, pid, fail);
	if (proc)
		closedir(proc);
	free(known.at);
	return r < 0 ? r : 0;
}
