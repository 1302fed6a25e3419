// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/power/power_wakes_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/answers/frame/findings.h"
#include "lib/answers/frame/pass.h"
#include "lib/ground/base/samples.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/event/event.h"

enum { CPU_NAME = 16 };

struct wakes_row {
	uint64_t wakeups;
	struct samples each; /* samples of length 0: they only count */
};

void wakes_init(struct wakes *wakes, struct pass *pass)
{
	*wakes = (struct wakes){ .pass = pass };
	labels_init(&wakes->origins);
	u64_map_init(&wakes->rows, sizeof(struct wakes_row));
}

void wakes_release(struct wakes *wakes)
{
	struct wakes_row *row;
	uint64_t key;

	for (size_t at = 0; (row = u64_map_next(&wakes->rows, &at, &key));)
		samples_release(&row->each);
	labels_release(&wakes->origins);
	u64_map_release(&wakes->rows);
}

static void count(struct wakes *wakes, const struct wake *wake, uint32_t cpu)
{
	char origin[2 * WAKE_NAME + TASK_COMM_LEN];
	bool is_new;
	int len = snprintf(origin, sizeof(origin), "%s%c%s%c%s", wake->source, '\0', wake->timer, '\0', wake->by);
	uint32_t label = labels_add(&wakes->origins, origin, (size_t)len, &is_new);
	struct wakes_row *row = label == LABEL_NONE ? NULL : u64_map_add(&wakes->rows, (uint64_t)label << 32 | cpu);

	if (!row) {
		wakes->pass->failed = true;
		return;
	}
	row->wakeups++;
	if (pass_compares(wakes->pass))
		samples_add(&row->each, &wakes->pass->budget, 0);
}

/* What has woken the CPU is over. */
static void settle(struct wakes *wakes, struct wake *wake, uint32_t cpu)
{
	if (wake->left)
		count(wakes, wake, cpu);
	wake->left = wake->open = false;
}

void wakes_end(struct wakes *wakes, struct wake *wake, uint32_t cpu, bool lost)
{
	settle(wakes, wake, cpu);
	wakes->unknown += wake->waking && !lost;
	*wake = (struct wake){ .waking = false };
}

/* The interrupt that hit the CPU in its idle state has woken it, or else the first one from now on. */
void wakes_leave(struct wake *wake)
{
	wake->left = *wake->source;
	wake->waking = !*wake->source;
}

/* Who is behind the cause of this event, unless that is the timer itself, as of the tick. */
static void name_actor(struct wakes *wakes, struct wake *wake, const struct cause *cause)
{
	struct waker by = causes_actor(&wakes->pass->state.causes, cause);
	const char *name = causes_name(&wakes->pass->state.causes, by.name);
	char text[PASS_WAKER];

	if (by.pid > 0 || (*name && by.name != cause->name))
		snprintf(wake->by, sizeof(wake->by), "%s", pass_waker(wakes->pass, by, text));
}

static const struct cause *cause_of(struct wakes *wakes, const struct event *event)
{
	struct causes *causes = &wakes->pass->state.causes;

	return causes_get(causes, causes_now(causes, event, 0));
}

void wakes_interrupt(struct wakes *wakes, struct wake *wake, const struct event *event, bool idle, const char *source)
{
	const struct cause *cause;

	if (*wake->source)
		settle(wakes, wake, event->cpu);
	if (*wake->source || (!idle && !wake->waking))
		return;
	snprintf(wake->source, sizeof(wake->source), "%s", source);
	wake->open = true;
	wake->left = wake->waking;
	wake->waking = false;
	wake->timed = !strcmp(source, "vector local_timer") || !strcmp(source, "vector timer_interrupt");
	cause = cause_of(wakes, event);
	if (cause && cause->kind == CAUSE_IPI)
		name_actor(wakes, wake, cause);
}

static bool is_tick(const char *function)
{
	return !strcmp(function, "tick_nohz_handler") || !strcmp(function, "tick_sched_timer");
}

/*
 * The first timer that expires is the one for which the interrupt came: they expire in the order in which they are due.
 * Before an idle CPU stops its tick, it sets it to the time of the first timer that counts jiffies.
 */
void wakes_expire(struct wakes *wakes, struct wake *wake, const struct event *event, bool hrtimer)
{
	const struct cause *cause;
	const char *name;

	if (!wake->open || (*wake->timer && (!wake->tick || hrtimer)))
		return;
	wake->timed |= hrtimer && event->flags & EVENT_HARDIRQ;
	cause = wake->timed ? cause_of(wakes, event) : NULL;
	if (!cause || cause->kind != CAUSE_TIMER)
		return;
	name = causes_name(&wakes->pass->state.causes, cause->name);
	name += strncmp(name, "timer:", 6) ? 0 : 6;
	snprintf(wake->timer, sizeof(wake->timer), "%s", name);
	wake->tick = hrtimer && is_tick(name);
	if (!wake->tick)
		name_actor(wakes, wake, cause);
}

/* These threads go on with the softirqs behind the interrupt. */
void wakes_switch(struct wakes *wakes, struct wake *wake, uint32_t cpu, const char *next)
{
	if (strncmp(next, "ktimers/", 8) != 0 && strncmp(next, "ksoftirqd/", 10) != 0)
		settle(wakes, wake, cpu);
}

enum { OF_TIMERS = WHEN << 1 };

#define WAKE_COLUMNS(X)                                             \
	X("SOURCE", TEXT, NULL, SAME, table_cell, source)           \
	X("TIMER", TEXT, NULL, SAME | OF_TIMERS, put_known, timer)  \
	X("BY", TEXT, NULL, SAME | OF_TIMERS, put_known, by)        \
	X("CPU", NUMBER, NULL, SAME, table_cell_u64, (uint32_t)key) \
	X("WAKEUPS", COUNT, NULL, ADDS, table_cell_u64, row->wakeups)

static const struct table_column columns[] = COLUMNS(WAKE_COLUMNS);

static void put_known(struct table *table, const char *text)
{
	if (*text)
		table_cell(table, text);
	else
		table_cell_nothing(table);
}

void wakes_put(const struct wakes *wakes, bool by_cpu, struct findings *findings)
{
	struct table *table = findings_table(findings, "wakeups", "what woke CPUs", "wakeups", columns);
	const struct wakes_row *row;
	char at_cpu[CPU_NAME];
	bool timers = false;
	uint64_t key;

	for (size_t at = 0; table && (row = u64_map_next(&wakes->rows, &at, &key));) {
		const char *source = wakes->origins.at[key >> 32].text;
		const char *timer = source + strlen(source) + 1, *by = timer + strlen(timer) + 1;

		if (!pass_wants_cpu(wakes->pass, (uint32_t)key))
			continue;
		snprintf(at_cpu, sizeof(at_cpu), "cpu %" PRIu32, (uint32_t)key);
		table_attach_part(table, &row->each, NULL, by_cpu ? at_cpu : NULL);
		WAKE_COLUMNS(CELL)
		timers |= *timer || *by;
	}
	findings_show(findings, OF_TIMERS, timers);
	if (wakes->unknown && wakes->rows.len)
		findings_note(findings, "of %s wakeup%s no event has the cause",
			      text_count((char[TEXT_HUMAN]){ 0 }, wakes->unknown), text_plural(wakes->unknown));
}
