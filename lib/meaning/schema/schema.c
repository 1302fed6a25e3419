// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"
#include "lib/meaning/schema/arena_internal.h"
#include "lib/meaning/schema/compile_internal.h"
#include "lib/meaning/schema/format.h"
#include "lib/meaning/schema/format_internal.h"
#include "lib/meaning/schema/program.h"

enum {
	NAMES_MAX = 16 << 20,
	FORMAT_MEMORY_MAX = 4 << 20,
	ENTRIES_MAX = 1 << 18,
};

struct entry {
	const char *system, *name, *text;
	size_t len;
	int32_t id;
	const struct format *format;
	const char *format_why;
	struct program *program;
	const char *program_note;
	struct arena arena; /* memory of the format and its program */
	bool tried;
};

struct schema {
	struct schema_abi abi;
	struct arena names;
	struct entry *entries;
	size_t nr_entries, max_entries;
	uint32_t *slots; /* by id: index + 1 into entries, 0 is free */
	size_t nr_slots; /* a power of two */
	bool starved;
	pthread_mutex_t lock; /* threads may ask for formats and programs, which are made when first asked for */
};

int schema_new(const struct schema_abi *abi, struct schema **ret, struct fail *fail)
{
	struct schema *schema;

	if (abi->long_size != 4 && abi->long_size != 8)
		return fail_set(fail, -EBADMSG, "a long of %u bytes is not supported", abi->long_size);
	schema = calloc(1, sizeof(*schema));
	if (!schema)
		return fail_memory(fail);
	schema->abi = *abi;
	arena_init(&schema->names, NAMES_MAX);
	pthread_mutex_init(&schema->lock, NULL);
	*ret = schema;
	return 0;
}

void schema_free(struct schema *schema)
{
	if (!schema)
		return;
	for (size_t i = 0; i < schema->nr_entries; i++)
		arena_release(&schema->entries[i].arena);
	arena_release(&schema->names);
	pthread_mutex_destroy(&schema->lock);
	free(schema->entries);
	free(schema->slots);
	free(schema);
}

const struct schema_abi *schema_abi(const struct schema *schema)
{
	return &schema->abi;
}

/* The slot of an id: its own, or the free one where it belongs. */
static uint32_t *find_slot(uint32_t *slots, size_t nr_slots, const struct entry *entries, int32_t id)
{
	size_t at = (uint32_t)id * 0x9e3779b1u & (nr_slots - 1);

	while (slots[at] && entries[slots[at] - 1].id != id)
		at = (at + 1) & (nr_slots - 1);
	return &slots[at];
}

static bool make_room(struct schema *schema)
{
	size_t max = schema->max_entries ? schema->max_entries * 2 : 2048;
	struct entry *entries;
	uint32_t *slots;

	if (schema->nr_entries < schema->max_entries)
		return true;
	entries = reallocarray(schema->entries, max, sizeof(*entries));
	if (!entries)
		return false;
	schema->entries = entries;
	slots = calloc(max * 2, sizeof(*slots));
	if (!slots)
		return false;
	for (size_t i = 0; i < schema->nr_entries; i++) {
		uint32_t *slot = find_slot(slots, max * 2, entries, entries[i].id);

		if (!*slot)
			*slot = (uint32_t)i + 1;
	}
	free(schema->slots);
	schema->slots = slots;
	schema->nr_slots = max * 2;
	schema->max_entries = max;
	return true;
}

int schema_add(struct schema *schema, const char *system, size_t system_len, const char *text, size_t len,
	       struct fail *fail)
{
	struct entry entry = { .text = text, .len = len };
	const char *name;
	size_t name_len;
	uint32_t *slot;

