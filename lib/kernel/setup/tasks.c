// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/setup/tasks.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/setup/kernel_pids.h"
#include "lib/kernel/setup/tracer.h"
#include "lib/kernel/tracefs/control.h"
#include "lib/kernel/tracefs/kconfig.h"
#include "lib/kernel/undo/change.h"

/* Explains the kernel's error. -ESRCH: the kernel has no such task, or no longer. */
static int refused(int err, const char *file, const char *pids, struct fail *fail)
{
	if (err == -ESRCH)
		return fail_set(fail, err, "there is no task with pid %s", pids);
	if (err == -EPERM && !strcmp(file, "set_ftrace_pid"))
		return fail_set(fail, err, "this kernel does not permit function tracing: '%s' cannot be written",
				file);
	return err;
}

static int set_pids(struct instance *instance, const char *file, const char *pids, bool add, struct fail *fail)
{
	int err = add ? instance_add(instance, file, pids, fail) : instance_set(instance, file, pids, fail);

	return err ? refused(err, file, pids, fail) : 0;
}

static int follow_children(struct instance *instance, const char *option, struct fail *fail)
{
	if (option_exists(instance, option))
		return option_set(instance, option, fail);
	return fail_set(fail, -EOPNOTSUPP, "this kernel cannot follow children: it has no option '%s'", option);
}

int kernel_tasks_follow(struct instance *instance, bool functions, struct fail *fail)
{
	int err = follow_children(instance, "event-fork", fail);

	return err || !functions ? err : follow_children(instance, "function-fork", fail);
}

/* Prints the list as the kernel takes it, with its own PIDs. */
static int print_pids(const struct instance *instance, const pid_t *pids, size_t nr, struct buf *list,
		      struct fail *fail)
{
	cleanup_free pid_t *known = calloc(nr + 1, sizeof(*known));
	int err =
		known ? kernel_pids_find(instance->tracing, instance->undo, pids, nr, known, fail) : fail_memory(fail);

	for (size_t i = 0; !err && i < nr; i++)
		if (!buf_addf(list, i ? " %d" : "%d", (int)known[i]))
			err = fail_memory(fail);
	return err;
}

static const char *const files[2][2] = {
	{ "set_event_pid", "set_ftrace_pid" },
	{ "set_event_notrace_pid", "set_ftrace_notrace_pid" },
};

/* Writes the tasks to the list for events, and with `functions` also to that for functions. */
static int write_lists(struct instance *instance, bool notrace, const pid_t *pids, size_t nr, bool functions,
		       bool keeps, struct fail *fail)
{
	cleanup_buf struct buf list = BUF_INIT;
	int err = print_pids(instance, pids, nr, &list, fail);

	for (size_t i = 0; !err && i <= functions; i++) {
		const char *file = files[notrace][i];

		/* Only newer kernels can exclude tasks. */
		if (notrace && !instance_has(instance, file))
			return kconfig_no_file(file, fail);
		err = set_pids(instance, file, buf_str(&list), keeps, fail);
	}
	return err;
}

int kernel_tasks_exclude(struct instance *instance, const pid_t *pids, size_t nr, bool functions, bool keeps,
			 struct fail *fail)
{
	return write_lists(instance, true, pids, nr, functions, keeps, fail);
}

int kernel_tasks_all(struct instance *instance, bool notrace, struct fail *fail)
{
	int err = 0;

	for (size_t i = 0; !err && i < 2; i++) {
		const char *file = files[notrace][i];

		if (!instance_has(instance, file))
			continue;
		err = instance_set(instance, file, "", fail);
		/* A kernel that forbids function tracing returns -EPERM, and its list has no tasks. */
		if (i && err == -EPERM)
			err = 0;
	}
	return err;
}

int kernel_tasks_uninstall(const struct instance *instance, struct fail *fail)
{
	int err = 0;

	for (size_t i = 0; !err && i < 4; i++) {
		const char *file = files[i / 2][i % 2];

		if (!instance_has(instance, file))
			continue;
		err = instance_write(instance, file, "", fail);
		if (i % 2 && err == -EPERM)
			err = 0;
	}
	return err;
}

static bool is_there(struct text_word pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%.*s", pid.len < 16 ? (int)pid.len : 16, pid.at);
	return !access(path, F_OK);
}

const char *kernel_tasks_nobody(const struct instance *instance, const char *file)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct text_word line;
	const char *at;
	size_t left;

	if (!instance_has(instance, file) || instance_read(instance, file, &text, NULL))
		return NULL;
	if (!text.len)
		return strcmp(file, "set_ftrace_pid") ?
			       NULL :
			       "holds an empty list of tasks: the functions of no task are traced";
	at = buf_str(&text);
	left = text.len;
	while (text_next_line(&at, &left, &line))
		if (!control_is_name(line) || is_there(line))
			return NULL;
	return kernel_pids_are_ours() ? "names only tasks that have ended: no task is traced" : NULL;
}

int kernel_tasks_only(struct instance *instance, const pid_t *pids, size_t nr, bool functions, bool follow,
		      struct fail *fail)
{
	int err = follow ? kernel_tasks_follow(instance, functions, fail) : 0;

	return err ? err : write_lists(instance, false, pids, nr, functions, false, fail);
}

int kernel_tasks_add(struct instance *instance, const pid_t *pids, size_t nr, bool functions, struct fail *fail)
{
	return write_lists(instance, false, pids, nr, functions, true, fail);
}

static bool has_pid(const pid_t *pids, size_t nr, struct text_word line)
{
	char name[16];

	for (size_t i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "%d", (int)pids[i]);
		if (text_word_is(line, name))
			return true;
	}
	return false;
}

static int remove_from(struct instance *instance, const char *file, const pid_t *pids, size_t nr,
		       const char **ret_empty, struct fail *fail)
{
	cleanup_buf struct buf now = BUF_INIT, rest = BUF_INIT;
	bool found = false;
	struct text_word line;
	const char *at;
	size_t left;
	int err = instance_read(instance, file, &now, fail);

	if (err)
		return err;
	at = buf_str(&now);
	left = now.len;
	while (text_next_line(&at, &left, &line)) {
		if (!control_is_name(line))
			continue;
		if (has_pid(pids, nr, line))
			found = true;
		else if (!buf_addf(&rest, "%s%.*s", rest.len ? " " : "", (int)line.len, line.at))
			return fail_memory(fail);
	}
	if (!found)
		return 0;
	if (!rest.len)
		*ret_empty = file;
	return set_pids(instance, file, buf_str(&rest), false, fail);
}

int kernel_tasks_remove(struct instance *instance, const pid_t *pids, size_t nr, bool notrace, const char **ret_empty,
			struct fail *fail)
{
	cleanup_free pid_t *known = calloc(nr + 1, sizeof(*known));
	int err = known ? 0 : fail_memory(fail);

	*ret_empty = NULL;
	/* A task that has ended can also be removed. In a PID namespace nothing is known about such a task. */
	if (!err && kernel_pids_are_ours())
		memcpy(known, pids, nr * sizeof(*known));
	else if (!err)
		err = kernel_pids_find(instance->tracing, instance->undo, pids, nr, known, fail);
	for (size_t i = 0; !err && i < 2; i++)
		if (instance_has(instance, files[notrace][i]))
			err = remove_from(instance, files[notrace][i], known, nr, ret_empty, fail);
	return err;
}
