// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/irq/irq_internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/samples.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/softirqs.h"
#include "lib/meaning/names/symbols.h"

/* Follows interrupts, softirqs and the other work that they run, from entry to exit. irq_tables.c makes the tables. */

static const struct analysis_want wants[] = {
	{ "irq:irq_handler_entry,irq:irq_handler_exit", NULL, "hard interrupts of devices" },
	{ "irq:softirq_entry,irq:softirq_exit", NULL, "softirqs" },
	{ "irq:softirq_raise", NULL, "how long a softirq waited" },
	{ "irq_vectors", "powerpc:timer_interrupt_*,powerpc:doorbell_*,ipi:ipi_entry,ipi:ipi_exit",
	  "the timer's interrupts and those between CPUs" },
	{ "timer:timer_expire_entry,timer:timer_expire_exit", NULL, "timers" },
	{ "timer:hrtimer_start,timer:hrtimer_expire_entry,timer:hrtimer_expire_exit", NULL,
	  "hrtimers, and how late they were" },
	{ "workqueue:workqueue_queue_work,workqueue:workqueue_execute_start,workqueue:workqueue_execute_end", NULL,
	  "work items" },
	{ "sched:sched_switch", NULL,
	  "how long the tasks that were hit ran, and when a softirq of PREEMPT_RT was preempted" },
	ANALYSIS_WANTS_TASKS,
	{ NULL, NULL, NULL },
};

enum role {
	HARD_ENTRY = 1,
	HARD_EXIT,
	SOFT_RAISE,
	SOFT_ENTRY,
	SOFT_EXIT,
	VECTOR,
	IPI_ENTRY,
	IPI_EXIT,
	TIMER_ENTRY,
	TIMER_EXIT,
	HRTIMER_START,
	HRTIMER_ENTRY,
	HRTIMER_EXIT,
	WORK_QUEUE,
	WORK_START,
	WORK_END,
	SWITCH
};

static const struct role_name names[] = {
	{ "irq", "irq_handler_entry", HARD_ENTRY },
	{ "irq", "irq_handler_exit", HARD_EXIT },
	{ "irq", "softirq_raise", SOFT_RAISE },
	{ "irq", "softirq_entry", SOFT_ENTRY },
	{ "irq", "softirq_exit", SOFT_EXIT },
	{ "irq_vectors", "*", VECTOR },
	{ "powerpc", "timer_interrupt_*", VECTOR },
	{ "powerpc", "doorbell_*", VECTOR },
	{ "ipi", "ipi_entry", IPI_ENTRY },
	{ "ipi", "ipi_exit", IPI_EXIT },
	{ "timer", "timer_expire_entry", TIMER_ENTRY },
	{ "timer", "timer_expire_exit", TIMER_EXIT },
	{ "timer", "hrtimer_start", HRTIMER_START },
	{ "timer", "hrtimer_expire_entry", HRTIMER_ENTRY },
	{ "timer", "hrtimer_expire_exit", HRTIMER_EXIT },
	{ "workqueue", "workqueue_queue_work", WORK_QUEUE },
	{ "workqueue", "workqueue_execute_start", WORK_START },
	{ "workqueue", "workqueue_execute_end", WORK_END },
	{ "sched", "sched_switch", SWITCH },
	{ NULL, NULL, 0 },
};

/* The fields of each event: the number, the name or function, and a value. */
static const struct {
	const char *id, *name, *value;
} fields[] = {
	[HARD_ENTRY] = { "irq", "name", NULL },
	[HARD_EXIT] = { "irq", NULL, "ret" },
	[SOFT_RAISE] = { "vec", NULL, NULL },
	[SOFT_ENTRY] = { "vec", NULL, NULL },
	[SOFT_EXIT] = { "vec", NULL, NULL },
	[VECTOR] = { "vector", NULL, NULL },
	[IPI_ENTRY] = { "reason", NULL, NULL },
	[IPI_EXIT] = { "reason", NULL, NULL },
	[TIMER_ENTRY] = { "timer", "function", NULL },
	[TIMER_EXIT] = { "timer", NULL, NULL },
	[HRTIMER_START] = { "hrtimer", NULL, "expires" },
	[HRTIMER_ENTRY] = { "hrtimer", "function", "now" },
	[HRTIMER_EXIT] = { "hrtimer", NULL, NULL },
	[WORK_QUEUE] = { "work", NULL, NULL },
	[WORK_START] = { "work", "function", NULL },
	[WORK_END] = { "work", NULL, NULL },
	[SWITCH] = { NULL, NULL, NULL },
};

