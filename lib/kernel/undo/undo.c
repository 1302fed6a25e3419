// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/undo/undo.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/vec.h"
#include "lib/kernel/tracefs/control.h"
#include "lib/kernel/tracefs/lock_file.h"
#include "lib/kernel/tracefs/users.h"
#include "lib/kernel/undo/claim.h"
#include "lib/kernel/undo/journal.h"
#include "lib/kernel/undo/undo_internal.h"

/* The claims (claim.h) that the process of one journal holds, at most one for each instance. Zero is the empty set. */
struct claims {
	struct claims_item {
		char *instance; /* "" for the top instance */
		int fd;
	} * items;
	size_t nr;
};

static bool claims_has(const struct claims *claims, const char *instance)
{
	for (size_t i = 0; i < claims->nr; i++)
		if (!strcmp(claims->items[i].instance, instance))
			return true;
	return false;
}

/* Takes a claim that this process does not hold yet. */
static int claims_take(struct claims *claims, const char *dir, const char *instance, const struct claim_manner *manner,
		       struct fail *fail)
{
	cleanup_free char *name = strdup(instance);
	struct claims_item *item = name ? vec_push(claims->items, claims->nr) : NULL;
	int err;

	if (!item)
		return fail_memory(fail);
	item->fd = -1;
	err = claim_take(dir, instance, manner, &item->fd, fail);
	if (err) {
		claims->nr--;
		return err;
	}
	item->instance = take(name);
	return 0;
}

static void claims_release(struct claims *claims, const char *dir)
{
	while (claims->nr) {
		struct claims_item *item = &claims->items[--claims->nr];

		claim_release(dir, item->instance, &item->fd);
		free(item->instance);
	}
	free(take(claims->items));
}

struct undo {
	const struct tracing *tracing;
	char *dir;
	char *path; /* of the journal */
	int fd;     /* the journal; -1 before the first entry */
	char *mark; /* "SECRET PARTS", stored with each instance (undo_mark()); NULL: none */
	struct claims claims;
	struct process_id owner;
	struct journal journal; /* the entries, also on disk */
	/* what the last undo_hold() kept, and the held journal; NULL: none, or it had nothing to restore */
	struct journal kept;
	char *kept_path;
};

int undo_new(const struct tracing *tracing, const char *dir, struct undo **ret, struct fail *fail)
{
	struct undo *undo = calloc(1, sizeof(*undo));
	static const char *const default_dir = UNDO_DIR;

	if (!undo)
		return fail_memory(fail);
	undo->tracing = tracing;
	undo->fd = -1;
	dir = dir ? dir : default_dir;
	undo->owner = process_self();
	if (mkdir(dir, 0700) && errno != EEXIST) {
		free(undo);
		return fail_set(fail, -errno, "cannot make the directory '%s' for the journal of settings: %s%s", dir,
				strerror(errno), geteuid() ? "; run weft as root (sudo)" : "");
	}
	undo->dir = strdup(dir);
	if (!undo->dir || asprintf(&undo->path, "%s/undo-%d-%llu", dir, (int)undo->owner.pid,
				   (unsigned long long)undo->owner.start) < 0) {
		free(undo->dir);
		free(undo);
		return fail_memory(fail);
	}
	*ret = undo;
	return 0;
}

void undo_free(struct undo *undo)
{
	if (!undo)
		return;
	if (undo->fd >= 0)
		close(undo->fd);
	claims_release(&undo->claims, undo->dir);
	journal_release(&undo->journal);
	journal_release(&undo->kept);
	free(undo->dir);
	free(undo->path);
	free(undo->kept_path);
	free(undo->mark);
	free(undo);
}

static int open_journal(struct undo *undo, struct buf *buf, struct fail *fail)
{
	char boot[BOOT_ID_SIZE];
	int fd;

	if (undo->fd >= 0)
		return 0;
	fd = undo_new_file(undo->path, O_EXCL | O_APPEND);
	if (fd < 0)
		return fail_set(fail, fd, "cannot write the journal of settings '%s': %s", undo->path, strerror(-fd));
	undo->fd = fd;
	boot_id(boot);
	return journal_print_head(undo->owner, boot, buf) ? 0 : fail_memory(fail);
}

/* Writes one entry to disk. Only after this has returned 0 may the caller make the change that the entry announces. */
static int put_entry(struct undo *undo, const struct journal_entry *entry, struct fail *fail)
{
	cleanup_buf struct buf buf = BUF_INIT;
	int err = open_journal(undo, &buf, fail);

	if (err)
		return err;
	if (!journal_print(entry, &buf))
		return fail_memory(fail);
	err = undo_write_synced(undo->fd, &buf);
	if (err)
		return fail_set(fail, err, "cannot write the journal of settings '%s': %s", undo->path, strerror(-err));
	return 0;
}

