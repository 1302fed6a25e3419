// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ground/base/labels.h"

#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/vec.h"

void labels_init(struct labels *labels)
{
	*labels = (struct labels){ .nr = 0 };
	u64_map_init(&labels->places, sizeof(uint32_t));
}

void labels_release(struct labels *labels)
{
	for (size_t i = 0; i < labels->nr; i++)
		free(labels->at[i].text);
	free(labels->at);
	u64_map_release(&labels->places);
	labels->at = NULL;
	labels->nr = 0;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 32;
}

static uint64_t word_at(const uint8_t *at, size_t size)
{
	uint64_t word = 0;

	memcpy(&word, at, size);
	return word;
}

/* By eight bytes at a time: the last ones are taken again where their number is no multiple of that. */
static uint64_t hash(const uint8_t *at, size_t len)
{
	uint64_t value = len;

	if (len >= 8) {
		for (size_t i = 0; i + 8 < len; i += 8)
			value = mix(value, word_at(at + i, 8));
		return mix(value, word_at(at + len - 8, 8));
	}
	if (len >= 4)
		return mix(value, word_at(at, 4) << 32 | word_at(at + len - 4, 4));
	return len ? mix(value, (uint64_t)at[0] << 16 | (uint64_t)at[len / 2] << 8 | at[len - 1]) : value;
}

static uint32_t add(struct labels *labels, uint32_t *place, const void *text, size_t len)
{
	struct label *name = vec_push(labels->at, labels->nr);
	char *copy = malloc(len + 1);

	if (!name || !copy) {
		labels->nr -= name != NULL;
		free(copy);
		return LABEL_NONE;
	}
	memcpy(copy, text, len);
	copy[len] = '\0';
	*name = (struct label){ .text = copy, .len = len };
	*place = (uint32_t)labels->nr;
	return (uint32_t)(labels->nr - 1);
}

uint32_t labels_add(struct labels *labels, const void *text, size_t len, bool *ret_new)
{
	for (uint64_t key = hash(text, len);; key++) {
		uint32_t *place = u64_map_get(&labels->places, key);

		*ret_new = place && !*place;
		if (!place)
			return LABEL_NONE;
		if (!*place)
			return add(labels, place, text, len);
		if (labels->at[*place - 1].len == len && !memcmp(labels->at[*place - 1].text, text, len))
			return *place - 1;
	}
}
