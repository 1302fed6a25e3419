// SPDX-License-Identifier: LGPL-2.1-or-later
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/export/intervals_internal.h"
#include "lib/ground/base/u64_map.h"
#include "lib/ground/base/vec.h"
#include "lib/ground/base/xxh64.h"
#include "lib/meaning/uapi/names.h"

enum { SUB_BITS = 4, SUBS = 1 << SUB_BITS, TEXT_MAX = 96, DETAIL_MAX = 32, DEVICE_MINOR_BITS = 20 };

/* A bucket of what one key has. */
struct bucket {
	enum interval_table of;
	uint32_t number;
	char key[TEXT_MAX], detail[DETAIL_MAX]; /* "": null */
	uint64_t count, sum, least, most;
	struct column_value longest[INTERVAL_COMMON];
	char comm[TEXT_MAX];
};

struct interval_rollup {
	struct u64_map places; /* size_t: the place of a bucket, from 1 */
	struct bucket *buckets;
	size_t nr;
	bool starved;
};

struct interval_rollup *interval_rollup_new(void)
{
	struct interval_rollup *rollup = calloc(1, sizeof(*rollup));

	if (rollup)
		u64_map_init(&rollup->places, sizeof(size_t));
	return rollup;
}

void interval_rollup_free(struct interval_rollup *rollup)
{
	if (!rollup)
		return;
	u64_map_release(&rollup->places);
	free(rollup->buckets);
	free(rollup);
}

bool interval_rollup_starved(const struct interval_rollup *rollup)
{
	return rollup->starved || rollup->places.starved;
}

uint32_t interval_bucket(uint64_t ns)
{
	unsigned above;

	if (ns < SUBS)
		return (uint32_t)ns;
	above = 63 - (unsigned)__builtin_clzll(ns) - SUB_BITS;
	return (uint32_t)((above + 1) << SUB_BITS) | (uint32_t)(ns >> above & (SUBS - 1));
}

uint64_t interval_bucket_middle(uint32_t bucket)
{
	unsigned above;

	if (bucket < SUBS)
		return bucket;
	above = (bucket >> SUB_BITS) - 1;
	return ((uint64_t)(SUBS | (bucket & (SUBS - 1))) << above) + ((UINT64_C(1) << above) >> 1);
}

/* The class by which the scheduler treats a priority as the kernel prints it. */
static const char *class_of(const struct column_value *priority)
{
	int64_t number = (int64_t)priority->number;

	if (priority->kind == VALUE_IS_NULL)
		return "";
	return number < 0 ? "deadline" : number < 100 ? "realtime" : "normal";
}

static void copy_text(char *into, size_t size, const struct column_value *value)
{
	size_t len = value->kind == VALUE_IS_TEXT ? value->len : 0;

	len = len < size ? len : size - 1;
	if (len)
		memcpy(into, value->text, len);
	into[len] = '\0';
}

/* Fills the bucket's key and detail; false: the row is not of a kind that is rolled up. */
static bool name_row(struct bucket *bucket, const struct column_value *values)
{
	const struct column_value *own = values + INTERVAL_COMMON, *name = &values[INTERVAL_COMMON - 1];
	int64_t number;

	switch (bucket->of) {
	case INTERVAL_WAKEUP:
		snprintf(bucket->detail, sizeof(bucket->detail), "%s", class_of(&own[2]));
		break;
	case INTERVAL_STATE:
		/* Only what waits for a CPU. */
		copy_text(bucket->detail, sizeof(bucket->detail), &own[0]);
		if (strcmp(bucket->detail, "woken") && strcmp(bucket->detail, "preempted"))
			return false;
		break;
	case INTERVAL_SYSCALL:
		number = own[2].kind == VALUE_IS_INTEGER ? (int64_t)own[2].number : 0;
		name = &own[1];
		copy_text(bucket->key, sizeof(bucket->key), name);
		if (returned_failure(number) && !system_call_restores(bucket->key))
			snprintf(bucket->detail, sizeof(bucket->detail), "%" PRId64, -number);
		break;
	case INTERVAL_IRQ:
	case INTERVAL_SOFTIRQ:
		name = &own[1];
		break;
	case INTERVAL_BLOCK:
		copy_text(bucket->detail, sizeof(bucket->detail), &own[3]);
		if (own[0].kind == VALUE_IS_INTEGER)
			snprintf(bucket->key, sizeof(bucket->key), "%" PRIu64 ":%" PRIu64,
				 own[0].number >> DEVICE_MINOR_BITS, own[0].number & ((1 << DEVICE_MINOR_BITS) - 1));
		return true;
	case INTERVAL_RUN:
	case INTERVAL_LOCK:
		break;
	default:
		return false;
	}
	copy_text(bucket->key, sizeof(bucket->key), name);
	return true;
}

