// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/vec.h"
#include "lib/undo/undo_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
