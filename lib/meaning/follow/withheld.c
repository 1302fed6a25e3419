// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/follow/withheld.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/number.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/u64_map.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/events.h"
#include "lib/meaning/event/own_formats.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/follow/roles.h"
#include "lib/pages/trace/trace.h"

enum { BATCH = 256, STOPS_MAX = 1 << 24, CPUS_MAX = 1 << 16 };

enum role { STOP = 1, RELEASE, STEAL, ROLES };

static const struct role_name names[] = {
	{ "weft", "tg_throttle_down*", STOP },
	{ "weft", "tg_unthrottle_up*", RELEASE },
	{ "weft", "account_steal_time*", STEAL },
	{ NULL, NULL, 0 },
};

/* A group was stopped on a CPU. */
struct stop {
	uint32_t place; /* which group and CPU */
	uint64_t from, to;
};

/* A hypervisor took so much of a CPU, between its steal before and then. */
struct steal {
	uint64_t ts, since, ns;
	uint32_t cpu;
};

/* A group on a CPU. Several groups above it can be stopped at the same time. */
struct place_now {
	uint32_t number; /* from 1 on */
	uint32_t depth;
	uint32_t open; /* the index + 1 of the stop that goes on */
};

/* What the kernel has counted. */
struct count {
	uint64_t times, ns;
	bool begun;
};

struct withheld {
	const struct context *context;
	struct u64_map groups; /* by id: uint32_t, a number from 1 on */
	struct u64_map places; /* by the group's number and the CPU: struct place_now */
	struct u64_map counts; /* by id: struct count, the first and then the growth */
	struct u64_map stolen; /* by CPU: the same */
	struct stop *stops;
	size_t nr_stops;
	struct steal *steals; /* of the events; ordered by CPU and time */
	size_t nr_steals;
	struct roles roles;
	struct bound {
		struct place id, cpu, ns;
	} bound[ROLES];
	uint64_t losses;
	unsigned lists; /* how many of the two say of all groups what the kernel has counted */
	bool has_times, has_steal, starved;
};

static struct place_now *place_at(const struct withheld *withheld, uint64_t group, uint32_t cpu)
{
	const uint32_t *number = group ? u64_map_find(&withheld->groups, group) : NULL;

	return number ? u64_map_find(&withheld->places, (uint64_t)*number << 32 | cpu) : NULL;
}

static struct place_now *add_place(struct withheld *withheld, uint64_t group, uint32_t cpu)
{
	uint32_t *number = u64_map_add(&withheld->groups, group);
	struct place_now *place;

	if (number && !*number)
		*number = (uint32_t)withheld->groups.len;
	place = number ? u64_map_add(&withheld->places, (uint64_t)*number << 32 | cpu) : NULL;
	if (place && !place->number)
		place->number = (uint32_t)withheld->places.len;
	withheld->starved |= !place;
	return place;
}

/* The number of the stop + 1; 0 without memory. */
static uint32_t add_stop(struct withheld *withheld, const struct place_now *place, uint64_t from, uint64_t to)
{
	struct stop *stop = withheld->nr_stops < STOPS_MAX ? vec_push(withheld->stops, withheld->nr_stops) : NULL;

	withheld->starved |= !stop;
	if (!stop)
		return 0;
	*stop = (struct stop){ place->number, from, to };
	return (uint32_t)withheld->nr_stops;
}

static void add_steal(struct withheld *withheld, uint32_t cpu, uint64_t ts, uint64_t ns)
{
	struct steal *steal = withheld->nr_steals < STOPS_MAX ? vec_push(withheld->steals, withheld->nr_steals) : NULL;

	withheld->starved |= !steal;
	if (steal)
		*steal = (struct steal){ .ts = ts, .ns = ns, .cpu = cpu };
}

static void see_stop(struct withheld *withheld, struct place_now *place, uint64_t ts)
{
	if (!place->depth++)
		place->open = add_stop(withheld, place, ts, UINT64_MAX);
}

static void see_release(struct withheld *withheld, struct place_now *place, uint64_t ts)
{
	if (!place->depth) {
		/* It was stopped before the recording. */
		(void)add_stop(withheld, place, 0, ts);
		return;
	}
	if (--place->depth == 0 && place->open)
		withheld->stops[place->open - 1].to = ts;
}

/* Whoever was released meanwhile is not known to be stopped any more. */
static void see_loss(struct withheld *withheld, uint64_t since)
{
	struct place_now *place;
	uint64_t key;

	withheld->losses++;
	for (size_t at = 0; (place = u64_map_next(&withheld->places, &at, &key));) {
		if (place->depth && place->open)
			withheld->stops[place->open - 1].to = since;
		place->depth = 0;
	}
}

