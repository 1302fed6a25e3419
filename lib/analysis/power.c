// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/power_internal.h"

#include "lib/analysis/sorts.h"
#include "lib/event/context.h"
#include "lib/event/event.h"
#include "lib/names/symbols.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How deep and how long CPUs were idle, what woke them, and the frequencies at which they ran. */

static const struct analysis_want wants[] = {
	{ "power:cpu_idle", NULL, "idle states" },
	{ "irq:irq_handler_entry", NULL, "which device woke a CPU" },
	{ "irq_vectors", "i*:*_entry,powerpc:timer_interrupt_entry,powerpc:doorbell_entry",
	  "the timer and other CPUs that woke one" },
	{ "power:cpu_idle_miss", NULL, "which idle states were too deep or too shallow" },
	{ "power:cpu_frequency,power:pstate_sample", NULL, "how fast CPUs ran" },
	{ "sched:sched_switch", NULL, "how many cycles each task ran" },
	{ NULL, NULL, NULL },
};

enum role { IDLE = 1, MISS, FREQUENCY, PSTATE, SUSPEND, HARD, VECTOR, IPI, SWITCH };
_Static_assert(SWITCH + 1 == POWER_ROLES, "as many as there is room for");

static const struct role_name names[] = {
	{ "power", "cpu_idle", IDLE },           { "power", "cpu_idle_miss", MISS },
	{ "power", "cpu_frequency", FREQUENCY }, { "power", "pstate_sample", PSTATE },
	{ "power", "suspend_resume", SUSPEND },  { "irq", "irq_handler_entry", HARD },
	{ "irq_vectors", "*_entry", VECTOR },    { "powerpc", "timer_interrupt_entry", VECTOR },
	{ "powerpc", "doorbell_entry", VECTOR }, { "ipi", "ipi_entry", IPI },
	{ "sched", "sched_switch", SWITCH },     { NULL, NULL, 0 },
};

/* The fields of each event: its subject (such as a CPU), a value, and a second value. */
static const struct {
	const char *cpu, *value, *other;
} fields[POWER_ROLES] = {
	[IDLE] = { "cpu_id", "state", NULL },      [MISS] = { "cpu_id", "state", "below" },
	[FREQUENCY] = { "cpu_id", "state", NULL }, [PSTATE] = { NULL, "freq", NULL },
	[SUSPEND] = { NULL, "action", "start" },   [HARD] = { NULL, "irq", "name" },
	[IPI] = { NULL, "reason", NULL },
};

static bool init(void *arg, struct pass *pass, const void *options)
{
	struct power_analysis *power = arg;

	power->pass = pass;
	if (options)
		power->options = *(const struct power_options *)options;
	roles_init(&power->roles, names);
	u64_map_init(&power->cpus, sizeof(struct power_cpu));
	u64_map_init(&power->states, sizeof(struct power_state));
	u64_map_init(&power->frequencies, sizeof(struct power_frequency));
	u64_map_init(&power->wakers, sizeof(struct power_waker));
	u64_map_init(&power->actions, sizeof(struct power_action));
	return true;
}

static void release(void *arg)
{
	struct power_analysis *power = arg;
	struct power_frequency *frequency;
	struct power_action *action;
	struct power_state *state;
	struct power_waker *waker;
	uint64_t key;

	for (size_t at = 0; (state = u64_map_next(&power->states, &at, &key));)
		samples_release(&state->lasted);
	for (size_t at = 0; (frequency = u64_map_next(&power->frequencies, &at, &key));)
		samples_release(&frequency->stays);
	for (size_t at = 0; (waker = u64_map_next(&power->wakers, &at, &key));)
		samples_release(&waker->each);
	for (size_t at = 0; (action = u64_map_next(&power->actions, &at, &key));)
		samples_release(&action->each);
	for (size_t i = 0; i < power->nr_tasks; i++)
		samples_release(&power->tasks[i].runs);
	free(power->tasks);
	u64_map_release(&power->cpus);
	u64_map_release(&power->states);
	u64_map_release(&power->frequencies);
	u64_map_release(&power->wakers);
	u64_map_release(&power->actions);
	roles_release(&power->roles);
}

/* Returns the map's entry for a key; a new entry is all zero. NULL when memory runs out. */
static void *entry(struct power_analysis *power, struct u64_map *map, uint64_t key)
{
	void *value = u64_map_add(map, key);

	power->pass->failed |= !value;
	return value;
}

