// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/export/html/bands_internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/vec.h"

enum { VARINT_MAX = 10, NUMBERS_MAX = 7 * VARINT_MAX };

void band_release(struct band *band)
{
	buf_release(&band->bytes);
}

static inline char *put(char *to, uint64_t value)
{
	if (value < 0x80) {
		*to = (char)value;
		return to + 1;
	}
	for (; value >= 0x80; value >>= 7)
		*to++ = (char)(value | 0x80);
	*to++ = (char)value;
	return to;
}

static inline uint64_t number_at(const uint8_t **at)
{
	uint64_t value = *(*at)++;

	if (__builtin_expect(value < 0x80, 1))
		return value;
	value &= 0x7f;
	for (unsigned shift = 7;; shift += 7) {
		uint8_t byte = *(*at)++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
}

/* Appends a slice that follows `end`, the end of the previous slice. */
static bool pack(const struct band *band, struct buf *buf, uint64_t *end, const struct slice *slice)
{
	bool several = slice->count > 1;
	size_t text_len = band->texts && !several ? slice->text_len : 0;
	char *to;

	if (buf->size - buf->len < NUMBERS_MAX + text_len && !buf_reserve(buf, NUMBERS_MAX + text_len))
		return false;
	to = put(buf->data + buf->len, slice->start - *end);
	to = put(to, slice->lasted);
	to = put(to, (uint64_t)slice->name << 1 | several);
	if (several) {
		to = put(to, slice->count);
		to = put(to, slice->busy);
	}
	if (band->values)
		to = put(to, slice->value);
	if (band->texts && !several)
		to = put(to, text_len);
	if (text_len)
		memcpy(to, slice->text, text_len);
	buf->len = (size_t)(to - buf->data) + text_len;
	*end = slice->start + slice->lasted;
	return true;
}

/*
 * The smallest power k for which two slices, one behind the other, lie in the same 2^k ns. What is merged at a power is
 * merged at each larger one.
 */
static unsigned power_of(const struct slice *before, const struct slice *slice)
{
	uint64_t last = slice->start + slice->lasted - (slice->lasted > 0), differ = before->start ^ last;

	return differ ? 64 - (unsigned)__builtin_clzll(differ) : 0;
}

/* `longest` is the length of the slice that gave `into` its name. */
static void merge(struct slice *into, uint64_t *longest, const struct slice *slice)
{
	into->lasted = slice->start + slice->lasted - into->start;
	into->count += slice->count;
	into->busy += slice->busy;
	if (slice->value > into->value)
		into->value = slice->value;
	if (slice->busy > *longest) {
		*longest = slice->busy;
		into->name = slice->name;
	}
	into->text = NULL;
	into->text_len = 0;
}

static bool append(struct band *band, const struct slice *slice, uint64_t longest)
{
	uint64_t end = band->end;
	size_t at = band->bytes.len;

	if (!pack(band, &band->bytes, &band->end, slice))
		return false;
	/* Nothing is merged into the slices of a band that is not folded. */
	if (band->fold)
		band->last = (struct band_last){ .slice = *slice, .longest = longest, .end = end, .at = at };
	band->slices++;
	return true;
}

static bool merges(const struct band *band, const struct slice *slice)
{
	return band->fold && band->slices && power_of(&band->last.slice, slice) <= band->fold;
}

bool band_merges(const struct band *band, uint64_t start)
{
	return merges(band, &(struct slice){ .start = start > band->end ? start : band->end });
}

bool band_joins(const struct band *band, uint64_t start, uint64_t next)
{
	start = start > band->end ? start : band->end;
	next = next > start ? next : start;
	return band->fold && (start ^ next) >> band->fold == 0;
}

/* The last slice is packed again in its place. */
static bool merge_into_last(struct band *band, const struct slice *slice)
{
	struct band_last *last = &band->last;
	size_t len = band->bytes.len;
	uint64_t end = last->end;

	merge(&last->slice, &last->longest, slice);
	band->bytes.len = last->at;
	if (!pack(band, &band->bytes, &end, &last->slice)) {
		band->bytes.len = len;
		return false;
	}
	band->end = end;
	return true;
}

bool band_add(struct band *band, const struct slice *slice)
{
	struct slice added = *slice;
	uint64_t end = added.start + added.lasted;

	if (added.start < band->end) {
		added.start = band->end;
		added.lasted = end > band->end ? end - band->end : 0;
	}
	added.count = 1;
	added.busy = added.lasted;
	if (!(merges(band, &added) ? merge_into_last(band, &added) : append(band, &added, added.busy)))
		return false;
	band->added++;
	return true;
}

bool band_next(struct band_walk *walk, struct slice *ret)
{
	const struct band *band = walk->band;
	const uint8_t *start = (const uint8_t *)band->bytes.data, *at;
	uint64_t name;

	if (walk->at >= band->bytes.len)
		return false;
	at = start + walk->at;
	ret->start = walk->end + number_at(&at);
	ret->lasted = number_at(&at);
	walk->end = ret->start + ret->lasted;
	name = number_at(&at);
	ret->name = (uint32_t)(name >> 1);
	ret->count = name & 1 ? number_at(&at) : 1;
	ret->busy = name & 1 ? number_at(&at) : ret->lasted;
	ret->value = band->values ? number_at(&at) : 0;
	ret->text_len = band->texts && !(name & 1) ? (size_t)number_at(&at) : 0;
	ret->text = ret->text_len ? (const char *)at : NULL;
	walk->at = (size_t)(at - start) + ret->text_len;
	return true;
}

/* Appends the slices of a band, folded to 2^k ns, to an empty one. */
static bool fold_into(const struct band *band, unsigned k, struct band *into)
{
	struct band_walk walk = { .band = band };
	struct slice last, slice;
	bool some = band_next(&walk, &last);
	uint64_t longest = some ? last.busy : 0;

	into->fold = (uint8_t)k;
	while (some) {
		bool more = band_next(&walk, &slice);

		if (more && power_of(&last, &slice) <= k) {
			merge(&last, &longest, &slice);
			continue;
		}
		if (!append(into, &last, longest)) {
			band_release(into);
			return false;
		}
		last = slice;
		longest = slice.busy;
		some = more;
	}
	return true;
}

/* Counts the bytes that folding saves, by the power from which on it does; those behind the last power stay. */
static void count_savings(const struct band *band, uint64_t saved[BAND_FOLD_MAX + 2])
{
	struct band_walk walk = { .band = band };
	struct slice before, slice;
	bool some = band_next(&walk, &before);
	unsigned power = BAND_FOLD_MAX + 1;

	while (some) {
		size_t at = walk.at;
		bool more = band_next(&walk, &slice);
		unsigned next = more ? power_of(&before, &slice) : BAND_FOLD_MAX + 1;

		saved[power < next ? power : next] += before.text_len;
		if (more)
			saved[next] += walk.at - at - slice.text_len;
		before = slice;
		power = next;
		some = more;
	}
}

unsigned band_fold_for(const struct band *band, size_t bytes)
{
	uint64_t saved[BAND_FOLD_MAX + 2] = { 0 }, left = band->bytes.len;
	unsigned k = 0;

	count_savings(band, saved);
	left -= saved[0];
	while (k < BAND_FOLD_MAX && left > bytes)
		left -= saved[++k];
	return k;
}

bool band_fold(struct band *band, unsigned k)
{
	struct band folded = { .added = band->added, .values = band->values, .texts = band->texts };

	if (!fold_into(band, k, &folded))
		return false;
	buf_release(&band->bytes);
	*band = folded;
	return true;
}

bool band_overview(const struct band *band, unsigned k, struct band *ret)
{
	*ret = (struct band){ .added = band->added, .values = band->values };
	return fold_into(band, k, ret);
}

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
	item->band.values = kind == BAND_COUNTER || kind == BAND_VALUE;
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
