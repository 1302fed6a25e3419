// SPDX-License-Identifier: LGPL-2.1-or-later
/* What one entry of a journal restores: a setting, a probe or an instance. */
#include "lib/kernel/undo/undo_internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/tracefs/control.h"
#include "lib/kernel/tracefs/users.h"

int undo_path_of(const struct tracing *tracing, const char *instance, const char *file, char **ret)
{
	int len;

	if (*file == '/')
		len = asprintf(ret, "%s", file);
	else if (*instance)
		len = asprintf(ret, "%s/instances/%s%s%s", tracing->dir, instance, *file ? "/" : "", file);
	else
		len = asprintf(ret, "%s/%s", tracing->dir, file);
	if (len >= 0)
		return 0;
	*ret = NULL;
	return -ENOMEM;
}

static bool has_trigger(const char *text)
{
	size_t left = strlen(text);
	struct text_word line;

	while (text_next_line(&text, &left, &line))
		if (line.len && *line.at != '#')
			return true;
	return false;
}

/* Removes the triggers of one event. Returns how many files of triggers became shorter. */
static unsigned clear_one(const char *dir, const char *system, const char *event)
{
	cleanup_buf struct buf was = BUF_INIT, is = BUF_INIT;
	cleanup_free char *path = NULL;

	if (asprintf(&path, "%s/events/%s/%s/trigger", dir, system, event) < 0) {
		path = NULL;
		return 0;
	}
	if (control_read(path, "trigger", &was, NULL) || !has_trigger(buf_str(&was)))
		return 0;
	/* One that others refer to stays for the next round. */
	(void)!control_restore_triggers(path, "", buf_str(&was));
	return !control_read(path, "trigger", &is, NULL) && is.len < was.len;
}

static unsigned clear_system(const char *dir, const char *system)
{
	cleanup_free char *path = NULL;
	struct dirent *entry;
	unsigned nr = 0;
	DIR *events;

	if (asprintf(&path, "%s/events/%s", dir, system) < 0) {
		path = NULL;
		return 0;
	}
	events = opendir(path);
	while (events && (entry = readdir(events)))
		if (*entry->d_name != '.' && entry->d_type == DT_DIR)
			nr += clear_one(dir, system, entry->d_name);
	if (events)
		closedir(events);
	return nr;
}

static unsigned clear_all(const char *dir)
{
	cleanup_free char *path = NULL;
	struct dirent *entry;
	unsigned nr = 0;
	DIR *systems;

	if (asprintf(&path, "%s/events", dir) < 0) {
		path = NULL;
		return 0;
	}
	systems = opendir(path);
	while (systems && (entry = readdir(systems)))
		if (*entry->d_name != '.' && entry->d_type == DT_DIR)
			nr += clear_system(dir, entry->d_name);
	if (systems)
		closedir(systems);
	return nr;
}

void undo_end_branches(const char *dir)
{
	cleanup_free char *option = NULL, *tracer = NULL;
	cleanup_buf struct buf now = BUF_INIT;
	bool ok = asprintf(&option, "%s/options/branch", dir) >= 0;

	if (!ok)
		option = NULL;
	if (!ok || asprintf(&tracer, "%s/current_tracer", dir) < 0) {
		tracer = NULL;
		return;
	}
	if (control_read(option, "options/branch", &now, NULL) || *buf_str(&now) != '1')
		return;
	(void)!control_write(option, false, "0");
	now.len = 0;
	/* Writing the current tracer is no begin. The tracer `branch` is had by the top instance alone. */
	if (!control_read(tracer, "current_tracer", &now, NULL) && !strcmp(buf_str(&now), "nop\n") &&
	    control_write(tracer, false, "branch"))
		(void)!control_write(tracer, false, "function");
	(void)!control_write(tracer, false, "nop");
}

int undo_remove_instance(const char *dir)
{
	unsigned removed = 1;

	undo_end_branches(dir);

	while (rmdir(dir)) {
		int err = -errno;

		if (err != -EBUSY || !removed)
			return err;
		removed = clear_all(dir);
	}
	return 0;
}

static int remove_probe(const struct tracing *tracing, const char *probe)
{
	cleanup_free char *path = NULL, *text = NULL;

	if (undo_path_of(tracing, "", "dynamic_events", &path) || asprintf(&text, "-:%s", probe) < 0) {
		text = NULL;
		return -ENOMEM;
	}
	/* Appends, because opening dynamic_events with truncation would remove the events of all users. */
	return control_write(path, true, text);
}

int undo_restore_entry(const struct tracing *tracing, const struct journal_entry *entry, struct fail *fail)
{
	cleanup_free char *path = NULL;
	int err;

	if (journal_only_says(entry))
		return 0;
	if (strstr(entry->instance, "..") || strstr(entry->file, ".."))
		return fail_set(fail, -EBADMSG, "the journal names '%s/%s', which is no file of tracefs",
				entry->instance, entry->file);
	if (undo_path_of(tracing, entry->instance, entry->file, &path))
		return fail_memory(fail);
	if (entry->kind == JOURNAL_INSTANCE)
		err = undo_remove_instance(path);
	else if (entry->kind == JOURNAL_PROBE)
		err = remove_probe(tracing, entry->file);
	else
		err = control_restore(path, entry->file, entry->text);
	/* A file that no longer exists need not be restored, unless tracefs itself is gone. */
	if (!err || (err == -ENOENT && !tracing_is_gone(tracing)))
		return 0;
	if (entry->kind == JOURNAL_INSTANCE)
		return tracing_instance_kept(tracing, entry->instance, err, fail);
	if (entry->kind == JOURNAL_PROBE)
		return fail_set(fail, err, "cannot remove the probe '%s': %s", entry->file,
				err == -EBUSY ? "another process has switched it on" : strerror(-err));
	return fail_set(fail, err, "cannot put back '%s': %s", path, strerror(-err));
}

bool undo_comes_last(const struct journal_entry *entry)
{
	return entry->kind == JOURNAL_SETTING && !strcmp(entry->file, "tracing_on") && entry->text[0] == '1';
}