static int add(struct undo *undo, enum journal_kind kind, const char *instance, const char *file, const char *text,
	       struct fail *fail)
{
	int err = journal_add(&undo->journal, kind, instance, file, text, fail);

	if (err)
		return err;
	err = put_entry(undo, &undo->journal.entries[undo->journal.nr - 1], fail);
	if (err)
		journal_drop(&undo->journal, &undo->journal.entries[undo->journal.nr - 1]);
	return err;
}

/* Journals the size of each CPU's buffer: if the sizes differ, buffer_size_kb reads only "X". */
static int remember_sizes(struct undo *undo, const char *instance, struct fail *fail)
{
	cleanup_free char *path = NULL;
	struct dirent *entry;
	int err = 0;
	DIR *dir;

	if (undo_path_of(undo->tracing, instance, "per_cpu", &path))
		return fail_memory(fail);
	dir = opendir(path);
	if (!dir)
		return tracing_refused(path, -errno, "open", fail);
	while (!err && (entry = readdir(dir))) {
		char file[64];

		if (strncmp(entry->d_name, "cpu", 3) || strlen(entry->d_name) > 16)
			continue;
		snprintf(file, sizeof(file), "per_cpu/%.16s/buffer_size_kb", entry->d_name);
		err = undo_remember(undo, instance, file, fail);
	}
	closedir(dir);
	return err;
}

int undo_remember(struct undo *undo, const char *instance, const char *file, struct fail *fail)
{
	cleanup_buf struct buf now = BUF_INIT;
	cleanup_free char *path = NULL;
	int err;

	if (journal_find(&undo->journal, JOURNAL_SETTING, instance, file))
		return 0;
	if (undo_path_of(undo->tracing, instance, file, &path))
		return fail_memory(fail);
	err = control_read(path, file, &now, fail);
	if (err)
		return err;
	if (control_kind(file) == CONTROL_SIZE && *buf_str(&now) == 'X')
		return remember_sizes(undo, instance, fail);
	return add(undo, JOURNAL_SETTING, instance, file, buf_str(&now), fail);
}

int undo_mark(struct undo *undo, const char *secret, const char *parts, struct fail *fail)
{
	cleanup_free char *path = realpath(parts, NULL);
	char *mark;

	if (!path)
		return fail_set(fail, -errno, "cannot find out where '%s' is: %s", parts, strerror(errno));
	if (asprintf(&mark, "%s %s", secret, path) < 0)
		return fail_memory(fail);
	free(undo->mark);
	undo->mark = mark;
	return 0;
}

int undo_claim(struct undo *undo, const char *instance, const struct claim_manner *manner, struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	int err;

	if (claims_has(&undo->claims, instance))
		return 0;
	err = claims_take(&undo->claims, undo->dir, instance, manner, fail);
	if (!err && !claim_print(&text))
		err = fail_memory(fail);
	return err ? err : add(undo, JOURNAL_CLAIM, instance, "", buf_str(&text), fail);
}

int undo_remember_instance(struct undo *undo, const char *instance, struct fail *fail)
{
	return add(undo, JOURNAL_INSTANCE, instance, "", undo->mark ? undo->mark : "", fail);
}

int undo_remember_helper(struct undo *undo, const char *instance, struct fail *fail)
{
	return add(undo, JOURNAL_INSTANCE, instance, "", "", fail);
}

int undo_remember_lent(struct undo *undo, const char *instance, struct fail *fail)
{
	return add(undo, JOURNAL_LENT, instance, "", undo->mark ? undo->mark : "", fail);
}

int undo_remember_probe(struct undo *undo, const char *probe, struct fail *fail)
{
	return add(undo, JOURNAL_PROBE, "", probe, "", fail);
}

static void forget(struct undo *undo, enum journal_kind kind, const char *instance, const char *file)
{
	struct journal_entry *entry = journal_find(&undo->journal, kind, instance, file);
	struct journal_entry gone = {
		.kind = JOURNAL_FORGET,
		.instance = (char *)instance,
		.file = (char *)file,
		.text = (char *)"",
	};

	if (!entry)
		return;
	/* If this entry does not reach the disk, a replay finds no such instance, which is no error. */
	(void)!put_entry(undo, &gone, NULL);
	journal_drop(&undo->journal, entry);
}

void undo_forget_instance(struct undo *undo, const char *instance)
{
	forget(undo, JOURNAL_INSTANCE, instance, "");
}

void undo_forget_probe(struct undo *undo, const char *probe)
{
	forget(undo, JOURNAL_PROBE, "", probe);
}

