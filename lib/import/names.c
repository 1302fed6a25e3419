// SPDX-License-Identifier: GPL-2.0-only
#include "lib/import/names.h"

#include "lib/base/xxh64.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

enum { COMM_MAX = 64, SYMBOL_MAX = 200, SYMBOLS_MAX = 1 << 20, STEP = 16 };

/*
 * As in a real kernel, modules are far from the kernel itself: the last function before a gap reaches up to the end of
 * its page, so a neighbour in a module would be taken for it.
 */
static const uint64_t first_address = UINT64_C(0xffffffff81000000), first_in_modules = UINT64_C(0xffffffffc0000000);

struct task {
	char comm[COMM_MAX];
	uint32_t len;
	int32_t tgid;
};

void import_names_init(struct import_names *names)
{
	*names = (struct import_names){ .kallsyms = BUF_INIT };
	u64_map_init(&names->tasks, sizeof(struct task));
	u64_map_init(&names->symbols, sizeof(uint64_t));
}

void import_names_release(struct import_names *names)
{
	u64_map_release(&names->tasks);
	u64_map_release(&names->symbols);
	buf_release(&names->kallsyms);
}

bool import_names_task(struct import_names *names, int32_t pid, const char *comm, size_t len, int32_t tgid)
{
	struct task *task;

	/* These texts say that there is no name. */
	if (!pid || !len || len > COMM_MAX || (len == 5 && !memcmp(comm, "<...>", 5)))
		len = 0;
	if (!len && !tgid)
		return true;
	task = u64_map_add(&names->tasks, (uint64_t)pid);
	if (!task)
		return false;
	if (len) {
		memcpy(task->comm, comm, len);
		task->len = (uint32_t)len;
	}
	if (tgid)
		task->tgid = tgid;
	return true;
}

bool import_names_task_short(struct import_names *names, int32_t pid, const char *comm, size_t len)
{
	const struct task *task = u64_map_find(&names->tasks, (uint64_t)pid);

	return (task && task->len) || import_names_task(names, pid, comm, len, 0);
}

/*
 * Returns whether this is a symbol: "vfs_read", or "ext4_sync_fs [ext4]" in a module. *ret_plain is the length without
 * the module.
 */
static bool is_symbol(const char *name, size_t len, size_t *ret_plain)
{
	const char *blank = memchr(name, ' ', len);

	*ret_plain = blank ? (size_t)(blank - name) : len;
	for (size_t i = 0; i < len; i++) {
		bool bracket = blank && ((name + i == blank + 1 && name[i] == '[') || (i == len - 1 && name[i] == ']'));

		if (!isalnum((unsigned char)name[i]) && !bracket && name + i != blank &&
		    !strchr("_.$", name[i] ? name[i] : ' '))
			return false;
	}
	return !blank || (len > *ret_plain + 3 && *ret_plain && blank[1] == '[' && name[len - 1] == ']');
}

uint64_t import_names_symbol(struct import_names *names, const char *name, size_t len)
{
	uint64_t *address;
	size_t plain;

	if (!len || len > SYMBOL_MAX || !is_symbol(name, len, &plain))
		return 0;
	address = u64_map_add(&names->symbols, xxh64(name, len));
	if (!address || *address)
		return address ? *address : 0;
	if (names->nr_symbols == SYMBOLS_MAX)
		return 0;
	*address = (plain < len ? first_in_modules : first_address) + names->nr_symbols++ * STEP;
	return buf_addf(&names->kallsyms, "%016" PRIx64 " T %.*s%s%.*s\n", *address, (int)plain, name,
			plain < len ? "\t" : "", (int)(plain < len ? len - plain - 1 : 0),
			name + (plain < len ? plain + 1 : len)) ?
		       *address :
		       0;
}

bool import_names_texts(const struct import_names *names, struct buf *cmdlines, struct buf *tgids)
{
	const struct task *task;
	size_t at = 0;
	uint64_t pid;

	while ((task = u64_map_next(&names->tasks, &at, &pid))) {
		if (task->len && !buf_addf(cmdlines, "%" PRIu64 " %.*s\n", pid, (int)task->len, task->comm))
			return false;
		if (task->tgid && !buf_addf(tgids, "%" PRIu64 " %" PRId32 "\n", pid, task->tgid))
			return false;
	}
	return true;
}
