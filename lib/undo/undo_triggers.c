// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/buf.h"
#include "lib/base/text.h"
#include "lib/tracefs/control.h"
#include "lib/undo/undo.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

int undo_remove_instance(const char *dir)
{
	unsigned removed = 1;

	while (rmdir(dir)) {
		int err = -errno;

		if (err != -EBUSY || !removed)
			return err;
		removed = clear_all(dir);
	}
	return 0;
}
