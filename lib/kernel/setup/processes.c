// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/setup/processes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/kernel/setup/kernel_pids.h"
#include "lib/kernel/setup/tasks.h"
#include "lib/kernel/tracefs/container_names.h"
#include "lib/kernel/tracefs/pids.h"
#include "lib/kernel/tracefs/task_scan.h"
#include "lib/kernel/tracefs/tracing.h"

enum { LOOKS_MAX = 200, NAME_SIZE = 256, FORK_US = 200 };

void pid_list_release(struct pid_list *list)
{
	free(list->pids);
	free(list->has);
	*list = (struct pid_list){ .nr = 0 };
}

bool pid_list_has(const struct pid_list *list, pid_t pid)
{
	return list->has && pid > 0 && pid <= PID_MAX && list->has[pid / 8] & 1 << pid % 8;
}

/* Adds it once. */
bool pid_list_add(struct pid_list *list, pid_t pid)
{
	pid_t *added;

	if (pid <= 0 || pid > PID_MAX)
		return true;
	if (!list->has)
		list->has = calloc(PID_MAX / 8 + 1, 1);
	if (!list->has)
		return false;
	if (pid_list_has(list, pid))
		return true;
	added = vec_push(list->pids, list->nr);
	if (!added)
		return false;
	*added = pid;
	list->has[pid / 8] |= (uint8_t)(1 << pid % 8);
	return true;
}

static int add(struct pid_list *list, pid_t pid, struct fail *fail)
{
	return pid_list_add(list, pid) ? 0 : fail_memory(fail);
}

size_t process_status_number(pid_t pid, const char *name)
{
	cleanup_buf struct buf status = BUF_INIT;
	char path[64], line[32];
	const char *at;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	snprintf(line, sizeof(line), "\n%s:\t", name);
	at = tracing_read_path(path, &status, NULL) ? NULL : strstr(buf_str(&status), line);
	return at ? strtoul(at + strlen(line), NULL, 10) : 0;
}

/* The last part of the path of its program; "" for a kernel thread. */
static void file_of(pid_t pid, char into[NAME_SIZE])
{
	char link[64], file[4096];

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	task_file(link, file, sizeof(file));
	snprintf(into, NAME_SIZE, "%.255s", strrchr(file, '/') ? strrchr(file, '/') + 1 : file);
}

static void comm_of(pid_t pid, char into[NAME_SIZE])
{
	cleanup_buf struct buf text = BUF_INIT;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	*into = '\0';
	if (!tracing_read_path(path, &text, NULL))
		snprintf(into, NAME_SIZE, "%.*s", (int)strcspn(buf_str(&text), "\n"), buf_str(&text));
}

struct search {
	const char *glob;
	struct pid_list *into;
	struct near near;
};

static int see_process(struct search *search, pid_t pid, struct fail *fail)
{
	char file[NAME_SIZE], comm[NAME_SIZE];

	if (pid == getpid())
		return 0;
	file_of(pid, file);
	comm_of(pid, comm);
	if (text_glob(search->glob, file) || text_glob(search->glob, comm))
		return add(search->into, pid, fail);
	near_offer(&search->near, *file ? file : comm);
	return 0;
}

int processes_find(const char *word, struct pid_list *into, struct fail *fail)
{
	struct search search = { .glob = word, .into = into, .near = near_to(word) };
	pid_t pid = pids_parse(word), group = pid ? (pid_t)process_status_number(pid, "Tgid") : 0;
	cleanup_pids DIR *all = NULL;
	size_t before = into->nr;
	int err = 0;

	if (pid && !group)
		return fail_set(fail, -ESRCH, "there is no process with pid %d", (int)pid);
	if (pid && group != pid)
		return fail_set(fail, -ESRCH, "%d is a thread of process %d; -P %d traces this thread alone", (int)pid,
				(int)group, (int)pid);
	if (pid)
		return add(into, pid, fail);
	all = pids_of_all();
	while (!err && (pid = pids_next(all)) != 0)
		err = see_process(&search, pid, fail);
	if (!err && into->nr == before)
		err = near_fail(&search.near, fail, -ESRCH, "no program '%s' runs", word);
	return err;
}

/* Adds the threads that live now: lists them until the list is whole. A process that has ended has none. */
static int find_threads(pid_t process, struct pid_list *into, struct fail *fail)
{
	int err = 0;

	for (unsigned look = 0; !err && look < LOOKS_MAX; look++) {
		cleanup_pids DIR *threads = pids_of_threads(process);
		size_t seen = 0;
		pid_t tid;

		if (!threads && (errno == ENOENT || errno == ESRCH))
			return 0;
		for (; !err && (tid = pids_next(threads)) != 0; seen++)
			err = add(into, tid, fail);
		if (!err && threads && seen >= process_status_number(process, "Threads"))
			return 0;
	}
	return err ? err :
		     fail_set(fail, -EBUSY, "threads of process %d begin and end faster than they can be listed",
			      (int)process);
}

