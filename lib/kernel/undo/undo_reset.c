// SPDX-License-Identifier: LGPL-2.1-or-later
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"
#include "lib/kernel/undo/journal.h"
#include "lib/kernel/undo/undo.h"
#include "lib/kernel/undo/undo_internal.h"

/* A journal that is being restored. `fd` holds its lock. */
struct replay {
	int fd;
	bool stays;   /* this journal is not restored, only others are */
	bool changed; /* this journal got an older value from another journal */
	const char *path;
	struct process_id owner;
	char boot[BOOT_ID_SIZE];
	struct journal journal;
};

/* Whether the next older journal that has the entry is restored, too. */
static bool has_older(const struct replay *replays, size_t nr, size_t from, const struct journal_entry *entry)
{
	for (size_t i = from; i < nr; i++)
		if (journal_find(&replays[i].journal, entry->kind, entry->instance, entry->file))
			return !replays[i].stays;
	return false;
}

/* Gives the old value to the next younger journal that stays. */
static bool hand_up(struct replay *replays, size_t at, const struct journal_entry *entry)
{
	while (at-- > 0)
		if (replays[at].stays && undo_hand_to(&replays[at].journal, entry))
			return replays[at].changed = true;
	return false;
}

enum phase { PHASE_SETTINGS, PHASE_PROBES, PHASE_LAST, NR_PHASES };

static enum phase phase_of(const struct journal_entry *entry)
{
	return entry->kind == JOURNAL_PROBE ? PHASE_PROBES : undo_comes_last(entry) ? PHASE_LAST : PHASE_SETTINGS;
}

/*
 * Restores the entries of one phase of one journal of the list, its last change first. Skips entries that the next
 * older journal also has, if it does not stay: that journal restores them.
 */
static int reset_one(const struct tracing *tracing, struct replay *replays, size_t nr, size_t at, const char *instance,
		     enum phase phase, struct undo_sum *sum, struct fail *fail)
{
	struct journal *journal = &replays[at].journal;
	int first = 0;

	for (size_t i = replays[at].stays ? 0 : journal->nr; i-- > 0;) {
		struct journal_entry *entry = &journal->entries[i];
		int err = 0;

		if ((instance && strcmp(entry->instance, instance) != 0) || phase_of(entry) != phase)
			continue;
		if (!has_older(replays, nr, at + 1, entry) && !hand_up(replays, at, entry)) {
			err = undo_restore_entry(tracing, entry, first ? NULL : fail);
			sum->entries += !err && entry->kind == JOURNAL_SETTING;
			sum->instances += !err && entry->kind == JOURNAL_INSTANCE;
			sum->probes += !err && entry->kind == JOURNAL_PROBE;
		}
		if (!err)
			journal_drop(journal, entry);
		else if (!first)
			first = err;
	}
	return first;
}

/* Writes the entries that were not restored back to the file, or removes the journal if there are none. */
static int store_rest(const struct replay *replay, struct undo_sum *sum, struct fail *fail)
{
	if (replay->stays && !replay->changed)
		return 0;
	if (replay->journal.nr)
		return undo_store(replay->path, replay->owner, replay->boot, &replay->journal, fail);
	sum->journals++;
	if (unlink(replay->path) && errno != ENOENT)
		return fail_set(fail, -errno, "cannot remove '%s': %s", replay->path, strerror(errno));
	return 0;
}

static int open_replay(const struct undo_pending *pending, struct replay *replay, struct fail *fail)
{
	int err;

	replay->path = pending->path;
	err = undo_read_journal(pending->path, &replay->fd, &replay->owner, replay->boot, &replay->journal, fail);
	if (err)
		return err;
	if (flock(replay->fd, LOCK_EX | LOCK_NB))
		return fail_set(fail, -EBUSY, "another process is putting back '%s' right now", pending->path);
	return 0;
}

static size_t count_entries(const struct replay *replays, size_t nr)
{
	size_t entries = 0;

	for (size_t i = 0; i < nr; i++)
		entries += replays[i].stays ? 0 : replays[i].journal.nr;
	return entries;
}

/*
 * Repeats as long as at least one more entry could be restored: settings may limit each other, and a probe can be
 * removed only when no instance has enabled it.
 */
static int reset_all(const struct tracing *tracing, struct replay *replays, size_t nr, const char *instance,
		     struct undo_sum *sum, struct fail *fail)
{
	size_t before;
	int first;

	do {
		before = count_entries(replays, nr);
		first = 0;
		for (size_t i = 0; i < NR_PHASES * nr; i++) {
			int one = reset_one(tracing, replays, nr, i % nr, instance, (enum phase)(i / nr), sum,
					    first ? NULL : fail);

			if (!first)
				first = one;
		}
	} while (first && count_entries(replays, nr) < before);
	return first;
}

