// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/tracefs/process_maps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/tracefs/pids.h"

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
	cleanup_pids DIR *all = pids_of_all();
	int r = 0, any = 0;
	pid_t pid;

	/* Descendants have higher PIDs, unless the PIDs have wrapped, so most processes need not be read. */
	while (r >= 0 && (pid = pids_next(all)) != 0) {
		if (pid < from || !descends(pid, from))
			continue;
		r = process_maps_put(settings, pid, fail);
		any |= r > 0;
	}
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
	cleanup_pids DIR *threads = found ? NULL : pids_of_threads(pid);
	pid_t tid;

	while (!found && (tid = pids_next(threads)) != 0)
		found = is_known(known, tid);
	return found;
}

int process_maps_put_known(struct settings *settings, const struct tracing *tracing, struct fail *fail)
{
	struct pids known = { .at = NULL };
	int r = read_known(tracing, &known, fail);
	cleanup_pids DIR *all = pids_of_all();
	pid_t pid;

	while (r >= 0 && (pid = pids_next(all)) != 0)
		if (pid != getpid() && has_known_task(&known, pid))
			r = process_maps_put(settings, pid, fail);
	free(known.at);
	return r < 0 ? r : 0;
}
