// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/latency/latency_timerlat_internal.h"

#include <stdlib.h>

#include "lib/answers/frame/pass.h"
#include "lib/answers/latency/latency_noise_internal.h"
#include "lib/answers/latency/latency_stack_internal.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/event.h"

static const struct role_name names[] = { { "ftrace", "timerlat", 1 }, { NULL, NULL, 0 } };

void timerlats_init(struct timerlats *timerlats, struct pass *pass, struct history *history,
		    const struct noises *noises, const struct late_stacks *stacks)
{
	*timerlats = (struct timerlats){ .pass = pass, .history = history, .noises = noises, .stacks = stacks };
	spreads_init(&timerlats->spreads, pass);
	roles_init(&timerlats->roles, names);
}

void timerlats_release(struct timerlats *timerlats)
{
	roles_release(&timerlats->roles);
	spreads_release(&timerlats->spreads);
	for (size_t i = 0; i < timerlats->nr_cpus; i++) {
		if (timerlats->cpus[i].wait)
			history_wait_end(timerlats->history, timerlats->cpus[i].wait);
		free(timerlats->cpus[i].wait);
	}
	free(timerlats->cpus);
	slowest_release(&timerlats->samples.slowest);
}

static uint64_t sum_of(const struct late *late)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < PARTS; i++)
		sum += late->parts[i];
	return sum;
}

/* timerlat_lat_context[] in kernel/trace/trace_output.c */
static const char *const contexts[] = { "irq", "thread", "user ret" };