static void see(struct withheld *withheld, const struct event *event, uint64_t *last)
{
	struct place_now *place;
	struct bound *bound;
	uint8_t role;
	bool fresh;

	if (event->kind == EVENT_LOST) {
		see_loss(withheld, *last);
		return;
	}
	*last = event->ts;
	role = roles_of(&withheld->roles, event, &fresh);
	if (!role)
		return;
	bound = &withheld->bound[role];
	if (fresh) {
		(void)place_find(&bound->id, event->type, "id");
		(void)place_find(&bound->cpu, event->type, "cpu");
		(void)place_find(&bound->ns, event->type, "ns");
	}
	if (role == STEAL) {
		add_steal(withheld, event->cpu, event->ts, place_u64(&bound->ns, event));
		return;
	}
	place = add_place(withheld, place_u64(&bound->id, event), (uint32_t)place_u64(&bound->cpu, event));
	if (place && role == STOP)
		see_stop(withheld, place, event->ts);
	else if (place)
		see_release(withheld, place, event->ts);
}

static void read_buffer(struct withheld *withheld, const struct context *context)
{
	struct events_options options = { .until = UINT64_MAX };
	struct event *batch = calloc(BATCH, sizeof(*batch));
	struct events *events;
	uint64_t last = 0;
	int nr;

	withheld->starved |= !batch;
	if (batch && !events_open(context, &options, &events, NULL)) {
		while ((nr = events_batch(events, batch, BATCH, NULL)) > 0)
			for (int i = 0; i < nr; i++)
				see(withheld, &batch[i], &last);
		withheld->starved |= nr == -ENOMEM;
		events_free(events);
	}
	free(batch);
}

static void read_events(struct withheld *withheld)
{
	const struct context *of = withheld->context;

	for (size_t i = 0; i < trace_buffers(of->trace); i++) {
		struct context *context;

		if (!own_buffer_is(trace_buffer(of->trace, i)->name.text, OWN_BUFFER_QUOTA) ||
		    context_new(of->trace, i, &context, NULL))
			continue;
		if (context_shares_times(of, context)) {
			withheld->has_times = true;
			withheld->has_steal =
				context->switched_on && strstr(context->switched_on, "account_steal_time");
			read_buffer(withheld, context);
		}
		context_free(context);
	}
}

/* Takes numbers with blanks between them, up to the end of the line. */
static bool take_numbers(const char *at, const char *end, uint64_t *ret, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (at >= end || !number_u64(&at, &ret[i]) || at > end || (at < end && *at++ != ' '))
			return false;
	}
	return at == end;
}

/*
 * Of a group the kernel never resets its counts: what is smaller at the end belongs to another one. The steal of a CPU
 * does go back, as when a machine moves to another host: then nobody knows how much was stolen.
 */
static void take_count(struct withheld *withheld, struct u64_map *map, uint64_t key, uint64_t times, uint64_t ns,
		       bool at_end)
{
	struct count *count = map->len < CPUS_MAX ? u64_map_add(map, key) : u64_map_find(map, key);

	if (!count) {
		withheld->starved |= map->len < CPUS_MAX;
		return;
	}
	if (at_end && times >= count->times && ns >= count->ns)
		*count = (struct count){ times - count->times, ns - count->ns, false };
	else if (at_end && map == &withheld->stolen)
		*count = (struct count){ .ns = 0 };
	else
		*count = (struct count){ times, ns, !at_end };
}

static void read_counts(struct withheld *withheld, const char *setting, bool at_end)
{
	const struct context *context = withheld->context;
	struct trace_text text = own_setting(context->trace, context->buffer, setting);
	struct text_word line;

	while (text.text && text_next_line(&text.text, &text.len, &line)) {
		bool group = line.len > 6 && !memcmp(line.at, "group ", 6);
		bool cpu = line.len > 4 && !memcmp(line.at, "cpu ", 4);
		uint64_t numbers[3];

		withheld->lists += text_word_is(line, "groups");
		if (!(group || cpu) ||
		    !take_numbers(line.at + (group ? 6 : 4), line.at + line.len, numbers, group ? 3 : 2))
			continue;
		if (cpu)
			take_count(withheld, &withheld->stolen, numbers[0], 0, numbers[1], at_end);
		else if (numbers[2] < UINT64_MAX / 1000)
			take_count(withheld, &withheld->counts, numbers[0], numbers[1], numbers[2] * 1000, at_end);
	}
}

/* What has no count at the end has no growth. */
static void forget_begun(struct u64_map *map)
{
	struct count *count;
	uint64_t key;

	for (size_t at = 0; (count = u64_map_next(map, &at, &key));)
		if (count->begun)
			*count = (struct count){ .ns = 0 };
}

static int compare(const void *a, const void *b)
{
	const struct stop *one = a, *other = b;

	if (one->place != other->place)
		return one->place < other->place ? -1 : 1;
	if (one->from != other->from)
		return one->from < other->from ? -1 : 1;
	return one->to < other->to ? -1 : one->to > other->to;
}

