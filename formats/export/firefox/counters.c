// SPDX-License-Identifier: LGPL-2.1-or-later
/* Counters: the frequency of each CPU, the resident memory of each address space by its kind, those of programs. */
#include "formats/export/firefox/firefox_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/ground/base/vec.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/timeline/timeline.h"

/* The size of a sample as JSON, and the limit of counters. */
enum { SAMPLE = 30, COUNTERS_MAX = 4096 };

/* mm_types_task.h: the name of a member of rss_stat. */
static const char *member_name(uint64_t member)
{
	static const char *const names[] = { "file pages", "anonymous pages", "swap entries", "shared memory" };

	return member < array_size(names) ? names[member] : "other pages";
}

static void name_counter(struct firefox_buffer *buffer, const struct timeline_slice *slice,
			 struct firefox_counter *counter)
{
	const char *instance = buffer->context->instance;
	char text[400];
	int len;

	if (slice->counter == TIMELINE_MARKED && !slice->owner)
		len = snprintf(text, sizeof(text), "%.*s", slice->stem_len < 128 ? (int)slice->stem_len : 128,
			       slice->stem);
	else if (slice->counter == TIMELINE_MARKED)
		len = snprintf(text, sizeof(text), "%.*s (%" PRIu64 ")",
			       slice->stem_len < 128 ? (int)slice->stem_len : 128, slice->stem, slice->owner);
	else if (slice->counter == TIMELINE_FREQUENCY)
		len = snprintf(text, sizeof(text), "CPU %" PRIu64 " frequency (kHz)", slice->owner);
	else
		len = snprintf(text, sizeof(text), "mm %" PRIu64 " %s", slice->owner, member_name(slice->part));
	if (*instance)
		len += snprintf(text + len, sizeof(text) - (size_t)len, " (%.200s)", instance);
	counter->name = firefox_label(buffer->firefox, text, (size_t)len);
	counter->what = (uint8_t)slice->counter;
}

static struct firefox_counter *counter_of(struct firefox_buffer *buffer, const struct timeline_slice *slice)
{
	struct firefox *firefox = buffer->firefox;
	uint64_t key = ((uint64_t)slice->counter << 60) ^ slice->owner ^
		       (slice->counter == TIMELINE_MARKED ? slice->part << 32 : slice->part << 52);
	uint32_t *place = u64_map_find(&buffer->counters, key);
	struct firefox_counter *counter;

	if (place)
		return &firefox->counters[*place];
	if (firefox->nr_counters == COUNTERS_MAX)
		return NULL;
	counter = vec_push(firefox->counters, firefox->nr_counters);
	place = counter ? u64_map_add(&buffer->counters, key) : NULL;
	if (!place) {
		export_no_memory(&firefox->export);
		return NULL;
	}
	*place = (uint32_t)(firefox->nr_counters - 1);
	*counter = (struct firefox_counter){ .name = 0 };
	name_counter(buffer, slice, counter);
	return counter;
}

void firefox_counter_see(struct firefox_buffer *buffer, const struct timeline_slice *slice)
{
	struct firefox *firefox = buffer->firefox;
	struct firefox_counter *counter;
	struct firefox_count *count;

	if (slice->counter == TIMELINE_IDLE)
		return;
	counter = counter_of(buffer, slice);
	if (!counter || !firefox_make_room(firefox) || counter->seen++ & (firefox->count_step - 1)) {
		firefox->counts_left_out++;
		return;
	}
	count = vec_push(counter->counts, counter->nr_counts);
	if (!count) {
		export_no_memory(&firefox->export);
		return;
	}
	*count = (struct firefox_count){ .ts = slice->start, .value = slice->number };
	firefox->bytes += SAMPLE;
}

void firefox_counters_thin(struct firefox *firefox)
{
	size_t left_out = 0;

	for (size_t i = 0; i < firefox->nr_counters; i++) {
		struct firefox_counter *counter = &firefox->counters[i];
		size_t kept = (counter->nr_counts + 1) / 2;

		for (size_t k = 1; k < kept; k++)
			counter->counts[k] = counter->counts[2 * k];
		left_out += counter->nr_counts - kept;
		counter->nr_counts = kept;
	}
	if (!left_out)
		return;
	firefox->counts_left_out += left_out;
	firefox->bytes -= left_out * SAMPLE;
	firefox->count_step *= 2;
}
