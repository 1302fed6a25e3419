// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/undo/undo.h"

#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/base/io.h"
#include "lib/tracefs/control.h"
#include "lib/tracefs/lock_file.h"
#include "lib/tracefs/users.h"
#include "lib/undo/claim.h"
#include "lib/undo/claims_internal.h"
#include "lib/undo/journal.h"
#include "lib/undo/undo_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>

struct undo {
	const struct tracing *tracing;
	char *dir;
	char *path; /* of the journal */
	int fd;     /* the journal; -1 before the first entry */
	char *mark; /* "SECRET PARTS", stored with each instance (undo_mark()); NULL: none */
	struct claims claims;
	struct process_id owner;
	struct journal journal; /* the entries, also on disk */
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
	free(undo->dir);
	free(undo->path);
	free(undo->mark);
	free(undo);
}

int undo_write_synced(int fd, const struct buf *buf)
{
	int err = io_write(fd, buf->data, buf->len);

	if (err)
		return err;
	return fdatasync(fd) && errno != EINVAL ? -errno : 0;
}

int undo_new_file(const char *path, int flags)
{
	for (;;) {
		int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
		struct stat st;

		if (fd < 0)
			return -errno;
		/* Before it had a sign of life, another process may have removed it as scrap (undo_sweep()). */
		if (!lock_file_live(fd, 0, true) || fstat(fd, &st) || st.st_nlink)
			return fd;
		close(fd);
	}
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

static int path_of(const struct tracing *tracing, const char *instance, const char *file, char **ret)
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

	if (path_of(undo->tracing, instance, "per_cpu", &path))
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
	if (path_of(undo->tracing, instance, file, &path))
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

static int remove_probe(const struct tracing *tracing, const char *probe)
{
	cleanup_free char *path = NULL, *text = NULL;

	if (path_of(tracing, "", "dynamic_events", &path) || asprintf(&text, "-:%s", probe) < 0) {
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
	if (path_of(tracing, entry->instance, entry->file, &path))
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

/* Renames the journal on disk to a held one. A process may have several; the number in the name keeps their order. */
static int rename_held(const struct undo *undo, const char *name)
{
	int err = -EEXIST;

	for (unsigned nr = 1; err == -EEXIST && nr < 1000; nr++) {
		cleanup_free char *path = NULL;

		if (asprintf(&path, "%s/held-%s-%03u", undo->dir, name, nr) < 0) {
			path = NULL;
			return -ENOMEM;
		}
		err = syscall(SYS_renameat2, AT_FDCWD, undo->path, AT_FDCWD, path, RENAME_NOREPLACE) ? -errno : 0;
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
	char boot[BOOT_ID_SIZE];
	int err = 0;

	if (undo->fd < 0)
		return 0;
	boot_id(boot);
	if (undo_drop_known(undo->dir, &undo->journal) && undo->journal.nr)
		err = undo_store(undo->path, undo->owner, boot, &undo->journal, fail);
	if (err)
		return err;
	err = says_nothing(&undo->journal) ? (unlink(undo->path) ? -errno : 0) : rename_held(undo, name);
	if (err)
		return fail_set(fail, err, "cannot keep the journal of settings '%s': %s", undo->path, strerror(-err));
	close(undo->fd);
	undo->fd = -1;
	claims_release(&undo->claims, undo->dir);
	journal_release(&undo->journal);
	return 0;
}

int undo_read_journal(const char *path, int *ret_fd, struct process_id *ret_owner, char ret_boot[BOOT_ID_SIZE],
		      struct journal *ret, struct fail *fail)
{
	cleanup_fd int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	cleanup_buf struct buf buf = BUF_INIT;
	struct stat st;
	int err;

	if (fd < 0)
		return fail_set(fail, -errno, "cannot open the journal '%s': %s", path, strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || (st.st_uid && st.st_uid != geteuid()) || st.st_mode & 022)
		return fail_set(fail, -EPERM, "the journal '%s' is not trusted: others could have written it", path);
	err = tracing_read_path(path, &buf, fail);
	if (err)
		return err;
	err = journal_parse(buf.data, buf.len, ret_owner, ret_boot, ret, fail);
	if (err)
		return fail_in(fail, err, "'%s'", path);
	*ret_fd = fd_take(&fd);
	return 0;
}

enum undo_file undo_file_of(const char *name)
{
	size_t len = strlen(name), tail = strlen(UNDO_UNFINISHED);

	if (len > tail && !strcmp(name + len - tail, UNDO_UNFINISHED))
		return UNDO_FILE_NONE;
	if (!strncmp(name, "held-", 5))
		return UNDO_FILE_HELD;
	return strncmp(name, "undo-", 5) ? UNDO_FILE_NONE : UNDO_FILE_OWN;
}

bool undo_is_this_boot(const char *boot)
{
	char now[BOOT_ID_SIZE];

	boot_id(now);
	return !*now || !strcmp(boot, "-") || !strcmp(boot, now);
}

uint64_t undo_since_ns(struct process_id owner, const struct journal *journal)
{
	uint64_t latest = 0;
	struct claim claim;

	for (size_t i = 0; i < journal->nr; i++)
		if (journal->entries[i].kind == JOURNAL_CLAIM && claim_parse(journal->entries[i].text, &claim) &&
		    claim.boot_ns > latest)
			latest = claim.boot_ns;
	return latest ? latest : owner.start * (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
}

bool undo_owner_lives(int fd, struct process_id owner)
{
	return lock_file_lives(fd, 0) || process_lives(owner);
}

int undo_is_waiting(const char *path, bool held, struct undo_pending *ret, struct fail *fail)
{
	struct journal journal = { 0 };
	char boot[BOOT_ID_SIZE];
	struct process_id owner;
	cleanup_fd int fd = -1;
	bool waiting;
	int err;

	if (strlen(path) >= sizeof(ret->path))
		return 0;
	err = undo_read_journal(path, &fd, &owner, boot, &journal, fail);
	if (err)
		return err;
	waiting = undo_is_this_boot(boot) && (held || !undo_owner_lives(fd, owner));
	if (waiting) {
		*ret = (struct undo_pending){ .pid = owner.pid, .held = held };
		ret->since_ns = undo_since_ns(owner, &journal);
		memcpy(ret->path, path, strlen(path) + 1);
		for (size_t i = 0; i < journal.nr; i++) {
			ret->entries += journal.entries[i].kind == JOURNAL_SETTING;
			ret->instances += journal.entries[i].kind == JOURNAL_INSTANCE;
			ret->probes += journal.entries[i].kind == JOURNAL_PROBE;
		}
	} else if (!undo_is_this_boot(boot)) {
		unlink(path);
	}
	journal_release(&journal);
	return waiting;
}