/* The control groups that are looked for, and the threads that were found there. */
struct group_search {
	const struct who_want *wants;
	size_t nr;
	struct pid_list *into;
	struct near *near; /* or NULL */
	bool found;        /* one of them is there, with or without a task */
	struct buf text;
	struct fail *fail;
};

/* What people call the container or pod of the path; "" if that is not known. */
static const char *name_of(enum who_part part, const char *path, struct buf *into)
{
	char text[WHO_PATH_TEXT];
	const char *id = who_path_text(part, path, text);
	bool ok = true;

	if (*id && part == WHO_CONTAINER)
		ok = container_name(CONTAINERS_HERE, id, into);
	else if (*id && part == WHO_POD)
		ok = pod_name(CONTAINERS_HERE, id, into);
	return ok ? buf_str(into) : "";
}

static bool wants_group(const struct group_search *search, const char *path)
{
	for (size_t i = 0; i < search->nr; i++) {
		const struct who_want *want = &search->wants[i];
		cleanup_buf struct buf name = BUF_INIT;

		if (who_path_matches(want->part, want->word, path) ||
		    who_text_matches(want->part, want->word, name_of(want->part, path, &name)))
			return true;
	}
	return false;
}

static int see_group(const char *path, int dir, void *arg)
{
	struct group_search *search = arg;
	char text[WHO_PATH_TEXT];
	struct text_word line;
	const char *at;
	size_t left;
	int err;

	if (!wants_group(search, path)) {
		cleanup_buf struct buf called = BUF_INIT;
		const char *name = who_path_text(search->wants[0].part, path, text);

		if (search->near && *name)
			near_offer(search->near, name);
		if (search->near && *name_of(search->wants[0].part, path, &called))
			near_offer(search->near, buf_str(&called));
		return 0;
	}
	search->found = true;
	search->text.len = 0;
	err = cgroup_threads(dir, &search->text);
	if (err)
		return fail_set(search->fail, err, "cannot read the tasks of the control group %s: %s", path,
				strerror(-err));
	at = buf_str(&search->text);
	left = search->text.len;
	while (!err && text_next_line(&at, &left, &line)) {
		char number[16];

		snprintf(number, sizeof(number), "%.*s", line.len < sizeof(number) ? (int)line.len : 0, line.at);
		err = add(search->into, pids_parse(number), search->fail);
	}
	return err;
}

static int find_groups(struct group_search *search)
{
	int err = search->nr ? cgroups_each(see_group, search) : 0;

	buf_release(&search->text);
	return err;
}

int groups_find(enum who_part part, const char *word, struct fail *fail)
{
	const struct who_want want = { .part = part, .word = word };
	const char *what = part == WHO_CGROUP ? "control group" : who_part_word(part);
	struct near near = near_to(word);
	struct pid_list tasks = { .nr = 0 };
	struct group_search search = { .wants = &want, .nr = 1, .into = &tasks, .near = &near, .fail = fail };
	int err = find_groups(&search);

	if (!err && !tasks.nr && search.found)
		err = fail_set(fail, -ESRCH, "the %s '%s' is empty: no task runs in it", what, word);
	else if (!err && !tasks.nr)
		err = near_fail(&near, fail, -ESRCH, "no task runs in a %s '%s'", what, word);
	pid_list_release(&tasks);
	return err;
}

static int find_all(const struct task_choice *choice, struct pid_list *into, struct fail *fail)
{
	struct group_search search = { .wants = choice->groups, .nr = choice->nr_groups, .into = into, .fail = fail };
	int err = 0;

	for (size_t i = 0; !err && i < choice->processes->nr; i++)
		err = find_threads(choice->processes->pids[i], into, fail);
	return err ? err : find_groups(&search);
}

static int read_listed(const struct instance *instance, const char *file, struct pid_list *into, struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct text_word line;
	const char *at;
	size_t left;
	int err = instance_read(instance, file, &text, fail);

	at = buf_str(&text);
	left = text.len;
	while (!err && text_next_line(&at, &left, &line)) {
		char name[16];

		snprintf(name, sizeof(name), "%.*s", line.len < sizeof(name) ? (int)line.len : 0, line.at);
		err = add(into, pids_parse(name), fail);
	}
	return err;
}

/* Adds those of the threads that are in no list. One that has ended is in none, and may have had a child before. */
static int add_unlisted(const struct instance *instance, const struct pid_list *threads, const char *file,
			struct pid_list *into, struct fail *fail)
{
	struct pid_list listed = { .nr = 0 };
	int err = read_listed(instance, file, &listed, fail);

