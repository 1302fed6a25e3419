// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/dump/dump_internal.h"

#include "lib/base/bytes.h"
#include "lib/base/fail.h"
#include "lib/base/text.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int dump_keep_note(struct dump *dump, const void *text, size_t len, struct fail *fail)
{
	if (dump->note || !len || len > DUMP_NOTE_MAX)
		return 0;
	dump->note = strndup(text, len);
	return dump->note ? 0 : fail_memory(fail);
}

static int take_note(struct dump *dump, const char *name, size_t name_len, uint32_t type, const uint8_t *bytes,
		     size_t len, struct fail *fail)
{
	/* Only /proc/kcore has a task's structure (fs/proc/kcore.c). */
	if (name_len == sizeof("CORE") && !memcmp(name, "CORE", name_len) && type == NT_TASKSTRUCT)
		dump->live = true;
	if (name_len == sizeof("VMCOREINFO") && !memcmp(name, "VMCOREINFO", name_len))
		return dump_keep_note(dump, bytes, len, fail);
	return 0;
}

int dump_take_notes(struct dump *dump, const void *notes, size_t len, struct fail *fail)
{
	struct bytes in = bytes_of(notes, len, false);
	uint32_t name_len, bytes_len, type;
	const uint8_t *name, *bytes;
	int r = 0;

	while (!r && bytes_u32(&in, &name_len) && bytes_u32(&in, &bytes_len) && bytes_u32(&in, &type) &&
	       name_len < 64 && bytes_len <= DUMP_NOTES_MAX && bytes_take(&in, (name_len + 3) & ~3U, &name) &&
	       bytes_take(&in, (bytes_len + 3) & ~(size_t)3, &bytes))
		r = take_note(dump, (const char *)name, name_len, type, bytes, bytes_len, fail);
	return r;
}

int dump_open(int fd, const char *path, struct dump **ret, struct fail *fail)
{
	static const struct dump_ops *const kinds[] = { &dump_elf, &dump_kdump };
	struct dump *dump = calloc(1, sizeof(*dump));
	int r;

	if (!dump)
		return fail_memory(fail);
	dump->path = strdup(path);
	r = !dump->path ? fail_memory(fail) : flat_open(&dump->file, fd, path, fail);
	for (size_t i = 0; !r && i < array_size(kinds); i++) {
		dump->ops = kinds[i];
		r = kinds[i]->open(dump, fail);
	}
	if (!r)
		r = fail_set(fail, -EBADMSG,
			     "'%s' is no dump of a kernel: neither an ELF core nor a file of makedumpfile", path);
	if (r < 0) {
		dump_free(dump);
		return r;
	}
	dump->work_max = DUMP_WORK_MAX + (DUMP_PAGE_WORK + 16) * dump->ops->pages(dump);
	*ret = dump;
	return 0;
}

void dump_free(struct dump *dump)
{
	if (!dump)
		return;
	if (dump->of_kind)
		dump->ops->release(dump);
	flat_release(&dump->file);
	free(dump->note);
	free(dump->path);
	free(dump);
}

enum dump_machine dump_machine(const struct dump *dump)
{
	return dump->machine;
}

const char *dump_kind(const struct dump *dump)
{
	return dump->file.flattened && dump->ops == &dump_kdump ? "flattened kdump-compressed" : dump->ops->name;
}

bool dump_is_spent(const struct dump *dump)
{
	return dump->work >= dump->work_max;
}

bool dump_read(struct dump *dump, uint64_t address, void *into, size_t len)
{
	if (dump_is_spent(dump))
		return false;
	/* Copying large pieces takes time, too. */
	dump->work += 1 + len / DUMP_PIECE;
	return address + len >= address && dump->ops->read(dump, address, into, len);
}

const char *dump_note(const struct dump *dump)
{
	return dump->note;
}

bool dump_range(const struct dump *dump, uint64_t from, uint64_t *ret_from, uint64_t *ret_to)
{
	return dump->ops->range(dump, from, ret_from, ret_to);
}

bool dump_is_live(const struct dump *dump)
{
	return dump->live;
}

uint64_t dump_damaged(const struct dump *dump)
{
	return dump->damaged;
}