/*
 * Restores all entries, the last change first, and turns tracing on at the end. Drops the entries that were restored,
 * so that a second call tries only the others.
 */
static int restore_all(const struct tracing *tracing, struct journal *journal, struct fail *fail)
{
	size_t before;
	int first;

	/*
	 * Repeats as long as at least one more entry could be restored, because some settings limit each other (a
	 * runtime must not exceed its period).
	 */
	do {
		before = journal->nr;
		first = 0;
		for (unsigned last = 0; last < 2; last++)
			for (size_t i = journal->nr; i-- > 0;) {
				int err;

				if (undo_comes_last(&journal->entries[i]) != last)
					continue;
				err = undo_restore_entry(tracing, &journal->entries[i], first ? NULL : fail);
				if (!err)
					journal_drop(journal, &journal->entries[i]);
				else if (!first)
					first = err;
			}
	} while (first && journal->nr < before);
	return first;
}

int undo_restore(struct undo *undo, struct fail *fail)
{
	int err;

	if (undo->journal.nr)
		undo_hand_down(undo->dir, undo_since_ns(undo->owner, &undo->journal), &undo->journal);
	err = restore_all(undo->tracing, &undo->journal, fail);
	if (err || undo->fd < 0)
		return err;
	unlink(undo->path);
	close(undo->fd);
	undo->fd = -1;
	claims_release(&undo->claims, undo->dir);
	return 0;
}

/*
 * Renames the journal on disk to a held one. A process may have several; the number in the name keeps their order. *ret
 * receives the new path.
 */
static int rename_held(const struct undo *undo, const char *name, char **ret)
{
	int err = -EEXIST;

	for (unsigned nr = 1; err == -EEXIST && nr < 1000; nr++) {
		cleanup_free char *path = NULL;

		if (asprintf(&path, "%s/held-%s-%03u", undo->dir, name, nr) < 0) {
			path = NULL;
			return -ENOMEM;
		}
		err = syscall(SYS_renameat2, AT_FDCWD, undo->path, AT_FDCWD, path, RENAME_NOREPLACE) ? -errno : 0;
		if (!err)
			*ret = take(path);
	}
	return err;
}

bool undo_holds(const struct undo *undo, const char *instance, const char *file)
{
	struct journal wanted = { 0 };
	bool held;

	if (journal_add(&wanted, JOURNAL_SETTING, instance, file, "", NULL))
		return false;
	held = undo_drop_known(undo->dir, &wanted);
	journal_release(&wanted);
	return held;
}

bool undo_is_chosen(const struct undo *undo, const char *instance, const char *file)
{
	return undo_chosen_in(undo->dir, instance, file);
}

/* Whether the journal has nothing to restore. A claim on a named instance does not count: it ends with its process. */
static bool says_nothing(const struct journal *journal)
{
	for (size_t i = 0; i < journal->nr; i++)
		if (journal->entries[i].kind != JOURNAL_CLAIM || !*journal->entries[i].instance)
			return false;
	return true;
}

int undo_hold(struct undo *undo, struct fail *fail)
{
	const char *name = undo->path + strlen(undo->dir) + strlen("/undo-");
	struct journal all = { 0 };
	char boot[BOOT_ID_SIZE], *path = NULL;
	int err;

	if (undo->fd < 0)
		return 0;
	boot_id(boot);
	err = journal_copy(&undo->journal, &all, fail);
	if (!err && undo_drop_known(undo->dir, &undo->journal) && undo->journal.nr)
		err = undo_store(undo->path, undo->owner, boot, &undo->journal, fail);
	if (err) {
		journal_release(&all);
		return err;
	}
	err = says_nothing(&undo->journal) ? (unlink(undo->path) ? -errno : 0) : rename_held(undo, name, &path);
	if (err) {
		journal_release(&all);
		return fail_set(fail, err, "cannot keep the journal of settings '%s': %s", undo->path, strerror(-err));
	}
	close(undo->fd);
	undo->fd = -1;
	claims_release(&undo->claims, undo->dir);
	journal_release(&undo->journal);
	journal_release(&undo->kept);
	free(undo->kept_path);
	undo->kept = all;
	undo->kept_path = path;
	return 0;
}

int undo_unhold(struct undo *undo, struct fail *fail)
{
	int err = restore_all(undo->tracing, &undo->kept, fail);

	if (!err && undo->kept_path)
		unlink(undo->kept_path);
	return err;
}

/* Finds the journal that says which recording made an instance: see undo_mark(). */

/* Whether this entry is an instance with a mark "SECRET PARTS", made for the recording or lent to it. */
static bool is_marked(const struct journal_entry *entry)
{
	return (entry->kind == JOURNAL_INSTANCE || entry->kind == JOURNAL_LENT) && strchr(entry->text, ' ');
}

