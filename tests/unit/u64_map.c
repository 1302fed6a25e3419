// SPDX-License-Identifier: GPL-2.0-only
#include "lib/ground/base/u64_map.h"

#include "tests/unit/test.h"

TEST(u64_map_keeps_every_key_while_it_grows)
{
	enum { KEYS = 20000 };
	struct u64_map map;
	uint64_t sum = 0, key;
	uint32_t *value;
	size_t at = 0;

	u64_map_init(&map, sizeof(*value));
	CHECK(!u64_map_find(&map, 0));
	for (uint64_t i = 0; i < KEYS; i++) {
		value = u64_map_add(&map, i << 20);
		REQUIRE(value && !*value);
		*value = (uint32_t)i + 1;
	}
	CHECK(map.len == KEYS);
	for (uint64_t i = 0; i < KEYS; i++) {
		value = u64_map_find(&map, i << 20);
		REQUIRE(value && *value == i + 1);
		CHECK(u64_map_add(&map, i << 20) == value);
	}
	CHECK(!u64_map_find(&map, 1) && !u64_map_find(&map, UINT64_MAX));
	while ((value = u64_map_next(&map, &at, &key)))
		sum += *value;
	CHECK(sum == (uint64_t)KEYS * (KEYS + 1) / 2);
	u64_map_clear(&map);
	CHECK(!map.len && !u64_map_find(&map, 0));
	u64_map_release(&map);
}

TEST(u64_map_keeps_the_others_when_keys_are_removed)
{
	enum { KEYS = 5000 };
	struct u64_map map;
	uint32_t *value;

	u64_map_init(&map, sizeof(*value));
	u64_map_remove(&map, 1);
	for (uint64_t i = 0; i < KEYS; i++) {
		value = u64_map_add(&map, i * i);
		REQUIRE(value);
		*value = (uint32_t)i + 1;
	}
	for (uint64_t i = 0; i < KEYS; i += 3) {
		u64_map_remove(&map, i * i);
		u64_map_remove(&map, i * i);
	}
	CHECK(map.len == KEYS - (KEYS + 2) / 3);
	for (uint64_t i = 0; i < KEYS; i++) {
		value = u64_map_find(&map, i * i);
		CHECK(i % 3 ? value && *value == i + 1 : !value);
	}
	/* A key that is added again has a value of zeros. */
	value = u64_map_add(&map, 9);
	CHECK(value && !*value);
	u64_map_release(&map);
}
