// SPDX-License-Identifier: LGPL-2.1-or-later
/* The journals that wait to be restored, the newest first. */
#include "lib/kernel/undo/undo_internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/vec.h"
#include "lib/kernel/undo/claim.h"

uint64_t undo_since_ns(struct process_id owner, const struct journal *journal)
{
	uint64_t latest = 0;
	struct claim claim;

	for (size_t i = 0; i < journal->nr; i++)
		if (journal->entries[i].kind == JOURNAL_CLAIM && claim_parse(journal->entries[i].text, &claim) &&
		    claim.boot_ns > latest)
			latest = claim.boot_ns;
	return latest ? latest : owner.start * (NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* Whether a journal waits: it is held, or of this boot and its process has ended. Returns 1 with *ret, 0, or -errno. */
static int is_waiting(const char *path, bool held, struct undo_pending *ret, struct fail *fail)
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
		r = is_waiting(path, file == UNDO_FILE_HELD, &one, fail);
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
