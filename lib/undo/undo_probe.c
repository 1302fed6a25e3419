// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/undo/undo.h"

#include "lib/base/fail.h"
#include "lib/undo/journal.h"
#include "lib/undo/undo_internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>

/* One journal of the directory, open and parsed. */
struct one {
	char path[512];
	int fd;
	struct process_id owner;
	char boot[BOOT_ID_SIZE];
	struct journal journal;
};

static void one_release(struct one *one)
{
	if (one->fd >= 0)
		close(one->fd);
	journal_release(&one->journal);
}

/* Whether a journal is skipped: it no longer exists, belongs to another user, or is damaged. */
static bool is_passed(int err)
{
	return err == -ENOENT || err == -EACCES || err == -EPERM || err == -EBADMSG || err == -ELOOP;
}

static int visit_journal(struct one *one, void (*each)(struct one *one, void *data), void *data, struct fail *fail)
{
	int err = undo_read_journal(one->path, &one->fd, &one->owner, one->boot, &one->journal, fail);

	if (err)
		return is_passed(err) ? 0 : err;
	if (undo_is_this_boot(one->boot))
		each(one, data);
	one_release(one);
	return 0;
}

/* Calls `each` for every journal of this boot. */
static int for_each(const char *dir, bool only_held, void (*each)(struct one *one, void *data), void *data,
		    struct fail *fail)
{
	const char *where = dir ? dir : UNDO_DIR;
	DIR *stream = opendir(where);
	struct dirent *entry;
	int err = 0;

	if (!stream)
		return is_passed(-errno) ? 0 : fail_set(fail, -errno, "cannot read '%s': %s", where, strerror(errno));
	while (!err && (errno = 0, entry = readdir(stream))) {
		struct one one = { .fd = -1 };
		enum undo_file file = undo_file_of(entry->d_name);

		if (file == UNDO_FILE_NONE || (only_held && file != UNDO_FILE_HELD))
			continue;
		snprintf(one.path, sizeof(one.path), "%s/%s", where, entry->d_name);
		err = visit_journal(&one, each, data, fail);
	}
	if (!err && !entry && errno)
		err = fail_set(fail, -errno, "cannot read '%s': %s", where, strerror(errno));
	closedir(stream);
	return err;
}

struct visit {
	void (*each)(const char *probe, void *data);
	void *data;
};

static void visit_probes(struct one *one, void *data)
{
	struct visit *visit = data;

	for (size_t i = 0; i < one->journal.nr; i++)
		if (one->journal.entries[i].kind == JOURNAL_PROBE)
			visit->each(one->journal.entries[i].file, visit->data);
}

int undo_each_probe(const char *dir, void (*each)(const char *probe, void *data), void *data, struct fail *fail)
{
	struct visit visit = { .each = each, .data = data };

	return for_each(dir, false, visit_probes, &visit, fail);
}

static void drop_probe(struct one *one, void *data)
{
	struct journal_entry *entry = journal_find(&one->journal, JOURNAL_PROBE, "", data);

	/* If a process is restoring the journal now, that process drops the probe. */
	if (!entry || flock(one->fd, LOCK_EX | LOCK_NB))
		return;
	journal_drop(&one->journal, entry);
	/* If this fails, the journal names a probe that no longer exists, which is no error. */
	if (one->journal.nr)
		(void)!undo_store(one->path, one->owner, one->boot, &one->journal, NULL);
	else
		unlink(one->path);
}

void undo_drop_probe(const char *dir, const char *probe)
{
	/* A failure is ignored: a journal that still names the probe does no harm. */
	(void)!for_each(dir, true, drop_probe, (void *)probe, NULL);
}
