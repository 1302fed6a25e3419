// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/export/html/band_internal.h"

#include <string.h>

enum { VARINT_MAX = 10, NUMBERS_MAX = 7 * VARINT_MAX };

void band_release(struct band *band)
{
	buf_release(&band->bytes);
}

static inline char *put(char *to, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*to++ = (char)(value | 0x80);
	*to++ = (char)value;
	return to;
}

static inline uint64_t number_at(struct band_walk *walk)
{
	const uint8_t *at = (const uint8_t *)walk->band->bytes.data + walk->at;
	uint8_t byte = *at++;
	uint64_t value = byte & 0x7f;

	walk->at++;
	for (unsigned shift = 7; byte & 0x80; shift += 7) {
		byte = *at++;
		value |= (uint64_t)(byte & 0x7f) << shift;
		walk->at++;
	}
	return value;
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

bool band_add(struct band *band, const struct slice *slice)
{
	struct slice added = *slice;
	size_t len = band->bytes.len;
	uint64_t end = added.start + added.lasted;

	if (added.start < band->end) {
		added.start = band->end;
		added.lasted = end > band->end ? end - band->end : 0;
	}
	added.count = 1;
	added.busy = added.lasted;
	if (!pack(band, &band->bytes, &band->end, &added)) {
		band->bytes.len = len;
		return false;
	}
	band->slices++;
	band->added++;
	return true;
}

bool band_next(struct band_walk *walk, struct slice *ret)
{
	const struct band *band = walk->band;
	uint64_t name;

	if (walk->at >= band->bytes.len)
		return false;
	*ret = (struct slice){ .start = walk->end + number_at(walk) };
	ret->lasted = number_at(walk);
	walk->end = ret->start + ret->lasted;
	name = number_at(walk);
	ret->name = (uint32_t)(name >> 1);
	ret->count = name & 1 ? number_at(walk) : 1;
	ret->busy = name & 1 ? number_at(walk) : ret->lasted;
	if (band->values)
		ret->value = number_at(walk);
	if (!band->texts || name & 1)
		return true;
	ret->text_len = (size_t)number_at(walk);
	ret->text = band->bytes.data + walk->at;
	walk->at += ret->text_len;
	return true;
}

static bool lies_in(const struct slice *slice, unsigned k, uint64_t part)
{
	uint64_t last = slice->start + slice->lasted;

	return slice->start >> k == part && (slice->lasted ? last - 1 : last) >> k == part;
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

/* Appends the slices of a band, folded to 2^k ns, to an empty one. */
static bool fold_into(const struct band *band, unsigned k, struct band *into)
{
	struct band_walk walk = { .band = band };
	struct slice last, slice;
	uint64_t longest = 0;
	bool some = band_next(&walk, &last);

	longest = some ? last.busy : 0;
	while (some) {
		bool more = band_next(&walk, &slice);

		if (more && lies_in(&last, k, last.start >> k) && lies_in(&slice, k, last.start >> k)) {
			merge(&last, &longest, &slice);
			continue;
		}
		if (!pack(into, &into->bytes, &into->end, &last)) {
			band_release(into);
			return false;
		}
		into->slices++;
		last = slice;
		longest = slice.busy;
		some = more;
	}
	into->fold = (uint8_t)k;
	return true;
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
