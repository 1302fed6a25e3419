// SPDX-License-Identifier: LGPL-2.1-or-later
/* Journals as files: which names they have, and how one is read and written. */
#include "lib/kernel/undo/undo_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/kernel/tracefs/lock_file.h"
#include "lib/kernel/tracefs/users.h"

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

bool undo_owner_lives(int fd, struct process_id owner)
{
	return lock_file_lives(fd, 0) || process_lives(owner);
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
