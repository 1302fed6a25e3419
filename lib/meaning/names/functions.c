// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/names/functions.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/bytes.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/u64_map.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/names/maps.h"
#include "lib/pages/ring/page.h"
#include "lib/pages/trace/trace.h"

struct functions_entry {
	uint64_t start, end;
	const char *name;
	uint32_t name_len;
	bool kept; /* in the subset */
};

/* The functions of a file: a run of functions::entries, ascending. */
struct functions_file {
	struct text_word head, path; /* the first line */
	uint64_t inode;
	size_t first, nr;
};

struct functions {
	struct functions_entry *entries;
	size_t nr;
	struct functions_file *files; /* ascending by path and inode */
	size_t nr_files;
};

static uint64_t take_number(const char **at, const char *end, unsigned base)
{
	uint64_t value = 0;

	for (; *at < end; ++*at) {
		unsigned digit = (unsigned char)**at;

		digit = digit >= '0' && digit <= '9' ? digit - '0' :
			digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 :
						       base;
		if (digit >= base)
			break;
		value = value * base + digit;
	}
	/* The blank behind it. */
	*at += *at < end;
	return value;
}

static bool begin_file(struct functions *functions, struct text_word line)
{
	const char *at = line.at + 2, *end = line.at + line.len;
	struct functions_file *file = vec_push(functions->files, functions->nr_files);

	if (!file)
		return false;
	*file = (struct functions_file){ .head = line, .inode = take_number(&at, end, 10), .first = functions->nr };
	at = memchr(at, ' ', (size_t)(end - at));
	if (at)
		file->path = (struct text_word){ at + 1, (size_t)(end - at - 1) };
	return true;
}

static bool add_function(struct functions *functions, struct functions_file *file, struct text_word line)
{
	const char *at = line.at, *end = line.at + line.len;
	uint64_t start = take_number(&at, end, 16), size = take_number(&at, end, 16);
	struct functions_entry *last = file->nr ? &functions->entries[functions->nr - 1] : NULL, *entry;

	if (at >= end || size > UINT64_MAX - start || (last && start < last->end))
		return true;
	entry = vec_push(functions->entries, functions->nr);
	if (!entry)
		return false;
	*entry = (struct functions_entry){ start, start + size, at, (uint32_t)(end - at), false };
	file->nr++;
	return true;
}

static int compare(const void *a, const void *b)
{
	const struct functions_file *one = a, *other = b;
	int order = text_word_compare(one->path, other->path);

	return order ? order : (one->inode > other->inode) - (one->inode < other->inode);
}

int functions_of_text(const char *text, size_t len, struct functions **ret, struct fail *fail)
{
	struct functions *functions = calloc(1, sizeof(*functions));
	struct text_word line;
	bool ok = functions;

	while (ok && text_next_line(&text, &len, &line)) {
		if (line.len > 2 && line.at[0] == 'f' && line.at[1] == ' ')
			ok = begin_file(functions, line);
		else if (functions->nr_files && functions->nr < FUNCTIONS_MAX)
			ok = add_function(functions, &functions->files[functions->nr_files - 1], line);
	}
	if (!ok) {
		functions_free(functions);
		return fail_memory(fail);
	}
	if (functions->nr_files)
		qsort(functions->files, functions->nr_files, sizeof(*functions->files), compare);
	*ret = functions;
	return 0;
}

void functions_free(struct functions *functions)
{
	if (!functions)
		return;
	free(functions->entries);
	free(functions->files);
	free(functions);
}

/* The file of a map; NULL: its functions are unknown. */
static const struct functions_file *functions_file(const struct functions *functions, const struct map *map)
{
	const struct functions_file key = { .path = { map->path, map->path_len }, .inode = map->inode };

	return functions->nr_files ? bsearch(&key, functions->files, functions->nr_files, sizeof(key), compare) : NULL;
}

/* The function at a place in the file. */
static bool functions_at(const struct functions *functions, const struct functions_file *file, uint64_t place,
			 struct function *ret)
{
	const struct functions_entry *entry;
	size_t low = vec_count(file->nr, i, functions->entries[file->first + i].end <= place);

	entry = &functions->entries[file->first + low];
	if (low == file->nr || entry->start > place)
		return false;
	*ret = (struct function){ .name = entry->name,
				  .name_len = entry->name_len,
				  .id = (uint32_t)(file->first + low),
				  .offset = place - entry->start };
	return true;
}

bool functions_find(const struct functions *functions, const struct map *map, uint64_t address, struct function *ret)
{
	const struct functions_file *file = functions_file(functions, map);

	return file && functions_at(functions, file, address - map->start + map->offset, ret);
}

const char *functions_name(const struct functions *functions, uint32_t id, uint32_t *ret_len)
{
	*ret_len = id < functions->nr ? functions->entries[id].name_len : 0;
	return id < functions->nr ? functions->entries[id].name : NULL;
}

struct functions_subset {
	struct functions *functions;
	struct map *maps; /* of all processes; ascending once ready */
	size_t nr_maps;
	struct map *spans; /* what they cover together: ascending, apart */
	size_t nr_spans;
	bool ready;
	struct u64_map seen; /* addresses: no values */
};

int functions_subset_new(const char *text, size_t len, struct functions_subset **ret, struct fail *fail)
{
	struct functions_subset *subset = calloc(1, sizeof(*subset));
	int err = subset ? functions_of_text(text, len, &subset->functions, fail) : fail_memory(fail);

	if (err) {
		free(subset);
		return err;
	}
	u64_map_init(&subset->seen, sizeof(uint8_t));
	*ret = subset;
	return 0;
}

