// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/fail.h"
#include "lib/dump/dump_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A dump in several files (makedumpfile --split): each has the header and the bitmap of all, and some of the pages. */
enum { PARTS_MAX = 1024 };

struct split {
	struct part {
		struct dump *dump;
		struct dump_part is;
	} * parts; /* by their pages */
	size_t nr;
	uint64_t page_size;
};

static int by_pages(const void *a, const void *b)
{
	const struct part *one = a, *other = b;

	return one->is.from < other->is.from ? -1 : one->is.from > other->is.from;
}

/* The parts must be of one crash, and have all of its pages. */
static int check(const struct split *split, struct fail *fail)
{
	const struct part *first = &split->parts[0], *last = &split->parts[split->nr - 1];

	for (size_t i = 1; i < split->nr; i++) {
		const struct part *part = &split->parts[i], *before = part - 1;

		if (memcmp(part->is.origin, first->is.origin, DUMP_ORIGIN) != 0 ||
		    part->is.page_size != first->is.page_size || part->is.pages != first->is.pages)
			return fail_set(fail, -EBADMSG, "'%s' and '%s' are parts of different dumps", first->dump->path,
					part->dump->path);
		if (part->is.from < before->is.to)
			return fail_set(fail, -EBADMSG, "'%s' and '%s' are parts of a dump that have the same pages",
					before->dump->path, part->dump->path);
	}
	for (size_t i = 0; i <= split->nr; i++) {
		uint64_t from = i ? split->parts[i - 1].is.to : 0,
			 to = i < split->nr ? split->parts[i].is.from : last->is.pages;

		if (from < to)
			return fail_set(fail, -EBADMSG,
					"'%s' is a part of a dump of several files: the pages from 0x%" PRIx64
					" to 0x%" PRIx64 " are in none of the files that were given; give all of them",
					first->dump->path, from, to);
	}
	return 0;
}

static bool read_split(struct dump *dump, uint64_t address, void *into, size_t len)
{
	struct split *split = dump->of_kind;
	uint8_t *to = into;

	while (len) {
		uint64_t page = address / split->page_size, inside = address % split->page_size;
		size_t some = split->page_size - inside < len ? (size_t)(split->page_size - inside) : len;
		struct part *part = NULL;

		for (size_t i = 0; i < split->nr && !part; i++)
			if (page >= split->parts[i].is.from && page < split->parts[i].is.to)
				part = &split->parts[i];
		if (!part || !part->dump->ops->read(part->dump, address, to, some))
			return false;
		dump->work += part->dump->work;
		dump->damaged += part->dump->damaged;
		part->dump->work = part->dump->damaged = 0;
		address += some;
		to += some;
		len -= some;
	}
	return true;
}

/* Each part has the bitmap of all. */
static bool range_split(const struct dump *dump, uint64_t from, uint64_t *ret_from, uint64_t *ret_to)
{
	const struct split *split = dump->of_kind;

	return split->parts[0].dump->ops->range(split->parts[0].dump, from, ret_from, ret_to);
}

static uint64_t pages_split(const struct dump *dump)
{
	const struct split *split = dump->of_kind;
	uint64_t pages = 0;

	for (size_t i = 0; i < split->nr; i++)
		pages += split->parts[i].dump->ops->pages(split->parts[i].dump);
	return pages;
}

static void release_split(struct dump *dump)
{
	struct split *split = dump->of_kind;

	for (size_t i = 0; i < split->nr; i++)
		dump_free(split->parts[i].dump);
	free(split->parts);
	free(split);
}

static const struct dump_ops dump_split = { .name = "kdump-compressed, of several files",
					    .read = read_split,
					    .range = range_split,
					    .pages = pages_split,
					    .release = release_split };

static int join(struct dump *dump, struct dump **parts, size_t nr, struct fail *fail)
{
	struct split *split = calloc(1, sizeof(*split));

	if (!split)
		return fail_memory(fail);
	dump->ops = &dump_split;
	dump->of_kind = split;
	split->parts = calloc(nr, sizeof(*split->parts));
	if (!split->parts)
		return fail_memory(fail);
	for (size_t i = 0; i < nr; i++) {
		struct part *part = &split->parts[i];

		if (!dump_kdump_part(parts[i], &part->is))
			return fail_set(fail, -EBADMSG, "'%s' is not a part of a dump of several files: give it alone",
					parts[i]->path);
		part->dump = parts[i];
		parts[i] = NULL;
		split->nr++;
	}
	qsort(split->parts, nr, sizeof(*split->parts), by_pages);
	split->page_size = split->parts[0].is.page_size;
	dump->machine = split->parts[0].dump->machine;
	dump->work_max = DUMP_WORK_MAX + (DUMP_PAGE_WORK + 16) * pages_split(dump);
	for (size_t i = 0; i < nr; i++)
		if (split->parts[i].dump->note)
			return check(split, fail) ?:
						    dump_keep_note(dump, split->parts[i].dump->note,
								   strlen(split->parts[i].dump->note), fail);
	return check(split, fail);
}

int dump_join(struct dump **parts, size_t nr, struct dump **ret, struct fail *fail)
{
	struct dump *dump = NULL;
	struct dump_part ignored;
	int r = 0;

	if (nr == 1 && !dump_kdump_part(parts[0], &ignored)) {
		dump = parts[0];
		parts[0] = NULL;
	} else if (nr > PARTS_MAX) {
		r = fail_set(fail, -EBADMSG, "a dump of more than %d files is not supported", PARTS_MAX);
	} else {
		dump = calloc(1, sizeof(*dump));
		r = dump ? join(dump, parts, nr, fail) : fail_memory(fail);
	}
	for (size_t i = 0; i < nr; i++) {
		dump_free(parts[i]);
		parts[i] = NULL;
	}
	if (r)
		dump_free(dump);
	else
		*ret = dump;
	return r;
}