static int compare_steals(const void *a, const void *b)
{
	const struct steal *one = a, *other = b;

	if (one->cpu != other->cpu)
		return one->cpu < other->cpu ? -1 : 1;
	return one->ts < other->ts ? -1 : one->ts > other->ts;
}

static void order_steals(struct withheld *withheld)
{
	if (withheld->nr_steals)
		qsort(withheld->steals, withheld->nr_steals, sizeof(*withheld->steals), compare_steals);
	for (size_t i = 1; i < withheld->nr_steals; i++)
		if (withheld->steals[i].cpu == withheld->steals[i - 1].cpu)
			withheld->steals[i].since = withheld->steals[i - 1].ts;
}

struct withheld *withheld_new(const struct context *context)
{
	struct withheld *withheld = calloc(1, sizeof(*withheld));

	if (!withheld)
		return NULL;
	withheld->context = context;
	roles_init(&withheld->roles, names);
	u64_map_init(&withheld->groups, sizeof(uint32_t));
	u64_map_init(&withheld->places, sizeof(struct place_now));
	u64_map_init(&withheld->counts, sizeof(struct count));
	u64_map_init(&withheld->stolen, sizeof(struct count));
	read_events(withheld);
	read_counts(withheld, "weft/withheld", false);
	read_counts(withheld, "weft/withheld_end", true);
	forget_begun(&withheld->counts);
	forget_begun(&withheld->stolen);
	if (withheld->nr_stops)
		qsort(withheld->stops, withheld->nr_stops, sizeof(*withheld->stops), compare);
	order_steals(withheld);
	if (!withheld->starved && !withheld->roles.failed)
		return withheld;
	withheld_free(withheld);
	return NULL;
}

void withheld_free(struct withheld *withheld)
{
	if (!withheld)
		return;
	u64_map_release(&withheld->groups);
	u64_map_release(&withheld->places);
	u64_map_release(&withheld->counts);
	u64_map_release(&withheld->stolen);
	roles_release(&withheld->roles);
	free(withheld->stops);
	free(withheld->steals);
	free(withheld);
}

bool withheld_has_times(const struct withheld *withheld)
{
	return withheld->has_times;
}

uint64_t withheld_losses(const struct withheld *withheld)
{
	return withheld->losses;
}

bool withheld_stops(const struct withheld *withheld, uint64_t group, uint32_t cpu, uint64_t ts, uint64_t *ret_until)
{
	const struct place_now *place = place_at(withheld, group, cpu);
	size_t low;

	*ret_until = UINT64_MAX;
	/* The first stop that ends behind this time. */
	low = vec_count(place ? withheld->nr_stops : 0, i,
			withheld->stops[i].place != place->number ? withheld->stops[i].place < place->number :
								    withheld->stops[i].to <= ts);
	if (!place || low == withheld->nr_stops || withheld->stops[low].place != place->number)
		return false;
	*ret_until = ts < withheld->stops[low].from ? withheld->stops[low].from : withheld->stops[low].to;
	return ts >= withheld->stops[low].from;
}

bool withheld_counted(const struct withheld *withheld, uint64_t *ret_times, uint64_t *ret_ns)
{
	const struct count *count;
	uint64_t key;

	*ret_times = *ret_ns = 0;
	for (size_t at = 0; (count = u64_map_next(&withheld->counts, &at, &key));) {
		*ret_times += count->times;
		*ret_ns += count->ns;
	}
	return withheld->lists == 2;
}

/* The first steal of the CPU after `ts`. */
static size_t steal_after(const struct withheld *withheld, uint32_t cpu, uint64_t ts)
{
	return vec_count(withheld->nr_steals, i,
			 withheld->steals[i].cpu != cpu ? withheld->steals[i].cpu < cpu : withheld->steals[i].ts <= ts);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Events that were lost may be among those that tell it. */
static bool steals_have_times(const struct withheld *withheld)
{
	return withheld->has_steal && !withheld->losses;
}

uint64_t withheld_stolen_within(const struct withheld *withheld, uint32_t cpu, uint64_t from, uint64_t to)
{
	const struct count *count = u64_map_find(&withheld->stolen, cpu);
	uint64_t sum = 0;

	if (from >= to)
		return 0;
	if (!steals_have_times(withheld))
		return count ? least(count->ns, to - from) : 0;
	for (size_t i = steal_after(withheld, cpu, from); i < withheld->nr_steals; i++) {
		const struct steal *steal = &withheld->steals[i];

		if (steal->cpu != cpu || steal->since >= to)
			break;
		sum += least(steal->ns, least(steal->ts, to) - (steal->since > from ? steal->since : from));
	}
	return sum;
}

uint64_t withheld_stolen(const struct withheld *withheld, uint32_t cpu)
{
	return withheld_stolen_within(withheld, cpu, 0, UINT64_MAX);
}