static void spent(void *arg, uint32_t who, enum task_mode mode, uint64_t ns)
{
	struct irq_analysis *irq = arg;
	struct irq_group *group = mode == TASK_RUNNING ? u64_map_add(&irq->groups, who) : NULL;

	irq->pass->failed |= mode == TASK_RUNNING && !group;
	if (group)
		group->ran += ns;
}

static bool init(void *arg, struct pass *pass, const void *options)
{
	const struct row_options *rows = options;
	struct irq_analysis *irq = arg;

	irq->pass = pass;
	irq->by = rows && rows->by >= IRQ_BY_WHO ? IRQ_BY_WHO : IRQ_BY_TASK;
	irq->part = irq->by == IRQ_BY_WHO ? (enum who_part)(rows->by - IRQ_BY_WHO) : WHO_PROCESS;
	u64_map_init(&irq->groups, sizeof(struct irq_group));
	if (irq->by == IRQ_BY_WHO)
		pass_follow_groups(pass, irq->part, spent, irq);
	slowest_init_rows(&irq->slowest, sizeof(struct irq_slow), options);
	roles_init(&irq->roles, names);
	labels_init(&irq->ids);
	u64_map_init(&irq->sums, sizeof(struct irq_sums));
	samples_map_init(&irq->each);
	u64_map_init(&irq->works, sizeof(struct irq_work));
	u64_map_init(&irq->expires, sizeof(uint64_t));
	irq->filtered = pass_filtered(pass);
	return true;
}

static void release(void *arg)
{
	struct irq_analysis *irq = arg;

	for (size_t i = 0; i < irq->nr_sources; i++) {
		samples_release(&irq->sources[i].lasted);
		samples_release(&irq->sources[i].delays);
	}
	free(irq->sources);
	free(irq->cpus);
	free(irq->victims);
	slowest_release(&irq->slowest);
	labels_release(&irq->ids);
	u64_map_release(&irq->sums);
	u64_map_release(&irq->groups);
	samples_map_release(&irq->each);
	u64_map_release(&irq->works);
	u64_map_release(&irq->expires);
	roles_release(&irq->roles);
}

static uint32_t task_on(const struct irq_analysis *irq, uint32_t cpu)
{
	const struct state *state = &irq->pass->state;

	return cpu < state->nr_cpus ? state->cpus[cpu].task : STATE_NO_TASK;
}

static void see_delay(struct irq_analysis *irq, uint32_t source, uint64_t delay, const struct event *event)
{
	if (source >= irq->nr_sources || !pass_wants_cpu(irq->pass, event->cpu))
		return;
	samples_add(&irq->sources[source].delays, &irq->pass->budget, delay);
	irq_see_longest(&irq->sources[source].latest, delay, event);
}

/* Returns the last frame of the task below `depth`, which has the CPU or is interrupted; NULL: there is none. */
static struct irq_frame *frame_of(struct irq_cpu *cpu, size_t depth, uint32_t task)
{
	while (depth-- > 0)
		if (cpu->frames[depth].task == task)
			return &cpu->frames[depth];
	return NULL;
}

static void enter(struct irq_analysis *irq, enum irq_kind kind, uint64_t id, uint32_t source, const struct event *event)
{
	struct irq_cpu *cpu = irq_cpu_of(irq, event->cpu);
	struct irq_frame *outer, frame = {
		.kind = kind, .id = id, .source = source, .task = task_on(irq, event->cpu), .start = event->ts
	};

	if (!cpu || source == UINT32_MAX)
		return;
	if (cpu->depth == IRQ_DEPTH) {
		irq->unended += IRQ_DEPTH;
		cpu->depth = 0;
	}
	outer = frame_of(cpu, cpu->depth, frame.task);
	if (outer)
		irq_taking_pause(&outer->taking, event->ts);
	irq_taking_begin(&frame.taking, event->ts);
	frame.off = irq_off_cpu(irq, frame.task);
	cpu->frames[cpu->depth++] = frame;
}

