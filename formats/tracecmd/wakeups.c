// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/tracecmd/wakeups_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/u64_map.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/place.h"

enum { RT_PRIO_MAX = 99 };
enum { PID, SUCCESS, PRIO, NR_PLACES };

/* What an event type is to a latency. */
enum kind { UNKNOWN, NONE, WAKEUP, SWITCH };

struct type {
	const struct event_type *type; /* whose places these are */
	enum kind kind;
	struct place places[NR_PLACES];
};

/* The latencies of all tasks, or of those with a real-time priority. */
struct sum {
	uint64_t total, count, max, max_at, min, min_at;
};

struct tracecmd_wakeups {
	struct u64_map woken; /* pid -> time of the wakeup */
	struct u64_map types; /* address of the event type -> struct type */
	struct sum all, rt;
	bool ended;
};

struct tracecmd_wakeups *wakeups_new(void)
{
	struct tracecmd_wakeups *wakeups = calloc(1, sizeof(*wakeups));

	if (!wakeups)
		return NULL;
	u64_map_init(&wakeups->woken, sizeof(uint64_t));
	u64_map_init(&wakeups->types, sizeof(struct type));
	wakeups->all.min = wakeups->rt.min = UINT64_MAX;
	return wakeups;
}

void wakeups_free(struct tracecmd_wakeups *wakeups)
{
	if (!wakeups)
		return;
	u64_map_release(&wakeups->woken);
	u64_map_release(&wakeups->types);
	free(wakeups);
}

static void type_bind(struct type *bound, const struct event_type *type)
{
	const struct format *format = type->format;

	bound->kind = NONE;
	if (!format || strcmp(format->system, "sched"))
		return;
	if (!strcmp(format->name, "sched_wakeup") || !strcmp(format->name, "sched_wakeup_new")) {
		bound->kind = WAKEUP;
		place_find(&bound->places[PID], type, "pid");
		place_find(&bound->places[SUCCESS], type, "success");
	} else if (!strcmp(format->name, "sched_switch")) {
		bound->kind = SWITCH;
		place_find(&bound->places[PID], type, "next_pid");
		place_find(&bound->places[PRIO], type, "next_prio");
	}
}

static void sum_add(struct sum *sum, uint64_t latency, uint64_t at)
{
	if (latency > sum->max) {
		sum->max = latency;
		sum->max_at = at;
	}
	if (latency < sum->min) {
		sum->min = latency;
		sum->min_at = at;
	}
	sum->total += latency;
	sum->count++;
}

bool wakeups_see(struct tracecmd_wakeups *wakeups, const struct event *event, uint64_t ts, uint64_t *ret_latency)
{
	struct type *bound = u64_map_get(&wakeups->types, (uint64_t)(uintptr_t)event->type);
	uint64_t *woken, latency, pid;

	if (!bound)
		return false;
	if (bound->kind == UNKNOWN)
		type_bind(bound, event->type);
	if (bound->kind == NONE)
		return false;
	pid = place_u64(&bound->places[PID], event) & UINT32_MAX;
	if (bound->kind == WAKEUP) {
		if (bound->places[SUCCESS].field && !place_u64(&bound->places[SUCCESS], event))
			return false;
		woken = u64_map_get(&wakeups->woken, pid);
		if (woken)
			*woken = ts;
		return false;
	}
	woken = u64_map_find(&wakeups->woken, pid);
	if (!woken)
		return false;
	latency = ts - *woken;
	u64_map_remove(&wakeups->woken, pid);
	sum_add(&wakeups->all, latency, ts);
	if (place_u64(&bound->places[PRIO], event) <= RT_PRIO_MAX)
		sum_add(&wakeups->rt, latency, ts);
	*ret_latency = latency;
	return true;
}

static void put_time(uint64_t ns, struct out *out)
{
	out_f(out, "timestamp: %" PRIu64 ".%06" PRIu64 "\n", ns / NS_PER_S, (ns + 500) % NS_PER_S / NS_PER_US);
}

static void put_us(const char *what, uint64_t ns, struct out *out)
{
	out_f(out, "%s: %" PRIu64 ".%03" PRIu64 " usecs", what, ns / NS_PER_US, ns % NS_PER_US);
}

static void put_sum(const struct sum *sum, struct out *out)
{
	put_us("\nAverage wakeup latency", sum->total / sum->count, out);
	put_us("\nMaximum Latency", sum->max, out);
	out_str(out, " at ");
	put_time(sum->max_at, out);
	put_us("Minimum Latency", sum->min, out);
	out_str(out, " at ");
	put_time(sum->min_at, out);
	out_char(out, '\n');
}

void wakeups_end(struct tracecmd_wakeups *wakeups, struct out *out)
{
	if (wakeups->ended || !wakeups->all.count)
		return;
	wakeups->ended = true;
	put_sum(&wakeups->all, out);
	if (!wakeups->rt.count)
		return;
	out_str(out, "RT task timings:\n");
	put_sum(&wakeups->rt, out);
}
