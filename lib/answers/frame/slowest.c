// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/frame/slowest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/frame/analysis.h"
#include "lib/answers/frame/findings.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/table.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"

void slowest_init(struct slowest *slowest, size_t size, size_t most, uint64_t longer)
{
	*slowest = (struct slowest){ .size = size, .most = most, .longer = longer };
}

void slowest_init_rows(struct slowest *slowest, size_t size, const struct row_options *rows)
{
	slowest_init(slowest, size, rows ? rows->slowest : 0, rows ? rows->longer : 0);
}

void slowest_release(struct slowest *slowest)
{
	free(slowest->items);
	slowest->items = NULL;
	slowest->nr = 0;
}

static uint64_t lasted_at(const struct slowest *slowest, size_t index)
{
	uint64_t lasted;

	memcpy(&lasted, slowest_at(slowest, index), sizeof(lasted));
	return lasted;
}

bool slowest_room(const struct slowest *slowest, uint64_t lasted)
{
	return slowest->most && (!slowest->longer || lasted > slowest->longer) &&
	       (slowest->nr < slowest->most || lasted_at(slowest, slowest->nr - 1) < lasted);
}

void *slowest_add(struct slowest *slowest, uint64_t lasted, bool *ret_failed)
{
	size_t index = slowest->nr;
	char *item, *grown;

	while (index && lasted_at(slowest, index - 1) < lasted)
		index--;
	if (index >= slowest->most)
		return NULL;
	if (slowest->nr < slowest->most) {
		grown = vec_room(slowest->items, slowest->nr, slowest->size);
		if (!grown) {
			*ret_failed = true;
			return NULL;
		}
		slowest->items = grown;
		slowest->nr++;
	}
	item = (char *)slowest->items + index * slowest->size;
	memmove(item + slowest->size, item, (slowest->nr - 1 - index) * slowest->size);
	memset(item, 0, slowest->size);
	memcpy(item, &lasted, sizeof(lasted));
	return item;
}

struct table *slowest_table(const struct slowest *slowest, struct findings *findings, const char *title,
			    const struct table_column *columns)
{
	return slowest->most ? findings_table(findings, "slowest", title, NULL, columns) : NULL;
}

void slowest_tell(const struct slowest *slowest, struct findings *findings, const char *what)
{
	char longer[TEXT_HUMAN], count[TEXT_HUMAN];

	if (slowest->longer)
		findings_note(findings, "longer than %s: %s %s%s%s", text_time(longer, slowest->longer),
			      text_count(count, slowest->found), what, text_plural(slowest->found),
			      slowest->found > slowest->nr ? "; the table has the longest" : "");
}

bool slowest_put_parts(const struct table *table, size_t row, const struct slow_part *parts, struct buf *into)
{
	uint64_t lasted = 0, part;
	char time[TEXT_HUMAN];
	bool ok = true;

	(void)table_number_at(table, row, 0, &lasted);
	for (; ok && parts->key; parts++) {
		part = table_number_of(table, row, parts->key);
		if (part > lasted / 100)
			ok = buf_addf(into, "; %s %s", text_time(time, part), parts->says);
	}
	return ok;
}

bool slowest_put_task(const struct table *table, size_t row, const char *before, const char *comm, const char *pid,
		      struct buf *into)
{
	const char *name = table_text_of(table, row, comm);

	return !*name || buf_addf(into, "; %s%s-%" PRIu64, before, name, table_number_of(table, row, pid));
}