static void take_out(struct irq_cpu *cpu, size_t at)
{
	memmove(&cpu->frames[at], &cpu->frames[at + 1], (cpu->depth - at - 1) * sizeof(cpu->frames[0]));
	cpu->depth--;
}

/*
 * Returns the index of the frame that ends, even if the exits of frames above it in the same task were not recorded.
 * IRQ_DEPTH: its entry was not seen.
 */
static size_t find_frame(struct irq_analysis *irq, struct irq_cpu *cpu, enum irq_kind kind, uint64_t id, uint32_t task)
{
	size_t at = cpu->depth;

	while (at-- > 0)
		if (cpu->frames[at].kind == kind && cpu->frames[at].id == id && cpu->frames[at].task == task)
			break;
	if (at == SIZE_MAX)
		return IRQ_DEPTH;
	for (size_t above = cpu->depth; --above > at;) {
		if (cpu->frames[above].task == task) {
			irq->unended++;
			take_out(cpu, above);
		}
	}
	return at;
}

static void leave(struct irq_analysis *irq, enum irq_kind kind, uint64_t id, const struct event *event)
{
	struct irq_cpu *cpu = irq_cpu_of(irq, event->cpu);
	uint32_t task = task_on(irq, event->cpu);
	size_t at = cpu ? find_frame(irq, cpu, kind, id, task) : IRQ_DEPTH;
	struct irq_frame frame, *outer;
	uint64_t lasted, inner;

	if (at == IRQ_DEPTH) {
		if (cpu && cpu->lost)
			irq->broken++;
		else
			irq->cut++;
		return;
	}
	frame = cpu->frames[at];
	take_out(cpu, at);
	lasted = event->ts > frame.start ? event->ts - frame.start : 0;
	inner = frame.nested + (irq_off_cpu(irq, task) - frame.off);
	irq_taking_pause(&frame.taking, event->ts);
	irq_charge(irq, &frame, lasted, lasted > inner ? lasted - inner : 0, event);
	outer = frame_of(cpu, at, task);
	if (!outer)
		return;
	irq_taking_begin(&outer->taking, event->ts);
	irq_see_inner(outer, &frame, lasted);
	outer->nested += lasted > inner ? lasted - (inner - frame.nested) : frame.nested;
}

/* The kernel with PREEMPT_RT takes the CPU from a task in a softirq, and gives it back. */
static void see_switch(struct irq_analysis *irq, const struct event *event)
{
	const struct state_step *step = &irq->pass->state.step;
	struct irq_cpu *cpu = event->cpu < irq->nr_cpus ? &irq->cpus[event->cpu] : NULL;
	struct irq_frame *frame;

	if (step->kind != STEP_SWITCH || !cpu || !cpu->depth)
		return;
	frame = frame_of(cpu, cpu->depth, step->other);
	if (frame)
		irq_taking_pause(&frame->taking, event->ts);
	frame = frame_of(cpu, cpu->depth, step->task);
	if (frame)
		irq_taking_begin(&frame->taking, event->ts);
}

/*
 * With a PID filter, a softirq that runs on top of a task that is not listed is not recorded. The raise belongs to this
 * entry only if a listed task has had the CPU since then.
 */
static bool may_be_hidden(const struct irq_analysis *irq, const struct irq_cpu *cpu, uint64_t vec,
			  const struct event *event)
{
	const struct state *state = &irq->pass->state;

	return irq->filtered && (!state->listed.filtered || state->cpus[event->cpu].switches != cpu->switches[vec]);
}