	for (size_t i = 0; !err && i < threads->nr; i++)
		if (!pid_list_has(&listed, threads->pids[i]))
			err = add(into, threads->pids[i], fail);
	pid_list_release(&listed);
	return err;
}

/* Lists what is not listed yet. *ret_whole: all threads were in the list, so that those that come later will be. */
static int look(struct instance *instance, const struct task_choice *choice, bool functions, bool *ret_whole,
		struct fail *fail)
{
	struct pid_list threads = { .nr = 0 }, unlisted = { .nr = 0 };
	int err = find_all(choice, &threads, fail);

	if (!err && !threads.nr)
		err = choice->processes->nr ?
			      fail_set(fail, -ESRCH, "process %d has ended", (int)choice->processes->pids[0]) :
			      fail_set(fail, -ESRCH, "the last task of %s '%s' has ended",
				       who_part_word(choice->groups[0].part), choice->groups[0].word);
	if (!err)
		err = add_unlisted(instance, &threads, "set_event_pid", &unlisted, fail);
	if (!err && functions)
		err = add_unlisted(instance, &threads, "set_ftrace_pid", &unlisted, fail);
	*ret_whole = !err && !unlisted.nr;
	if (!err && unlisted.nr)
		err = kernel_tasks_add(instance, unlisted.pids, unlisted.nr, functions, fail);
	pid_list_release(&unlisted);
	pid_list_release(&threads);
	return err;
}

/* Lists these tasks; without `keeps` nothing else stays in the list. */
static int list_first(struct instance *instance, const struct task_choice *choice, bool functions, bool keeps,
		      struct fail *fail)
{
	struct pid_list first = { .nr = 0 };
	int err = find_all(choice, &first, fail);

	for (size_t i = 0; !err && i < choice->more->nr; i++)
		err = add(&first, choice->more->pids[i], fail);
	if (!err && first.nr && keeps)
		err = kernel_tasks_add(instance, first.pids, first.nr, functions, fail);
	else if (!err && first.nr)
		err = kernel_tasks_only(instance, first.pids, first.nr, functions, false, fail);
	pid_list_release(&first);
	return err;
}

int processes_only(struct instance *instance, const struct task_choice *choice, bool functions, bool keeps,
		   struct fail *fail)
{
	bool whole = instance->tracing->plan;
	int err = 0;

	if (!kernel_pids_are_ours())
		err = fail_set(fail, -EOPNOTSUPP,
			       "in a PID namespace the kernel's lists have other numbers than /proc, so --%s "
			       "is not possible here",
			       choice->nr_groups ? who_part_word(choice->groups[0].part) : "process");
	if (!err)
		err = kernel_tasks_follow(instance, functions, fail);
	if (!err)
		err = list_first(instance, choice, functions, keeps, fail);
	for (unsigned looks = 0; !err && !whole; looks++)
		err = looks < LOOKS_MAX ? look(instance, choice, functions, &whole, fail) :
					  fail_set(fail, -EBUSY, "tasks begin faster than they can be listed");
	return err;
}

/* A child is in its group shortly before the kernel lists it (kernel_clone() of kernel/fork.c). */
static int leave_forked(const struct instance *instance, struct pid_list *unlisted, struct fail *fail)
{
	struct pid_list rest = { .nr = 0 };
	int err;

	usleep(FORK_US);
	err = add_unlisted(instance, unlisted, "set_event_pid", &rest, fail);
	pid_list_release(unlisted);
	*unlisted = rest;
	return err;
}

int groups_follow(struct instance *instance, const struct task_choice *choice, bool functions,
		  void (*late)(pid_t pid, const char *name, void *arg), void *arg, struct fail *fail)
{
	bool whole = false;
	int err = 0;

	for (unsigned looks = 0; !err && !whole && looks < LOOKS_MAX; looks++) {
		struct pid_list threads = { .nr = 0 }, unlisted = { .nr = 0 };
		struct group_search search = {
			.wants = choice->groups, .nr = choice->nr_groups, .into = &threads, .fail = fail
		};

		err = find_groups(&search);
		if (!err)
			err = add_unlisted(instance, &threads, "set_event_pid", &unlisted, fail);
		if (!err && unlisted.nr)
			err = leave_forked(instance, &unlisted, fail);
		whole = !err && !unlisted.nr;
		if (!err && !whole)
			err = kernel_tasks_add(instance, unlisted.pids, unlisted.nr, functions, fail);
		for (size_t i = 0; !err && i < unlisted.nr; i++) {
			char name[NAME_SIZE];

			comm_of(unlisted.pids[i], name);
			late(unlisted.pids[i], name, arg);
		}
		pid_list_release(&unlisted);
		pid_list_release(&threads);
	}
	return err;
}
