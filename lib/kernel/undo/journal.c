// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/undo/journal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/bytes.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/kernel/tracefs/tracing.h"

enum { ENTRIES_MAX = 100000 };

static void entry_release(struct journal_entry *entry)
{
	free(entry->instance);
	free(entry->file);
	free(entry->text);
}

void journal_release(struct journal *journal)
{
	for (size_t i = 0; i < journal->nr; i++)
		entry_release(&journal->entries[i]);
	free(journal->entries);
	*journal = (struct journal){ 0 };
}

static int add_copies(struct journal *journal, struct journal_entry entry, struct fail *fail)
{
	bool whole = entry.instance && entry.file && entry.text;
	struct journal_entry *added = whole ? vec_push(journal->entries, journal->nr) : NULL;

	if (!added) {
		entry_release(&entry);
		return fail_memory(fail);
	}
	*added = entry;
	return 0;
}

int journal_add(struct journal *journal, enum journal_kind kind, const char *instance, const char *file,
		const char *text, struct fail *fail)
{
	struct journal_entry entry = {
		.kind = kind,
		.instance = strdup(instance),
		.file = strdup(file),
		.text = strdup(text),
	};

	return add_copies(journal, entry, fail);
}

int journal_copy(const struct journal *journal, struct journal *ret, struct fail *fail)
{
	int err = 0;

	for (size_t i = 0; !err && i < journal->nr; i++) {
		const struct journal_entry *entry = &journal->entries[i];

		err = journal_add(ret, entry->kind, entry->instance, entry->file, entry->text, fail);
	}
	return err;
}

struct journal_entry *journal_find(const struct journal *journal, enum journal_kind kind, const char *instance,
				   const char *file)
{
	for (size_t i = 0; i < journal->nr; i++) {
		struct journal_entry *entry = &journal->entries[i];

		if (entry->kind == kind && !strcmp(entry->instance, instance) && !strcmp(entry->file, file))
			return entry;
	}
	return NULL;
}

void journal_drop(struct journal *journal, struct journal_entry *entry)
{
	size_t index = (size_t)(entry - journal->entries);

	entry_release(entry);
	memmove(entry, entry + 1, (journal->nr - index - 1) * sizeof(*entry));
	journal->nr--;
}

bool journal_print_head(struct process_id owner, const char *boot, struct buf *buf)
{
	return buf_addf(buf, "weft-undo 1 %d %" PRIu64 " %s\n", (int)owner.pid, owner.start, *boot ? boot : "-");
}

bool journal_print(const struct journal_entry *entry, struct buf *buf)
{
	return buf_addf(buf, "%c %zu %zu %zu\n%s\n%s\n", entry->kind, strlen(entry->instance), strlen(entry->file),
			strlen(entry->text), entry->instance, entry->file) &&
	       buf_add_str(buf, entry->text) && buf_add(buf, "\n", 1);
}

/* Takes a text of `len` bytes and the newline after it. Returns 1, 0 if the text is cut short, or -ENOMEM. */
static int take_text(struct bytes *in, size_t len, char **ret, struct fail *fail)
{
	const uint8_t *at, *newline;

	if (len >= in->left || !bytes_take(in, len, &at) || !bytes_take(in, 1, &newline) || *newline != '\n' ||
	    memchr(at, 0, len))
		return 0;
	*ret = strndup((const char *)at, len);
	return *ret ? 1 : fail_memory(fail);
}

static bool take_line(struct bytes *in, char *into, size_t size)
{
	const uint8_t *end = in->left ? memchr(in->at, '\n', in->left) : NULL, *at;
	size_t len = end ? (size_t)(end - in->at) : size;

	if (len >= size || !bytes_take(in, len + 1, &at))
		return false;
	memcpy(into, at, len);
	into[len] = '\0';
	return true;
}

/* Parses one entry. Returns 1, or 0 at the end and at an entry that is cut short. */
static int parse_entry(struct bytes *in, struct journal *journal, struct fail *fail)
{
	struct journal_entry entry = { 0 }, *old;
	size_t instance, file, text;
	char line[128], kind;
	int err;

	if (!take_line(in, line, sizeof(line)) || sscanf(line, "%c %zu %zu %zu", &kind, &instance, &file, &text) != 4)
		return 0;
	entry.kind = (enum journal_kind)kind;
	err = take_text(in, instance, &entry.instance, fail);
	if (err > 0)
		err = take_text(in, file, &entry.file, fail);
	if (err > 0)
		err = take_text(in, text, &entry.text, fail);
	if (err <= 0 || !strchr("sipclf", kind)) {
		entry_release(&entry);
		return err < 0 ? err : 0;
	}
	if (kind != JOURNAL_FORGET) {
		err = add_copies(journal, entry, fail);
		return err ? err : 1;
	}
	old = journal_find(journal, *entry.file ? JOURNAL_PROBE : JOURNAL_INSTANCE, entry.instance, entry.file);
	if (old)
		journal_drop(journal, old);
	entry_release(&entry);
	return 1;
}

int journal_parse(const char *text, size_t len, struct process_id *ret_owner, char ret_boot[BOOT_ID_SIZE],
		  struct journal *ret, struct fail *fail)
{
	struct bytes in = bytes_of(text, len, false);
	struct journal journal = { 0 };
	struct process_id owner;
	char line[128];
	int more = 1;

	_Static_assert(BOOT_ID_SIZE == 40, "sscanf below");
	if (!take_line(&in, line, sizeof(line)) ||
	    sscanf(line, "weft-undo 1 %d %" SCNu64 " %39s", &owner.pid, &owner.start, ret_boot) != 3)
		return fail_set(fail, -EBADMSG, "not a journal of weft");
	while (more > 0 && journal.nr < ENTRIES_MAX)
		more = parse_entry(&in, &journal, fail);
	if (more < 0) {
		journal_release(&journal);
		return more;
	}
	*ret_owner = owner;
	*ret = journal;
	return 0;
}

static bool find_in(const char *path, struct process_id *ret)
{
	cleanup_buf struct buf buf = BUF_INIT;
	struct process_id id = { 0 };
	const char *at;

	if (tracing_read_path(path, &buf, NULL))
		return false;
	id.pid = (pid_t)strtol(buf_str(&buf), NULL, 10);
	/* The comm in parentheses may contain any character. Field 3 follows the last ')'. */
	at = strrchr(buf_str(&buf), ')');
	for (unsigned field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (!at)
		return false;
	id.start = strtoull(at + 1, NULL, 10);
	*ret = id;
	return true;
}

bool process_find(pid_t pid, struct process_id *ret)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	return find_in(path, ret);
}

struct process_id process_self(void)
{
	struct process_id id = { .pid = getpid() };

	/* /proc may belong to another PID namespace, where /proc/PID is somebody else. */
	(void)find_in("/proc/self/stat", &id);
	return id;
}

bool process_lives(struct process_id id)
{
	struct process_id now;

	return process_find(id.pid, &now) && now.start == id.start;
}

void boot_id(char into[BOOT_ID_SIZE])
{
	cleanup_buf struct buf buf = BUF_INIT;

	into[0] = '\0';
	if (!tracing_read_path("/proc/sys/kernel/random/boot_id", &buf, NULL))
		snprintf(into, BOOT_ID_SIZE, "%.*s", (int)strcspn(buf_str(&buf), "\n"), buf_str(&buf));
}
