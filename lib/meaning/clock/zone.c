// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/clock/zone.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/vec.h"

/* No zone changes its offset twice in so short a time. */
enum { STEP_S = 7 * 86400 };
#define END_S INT64_C(4102444800) /* 2100 */

static struct zone_span ask(int64_t utc_s)
{
	struct zone_span span = { .since_s = utc_s };
	time_t at = (time_t)utc_s;
	struct tm tm;

	if (localtime_r(&at, &tm)) {
		span.offset_s = (int32_t)tm.tm_gmtoff;
		snprintf(span.name, sizeof(span.name), "%.7s", tm.tm_zone ? tm.tm_zone : "");
	}
	return span;
}

static bool is_same(const struct zone_span *one, const struct zone_span *other)
{
	return one->offset_s == other->offset_s && !strcmp(one->name, other->name);
}

/* The first second after `lo` at which what holds at `hi` holds. */
static struct zone_span find_change(struct zone_span lo, struct zone_span hi)
{
	while (hi.since_s - lo.since_s > 1) {
		struct zone_span mid = ask(lo.since_s + (hi.since_s - lo.since_s) / 2);

		if (is_same(&mid, &lo))
			lo = mid;
		else
			hi = mid;
	}
	return hi;
}

static struct zone_span *add(struct zone *zone, const struct zone_span *span)
{
	struct zone_span *added = vec_push(zone->spans, zone->nr);

	if (added)
		*added = *span;
	return added;
}

int zone_new(const char *label, struct zone **ret, struct fail *fail)
{
	struct zone *zone = calloc(1, sizeof(*zone));
	struct zone_span last = ask(0);
	bool ok = zone && add(zone, &last);

	for (int64_t at = STEP_S; ok && at < END_S; at += STEP_S) {
		struct zone_span now = ask(at);

		if (!is_same(&now, &last)) {
			struct zone_span change = find_change(last, now);

			ok = add(zone, &change);
		}
		last = now;
	}
	if (!ok) {
		zone_free(zone);
		return fail_memory(fail);
	}
	snprintf(zone->label, sizeof(zone->label), "%s", label);
	*ret = zone;
	return 0;
}

int zone_new_fixed(int32_t offset_s, struct zone **ret, struct fail *fail)
{
	struct zone *zone = calloc(1, sizeof(*zone));
	struct zone_span span = { .offset_s = offset_s };
	int32_t size = offset_s < 0 ? -offset_s : offset_s;

	if (!offset_s)
		snprintf(span.name, sizeof(span.name), "UTC");
	else
		snprintf(span.name, sizeof(span.name), "%c%02u:%02u", offset_s < 0 ? '-' : '+',
			 (unsigned)size / 3600 % 100, (unsigned)size / 60 % 60);
	if (!zone || !add(zone, &span)) {
		zone_free(zone);
		return fail_memory(fail);
	}
	snprintf(zone->label, sizeof(zone->label), "%s", span.name);
	*ret = zone;
	return 0;
}

void zone_free(struct zone *zone)
{
	if (!zone)
		return;
	free(zone->spans);
	free(zone);
}

bool zone_put(const struct zone *zone, struct buf *into)
{
	bool ok = buf_addf(into, "%s\n", zone->label);

	for (size_t i = 0; ok && i < zone->nr; i++)
		ok = buf_addf(into, "%" PRId64 " %" PRId32 " %s\n", zone->spans[i].since_s, zone->spans[i].offset_s,
			      zone->spans[i].name);
	return ok;
}

int zone_new_of(const char *text, struct zone **ret, struct fail *fail)
{
	struct zone *zone = calloc(1, sizeof(*zone));
	const char *at = text + strcspn(text, "\n");
	struct zone_span span;
	int len, r = zone ? 0 : -ENOMEM;

	for (;
	     !r && *at &&
	     sscanf(at, "%" SCNd64 " %" SCNd32 "%*1[ ]%7[^\n ]%n", &span.since_s, &span.offset_s, span.name, &len) == 3;
	     at += len)
		r = add(zone, &span) ? 0 : -ENOMEM;
	if (!r && !zone->nr)
		r = -EINVAL;
	if (r) {
		zone_free(zone);
		return r == -ENOMEM ? fail_memory(fail) : r;
	}
	snprintf(zone->label, sizeof(zone->label), "%.*s", (int)strcspn(text, "\n"), text);
	*ret = zone;
	return 0;
}

const struct zone_span *zone_at(const struct zone *zone, int64_t utc_s)
{
	size_t until = vec_count(zone->nr, i, zone->spans[i].since_s <= utc_s);

	return &zone->spans[until ? until - 1 : 0];
}

const struct zone *zones_find(const struct zones *zones, const char *label)
{
	for (size_t i = 0; zones && i < zones->nr; i++)
		if (!strcmp(zones->at[i]->label, label))
			return zones->at[i];
	return NULL;
}

void zones_release(struct zones *zones)
{
	for (size_t i = 0; i < zones->nr; i++)
		zone_free(zones->at[i]);
	free(zones->at);
	*zones = (struct zones){ .nr = 0 };
}
