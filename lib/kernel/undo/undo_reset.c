// SPDX-License-Identifier: LGPL-2.1-or-later
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/kernel/tracefs/control.h"
#include "lib/kernel/undo/journal.h"
#include "lib/kernel/undo/undo.h"
#include "lib/kernel/undo/undo_internal.h"

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

static int newer_first(const void *one, const void *other)
{
	const struct undo_pending *a = one, *b = other;

	if (a->since_ns != b->since_ns)
		return a->since_ns < b->since_ns ? 1 : -1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? 1 : -1;
	return -strcmp(a->path, b->path);
}

/*
 * Whether this error means that the file is not a journal to restore: it no longer exists, may not be read, is not
 * trusted, or lacks its header (undo_sweep()). After any other error, settings that should be restored may be hidden.
 */
static bool is_no_journal(int err)
{
	return err == -ENOENT || err == -EACCES || err == -EPERM || err == -EBADMSG;
}

int undo_list(const char *dir, struct undo_pending **ret, size_t *ret_nr, struct fail *fail)
{
	const char *where = dir ? dir : UNDO_DIR;
	cleanup_free struct undo_pending *items = NULL;
	struct dirent *entry;
	size_t nr = 0;
	DIR *stream = opendir(where);

	*ret = NULL;
	*ret_nr = 0;
	if (!stream && errno == ENOENT)
		return 0;
	if (!stream)
		return fail_set(fail, -errno, "cannot open '%s': %s", where, strerror(errno));
	while ((entry = readdir(stream))) {
		enum undo_file file = undo_file_of(entry->d_name);
		struct undo_pending one, *added;
		char path[512];
		int r;

		if (file == UNDO_FILE_NONE)
			continue;
		snprintf(path, sizeof(path), "%s/%s", where, entry->d_name);
		r = undo_is_waiting(path, file == UNDO_FILE_HELD, &one, fail);
		if (!r || is_no_journal(r))
			continue;
		added = r > 0 ? vec_push(items, nr) : NULL;
		if (!added) {
			closedir(stream);
			return r < 0 ? r : fail_memory(fail);
		}
		*added = one;
	}
	closedir(stream);
	if (nr)
		qsort(items, nr, sizeof(*items), newer_first);
	*ret = take(items);
	*ret_nr = nr;
	return 0;
}

int undo_next_pending(const char *dir, unsigned *at, struct undo_pending *ret, struct fail *fail)
{
	cleanup_free struct undo_pending *items = NULL;
	size_t nr = 0, left;
	int err = undo_list(dir, &items, &nr, fail);

	if (err)
		return err;
	/*
	 * *at is one more than the number of older journals, so that it stays right if newer journals disappear between
	 * two calls.
	 */
	left = *at ? *at - 1 : nr;
	for (size_t i = nr < left ? 0 : nr - left; i < nr; i++) {
		if (items[i].held)
			continue;
		*ret = items[i];
		*at = (unsigned)(nr - i);
		return 1;
	}
	return 0;
}

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

static bool has_older(const struct replay *replays, size_t nr, size_t from, const struct journal_entry *entry)
{
	for (size_t i = from; i < nr; i++)
		if (!replays[i].stays && journal_find(&replays[i].journal, entry->kind, entry->instance, entry->file))
			return true;
	return false;
}

/* Gives the old value of the entry to the entry of the same setting in a younger journal. */
static bool hand_to(struct journal *younger, const struct journal_entry *entry)
{
	struct journal_entry *same = journal_find(younger, entry->kind, entry->instance, entry->file);
	char *text;

	if (!same || entry->kind != JOURNAL_SETTING)
		return false;
	text = strdup(entry->text);
	if (!text)
		return false;
	free(same->text);
	same->text = text;
	return true;
}

/* Gives the old value to the next younger journal that stays. */
static bool hand_up(struct replay *replays, size_t at, const struct journal_entry *entry)
{
	while (at-- > 0)
		if (replays[at].stays && hand_to(&replays[at].journal, entry))
			return replays[at].changed = true;
	return false;
}

enum phase { PHASE_SETTINGS, PHASE_PROBES, PHASE_LAST, NR_PHASES };

static enum phase phase_of(const struct journal_entry *entry)
{
	return entry->kind == JOURNAL_PROBE ? PHASE_PROBES : undo_comes_last(entry) ? PHASE_LAST : PHASE_SETTINGS;
}