static bool is_of(const struct bucket *one, const struct bucket *other)
{
	return one->of == other->of && one->number == other->number && !strcmp(one->key, other->key) &&
	       !strcmp(one->detail, other->detail);
}

static struct bucket *find(struct interval_rollup *rollup, const struct bucket *wanted)
{
	uint64_t hash = xxh64(wanted->key, strlen(wanted->key)) ^
			xxh64(wanted->detail, strlen(wanted->detail)) * UINT64_C(0x9e3779b97f4a7c15) ^
			((uint64_t)wanted->of << 32 | wanted->number) * UINT64_C(0xff51afd7ed558ccd);
	struct bucket *added;
	size_t *place;

	while ((place = u64_map_find(&rollup->places, hash)) && !is_of(&rollup->buckets[*place - 1], wanted))
		hash++;
	if (place)
		return &rollup->buckets[*place - 1];
	place = u64_map_add(&rollup->places, hash);
	added = place ? vec_push(rollup->buckets, rollup->nr) : NULL;
	if (!added) {
		rollup->starved = true;
		return NULL;
	}
	*place = rollup->nr;
	*added = *wanted;
	return added;
}

void interval_rollup_see(struct interval_rollup *rollup, enum interval_table table, const struct column_value *values)
{
	const struct column_value *lasted = &values[INTERVAL_DUR];
	struct bucket wanted = { .of = table, .key = "", .detail = "" }, *bucket;

	/* What has no end, or an end that is not known, is not as long as it seems. */
	if (rollup->starved || lasted->kind != VALUE_IS_INTEGER || values[INTERVAL_DUR + 1].kind != VALUE_IS_NULL ||
	    !name_row(&wanted, values))
		return;
	wanted.number = interval_bucket(lasted->number);
	wanted.least = UINT64_MAX;
	bucket = find(rollup, &wanted);
	if (!bucket)
		return;
	bucket->count++;
	bucket->sum += lasted->number;
	if (lasted->number < bucket->least)
		bucket->least = lasted->number;
	if (bucket->count > 1 && lasted->number <= bucket->most)
		return;
	bucket->most = lasted->number;
	memcpy(bucket->longest, values, sizeof(bucket->longest));
	copy_text(bucket->comm, sizeof(bucket->comm), &values[INTERVAL_COMMON - 1]);
}

static struct column_value number_of(uint64_t number)
{
	return (struct column_value){ .kind = VALUE_IS_INTEGER, .number = number };
}

static struct column_value text_of(const char *text)
{
	struct column_value value = { .kind = *text ? VALUE_IS_TEXT : VALUE_IS_NULL, .len = strlen(text) };

	value.text = text;
	return value;
}

/* Those of one key come together, the longest last. */
static int compare_buckets(const void *left, const void *right)
{
	const struct bucket *one = left, *other = right;
	int order;

	if (one->of != other->of)
		return one->of < other->of ? -1 : 1;
	order = strcmp(one->key, other->key);
	if (!order)
		order = strcmp(one->detail, other->detail);
	return order ? order : one->number < other->number ? -1 : 1;
}

static bool is_of_one_key(const struct bucket *one, const struct bucket *other)
{
	return one->of == other->of && !strcmp(one->key, other->key) && !strcmp(one->detail, other->detail);
}

void interval_rollup_end(struct interval_rollup *rollup, const struct column_value *whole,
			 const struct interval_sink *sink)
{
	struct column_value values[INTERVAL_COLUMNS_MAX];

	if (rollup->nr)
		qsort(rollup->buckets, rollup->nr, sizeof(*rollup->buckets), compare_buckets);
	for (size_t i = 0; i < rollup->nr; i++) {
		const struct bucket *bucket = &rollup->buckets[i];
		bool first = !i || !is_of_one_key(bucket, bucket - 1);
		bool last = i + 1 == rollup->nr || !is_of_one_key(bucket, bucket + 1);
		size_t nr = INTERVAL_COMMON;

		memcpy(values, whole, INTERVAL_COMMON * sizeof(*values));
		if (last) {
			memcpy(values + INTERVAL_DUR, bucket->longest + INTERVAL_DUR,
			       (INTERVAL_COMMON - INTERVAL_DUR) * sizeof(*values));
			values[INTERVAL_COMMON - 1] = text_of(bucket->comm);
		}
		values[nr++] = text_of(bucket->of == INTERVAL_STATE ? "wait" : interval_table_name(bucket->of));
		values[nr++] = text_of(bucket->key);
		values[nr++] = text_of(bucket->detail);
		values[nr++] = number_of(interval_bucket_middle(bucket->number));
		values[nr++] = number_of(bucket->count);
		values[nr++] = number_of(bucket->sum);
		values[nr++] = first ? number_of(bucket->least) : text_of("");
		values[nr++] = last ? bucket->longest[INTERVAL_TS] : text_of("");
		sink->row(sink->arg, INTERVAL_ROLLUP, values);
	}
}
