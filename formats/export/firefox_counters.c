// SPDX-License-Identifier: GPL-2.0-only
/* Counters: the frequency of each CPU, and the resident memory of each address space by its kind. */
#include "formats/export/firefox_internal.h"

#include "lib/base/vec.h"
#include "lib/event/context.h"
#include "lib/event/place.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The size of a sample as JSON, and the limit of counters. */
enum { SAMPLE = 30, COUNTERS_MAX = 4096 };

static const struct {
	const char *system, *event, *of, *part, *value;
} events[FIREFOX_COUNTED] = {
	[FIREFOX_FREQUENCY] = { "power", "cpu_frequency", "cpu_id", NULL, "state" },
	[FIREFOX_MEMORY] = { "kmem", "rss_stat", "mm_id", "member", "size" },
};

bool firefox_counter_bind(const struct schema_abi *abi, const struct format *format, struct firefox_counted *ret)
{
	for (int i = 0; i < FIREFOX_COUNTED; i++) {
		if (strcmp(format->system, events[i].system) || strcmp(format->name, events[i].event))
			continue;
		ret->what = (uint8_t)i;
		return place_bind(&ret->of, format, abi, events[i].of) &&
		       place_bind(&ret->value, format, abi, events[i].value) &&
		       (!events[i].part || place_bind(&ret->part, format, abi, events[i].part));
	}
	return false;
}

/* mm_types_task.h: the name of a member of rss_stat. */
static const char *member_name(uint64_t member)
{
	static const char *const names[] = { "file pages", "anonymous pages", "swap entries", "shared memory" };

	return member < array_size(names) ? names[member] : "other pages";
}

static void name_counter(struct firefox_buffer *buffer, const struct firefox_counted *counted, uint64_t of,
			 uint64_t part, struct firefox_counter *counter)
{
	const char *instance = buffer->context->instance;
	char text[400];
	int len;

	if (counted->what == FIREFOX_FREQUENCY)
		len = snprintf(text, sizeof(text), "CPU %" PRIu64 " frequency (kHz)", of);
	else
		len = snprintf(text, sizeof(text), "mm %" PRIu64 " %s", of, member_name(part));
	if (*instance)
		len += snprintf(text + len, sizeof(text) - (size_t)len, " (%.200s)", instance);
	counter->name = firefox_label(buffer->firefox, text, (size_t)len);
	counter->what = counted->what;
}

static struct firefox_counter *counter_of(struct firefox_buffer *buffer, const struct firefox_counted *counted,
					  uint64_t of, uint64_t part)
{
	struct firefox *firefox = buffer->firefox;
	uint64_t key = ((uint64_t)counted->what << 60) ^ (part << 52) ^ of;
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
	name_counter(buffer, counted, of, part, counter);
	return counter;
}

void firefox_counter_see(struct firefox_buffer *buffer, const struct firefox_counted *counted,
			 const struct event *event)
{
	struct firefox *firefox = buffer->firefox;
	struct firefox_counter *counter = counter_of(buffer, counted, place_u64(&counted->of, event),
						     counted->part.size ? place_u64(&counted->part, event) : 0);
	struct firefox_count *count;

	if (!counter || !firefox_make_room(firefox) || counter->seen++ & (firefox->count_step - 1)) {
		firefox->counts_left_out++;
		return;
	}
	count = vec_push(counter->counts, counter->nr_counts);
	if (!count) {
		export_no_memory(&firefox->export);
		return;
	}
	*count = (struct firefox_count){ .ts = event->ts, .value = place_s64(&counted->value, event) };
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