void functions_subset_free(struct functions_subset *subset)
{
	if (!subset)
		return;
	functions_free(subset->functions);
	free(subset->maps);
	free(subset->spans);
	u64_map_release(&subset->seen);
	free(subset);
}

int functions_subset_maps(struct functions_subset *subset, const char *text, size_t len, struct fail *fail)
{
	struct text_word line;
	struct map map, *added;

	while (subset->nr_maps < MAPS_MAX && text_next_line(&text, &len, &line)) {
		if (!map_of_line(line, &map) || !map.path || !functions_file(subset->functions, &map))
			continue;
		added = vec_push(subset->maps, subset->nr_maps);
		if (!added)
			return fail_memory(fail);
		*added = map;
	}
	return 0;
}

static int subset_compare(const void *a, const void *b)
{
	const struct map *one = a, *other = b;

	return (one->start > other->start) - (one->start < other->start);
}

static bool make_ready(struct functions_subset *subset)
{
	if (subset->ready)
		return true;
	if (subset->nr_maps)
		qsort(subset->maps, subset->nr_maps, sizeof(*subset->maps), subset_compare);
	for (size_t i = 0; i < subset->nr_maps; i++) {
		struct map *last = subset->nr_spans ? &subset->spans[subset->nr_spans - 1] : NULL;

		if (last && subset->maps[i].start <= last->end) {
			if (subset->maps[i].end > last->end)
				last->end = subset->maps[i].end;
			continue;
		}
		last = vec_push(subset->spans, subset->nr_spans);
		if (!last) {
			subset->seen.starved = true;
			return false;
		}
		*last = subset->maps[i];
	}
	subset->ready = true;
	return true;
}

static void see(struct functions_subset *subset, uint64_t value)
{
	size_t low;

	/* A return address may be just behind the map. */
	low = vec_count(subset->nr_spans, i, subset->spans[i].end < value);
	if (low < subset->nr_spans && subset->spans[low].start <= value)
		(void)u64_map_add(&subset->seen, value);
}

void functions_subset_pages(struct functions_subset *subset, const struct page_shape *shape, const uint8_t *data,
			    size_t len)
{
	uint64_t low, span;

	if (!make_ready(subset) || !subset->nr_spans)
		return;
	low = subset->spans[0].start;
	span = subset->spans[subset->nr_spans - 1].end - low;
	if (shape->long_size == sizeof(uint32_t)) {
		for (; len >= sizeof(uint32_t); len--, data++)
			see(subset, load_u32(data, shape->swap));
		return;
	}
	for (; len >= sizeof(uint64_t); len--, data++) {
		uint64_t value = load_u64(data, shape->swap);

		if (__builtin_expect(value - low <= span, 0))
			see(subset, value);
	}
}

static void keep(struct functions_subset *subset, const struct functions_file *file, uint64_t place)
{
	struct function function;

	if (functions_at(subset->functions, file, place, &function))
		subset->functions->entries[function.id].kept = true;
}

static int by_value(const void *a, const void *b)
{
	uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

	return (one > other) - (one < other);
}

/* The first of the addresses that is not below. */
static size_t first_from(const uint64_t *addresses, size_t nr, uint64_t from)
{
	return vec_count(nr, i, addresses[i] < from);
}

/* Several processes have different files at one address, so each map sees all addresses. */
static bool keep_seen(struct functions_subset *subset)
{
	cleanup_free uint64_t *addresses = calloc(subset->seen.len + 1, sizeof(*addresses));
	size_t nr = 0;
	uint64_t key;

	if (!addresses || subset->seen.starved)
		return false;
	for (size_t at = 0; nr < subset->seen.len && u64_map_next(&subset->seen, &at, &key);)
		addresses[nr++] = key;
	qsort(addresses, nr, sizeof(*addresses), by_value);
	for (size_t i = 0; i < subset->nr_maps; i++) {
		const struct map *map = &subset->maps[i];
		const struct functions_file *file = functions_file(subset->functions, map);

		for (size_t j = first_from(addresses, nr, map->start); j < nr && addresses[j] <= map->end; j++) {
			keep(subset, file, addresses[j] - map->start + map->offset);
			if (addresses[j] > map->start)
				keep(subset, file, addresses[j] - map->start + map->offset - 1);
		}
	}
	return true;
}

static bool put_file(const struct functions *functions, const struct functions_file *file, struct buf *ret)
{
	bool ok = true, any = false;

	for (size_t i = 0; ok && i < file->nr; i++) {
		const struct functions_entry *entry = &functions->entries[file->first + i];

		if (!entry->kept)
			continue;
		if (!any)
			ok = buf_add(ret, file->head.at, file->head.len) && buf_add(ret, "\n", 1);
		any = true;
		ok = ok && buf_addf(ret, "%" PRIx64 " %" PRIx64 " %.*s\n", entry->start, entry->end - entry->start,
				    (int)entry->name_len, entry->name);
	}
	return ok;
}

int functions_subset_take(struct functions_subset *subset, struct buf *ret, struct fail *fail)
{
	if (!keep_seen(subset))
		return fail_memory(fail);
	for (size_t i = 0; i < subset->functions->nr_files; i++)
		if (!put_file(subset->functions, &subset->functions->files[i], ret))
			return fail_memory(fail);
	return 0;
}
