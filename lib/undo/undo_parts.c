// SPDX-License-Identifier: GPL-2.0-only
#include "lib/undo/undo_internal.h"

#include <string.h>

/* Finds the journal that says which recording made an instance: see undo_mark(). */

/* The mark "SECRET PARTS" of an instance, or with `instance` NULL that of any instance. NULL: there is none. */
static char *find_mark(const char *path, const char *instance)
{
	struct journal journal = { 0 };
	char boot[BOOT_ID_SIZE];
	struct process_id owner;
	cleanup_fd int fd = -1;
	char *mark = NULL;

	if (undo_read_journal(path, &fd, &owner, boot, &journal, NULL))
		return NULL;
	for (size_t i = 0; !mark && i < journal.nr; i++) {
		const struct journal_entry *entry = &journal.entries[i];

		if (entry->kind == JOURNAL_INSTANCE && strchr(entry->text, ' ') &&
		    (!instance || !strcmp(entry->instance, instance)))
			mark = strdup(entry->text);
	}
	journal_release(&journal);
	return mark;
}

char *undo_parts(const char *path)
{
	cleanup_free char *mark = find_mark(path, NULL);

	return mark ? strdup(strchr(mark, ' ') + 1) : NULL;
}

bool undo_knows_instance(const char *dir, const char *instance, const char *secret)
{
	struct undo_pending pending;
	unsigned at = 0;
	bool known = false;

	while (!known && *secret && undo_next_pending(dir, &at, &pending, NULL) > 0) {
		cleanup_free char *mark = find_mark(pending.path, instance);

		known = mark && !strncmp(mark, secret, strlen(secret)) && mark[strlen(secret)] == ' ';
	}
	return known;
}