static void see_softirq(struct irq_analysis *irq, const struct event *event, enum role role)
{
	uint64_t vec = place_u64(&irq->places[role].id, event);
	const char *name = softirq_name(vec);
	struct irq_cpu *cpu = irq_cpu_of(irq, event->cpu);
	const struct state *state = &irq->pass->state;
	uint32_t source, task = task_on(irq, event->cpu);

	if (!cpu || !name)
		return;
	if (role == SOFT_RAISE) {
		if (!cpu->raised[vec]) {
			cpu->raised[vec] = event->ts;
			cpu->switches[vec] = state->cpus[event->cpu].switches;
		}
		return;
	}
	if (role == SOFT_EXIT) {
		leave(irq, IRQ_SOFT, vec, event);
		return;
	}
	source = irq_source_of(irq, IRQ_SOFT, name, strlen(name));
	if (cpu->raised[vec] && !may_be_hidden(irq, cpu, vec, event))
		see_delay(irq, source, event->ts - cpu->raised[vec], event);
	cpu->raised[vec] = 0;
	if (source < irq->nr_sources && task < state->nr_tasks && pass_wants_cpu(irq->pass, event->cpu))
		irq->sources[source].in_thread += !strncmp(pass_comm(irq->pass, &state->tasks[task]), "ksoftirqd/", 10);
	enter(irq, IRQ_SOFT, vec, source, event);
}

/* Handles irq_vectors:NAME_entry and NAME_exit, and powerpc's; it ignores other events of these systems. */
static void see_vector(struct irq_analysis *irq, const struct event *event)
{
	const char *name = event->type->format->name;
	size_t len = strlen(name);
	uint32_t source;

	if (len > 6 && !strcmp(name + len - 6, "_entry")) {
		source = irq_source_of(irq, IRQ_VECTOR, name, len - 6);
		enter(irq, IRQ_VECTOR, source, source, event);
	} else if (len > 5 && !strcmp(name + len - 5, "_exit")) {
		leave(irq, IRQ_VECTOR, irq_source_of(irq, IRQ_VECTOR, name, len - 5), event);
	}
}

static void see_ipi(struct irq_analysis *irq, const struct event *event, enum role role)
{
	uint64_t id = place_u64(&irq->places[role].id, event);
	const char *reason = symbols_string(event->type->context->symbols, id);

	if (role == IPI_EXIT)
		leave(irq, IRQ_IPI, id, event);
	else
		enter(irq, IRQ_IPI, id,
		      irq_source_of(irq, IRQ_IPI, reason ? reason : "IPI", strlen(reason ? reason : "IPI")), event);
}

static void see_hard(struct irq_analysis *irq, const struct event *event, enum role role)
{
	uint64_t id = place_u64(&irq->places[role].id, event);
	const char *name = "";
	size_t len = 0;

	if (role == HARD_EXIT) {
		leave(irq, IRQ_HARD, id, event);
		return;
	}
	(void)place_string(&irq->places[role].name, event, &name, &len);
	enter(irq, IRQ_HARD, id, irq_source_of_hard(irq, id, name, len), event);
}

static void see_timer(struct irq_analysis *irq, const struct event *event, enum role role)
{
	const struct irq_places *places = &irq->places[role];
	uint64_t id = place_u64(&places->id, event), value = place_u64(&places->value, event), *expires;
	enum irq_kind kind = role == TIMER_ENTRY || role == TIMER_EXIT ? IRQ_TIMER : IRQ_HRTIMER;
	uint32_t source;

	if (role == HRTIMER_START) {
		expires = u64_map_add(&irq->expires, id);
		irq->pass->failed |= !expires;
		if (expires)
			*expires = value;
		return;
	}
	if (role == TIMER_EXIT || role == HRTIMER_EXIT) {
		leave(irq, kind, id, event);
		return;
	}
	source = irq_source_of_function(irq, kind, event, &places->name);
	expires = role == HRTIMER_ENTRY ? u64_map_find(&irq->expires, id) : NULL;
	/* A timer may expire before, within its slack: then it is not late. */
	if (expires && *expires && !irq->filtered)
		see_delay(irq, source, value > *expires ? value - *expires : 0, event);
	if (expires)
		*expires = 0;
	enter(irq, kind, id, source, event);
}

