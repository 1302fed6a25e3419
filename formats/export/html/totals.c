// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/export/html/totals_internal.h"

#include "formats/export/html/bands_internal.h"
#include "lib/base/out.h"

#include <inttypes.h>
#include <stdlib.h>

/* Bytes that one total takes: its numbers, and a name that may be used nowhere else. */
enum { TOTAL_COST = 32 };

void html_totals_release(struct html_totals *totals)
{
	free(totals->items);
	*totals = (struct html_totals){ .nr = 0 };
}

static uint32_t folded_kinds(const struct bands *bands)
{
	uint32_t kinds = 0;

	for (size_t i = 0; i < bands->nr; i++)
		if (bands->items[i].band.fold)
			kinds |= 1u << bands->items[i].kind;
	return kinds;
}

static int compare(const void *a, const void *b)
{
	const struct html_total *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

bool html_totals_choose(struct bands *bands, uint64_t bytes, struct html_totals *ret)
{
	uint32_t kinds = folded_kinds(bands);
	const uint64_t *count;
	const struct u64_map *map = bands_totals(bands);
	uint64_t key, most = bytes / TOTAL_COST;

	*ret = (struct html_totals){ .items = calloc(map->len + 1, sizeof(*ret->items)) };
	if (!ret->items || bands->failed)
		return false;
	for (size_t at = 0; (count = u64_map_next(map, &at, &key));)
		if (kinds >> (key >> 32) & 1)
			ret->items[ret->nr++] = (struct html_total){ *count, (uint32_t)key, (uint8_t)(key >> 32) };
	qsort(ret->items, ret->nr, sizeof(*ret->items), compare);
	if (ret->nr > most) {
		ret->left = ret->nr - (size_t)most;
		ret->nr = (size_t)most;
	}
	return true;
}

void html_totals_put(const struct html_totals *totals, struct out *out)
{
	out_f(out, "\"left\":%zu,\"totals\":[", totals->left);
	for (size_t i = 0; i < totals->nr; i++) {
		const struct html_total *total = &totals->items[i];

		out_f(out, "%s[%u,%" PRIu32 ",%" PRIu64 "]", i ? "," : "", total->kind, total->name, total->count);
	}
	out_str(out, "],\n");
}
