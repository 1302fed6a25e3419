// SPDX-License-Identifier: LGPL-2.1-or-later
/* What held journals say of a setting that another journal has, too. */
#include "lib/kernel/undo/undo_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

bool undo_hand_to(struct journal *younger, const struct journal_entry *entry)
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

static bool knows(const struct journal *held, const struct journal_entry *entry)
{
	if (journal_only_says(entry))
		return false;
	return journal_find(held, entry->kind, entry->instance, entry->file) ||
	       journal_find(held, JOURNAL_INSTANCE, entry->instance, "");
}

/* Reads a journal if it is a held one; false: it is none, or cannot be read. */
static bool read_held(const struct undo_pending *item, struct journal *ret)
{
	char boot[BOOT_ID_SIZE];
	struct process_id owner;
	cleanup_fd int fd = -1;

	return item->held && !undo_read_journal(item->path, &fd, &owner, boot, ret, NULL);
}

bool undo_drop_known(const char *dir, struct journal *journal)
{
	cleanup_free struct undo_pending *items = NULL;
	size_t nr = 0, before = journal->nr;

	if (undo_list(dir, &items, &nr, NULL))
		return false;
	for (size_t i = 0; i < nr; i++) {
		struct journal held = { 0 };

		if (!read_held(&items[i], &held))
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

		if (!read_held(&items[i], &held))
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
		handed |= undo_hand_to(&held, &journal->entries[i]);
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
