// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "formats/export/html/bands_internal.h"
#include "tests/unit/test.h"

static void add(struct band *band, uint64_t start, uint64_t lasted, uint32_t name)
{
	CHECK(band_add(band, &(struct slice){ .start = start, .lasted = lasted, .name = name }));
}

static bool is(const struct slice *slice, uint64_t start, uint64_t lasted, uint64_t count, uint64_t busy, uint32_t name)
{
	return slice->start == start && slice->lasted == lasted && slice->count == count && slice->busy == busy &&
	       slice->name == name;
}

TEST(band_hands_out_what_was_added)
{
	struct band band = { .texts = true };
	struct band_walk walk = { .band = &band };
	struct slice slice;

	CHECK(band_add(&band, &(struct slice){ .start = 5, .name = 3, .text = "ab", .text_len = 2 }));
	CHECK(band_add(&band, &(struct slice){ .start = UINT64_C(1) << 62, .lasted = 9, .name = 1 }));
	CHECK(band_next(&walk, &slice) && is(&slice, 5, 0, 1, 0, 3) && slice.text_len == 2 &&
	      !memcmp(slice.text, "ab", 2));
	CHECK(band_next(&walk, &slice) && is(&slice, UINT64_C(1) << 62, 9, 1, 9, 1) && !slice.text_len);
	CHECK(!band_next(&walk, &slice));
	band_release(&band);
}

/* Parts of 16 ns: [0 16) has two short slices, [16 32) one. The slice from 30 to 50 lies in no single part. */
TEST(band_folds_what_lies_in_one_part_of_time)
{
	struct band band = { .texts = false };
	struct band_walk walk = { .band = &band };
	struct slice slice;

	add(&band, 1, 2, 7);
	add(&band, 8, 5, 8);
	add(&band, 15, 1, 7);
	add(&band, 20, 4, 9);
	add(&band, 30, 20, 7);
	add(&band, 63, 1, 7);
	add(&band, 64, 1, 8);
	CHECK(band_fold(&band, 4));
	CHECK(band.slices == 5);
	CHECK(band.added == 7);
	CHECK(band_next(&walk, &slice) && is(&slice, 1, 15, 3, 8, 8));
	CHECK(band_next(&walk, &slice) && is(&slice, 20, 4, 1, 4, 9));
	CHECK(band_next(&walk, &slice) && is(&slice, 30, 20, 1, 20, 7));
	CHECK(band_next(&walk, &slice) && is(&slice, 63, 1, 1, 1, 7));
	CHECK(band_next(&walk, &slice) && is(&slice, 64, 1, 1, 1, 8));
	CHECK(!band_next(&walk, &slice));
	walk = (struct band_walk){ .band = &band };
	CHECK(band_fold(&band, 7));
	CHECK(band_next(&walk, &slice) && is(&slice, 1, 64, 7, 34, 7));
	CHECK(!band_next(&walk, &slice));
	add(&band, 200, 1, 1);
	CHECK(band.slices == 2);
	band_release(&band);
}

/* Slices of up to 63 ns at random distances; each third is a moment with a text. */
static void add_some(struct band *band, unsigned from, unsigned to)
{
	uint64_t at = 0, random = 1;

	for (unsigned i = 0; i < to; i++) {
		bool moment = i % 3 == 0 && band->texts;
		struct slice slice = { .start = at,
				       .lasted = moment ? 0 : random >> 33 & 63,
				       .name = i & 7,
				       .text = moment ? "text" : NULL,
				       .text_len = moment ? 4 : 0 };

		random = random * 6364136223846793005 + 1442695040888963407;
		at += slice.lasted + (random >> 40 & (i & 1 ? 15 : 1023));
		if (i >= from)
			CHECK(band_add(band, &slice));
	}
}

TEST(band_is_the_same_whether_it_is_folded_before_or_after_slices_are_added)
{
	enum { SLICES = 3000 };

	for (unsigned k = 1; k < 20; k++) {
		struct band late = { .texts = k & 1 }, early = { .texts = k & 1 };

		add_some(&late, 0, SLICES);
		CHECK(band_fold(&late, k));
		add_some(&early, 0, SLICES / 3);
		CHECK(band_fold(&early, k));
		add_some(&early, SLICES / 3, SLICES);
		CHECK(early.slices == late.slices && early.added == late.added && early.end == late.end);
		CHECK(early.bytes.len == late.bytes.len && !memcmp(early.bytes.data, late.bytes.data, late.bytes.len));
		band_release(&late);
		band_release(&early);
	}
}

TEST(band_says_what_moment_needs_no_text)
{
	struct band band = { .texts = true };

	CHECK(!band_merges(&band, 0));
	CHECK(band_add(&band, &(struct slice){ .start = 17, .text = "ab", .text_len = 2 }));
	CHECK(!band_merges(&band, 17));
	CHECK(band_fold(&band, 4));
	CHECK(band_merges(&band, 17) && band_merges(&band, 31) && !band_merges(&band, 32));
	CHECK(band_add(&band, &(struct slice){ .start = 31 }) && band.slices == 1);
	CHECK(band_add(&band, &(struct slice){ .start = 32, .text = "cd", .text_len = 2 }) && band.slices == 2);
	band_release(&band);
}