static int add_instance(struct undo_recording *recording, const struct journal_entry *entry)
{
	char **added = vec_push(recording->instances, recording->nr);

	if (added)
		*added = strdup(entry->instance);
	if (!recording->mark)
		recording->mark = strdup(entry->text);
	return added && *added && recording->mark ? 0 : -ENOMEM;
}

int undo_recording(const char *path, struct undo_recording *ret)
{
	struct undo_recording recording = { .mark = NULL };
	struct journal journal = { 0 };
	char boot[BOOT_ID_SIZE];
	struct process_id owner;
	cleanup_fd int fd = -1;
	int err = undo_read_journal(path, &fd, &owner, boot, &journal, NULL);

	for (size_t i = 0; !err && i < journal.nr; i++)
		if (is_marked(&journal.entries[i]))
			err = add_instance(&recording, &journal.entries[i]);
	journal_release(&journal);
	if (!err && !recording.mark)
		err = -ENOENT;
	if (err) {
		undo_recording_release(&recording);
		return err;
	}
	recording.parts = strchr(recording.mark, ' ') + 1;
	*ret = recording;
	return 0;
}

void undo_recording_release(struct undo_recording *recording)
{
	for (size_t i = 0; i < recording->nr; i++)
		free(recording->instances[i]);
	free(recording->instances);
	free(recording->mark);
	*recording = (struct undo_recording){ .mark = NULL };
}

bool undo_recording_is(const struct undo_recording *recording, const char *secret)
{
	size_t len = strlen(secret);

	return len && !strncmp(recording->mark, secret, len) && recording->mark[len] == ' ';
}

static bool has_instance(const struct undo_recording *recording, const char *instance)
{
	for (size_t i = 0; i < recording->nr; i++)
		if (!strcmp(recording->instances[i], instance))
			return true;
	return false;
}

bool undo_knows_instance(const char *dir, const char *instance, const char *secret)
{
	struct undo_pending pending;
	unsigned at = 0;
	bool known = false;

	while (!known && undo_next_pending(dir, &at, &pending, NULL) > 0) {
		struct undo_recording recording;

		if (undo_recording(pending.path, &recording))
			continue;
		known = undo_recording_is(&recording, secret) && has_instance(&recording, instance);
		undo_recording_release(&recording);
	}
	return known;
}

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

/* The process of a file "undo-PID-START" or "held-PID-START-001". */
static bool belongs_to(const char *name, struct process_id *ret)
{
	return (!strncmp(name, "undo-", 5) || !strncmp(name, "held-", 5)) &&
	       sscanf(name + 5, "%d-%" SCNu64, &ret->pid, &ret->start) == 2;
}

/*
 * Whether the process of the file ended before it wrote the header of the journal, or before it renamed the file. If
 * so, *ret_fd keeps the file's sign of life from a process that is just making a new one, until the file is removed.
 */
static bool is_scrap(const char *path, const char *name, int *ret_fd)
{
	struct journal journal = { 0 };
	char boot[BOOT_ID_SIZE];
	struct process_id owner;
	cleanup_fd int fd = -1, read_fd = -1;
	int err = 0;

	if (!belongs_to(name, &owner) || process_lives(owner))
		return false;
	fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || !lock_file_live(fd, 0, false))
		return false;
	if (undo_file_of(name) != UNDO_FILE_NONE) {
		err = undo_read_journal(path, &read_fd, &owner, boot, &journal, NULL);
		journal_release(&journal);
	}
	if (undo_file_of(name) != UNDO_FILE_NONE && err != -EBADMSG)
		return false;
	*ret_fd = fd_take(&fd);
	return true;
}

static bool is_lock(const char *name)
{
	return !strcmp(name, CLAIM_TOP) || !strncmp(name, CLAIM_NAMED, strlen(CLAIM_NAMED));
}

/* Removes the lock file of a process that was killed. */
static void remove_lock(const char *path)
{
	int fd = -1;

	if (!access(path, F_OK) && !lock_file_open(path, false, &fd, NULL))
		lock_file_remove(path, &fd);
}

unsigned undo_sweep(const char *dir)
{
	const char *where = dir ? dir : UNDO_DIR;
	DIR *stream = opendir(where);
	struct dirent *entry;
	unsigned nr = 0;
	char path[512];

	while (stream && (entry = readdir(stream))) {
		cleanup_fd int fd = -1;

		snprintf(path, sizeof(path), "%s/%s", where, entry->d_name);
		nr += is_scrap(path, entry->d_name, &fd) && !unlink(path);
		if (is_lock(entry->d_name))
			remove_lock(path);
	}
	if (stream)
		closedir(stream);
	return nr;
}