	if (!format_scan(text, len, &name, &name_len, &entry.id))
		return fail_set(fail, -EBADMSG, "a format of system '%.*s' has no name or ID",
				(int)(system_len < 64 ? system_len : 64), system);
	if (schema->nr_entries >= ENTRIES_MAX)
		return fail_set(fail, -EBADMSG, "there are more than %d formats", ENTRIES_MAX);
	entry.system = arena_text(&schema->names, system, system_len);
	entry.name = arena_text(&schema->names, name, name_len);
	if (!entry.system || !entry.name || !make_room(schema))
		return fail_memory(fail);
	schema->entries[schema->nr_entries++] = entry;
	slot = find_slot(schema->slots, schema->nr_slots, schema->entries, entry.id);
	if (!*slot)
		*slot = (uint32_t)schema->nr_entries;
	return 0;
}

static struct entry *find_entry(const struct schema *schema, int32_t id)
{
	uint32_t *slot;

	if (!schema->nr_slots)
		return NULL;
	slot = find_slot(schema->slots, schema->nr_slots, schema->entries, id);
	return *slot ? &schema->entries[*slot - 1] : NULL;
}

const struct format *schema_format(struct schema *schema, int32_t id, const char **ret_why)
{
	struct entry *entry;

	pthread_mutex_lock(&schema->lock);
	entry = find_entry(schema, id);
	if (entry && !entry->tried) {
		entry->tried = true;
		arena_init(&entry->arena, FORMAT_MEMORY_MAX);
		entry->format = format_parse(&entry->arena, schema->abi.long_size, entry->system, entry->text,
					     entry->len, &entry->format_why);
		schema->starved |= entry->arena.starved;
	}
	pthread_mutex_unlock(&schema->lock);
	if (ret_why)
		*ret_why = entry ? entry->format_why : "there is no format with that id";
	return entry ? entry->format : NULL;
}

const struct program *schema_program(struct schema *schema, const struct format *format, const char **ret_note)
{
	struct entry *entry;

	if (ret_note)
		*ret_note = NULL;
	pthread_mutex_lock(&schema->lock);
	entry = find_entry(schema, format->id);
	if (!entry || entry->format != format) {
		pthread_mutex_unlock(&schema->lock);
		return NULL;
	}
	if (!entry->program) {
		entry->program = program_compile(&schema->abi, format, &entry->arena, &entry->program_note);
		schema->starved |= entry->arena.starved;
	}
	pthread_mutex_unlock(&schema->lock);
	if (ret_note)
		*ret_note = entry->program_note;
	return entry->program;
}

bool schema_starved(const struct schema *schema)
{
	bool starved;

	/* The lock is as const as what it guards. */
	pthread_mutex_lock((pthread_mutex_t *)(uintptr_t)&schema->lock);
	starved = schema->starved;
	pthread_mutex_unlock((pthread_mutex_t *)(uintptr_t)&schema->lock);
	return starved;
}

int32_t schema_find(const struct schema *schema, const char *system, const char *name)
{
	for (size_t i = 0; i < schema->nr_entries; i++) {
		const struct entry *entry = &schema->entries[i];

		if (!strcmp(entry->name, name) && (!system || !strcmp(entry->system, system)))
			return entry->id;
	}
	return -ENOENT;
}

bool schema_at(const struct schema *schema, size_t index, int32_t *ret_id, const char **ret_system,
	       const char **ret_name)
{
	if (index >= schema->nr_entries)
		return false;
	*ret_id = schema->entries[index].id;
	*ret_system = schema->entries[index].system;
	*ret_name = schema->entries[index].name;
	return true;
}

void schema_offer(const struct schema *schema, bool calls, struct near *near)
{
	bool whole = strpbrk(near->word, ":/");
	const char *system, *event;
	int32_t id;

	for (size_t i = 0; schema_at(schema, i, &id, &system, &event); i++) {
		char name[NEAR_NAME_SIZE];

		snprintf(name, sizeof(name), "%s:%s", system, event);
		near_offer_as(near, whole ? name : event, name);
		if (calls && !whole && !strcmp(system, "syscalls") && !strncmp(event, "sys_enter_", 10))
			near_offer_as(near, event + 10, name);
	}
}

bool schema_mentions(const struct schema *schema, size_t index, const char *text, size_t len)
{
	return index < schema->nr_entries && memmem(schema->entries[index].text, schema->entries[index].len, text, len);
}