/* No power below the one that is found would do. */
TEST(band_finds_the_power_that_makes_it_small_enough)
{
	for (size_t part = 1; part < 16; part++) {
		struct band band = { .texts = part & 1 }, folded;
		size_t bytes;
		unsigned k;

		add_some(&band, 0, 3000);
		bytes = band.bytes.len * part / 16;
		k = band_fold_for(&band, bytes);
		CHECK(k > 1 && k < 25);
		folded = (struct band){ .texts = band.texts };
		add_some(&folded, 0, 3000);
		CHECK(band_fold(&folded, k - 1) && folded.bytes.len > bytes);
		band_release(&folded);
		band_release(&band);
	}
}

TEST(band_keeps_the_largest_of_folded_values)
{
	struct band band = { .values = true };
	struct band_walk walk = { .band = &band };
	struct slice slice;

	for (uint64_t i = 0; i < 5; i++)
		CHECK(band_add(&band, &(struct slice){ .start = i, .value = i == 2 ? UINT64_MAX : i }));
	CHECK(band_fold(&band, 10));
	CHECK(band_next(&walk, &slice) && slice.count == 5 && slice.value == UINT64_MAX);
	band_release(&band);
}

TEST(band_begins_a_slice_behind_the_one_before)
{
	struct band band = { .values = false };
	struct band_walk walk = { .band = &band };
	struct slice slice;

	add(&band, 10, 10, 1);
	add(&band, 15, 10, 2);
	add(&band, 3, 4, 3);
	CHECK(band_next(&walk, &slice) && is(&slice, 10, 10, 1, 10, 1));
	CHECK(band_next(&walk, &slice) && is(&slice, 20, 5, 1, 5, 2));
	CHECK(band_next(&walk, &slice) && is(&slice, 25, 0, 1, 0, 3));
	band_release(&band);
}

static uint64_t counted(const struct bands *bands, uint64_t *ret_busy)
{
	uint64_t count = 0;

	*ret_busy = 0;
	for (size_t i = 0; i < bands->nr; i++) {
		struct band_walk walk = { .band = &bands->items[i].band };
		struct slice slice;

		while (band_next(&walk, &slice)) {
			count += slice.count;
			*ret_busy += slice.busy;
		}
	}
	return count;
}

TEST(bands_stay_below_their_limit_and_lose_no_time)
{
	enum { SLICES = 200000, LIMIT = 20000 };
	struct bands bands;
	uint64_t busy, at = 0, sum = 0, random = 1;

	bands_init(&bands, LIMIT);
	for (unsigned i = 0; i < SLICES; i++) {
		struct slice slice = { .start = at, .lasted = random >> 33 & 4095, .name = i & 3 };

		random = random * 6364136223846793005 + 1442695040888963407;
		bands_add(&bands, BAND_CPU, 0, i % 50 ? 1 : 2, 0, &slice);
		at += slice.lasted + (random >> 40 & 255);
		sum += slice.lasted;
	}
	CHECK(!bands.failed && bands.nr == 2);
	CHECK(bands.bytes <= LIMIT);
	CHECK(counted(&bands, &busy) == SLICES);
	CHECK(busy == sum);
	/* A band that is small anyway is exact. */
	CHECK(bands.items[0].id == 2 && bands.items[0].band.added == SLICES / 50);
	bands_release(&bands);
}

TEST(band_overview_has_the_sums_of_its_band_and_no_texts)
{
	struct band band = { .texts = true }, overview;
	struct band_walk walk = { .band = &overview };
	struct slice slice;

	CHECK(band_add(&band, &(struct slice){ .start = 1, .name = 7, .text = "ab", .text_len = 2 }));
	CHECK(band_add(&band, &(struct slice){ .start = 9, .name = 7, .text = "cd", .text_len = 2 }));
	CHECK(band_add(&band, &(struct slice){ .start = 40, .name = 8, .text = "ef", .text_len = 2 }));
	CHECK(band_overview(&band, 4, &overview));
	CHECK(overview.slices == 2 && band.slices == 3 && !band.fold);
	CHECK(band_next(&walk, &slice) && is(&slice, 1, 8, 2, 0, 7) && !slice.text_len);
	CHECK(band_next(&walk, &slice) && is(&slice, 40, 0, 1, 0, 8) && !slice.text_len);
	CHECK(!band_next(&walk, &slice));
	band_release(&overview);
	band_release(&band);
}

TEST(bands_count_each_name_whatever_is_folded)
{
	struct bands bands;
	const uint64_t *one, *two;

	bands_init(&bands, 2000);
	for (uint64_t i = 0; i < 20000; i++)
		bands_add(&bands, BAND_CALL, 0, i & 1, 0,
			  &(struct slice){ .start = i * 10, .lasted = i % 100 ? 1 : 9, .name = i % 100 ? 5 : 6 });
	one = u64_map_find(bands_totals(&bands), (uint64_t)BAND_CALL << 32 | 5);
	two = u64_map_find(bands_totals(&bands), (uint64_t)BAND_CALL << 32 | 6);
	CHECK(bands.items[0].band.fold && one && *one == 19800 && two && *two == 200);
	bands_release(&bands);
}