static int check_live(const char *path, const struct replay *replays, size_t nr, const char *instance,
		      struct fail *fail)
{
	struct journal journal = { 0 };
	char boot[BOOT_ID_SIZE];
	struct process_id owner;
	cleanup_fd int fd = -1;
	int err = 0;

	if (undo_read_journal(path, &fd, &owner, boot, &journal, NULL) || !undo_owner_lives(fd, owner)) {
		journal_release(&journal);
		return 0;
	}
	for (size_t i = 0; !err && i < journal.nr; i++) {
		const struct journal_entry *entry = &journal.entries[i];

		if (journal_only_says(entry))
			continue;
		if ((!instance || !strcmp(entry->instance, instance)) && has_older(replays, nr, 0, entry))
			err = fail_set(
				fail, -EBUSY,
				"weft with pid %d still runs, and puts back '%s' of %s%s%s when it ends: wait for it",
				(int)owner.pid, entry->file, *entry->instance ? "'" : "the top instance",
				entry->instance, *entry->instance ? "'" : "");
	}
	journal_release(&journal);
	return err;
}

/* Checks the journals of running recordings, which would later restore values older than those restored now. */
static int check_all_live(const char *dir, const struct replay *replays, size_t nr, const char *instance,
			  struct fail *fail)
{
	const char *where = dir ? dir : UNDO_DIR;
	struct dirent *entry;
	DIR *stream = nr ? opendir(where) : NULL;
	int err = 0;

	while (stream && !err && (entry = readdir(stream))) {
		char path[512];

		if (undo_file_of(entry->d_name) != UNDO_FILE_OWN)
			continue;
		snprintf(path, sizeof(path), "%s/%s", where, entry->d_name);
		err = check_live(path, replays, nr, instance, fail);
	}
	if (stream)
		closedir(stream);
	return err;
}

/* Decides which journals stay as they are. */
struct rule {
	bool held;
	pid_t only; /* the process whose journals do not stay; 0: any */
	bool (*waits)(const char *path, void *data);
	void *data;
};

static bool stays(const struct rule *rule, const struct undo_pending *pending)
{
	if (rule->only && rule->only != pending->pid)
		return true;
	return pending->held ? rule->held : rule->waits && rule->waits(pending->path, rule->data);
}

static int put_back(const struct tracing *tracing, const char *dir, const char *instance, const struct rule *rule,
		    struct undo_sum *ret, struct fail *fail)
{
	cleanup_free struct undo_pending *items = NULL;
	cleanup_free struct replay *replays = NULL;
	size_t nr = 0, opened = 0;
	int err = undo_list(dir, &items, &nr, fail), first = 0;

	*ret = (struct undo_sum){ 0 };
	replays = calloc(nr + 1, sizeof(*replays));
	if (!err && !replays)
		err = fail_memory(fail);
	for (; !err && opened < nr; opened++) {
		replays[opened].fd = -1;
		replays[opened].stays = stays(rule, &items[opened]);
		err = open_replay(&items[opened], &replays[opened], fail);
	}
	if (!err)
		err = check_all_live(dir, replays, nr, instance, fail);
	if (!err)
		first = reset_all(tracing, replays, nr, instance, ret, fail);
	for (size_t i = 0; !err && i < nr; i++) {
		int stored = store_rest(&replays[i], ret, first ? NULL : fail);

		if (!first)
			first = stored;
	}
	for (size_t i = 0; i < opened; i++) {
		if (replays[i].fd >= 0)
			close(replays[i].fd);
		journal_release(&replays[i].journal);
	}
	return err ? err : first;
}

int undo_reset(const struct tracing *tracing, const char *dir, const char *instance, struct undo_sum *ret,
	       struct fail *fail)
{
	return put_back(tracing, dir, instance, &(struct rule){ .held = false }, ret, fail);
}

int undo_recover(const struct tracing *tracing, const char *dir, bool (*waits)(const char *path, void *data),
		 void *data, struct undo_sum *ret, struct fail *fail)
{
	return put_back(tracing, dir, NULL, &(struct rule){ .held = true, .waits = waits, .data = data }, ret, fail);
}

int undo_recover_of(const struct tracing *tracing, const char *dir, pid_t pid, struct undo_sum *ret, struct fail *fail)
{
	return put_back(tracing, dir, NULL, &(struct rule){ .held = true, .only = pid }, ret, fail);
}

int undo_discard(const char *dir, struct fail *fail)
{
	cleanup_free struct undo_pending *items = NULL;
	size_t nr = 0;
	int err = undo_list(dir, &items, &nr, fail);

	for (size_t i = 0; !err && i < nr; i++)
		if (unlink(items[i].path) && errno != ENOENT)
			err = fail_set(fail, -errno, "cannot remove '%s': %s", items[i].path, strerror(errno));
	return err;
}