/* Keeps the time, if rows are compared with rows of other files. */
static void compare(struct power_analysis *power, struct samples *samples, uint64_t lasted)
{
	if (pass_compares(power->pass))
		samples_add(samples, &power->pass->budget, lasted);
}

static void count_waker(struct power_analysis *power, struct power_cpu *cpu, uint32_t number)
{
	uint64_t hash = UINT64_C(14695981039346656037) + number;
	struct power_waker *waker;

	for (const char *at = cpu->source; *at; at++)
		hash = (hash ^ (uint8_t)*at) * UINT64_C(1099511628211);
	/* Names with equal hashes take consecutive keys. */
	for (;; hash++) {
		waker = entry(power, &power->wakers, hash);
		if (!waker || !waker->wakeups || (waker->cpu == number && !strcmp(waker->source, cpu->source)))
			break;
	}
	if (!waker)
		return;
	waker->wakeups++;
	compare(power, &waker->each, 0);
	waker->cpu = number;
	memcpy(waker->source, cpu->source, sizeof(waker->source));
}

/*
 * The CPU leaves its idle state. The interrupt that hit it in that state has woken it, or else the first one from now
 * on.
 */
static void leave_idle(struct power_analysis *power, struct power_cpu *cpu, uint32_t number, const struct event *event)
{
	struct extreme whole = { .from = cpu->since, .to = event->ts, .cpu = number, .task = STATE_NO_TASK };
	struct power_state *state;

	if (!cpu->idle) {
		power->cut += !cpu->lost && !cpu->seen;
		power->broken += cpu->lost;
		cpu->lost = false;
		return;
	}
	cpu->idle = false;
	cpu->exits++;
	whole.lasted = event->ts - cpu->since;
	cpu->idled += whole.lasted;
	state = entry(power, &power->states, (uint64_t)number << 32 | cpu->state);
	if (!state)
		return;
	samples_add(&state->lasted, &power->pass->budget, whole.lasted);
	extreme_see(&state->longest, &whole);
	cpu->waking = !*cpu->source;
	if (*cpu->source)
		count_waker(power, cpu, number);
}

static void see_idle(struct power_analysis *power, const struct event *event)
{
	uint32_t number = (uint32_t)place_u64(&power->places[IDLE].cpu, event),
		 state = (uint32_t)place_u64(&power->places[IDLE].value, event);
	struct power_cpu *cpu = entry(power, &power->cpus, number);

	if (!cpu)
		return;
	if (state == UINT32_MAX) {
		leave_idle(power, cpu, number, event);
	} else {
		/* The event that left the former idle state is missing. */
		power->broken += cpu->idle;
		power->unknown += cpu->waking;
		cpu->idle = true;
		cpu->lost = cpu->waking = false;
		cpu->since = event->ts;
		cpu->state = state;
		*cpu->source = '\0';
	}
	cpu->seen = true;
}

static void see_source(struct power_analysis *power, const struct event *event, enum role role)
{
	struct power_cpu *cpu = u64_map_find(&power->cpus, event->cpu);
	const char *name = event->type->format->name;
	size_t len = strlen(name);

	if (!cpu || *cpu->source || (!cpu->idle && !cpu->waking))
		return;
	if (role == VECTOR && len > 6) {
		snprintf(cpu->source, sizeof(cpu->source), "vector %.*s", (int)(len - 6), name);
	} else if (role == HARD) {
		if (!place_string(&power->places[HARD].other, event, &name, &len))
			len = 0;
		snprintf(cpu->source, sizeof(cpu->source), "irq %" PRIu64 " %.*s",
			 place_u64(&power->places[HARD].value, event), (int)len, name);
	} else {
		name = symbols_string(event->type->context->symbols, place_u64(&power->places[IPI].value, event));
		snprintf(cpu->source, sizeof(cpu->source), "ipi %s", name ? name : "");
	}
	if (!cpu->waking)
		return;
	cpu->waking = false;
	count_waker(power, cpu, event->cpu);
}

static void see_miss(struct power_analysis *power, const struct event *event)
{
	struct power_cpu *cpu = entry(power, &power->cpus, (uint32_t)place_u64(&power->places[MISS].cpu, event));
	bool below = place_u64(&power->places[MISS].other, event);

	if (!cpu)
		return;
	cpu->too_deep += below;
	cpu->too_shallow += !below;
}