/*
 * Restores the entries of one phase of one journal of the list, its last change first. Skips entries that an
 * older journal also has: that journal restores them.
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

int undo_store(const char *path, struct process_id owner, const char *boot, const struct journal *journal,
	       struct fail *fail)
{
	cleanup_buf struct buf buf = BUF_INIT;
	cleanup_free char *new_path = NULL;
	cleanup_fd int fd = -1;
	int err;

	if (!journal_print_head(owner, boot, &buf) || asprintf(&new_path, "%s" UNDO_UNFINISHED, path) < 0) {
		new_path = NULL;
		return fail_memory(fail);
	}
	for (size_t i = 0; i < journal->nr; i++)
		if (!journal_print(&journal->entries[i], &buf))
			return fail_memory(fail);
	fd = undo_new_file(new_path, O_TRUNC);
	err = fd < 0 ? fd : undo_write_synced(fd, &buf);
	if (!err && rename(new_path, path))
		err = -errno;
	if (err)
		unlink(new_path);
	return err ? fail_set(fail, err, "cannot write '%s': %s", new_path, strerror(-err)) : 0;
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

static bool knows(const struct journal *held, const struct journal_entry *entry)
{
	if (journal_only_says(entry))
		return false;
	return journal_find(held, entry->kind, entry->instance, entry->file) ||
	       journal_find(held, JOURNAL_INSTANCE, entry->instance, "");
}

bool undo_drop_known(const char *dir, struct journal *journal)
{
	cleanup_free struct undo_pending *items = NULL;
	size_t nr = 0, before = journal->nr;

	if (undo_list(dir, &items, &nr, NULL))
		return false;
	for (size_t i = 0; i < nr; i++) {
		struct journal held = { 0 };
		char boot[BOOT_ID_SIZE];
		struct process_id owner;
		cleanup_fd int fd = -1;

		if (!items[i].held || undo_read_journal(items[i].path, &fd, &owner, boot, &held, NULL))
			continue;
		for (size_t j = journal->nr; j-- > 0;)
			if (knows(&held, &journal->entries[j]))
				journal_drop(journal, &journal->entries[j]);
		journal_release(&held);
	}
	return journal->nr != before;
}

bool undo_chosen_in(const char *dir, const char *instance, const char *file)
{
	cleanup_free struct undo_pending *items = NULL;
	bool chosen = false;
	size_t nr = 0;

	if (undo_list(dir, &items, &nr, NULL))
		return false;
	for (size_t i = 0; !chosen && i < nr; i++) {
		struct journal held = { 0 };
		char boot[BOOT_ID_SIZE];
		struct process_id owner;
		cleanup_fd int fd = -1;

		if (!items[i].held || undo_read_journal(items[i].path, &fd, &owner, boot, &held, NULL))
			continue;
		chosen = journal_find(&held, JOURNAL_SETTING, instance, file) &&
			 !journal_find(&held, JOURNAL_CLAIM, instance, "");
		journal_release(&held);
	}
	return chosen;
}

/* The part of undo_hand_down() for one held journal. */
static void hand_down_to(const char *path, struct journal *journal)
{
	struct journal held = { 0 };
	char boot[BOOT_ID_SIZE];
	struct process_id owner;
	cleanup_fd int fd = -1;
	bool handed = false;

	if (undo_read_journal(path, &fd, &owner, boot, &held, NULL) || flock(fd, LOCK_EX | LOCK_NB)) {
		journal_release(&held);
		return;
	}
	for (size_t i = 0; i < journal->nr; i++)
		handed |= hand_to(&held, &journal->entries[i]);
	if (handed && !undo_store(path, owner, boot, &held, NULL))
		for (size_t i = journal->nr; i-- > 0;)
			if (journal->entries[i].kind == JOURNAL_SETTING &&
			    journal_find(&held, JOURNAL_SETTING, journal->entries[i].instance,
					 journal->entries[i].file))
				journal_drop(journal, &journal->entries[i]);
	journal_release(&held);
}

void undo_hand_down(const char *dir, uint64_t since_ns, struct journal *journal)
{
	cleanup_free struct undo_pending *items = NULL;
	size_t nr = 0;

	if (undo_list(dir, &items, &nr, NULL))
		return;
	/* The list has the newest journal first. The oldest of the younger journals gets the value first. */
	for (size_t i = nr; i-- > 0;)
		if (items[i].held && items[i].since_ns > since_ns)
			hand_down_to(items[i].path, journal);
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
