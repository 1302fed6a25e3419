// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/files/import/names_internal.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "lib/ground/base/xxh64.h"

enum { COMM_MAX = 64, SYMBOL_MAX = 200, SYMBOLS_MAX = 1 << 20, STEP = 16, SIZE_MAX_OF_ONE = 1 << 24 };

/*
 * As in a real kernel, modules are far from the kernel itself: the last function before a gap reaches up to the end of
 * its page, so a neighbour in a module would be taken for it.
 */
static const uint64_t first_address = UINT64_C(0xffffffff81000000), first_in_modules = UINT64_C(0xffffffffe0000000);
static const uint64_t room = UINT64_C(0x1f000000);

struct task {
	char comm[COMM_MAX];
	uint32_t len;
	int32_t tgid;
	bool named;
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
	buf_release(&names->ends);
}

bool import_names_task(struct import_names *names, int32_t pid, const char *comm, size_t len, int32_t tgid)
{
	struct task *task;
	/* These texts say that there is no name. */
	bool named = pid && comm && len <= COMM_MAX && (len != 5 || memcmp(comm, "<...>", 5) != 0);

	if (!named && !tgid)
		return true;
	task = u64_map_add(&names->tasks, (uint64_t)pid);
	if (!task)
		return false;
	if (named) {
		memcpy(task->comm, comm, len);
		task->len = (uint32_t)len;
		task->named = true;
	}
	if (tgid)
		task->tgid = tgid;
	return true;
}

bool import_names_task_short(struct import_names *names, int32_t pid, const char *comm, size_t len)
{
	const struct task *task = u64_map_find(&names->tasks, (uint64_t)pid);

	return (task && task->named) || import_names_task(names, pid, comm, len, 0);
}

static bool is_plain(const char *name, size_t len, const char *others)
{
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)name[i]) && (!name[i] || !strchr(others, name[i])))
			return false;
	return len > 0;
}

/* "vfs_read", which "[ext4]" may follow. */
static bool is_symbol(const struct import_place *place)
{
	const char *module = place->module;
	size_t len = place->module_len;

	if (place->len + len > SYMBOL_MAX || !is_plain(place->name, place->len, "_.$"))
		return false;
	return !len || (len > 2 && module[0] == '[' && module[len - 1] == ']' && is_plain(module + 1, len - 2, "_.$"));
}

/* "0xffffffffa0000235": a place in no function, as sprint_symbol() prints it. */
static bool is_number(const struct import_place *place, uint64_t *ret)
{
	uint64_t value = 0;

	if (place->len < 3 || place->len > 18 || place->module_len || place->size || place->name[0] != '0' ||
	    place->name[1] != 'x' || place->name[2] == '0')
		return false;
	for (size_t i = 2; i < place->len; i++) {
		char c = place->name[i];

		if (!isxdigit((unsigned char)c) || isupper((unsigned char)c))
			return false;
		value = value << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	*ret = value;
	return value;
}

static bool put_line(struct buf *to, uint64_t address, const struct import_place *place, const char *name, size_t len)
{
	return buf_addf(to, "%016" PRIx64 " T %.*s%s%.*s\n", address, (int)len, name, place->module_len ? "\t" : "",
			(int)place->module_len, place->module_len ? place->module : "");
}

/* Returns where the function begins: as the text says, or behind those that have an address. 0: there is no room. */
static uint64_t start_of(struct import_names *names, const struct import_place *place)
{
	bool module = place->module_len;
	uint64_t *used = module ? &names->used_in_modules : &names->used, start = *used;

	if (place->address)
		return place->address - place->offset;
	if (start + place->size >= room)
		return 0;
	/* There is a gap behind a function whose size is known, so that its end is no other function's begin. */
	*used += (place->size + STEP - 1) / STEP * STEP + STEP;
	return (module ? first_in_modules : first_address) + start;
}

static uint64_t add_symbol(struct import_names *names, const struct import_place *place)
{
	uint64_t start = names->nr_symbols < SYMBOLS_MAX ? start_of(names, place) : 0;

	if (!start || !put_line(&names->kallsyms, start, place, place->name, place->len) ||
	    (place->size && !put_line(&names->ends, start + place->size, place, "_", 1)))
		return 0;
	names->nr_symbols++;
	return start;
}

/* The same name with another size is another function. */
static uint64_t key_of(const struct import_place *place)
{
	const uint64_t facts[] = { xxh64(place->name, place->len), xxh64(place->module, place->module_len), place->size,
				   place->address ? place->address - place->offset : 0 };

	return xxh64(facts, sizeof(facts));
}

uint64_t import_names_place(struct import_names *names, const struct import_place *place)
{
	uint64_t *start, number;

	if (!place->named && is_number(place, &number))
		return number;
	if (!is_symbol(place) || (place->size && place->offset >= place->size) || place->size > SIZE_MAX_OF_ONE)
		return 0;
	start = u64_map_add(&names->symbols, key_of(place));
	if (start && !*start)
		*start = add_symbol(names, place);
	return start && *start ? *start + place->offset : 0;
}

uint64_t import_names_symbol(struct import_names *names, const char *name, size_t len)
{
	const char *blank = len ? memchr(name, ' ', len) : NULL;
	struct import_place place = { .name = name, .len = blank ? (size_t)(blank - name) : len, .module = "" };

	if (blank) {
		place.module = blank + 1;
		place.module_len = len - place.len - 1;
		/* A blank alone is no module. */
		if (!place.module_len)
			return 0;
	}
	return import_names_place(names, &place);
}

bool import_names_kallsyms(const struct import_names *names, struct buf *kallsyms)
{
	return buf_add(kallsyms, names->kallsyms.data, names->kallsyms.len) &&
	       buf_add(kallsyms, names->ends.data, names->ends.len);
}

bool import_names_texts(const struct import_names *names, struct buf *cmdlines, struct buf *tgids)
{
	const struct task *task;
	size_t at = 0;
	uint64_t pid;

	while ((task = u64_map_next(&names->tasks, &at, &pid))) {
		if (task->named && !buf_addf(cmdlines, "%" PRIu64 " %.*s\n", pid, (int)task->len, task->comm))
			return false;
		if (task->tgid && !buf_addf(tgids, "%" PRIu64 " %" PRId32 "\n", pid, task->tgid))
			return false;
	}
	return true;
}
