// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/undo/undo.h"

#include "lib/tracefs/lock_file.h"
#include "lib/undo/journal.h"
#include "lib/undo/undo_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