/* A work item can sleep and move between CPUs, so its own time is not reported. */
static void see_work(struct irq_analysis *irq, const struct event *event, enum role role)
{
	uint64_t id = place_u64(&irq->places[role].id, event);
	struct irq_work *work = u64_map_add(&irq->works, id);
	uint64_t start;

	if (!work) {
		irq->pass->failed = true;
		return;
	}
	switch (role) {
	case WORK_QUEUE:
		work->queued = event->ts;
		return;
	case WORK_START:
		work->frame = (struct irq_frame){ .kind = IRQ_WORK,
						  .source = irq_source_of_function(irq, IRQ_WORK, event,
										   &irq->places[role].name),
						  .start = event->ts };
		if (work->queued && !irq->filtered)
			see_delay(irq, work->frame.source, event->ts - work->queued, event);
		work->queued = 0;
		return;
	default:
		start = work->frame.start;
		if (!start)
			irq->cut += irq->pass->state.losses == 0;
		if (!start)
			irq->broken += irq->pass->state.losses != 0;
		if (start && work->frame.source < irq->nr_sources)
			irq_charge(irq, &work->frame, event->ts - start, 0, event);
		work->frame.start = 0;
	}
}

/* After lost events, forgets the open frames of the CPU, all work items and all timers. */
static void see_lost(struct irq_analysis *irq, const struct event *event)
{
	struct irq_cpu *cpu = irq_cpu_of(irq, event->cpu);

	if (!cpu)
		return;
	irq->broken += cpu->depth;
	cpu->depth = 0;
	cpu->lost = true;
	memset(cpu->raised, 0, sizeof(cpu->raised));
	u64_map_clear(&irq->works);
	u64_map_clear(&irq->expires);
}

static void bind(struct irq_analysis *irq, const struct event *event, enum role role)
{
	struct irq_places *places = &irq->places[role];

	(void)place_find(&places->id, event->type, fields[role].id);
	if (fields[role].name)
		(void)place_find(&places->name, event->type, fields[role].name);
	if (fields[role].value)
		(void)place_find(&places->value, event->type, fields[role].value);
}

static bool may_be_preempted(const struct event *event)
{
	const struct context *context = event->type->context;

	return context->preempt_rt || !*context->release;
}

static uint8_t look(void *arg, const struct event *event)
{
	struct irq_analysis *irq = arg;
	bool fresh;
	uint8_t role = roles_of(&irq->roles, event, &fresh);

	if (fresh && fields[role].id)
		bind(irq, event, (enum role)role);
	/* Other kernels switch tasks in none of these contexts. */
	return role == SWITCH && !may_be_preempted(event) ? ROLE_NONE : role;
}

static void see(void *arg, const struct event *event, uint8_t number)
{
	struct irq_analysis *irq = arg;
	enum role role = (enum role)number;

	if (event->kind == EVENT_LOST) {
		see_lost(irq, event);
		return;
	}
	if (role == SWITCH) {
		see_switch(irq, event);
		return;
	}
	irq->seen++;
	if (role <= HARD_EXIT)
		see_hard(irq, event, role);
	else if (role <= SOFT_EXIT)
		see_softirq(irq, event, role);
	else if (role == VECTOR)
		see_vector(irq, event);
	else if (role <= IPI_EXIT)
		see_ipi(irq, event, role);
	else if (role <= HRTIMER_EXIT)
		see_timer(irq, event, role);
	else
		see_work(irq, event, role);
}

static const char *const by[] = { [IRQ_BY_TASK] = "task", [IRQ_BY_WHO] = WHO_WORDS, NULL };

const struct analysis_ops irq_analysis = {
	.name = "irq",
	.summary = "show how long interrupts, softirqs, timers and work items took, and how late they were",
	.columns = irq_columns,
	.by = by,
	.slow = irq_slow,
	.wants = wants,
	.nothing = "there are no interrupts, timers or work items among the events",
	.recorded_by = "-e irq -e irq_vectors",
	.in_summary = true,
	.size = sizeof(struct irq_analysis),
	.init = init,
	.look = look,
	.see = see,
	.divide = irq_divide,
	.carry = irq_carry,
	.finish = irq_finish,
	.release = release,
};
