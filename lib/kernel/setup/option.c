// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/setup/tracer.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"
#include "lib/kernel/tracefs/kconfig.h"
#include "lib/kernel/undo/change.h"

enum { OPTION_FILE_SIZE = 160 };

/* Prints the path "options/NAME". False: the instance has no such file. */
static bool option_file(const struct instance *instance, const char *name, char into[OPTION_FILE_SIZE])
{
	if (!*name || strchr(name, '/') || *name == '.' || strlen(name) > OPTION_FILE_SIZE - sizeof("options/"))
		return false;
	snprintf(into, OPTION_FILE_SIZE, "options/%s", name);
	return instance_has(instance, into);
}

/* tracing_set_tracer() calls trace_branch_enable(), and nothing else does. */
bool option_precedes_tracer(const char *option)
{
	return !strcmp(option, "branch") || !strcmp(option, "nobranch");
}

bool option_exists(const struct instance *instance, const char *option)
{
	char file[OPTION_FILE_SIZE];

	return option_file(instance, option, file) ||
	       (!strncmp(option, "no", 2) && option_file(instance, option + 2, file));
}

int option_get(const struct instance *instance, const char *option)
{
	char file[OPTION_FILE_SIZE], word[16];
	int err;

	if (!option_file(instance, option, file))
		return -ENOENT;
	err = instance_read_word(instance, file, word, sizeof(word), NULL);
	return err ? err : word[0] == '1';
}

static void offer_options(const struct instance *instance, struct near *near, bool off)
{
	cleanup_free char *path = NULL;
	struct dirent *entry;
	DIR *dir;

	if (asprintf(&path, "%s/options", instance->dir) < 0) {
		path = NULL;
		return;
	}
	dir = opendir(path);
	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		char name[300];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s%s", off ? "no" : "", entry->d_name);
		near_offer(near, name);
	}
	closedir(dir);
}

static int unknown(struct instance *instance, const char *option, struct fail *fail)
{
	bool off = !strncmp(option, "no", 2);
	struct instance top = instance_top(instance->tracing);
	struct near near = near_to(option);
	char hint[KCONFIG_HINT_SIZE];

	if (instance->kind != INSTANCE_TOP && option_exists(&top, option))
		return fail_set(fail, -EOPNOTSUPP, "this kernel has the option '%s' only in its top instance", option);
	if (kconfig_find(KCONFIG_OPTION, option))
		return fail_set(fail, -ENOENT, "this kernel has no option '%s'%s", option,
				kconfig_hint(KCONFIG_OPTION, option, hint));
	offer_options(instance, &near, false);
	if (off)
		offer_options(instance, &near, true);
	return near_fail(&near, fail, -ENOENT, "this kernel has no option '%s'", option);
}

/*
 * With these options set, the kernel changes lists of tasks by itself, so these lists are journaled first. So is the
 * tracer: branches are traced until another tracer begins without the option, which therefore is restored before it.
 */
static int remember_others(struct instance *instance, const char *option, struct fail *fail)
{
	static const struct {
		const char *option, *file;
	} lists[] = {
		{ "event-fork", "set_event_pid" },     { "event-fork", "set_event_notrace_pid" },
		{ "function-fork", "set_ftrace_pid" }, { "function-fork", "set_ftrace_notrace_pid" },
		{ "branch", "current_tracer" },
	};
	int err = 0;

	for (size_t i = 0; !err && i < array_size(lists); i++)
		if (!strcmp(lists[i].option, option) && instance_has(instance, lists[i].file)) {
			err = instance_remember(instance, lists[i].file, fail);
			/*
			 * A kernel that forbids function tracing returns -EPERM for this list, which then has no
			 * entries.
			 */
			err = err == -EPERM ? 0 : err;
		}
	return err;
}

static int set_to(struct instance *instance, const char *name, const char *file, const char *value, struct fail *fail)
{
	int err = 0;

	/* An option of a tracer is shared by all instances and stays set after this instance is removed. */
	if (instance->kind == INSTANCE_PRIVATE && tracer_owns_option(name)) {
		struct instance top = instance_top(instance->tracing);

		top.undo = instance->undo;
		if (instance_has(&top, file))
			err = instance_remember(&top, file, fail);
	}
	if (!err && *value == '1')
		err = remember_others(instance, name, fail);
	return err ? err : instance_set(instance, file, value, fail);
}

int option_set(struct instance *instance, const char *option, struct fail *fail)
{
	char file[OPTION_FILE_SIZE];

	if (option_file(instance, option, file))
		return set_to(instance, option, file, "1", fail);
	if (!strncmp(option, "no", 2) && option_file(instance, option + 2, file))
		return set_to(instance, option + 2, file, "0", fail);
	return unknown(instance, option, fail);
}