static uint64_t context_of(const struct late *late)
{
	for (size_t i = 0; i < array_size(contexts); i++)
		if (late->kind == contexts[i])
			return i;
	return 1;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Keeps a sample whose parts are known. */
static void keep(struct timerlats *timerlats, struct late *late)
{
	late_stacks_find(timerlats->stacks, late);
	timerlats->wrong += sum_of(late) != late->lasted;
	timerlats->unexplained +=
		late->parts[PART_UNKNOWN] == late->lasted && !timerlats->pass->state.events[STATE_SWITCH];
	timerlats->failed |= !lates_keep(&timerlats->samples, &timerlats->pass->state, late);
	spreads_add(&timerlats->spreads, context_of(late), late);
}

/*
 * Splits the time since the timer should have expired. The CPU's wait began with the interrupt's sample; a sample that
 * says another time has a wait of its own.
 */
static void split_wait(struct timerlats *timerlats, struct late *late)
{
	const struct history_wait *wait = timerlats->cpus[late->cpu].wait;
	uint64_t since = late->at - late->lasted;
	struct history_wait own;

	if (wait && wait->began == since && wait->cpu == late->cpu) {
		latency_split(timerlats->history, wait, late);
		return;
	}
	history_wait_init(&own);
	history_wait_begin(timerlats->history, &own, late->cpu, since);
	latency_split(timerlats->history, &own, late);
	history_wait_end(timerlats->history, &own);
}

/* The timer's interrupt has read the clock: its thread waits since the timer should have expired. */
static void begin_wait(struct timerlats *timerlats, const struct late *irq)
{
	struct timerlat_cpu *cpu = &timerlats->cpus[irq->cpu];

	if (!cpu->wait) {
		cpu->wait = malloc(sizeof(*cpu->wait));
		if (!cpu->wait) {
			timerlats->failed = true;
			return;
		}
		history_wait_init(cpu->wait);
	}
	history_wait_begin(timerlats->history, cpu->wait, irq->cpu, irq->at - irq->lasted);
}

/* Without sched_switch it is unknown which tasks had the CPU between the events. */
static void split_by_events(struct timerlats *timerlats, struct late *late)
{
	static const enum part of_tasks[] = { PART_IDLE, PART_BEFORE, PART_AFTER, PART_OTHERS, PART_OWN };

	split_wait(timerlats, late);
	if (timerlats->pass->state.events[STATE_SWITCH])
		return;
	late->before = STATE_NO_TASK;
	late->other = STATE_NO_TASK;
	for (size_t i = 0; i < array_size(of_tasks); i++) {
		late->parts[PART_UNKNOWN] += late->parts[of_tasks[i]];
		late->parts[of_tasks[i]] = 0;
	}
}

/* Adds the time that a thread ran to a part that depends on its PID. */
static void charge_thread(const struct timerlats *timerlats, const struct timerlat_cpu *cpu, struct late *late,
			  int32_t pid, uint64_t lasted, uint64_t *longest)
{
	uint32_t task = pid ? state_task_of(&timerlats->pass->state, pid) : (uint32_t)STATE_NO_TASK;

	if (!pid) {
		late->parts[PART_IDLE] += lasted;
	} else if (task != STATE_NO_TASK && task == cpu->hit) {
		late->parts[PART_BEFORE] += lasted;
	} else {
		late->parts[PART_OTHERS] += lasted;
		if (lasted > *longest) {
			*longest = lasted;
			late->other = task;
		}
	}
}

static void charge(const struct timerlats *timerlats, const struct timerlat_cpu *cpu, struct late *late,
		   const struct noise_piece *piece, uint64_t lasted, uint64_t *longest)
{
	switch ((enum noise_part)piece->part) {
	case NOISE_NMI:
		late->parts[PART_NMI] += lasted;
		return;
	case NOISE_IRQ:
		late->parts[PART_HARD] += lasted;
		return;
	case NOISE_SOFTIRQ:
		late->parts[PART_SOFT] += lasted;
		return;
	case NOISE_THREAD:
		if (piece->source != NOISE_NO_SOURCE)
			charge_thread(timerlats, cpu, late, timerlats->noises->sources[piece->source].number, lasted,
				      longest);
		return;
	case NOISE_HARDWARE:
	case NOISE_WAY:
	case NOISE_UNKNOWN:
	case NOISE_PARTS:
		return;
	}
}

/*
 * Adds what ended between `since` and `to` to the parts of `late`, as far as there is time left in it. Returns a mask
 * with a bit for each kind that ended, such as 1 << NOISE_IRQ.
 */
static unsigned charge_all(const struct timerlats *timerlats, const struct timerlat_cpu *cpu, uint64_t since,
			   uint64_t to, struct late *late)
{
	uint64_t longest = 0, left = late->lasted - sum_of(late), lasted;
	struct noise_piece piece;
	unsigned seen = 0;

	for (size_t i = 0; noises_back(timerlats->noises, late->cpu, i, &piece) && piece.at > since; i++) {
		if (piece.at > to)
			continue;
		lasted = least(least(piece.duration, piece.at - since), left);
		charge(timerlats, cpu, late, &piece, lasted, &longest);
		left = late->lasted - sum_of(late);
		seen |= 1u << piece.part;
	}
	return seen;
}

/* Splits the sample of the timer's interrupt; `piece` is the event at the end of that interrupt. */
static void split_irq(const struct timerlats *timerlats, struct timerlat_cpu *cpu, const struct noise_piece *piece)
{
	struct late *late = &cpu->irq;
	uint64_t after = piece->at - late->at;
	bool known = cpu->hit != STATE_NO_TASK && !cpu->lost,
	     idle = known && timerlats->pass->state.tasks[cpu->hit].idle;
	enum part rest = !known ? PART_UNKNOWN : cpu->in_softirq ? PART_SOFT : idle ? PART_IDLE : PART_BEFORE;

	late->before = cpu->hit;
	/* The interrupt belongs to the sample only until it read the clock. */
	late->parts[PART_HARD] = least(piece->duration > after ? piece->duration - after : 0, late->lasted);
	(void)charge_all(timerlats, cpu, late->at - late->lasted, late->at, late);
	late->parts[rest] += late->lasted - sum_of(late);
	cpu->split = true;
}

/*
 * Returns false if the sample of the timer's interrupt was not split by events of osnoise, or belongs to another
 * period.
 */
static bool split_thread(const struct timerlats *timerlats, const struct timerlat_cpu *cpu, uint64_t number,
			 struct late *late)
{
	unsigned seen;
	bool on;

	if (!cpu->split || cpu->number != number || late->lasted < cpu->irq.lasted)
		return false;
	for (size_t i = 0; i < PARTS; i++)
		late->parts[i] = cpu->irq.parts[i];
	late->before = cpu->hit;
	seen = charge_all(timerlats, cpu, cpu->irq.at, late->at, late);
	/* Either the end of the last other thread was seen, or the interrupt hit the measuring thread itself. */
	on = seen & 1u << NOISE_THREAD || cpu->hit == late->task;
	late->parts[on && !cpu->lost ? PART_OWN : PART_UNKNOWN] += late->lasted - sum_of(late);
	return true;
}

bool timerlats_has_stack(const struct timerlats *timerlats, const struct event *event)
{
	const struct timerlat_cpu *cpu = event->cpu < timerlats->nr_cpus ? &timerlats->cpus[event->cpu] : NULL;

	return cpu && cpu->last_kind && cpu->last_pid == event->pid &&
	       !(event->flags & EVENT_INTERRUPTS) == (cpu->last_kind != contexts[0]);
}

void timerlats_set_stack(struct timerlats *timerlats, uint32_t number, uint32_t stack)
{
	struct timerlat_cpu *cpu = &timerlats->cpus[number];
	bool same = cpu->last_number == cpu->number;
	struct late *late;

	if (cpu->waits && same)
		cpu->irq.stack = stack;
	for (size_t i = 0; i < timerlats->samples.slowest.nr; i++) {
		late = lates_at(&timerlats->samples, i);
		if (late->cpu == number && ((late->at == cpu->last_at && late->kind == cpu->last_kind) ||
					    (same && late->at == cpu->irq.at && late->kind == contexts[0])))
			late->stack = stack;
	}
	cpu->last_kind = NULL;
}

/* Splits the interrupt's sample without the end of the timer's interrupt, which no event has reported. */
static void settle(struct timerlats *timerlats, struct timerlat_cpu *cpu)
{
	if (!cpu->waits)
		return;
	cpu->waits = false;
	split_by_events(timerlats, &cpu->irq);
	keep(timerlats, &cpu->irq);
}

void timerlats_end(struct timerlats *timerlats)
{
	for (size_t i = 0; i < timerlats->nr_cpus; i++)
		settle(timerlats, &timerlats->cpus[i]);
}

static void see_noise(struct timerlats *timerlats, const struct event *event)
{
	struct timerlat_cpu *cpu = &timerlats->cpus[event->cpu];
	struct noise_piece piece;

	cpu->lost |= event->kind == EVENT_LOST;
	/* Interrupts may come between the sample of the thread and its stack. */
	if (event->kind == EVENT_LOST || cpu->last_kind == contexts[0] || !(event->flags & EVENT_INTERRUPTS))
		cpu->last_kind = NULL;
	if (!cpu->waits || !noises_back(timerlats->noises, event->cpu, 0, &piece) || piece.part != NOISE_IRQ ||
	    piece.at < cpu->irq.at)
		return;
	cpu->waits = false;
	split_irq(timerlats, cpu, &piece);
	keep(timerlats, &cpu->irq);
}

static struct timerlat_cpu *cpu_of(struct timerlats *timerlats, uint32_t number)
{
	while (timerlats->nr_cpus <= number) {
		if (!vec_push(timerlats->cpus, timerlats->nr_cpus)) {
			timerlats->failed = true;
			return NULL;
		}
	}
	return &timerlats->cpus[number];
}

static void see_by_noise(struct timerlats *timerlats, const struct event *event, struct timerlat_cpu *cpu,
			 struct late *late, bool irq)
{
	uint64_t number = place_u64(&timerlats->number, event);

	settle(timerlats, cpu);
	if (irq) {
		*cpu = (struct timerlat_cpu){ .irq = *late,
					      .number = number,
					      .hit = state_running(&timerlats->pass->state, event->cpu),
					      .in_softirq = event->flags & EVENT_SOFTIRQ,
					      .wait = cpu->wait,
					      .waits = true };
		return;
	}
	if (!split_thread(timerlats, cpu, number, late))
		split_by_events(timerlats, late);
	keep(timerlats, late);
}

/*
 * Corrects the time at which a thread read the clock: it may be interrupted between the reading and the event. Nothing
 * interrupts the interrupt's sample, so that sample shows when the timer should have expired.
 */
static void go_back(const struct timerlat_cpu *cpu, uint64_t number, struct late *late)
{
	uint64_t expires = cpu->irq.at - cpu->irq.lasted;

	if (cpu->irq.at && cpu->number == number && late->at - late->lasted > expires)
		late->at = expires + late->lasted;
}

static void explain(struct timerlats *timerlats, const struct event *event, struct timerlat_cpu *cpu, struct late *late,
		    bool irq)
{
	const struct state *state = &timerlats->pass->state;

	if (!state->events[STATE_SWITCH] || (!state->events[STATE_HARD_ENTRY] && !state->events[STATE_SOFT_ENTRY])) {
		see_by_noise(timerlats, event, cpu, late, irq);
		return;
	}
	/* A first sample may have come before any event of the scheduler and still wait. */
	settle(timerlats, cpu);
	if (irq)
		*cpu = (struct timerlat_cpu){ .irq = *late,
					      .number = place_u64(&timerlats->number, event),
					      .wait = cpu->wait };
	if (pass_compares(timerlats->pass) || slowest_room(&timerlats->samples.slowest, late->lasted)) {
		split_by_events(timerlats, late);
		keep(timerlats, late);
	}
}

static void see_sample(struct timerlats *timerlats, const struct event *event)
{
	const struct state *state = &timerlats->pass->state;
	uint64_t context = place_u64(&timerlats->context, event), number = place_u64(&timerlats->number, event);
	struct timerlat_cpu *cpu;
	struct late late = { .at = state->now,
			     .lasted = place_u64(&timerlats->latency, event),
			     .cpu = event->cpu,
			     .waker = WAKER_NONE,
			     .prio = -1,
			     .task = state_running(state, event->cpu),
			     .before = STATE_NO_TASK,
			     .other = STATE_NO_TASK };

	late.kind = contexts[context < array_size(contexts) ? context : 1];
	timerlats->nr_samples++;
	if (late.lasted > late.at || late.task == STATE_NO_TASK || !pass_wants_cpu(timerlats->pass, event->cpu))
		return;
	cpu = cpu_of(timerlats, event->cpu);
	if (!cpu)
		return;
	late.prio = state->tasks[late.task].prio;
	if (context)
		go_back(cpu, number, &late);
	/* The interrupt's sample does not belong to the task that the interrupt hit. */
	if (!context) {
		late.task = STATE_NO_TASK;
		begin_wait(timerlats, &late);
	}
	explain(timerlats, event, cpu, &late, !context);
	cpu->last_at = late.at;
	cpu->last_number = number;
	cpu->last_kind = late.kind;
	cpu->last_pid = event->pid;
}

static const char *call_context(const void *arg, uint64_t key)
{
	(void)arg;
	return contexts[key];
}

void timerlats_put(const struct timerlats *timerlats, struct findings *findings)
{
	spreads_put(&timerlats->spreads, "timerlat", call_context, NULL, findings);
}

bool timerlats_look(struct timerlats *timerlats, const struct event *event)
{
	bool fresh, is_sample = roles_of(&timerlats->roles, event, &fresh);

	if (fresh) {
		(void)place_find(&timerlats->context, event->type, "context");
		(void)place_find(&timerlats->latency, event->type, "timer_latency");
		(void)place_find(&timerlats->number, event->type, "seqnum");
	}
	return is_sample;
}

void timerlats_see(struct timerlats *timerlats, const struct event *event, bool is_sample)
{
	if (event->cpu < timerlats->nr_cpus)
		see_noise(timerlats, event);
	if (is_sample && timerlats->latency.size)
		see_sample(timerlats, event);
}
