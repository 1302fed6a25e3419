// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/export/html/bands_internal.h"

#include "lib/base/vec.h"

#include <stdlib.h>

/* The cost of a band besides its bytes, in the file and in memory. */
enum { BAND_COST = 64 };

void bands_init(struct bands *bands, uint64_t limit)
{
	*bands = (struct bands){ .limit = limit };
	u64_map_init(&bands->places, sizeof(uint32_t));
	u64_map_init(&bands->totals, sizeof(uint64_t));
}

void bands_release(struct bands *bands)
{
	for (size_t i = 0; i < bands->nr; i++)
		band_release(&bands->items[i].band);
	free(bands->items);
	u64_map_release(&bands->places);
	u64_map_release(&bands->totals);
	*bands = (struct bands){ .nr = 0 };
}

struct bands_item *bands_item(struct bands *bands, enum band_kind kind, uint16_t buffer, uint32_t id, unsigned row)
{
	uint64_t key = (uint64_t)kind << 56 | (uint64_t)row << 48 | (uint64_t)buffer << 32 | id;
	uint32_t *place = u64_map_get(&bands->places, key);
	struct bands_item *item;

	item = place && !*place ? vec_push(bands->items, bands->nr) : NULL;
	if (place && *place)
		return &bands->items[*place - 1];
	if (!item) {
		bands->failed = true;
		return NULL;
	}
	*item = (struct bands_item){ .kind = (uint8_t)kind, .row = (uint8_t)row, .buffer = buffer, .id = id };
	item->band.values = kind == BAND_COUNTER;
	item->band.texts = kind == BAND_EVENTS || kind == BAND_LOST;
	*place = (uint32_t)bands->nr;
	bands->bytes += BAND_COST;
	return item;
}

static bool add_total(struct bands *bands, const struct bands_total *total)
{
	uint64_t *sum = total->count ? u64_map_get(&bands->totals, total->key) : NULL;

	if (sum)
		*sum += total->count;
	return sum || !total->count;
}

/* Most slices have a name that one of the last slices had. */
static inline bool count(struct bands *bands, uint8_t kind, uint32_t name)
{
	uint64_t key = (uint64_t)kind << 32 | name;
	struct bands_total *near = &bands->near[(name * 8 + kind) % BANDS_NEAR];
	bool added = true;

	if (__builtin_expect(near->key != key, 0)) {
		added = add_total(bands, near);
		*near = (struct bands_total){ .key = key };
	}
	near->count++;
	return added;
}

const struct u64_map *bands_totals(struct bands *bands)
{
	for (size_t i = 0; i < BANDS_NEAR; i++) {
		bands->failed |= !add_total(bands, &bands->near[i]);
		bands->near[i].count = 0;
	}
	return &bands->totals;
}

void bands_put(struct bands *bands, struct bands_item *item, const struct slice *slice)
{
	size_t before = item->band.bytes.len;

	if (!count(bands, item->kind, slice->name) || !band_add(&item->band, slice)) {
		bands->failed = true;
		return;
	}
	bands->bytes += item->band.bytes.len;
	bands->bytes -= before;
	/*
	 * When nothing can be folded any more, the limit is raised: checking it for each slice would cost more than the
	 * memory.
	 */
	if (bands->bytes > bands->limit && !bands_fit(bands, bands->limit - bands->limit / 8))
		bands->limit = bands->bytes + bands->bytes / 8;
}

static struct band *largest(const struct bands *bands)
{
	struct band *found = NULL;

	for (size_t i = 0; i < bands->nr; i++) {
		struct band *band = &bands->items[i].band;

		if (band->slices > 1 && band->fold < BAND_FOLD_MAX && (!found || band->bytes.len > found->bytes.len))
			found = band;
	}
	return found;
}

/* Folds a band to three quarters of its size or less. */
static bool shorten(struct band *band)
{
	size_t enough = band->bytes.len - band->bytes.len / 4;
	/* The next power halves most bands that are folded already. */
	unsigned k = band->fold ? band->fold + 1u : band_fold_for(band, enough);

	k += !k;
	do {
		if (!band_fold(band, k++))
			return false;
	} while (band->bytes.len > enough && k <= BAND_FOLD_MAX);
	return true;
}

bool bands_fit(struct bands *bands, uint64_t bytes)
{
	while (bands->bytes > bytes) {
		struct band *band = largest(bands);
		size_t before;

		if (!band)
			return false;
		before = band->bytes.len;
		if (!shorten(band)) {
			bands->failed = true;
			return false;
		}
		bands->bytes += band->bytes.len;
		bands->bytes -= before;
	}
	return true;
}