void power_settle(struct power_analysis *power, struct power_cpu *cpu, uint32_t number, uint64_t now)
{
	struct power_frequency *frequency =
		cpu->khz ? entry(power, &power->frequencies, (uint64_t)number << 32 | cpu->khz) : NULL;

	if (frequency) {
		frequency->lasted += now - cpu->khz_since;
		compare(power, &frequency->stays, now - cpu->khz_since);
	}
	cpu->khz_since = now;
}

/* The event may come from a CPU other than the one whose frequency changes. */
static void see_frequency(struct power_analysis *power, const struct event *event)
{
	uint32_t number = (uint32_t)place_u64(&power->places[FREQUENCY].cpu, event),
		 khz = (uint32_t)place_u64(&power->places[FREQUENCY].value, event);
	struct power_cpu *cpu = entry(power, &power->cpus, number);
	struct power_frequency *frequency = entry(power, &power->frequencies, (uint64_t)number << 32 | khz);

	if (!cpu || !frequency)
		return;
	frequency->times++;
	power_settle(power, cpu, number, event->ts);
	power_weigh(power, cpu, number);
	cpu->khz = khz;
}

static void see_sample(struct power_analysis *power, const struct event *event)
{
	struct power_cpu *cpu = entry(power, &power->cpus, event->cpu);
	uint64_t khz = place_u64(&power->places[PSTATE].value, event);

	if (!cpu)
		return;
	cpu->samples++;
	cpu->sampled += khz;
	cpu->sampled_min = cpu->samples == 1 || khz < cpu->sampled_min ? khz : cpu->sampled_min;
	cpu->sampled_max = khz > cpu->sampled_max ? khz : cpu->sampled_max;
}

static void see_suspend(struct power_analysis *power, const struct event *event)
{
	struct power_action *action = entry(power, &power->actions, place_u64(&power->places[SUSPEND].value, event));

	if (!action)
		return;
	if (place_u64(&power->places[SUSPEND].other, event)) {
		action->since = event->ts;
		action->open = true;
	} else if (action->open) {
		action->open = false;
		action->times++;
		action->total += event->ts - action->since;
		compare(power, &action->each, event->ts - action->since);
		extreme_see(&action->longest, &(struct extreme){ .lasted = event->ts - action->since,
								 .from = action->since,
								 .to = event->ts,
								 .cpu = event->cpu,
								 .task = STATE_NO_TASK });
	}
}

/* A CPU's lost events may include events of its own idle states, and of any CPU's frequency. */
static void see_lost(struct power_analysis *power, const struct event *event)
{
	struct power_cpu *cpu;
	uint64_t number;
	size_t at = 0;

	while ((cpu = u64_map_next(&power->cpus, &at, &number))) {
		power_weigh(power, cpu, (uint32_t)number);
		cpu->khz = 0;
		if (number != event->cpu)
			continue;
		cpu->task = 0;
		power->broken += cpu->idle;
		cpu->lost = !cpu->idle;
		cpu->idle = cpu->waking = false;
	}
}

static uint8_t look(void *arg, const struct event *event)
{
	struct power_analysis *power = arg;
	bool fresh;
	uint8_t role = roles_of(&power->roles, event, &fresh);

	if (fresh) {
		(void)(fields[role].cpu && place_find(&power->places[role].cpu, event->type, fields[role].cpu));
		(void)(fields[role].value && place_find(&power->places[role].value, event->type, fields[role].value));
		(void)(fields[role].other && place_find(&power->places[role].other, event->type, fields[role].other));
	}
	return role;
}

static void see(void *arg, const struct event *event, uint8_t number)
{
	struct power_analysis *power = arg;
	enum role role = (enum role)number;

	if (event->kind == EVENT_LOST) {
		see_lost(power, event);
		return;
	}
	power->seen += role < HARD;
	if (role == SWITCH)
		power_see_switch(power, event);
	else if (role == IDLE)
		see_idle(power, event);
	else if (role >= HARD)
		see_source(power, event, role);
	else if (role == MISS)
		see_miss(power, event);
	else if (role == FREQUENCY)
		see_frequency(power, event);
	else if (role == PSTATE)
		see_sample(power, event);
	else
		see_suspend(power, event);
}

const struct analysis_ops power_analysis = {
	.name = "power",
	.summary = "show how deep CPUs idled, what woke them, and how fast they ran",
	.sorts = &power_sorts,
	.wants = wants,
	.essential = 1,
	.size = sizeof(struct power_analysis),
	.init = init,
	.look = look,
	.see = see,
	.finish = power_finish,
	.release = release,
};
