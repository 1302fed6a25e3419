// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/state/state.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

/*
 * A small machine with tasks that run, sleep, wait, fork and end at random. The test knows at each ns what each of them
 * does; the state knows only the events that Linux would record of it, and has to say the same.
 */

enum { LIVES = 160, PIDS = 9, EVENTS = 500 };

enum variant { ALL, NO_WAKEUP, NO_WAKING, VARIANTS };

enum wanted { EVERYBODY, BY_NAME, BY_TIME };

struct stretch {
	uint64_t from, to;
	uint8_t mode;
};

/* A task, or the idle task of a CPU: lives[cpu]. */
struct life {
	int32_t pid, prio, waker;
	unsigned generation, cpu;
	char comm[TASK_COMM_LEN], waker_name[32], letter;
	uint8_t mode;
	bool alive, first, leaving, early;
	uint64_t since, waking, woken, born, died, ran_since, beside, pending, wanted_until;
	uint64_t spent[TASK_MODES], elsewhere[TASK_MODES];
	uint64_t told[TASK_MODES], told_until; /* by state_follow_spent() */
	struct stretch *history;
	size_t nr_history;
};

struct expected {
	uint8_t kind, was;
	bool first, early;
	int task, other, acting; /* lives; -1: none */
	unsigned cpu;
	uint64_t since, waking, woken, ran_since;
};

struct world {
	struct buf script;
	uint64_t seed, now, idle_changed;
	enum variant variant;
	enum wanted by;
	bool lossy;
	struct life lives[LIVES];
	size_t nr_lives;
	struct cpu {
		unsigned current, hard, soft, missing, dropping;
		uint64_t missing_since;
		uint64_t spent[CPU_MODES], switches;
	} cpus[LOOM_CPUS];
	struct stretch lost[EVENTS];
	size_t nr_lost;
	struct expected expected[2 * EVENTS];
	size_t nr_expected, nr_seen;
	struct state state;
	struct reader_consumer consumer; /* in place of the usual one */
};

static uint32_t pick(struct world *world, uint32_t below)
{
	world->seed ^= world->seed << 13;
	world->seed ^= world->seed >> 7;
	world->seed ^= world->seed << 17;
	return (uint32_t)(world->seed >> 20) % below;
}

static bool waits(const struct life *life)
{
	return life->mode == TASK_PREEMPTED || life->mode == TASK_WAKING || life->mode == TASK_QUEUED;
}

static bool sleeps(const struct life *life)
{
	return life->alive && life->pid &&
	       (life->mode == TASK_SLEEPING || life->mode == TASK_BLOCKED || life->mode == TASK_STOPPED);
}

static bool name_wanted(const char *comm)
{
	return *comm == 'a' || *comm == 'c';
}

static bool time_wanted(int32_t pid, uint64_t at)
{
	return (at >> 4 ^ (uint64_t)pid) & 1;
}

static bool is_wanted(const struct world *world, const struct life *life, uint64_t at)
{
	return world->by == BY_NAME ? name_wanted(life->comm) : world->by != BY_TIME || time_wanted(life->pid, at);
}

static bool other_idles(const struct world *world, unsigned cpu)
{
	for (unsigned i = 0; i < LOOM_CPUS; i++)
		if (i != cpu && world->cpus[i].current == i)
			return true;
	return false;
}

static void live(struct world *world, struct life *life, uint64_t ns)
{
	struct stretch *last = life->nr_history ? &life->history[life->nr_history - 1] : NULL;

	life->spent[life->mode] += ns;
	for (uint64_t i = 0; i < ns; i++) {
		if (is_wanted(world, life, world->now + i))
			life->wanted_until = world->now + i + 1;
		else
			life->elsewhere[life->mode]++;
	}
	if (waits(life) && other_idles(world, life->cpu))
		life->pending += ns;
	if (!last || last->mode != life->mode) {
		last = vec_push(life->history, life->nr_history);
		if (!CHECK(last))
			return;
		*last = (struct stretch){ .from = world->now, .mode = life->mode };
	}
	last->to = world->now + ns;
}

static void tick(struct world *world)
{
	uint64_t ns = 1 + pick(world, 15);

	for (size_t i = 0; i < world->nr_lives; i++)
		if (world->lives[i].alive)
			live(world, &world->lives[i], ns);
	for (unsigned i = 0; i < LOOM_CPUS; i++) {
		struct cpu *cpu = &world->cpus[i];

		cpu->spent[cpu->hard         ? CPU_HARDIRQ :
			   cpu->soft         ? CPU_SOFTIRQ :
			   cpu->current == i ? CPU_IDLE :
					       CPU_TASK] += ns;
	}
	world->now += ns;
}

static unsigned flags_of(const struct cpu *cpu)
{
	return (cpu->hard ? 9 : 0) | (cpu->soft ? 16 : 0);
}

/* Adds an event of the task that has the CPU, or of another one; the state has to say of it what is returned. */
__attribute__((format(printf, 5, 6))) static struct expected *emit(struct world *world, unsigned number, int32_t pid,
								   unsigned flags, const char *format, ...)
{
	struct cpu *cpu = &world->cpus[number];
	struct expected *expected = &world->expected[world->nr_expected];
	char text[256];
	va_list list;

	*expected = (struct expected){ .task = -1, .other = -1, .acting = (int)cpu->current };
	if (world->lossy && !cpu->dropping && pick(world, 60) == 0)
		cpu->dropping = 1 + pick(world, 12);
	if (cpu->dropping) {
		cpu->missing_since = cpu->missing++ ? cpu->missing_since : world->now;
		cpu->dropping--;
		return expected;
	}
	if (cpu->missing && CHECK(buf_addf(&world->script, "%u lost %u\n", number, cpu->missing)))
		world->lost[world->nr_lost++] = (struct stretch){ .from = cpu->missing_since, .to = world->now };
	cpu->missing = 0;
	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	CHECK(buf_addf(&world->script, "%u %" PRIu64 " %d %s common_flags=%u\n", number, world->now, pid, text, flags));
	world->nr_expected++;
	return expected;
}

static struct expected *emit_here(struct world *world, unsigned number, const char *text)
{
	return emit(world, number, world->lives[world->cpus[number].current].pid, flags_of(&world->cpus[number]), "%s",
		    text);
}

static void enter(struct world *world, struct life *life, enum task_mode mode)
{
	if (mode == TASK_RUNNING && waits(life) && (world->by == EVERYBODY || is_wanted(world, life, world->now)))
		life->beside += life->pending;
	if (!(waits(life) && mode == TASK_QUEUED))
		life->pending = 0;
	life->mode = (uint8_t)mode;
	life->since = world->now;
}

static int find(struct world *world, bool (*is)(const struct life *life))
{
	size_t first = pick(world, (uint32_t)world->nr_lives);

	for (size_t i = 0; i < world->nr_lives; i++)
		if (is(&world->lives[(first + i) % world->nr_lives]))
			return (int)((first + i) % world->nr_lives);
	return -1;
}

static bool is_woken(const struct life *life)
{
	return life->alive && life->mode == TASK_WAKING;
}

static bool is_new(const struct life *life)
{
	return life->alive && life->mode == TASK_NEW;
}

static bool is_task(const struct life *life)
{
	return life->alive && life->pid;
}

static bool is_running(const struct life *life)
{
	return life->alive && life->pid && life->mode == TASK_RUNNING && !life->leaving;
}

static bool sleeps_early(const struct life *life)
{
	return sleeps(life) && life->early;
}

static bool sleeps_well(const struct life *life)
{
	return sleeps(life) && !life->early;
}

static bool is_moved(const struct life *life)
{
	return is_task(life) && waits(life);
}

static void set_waker(const struct world *world, struct life *life, unsigned number)
{
	const struct cpu *cpu = &world->cpus[number];

	life->waker = cpu->hard || cpu->soft ? 0 : world->lives[cpu->current].pid;
	snprintf(life->waker_name, sizeof(life->waker_name), "%s",
		 cpu->hard ? "irq:eth0" :
		 cpu->soft ? "softirq:NET_RX" :
			     "");
}

/* Which CPU the task is to wait for. */
static void aim(struct world *world, struct life *life, unsigned cpu)
{
	if (life->mode == TASK_WAKING && cpu != life->cpu && world->idle_changed <= life->since)
		life->pending = other_idles(world, cpu) ? world->now - life->since : 0;
	life->cpu = cpu;
}

static struct expected *emit_wake(struct world *world, unsigned number, const char *name, const struct life *life)
{
	int32_t pid = world->lives[world->cpus[number].current].pid;
	struct expected *expected =
		emit(world, number, pid, flags_of(&world->cpus[number]), "%s comm=%s pid=%d prio=%d target_cpu=%u",
		     name, life->comm, life->pid, life->prio, life->cpu);

	expected->task = (int)(life - world->lives);
	expected->other = (int)world->cpus[number].current;
	expected->was = life->mode;
	expected->since = life->since;
	expected->cpu = life->cpu;
	return expected;
}

static void queue(struct world *world, unsigned number, struct life *life, const char *name)
{
	struct expected *expected;

	if (life->mode == TASK_WAKING || pick(world, 2))
		aim(world, life, pick(world, LOOM_CPUS));
	if (pick(world, 3) == 0)
		life->prio = (int32_t)pick(world, 140);
	expected = emit_wake(world, number, name, life);
	expected->kind = STEP_WOKEN;
	expected->first = life->mode == TASK_NEW;
	expected->early = life->early;
	if (life->mode != TASK_WAKING && !life->early)
		set_waker(world, life, number);
	if (life->mode != TASK_WAKING)
		life->waking = 0;
	life->first = life->mode == TASK_NEW;
	life->woken = world->now;
	life->early = false;
	enter(world, life, TASK_QUEUED);
}

static void wake(struct world *world, unsigned number)
{
	int id = find(world, sleeps_well);
	struct life *life = id < 0 ? NULL : &world->lives[id];

	if (!life)
		return;
	if (world->variant == NO_WAKING) {
		queue(world, number, life, "sched_wakeup");
		return;
	}
	emit_wake(world, number, "sched_waking", life)->kind = STEP_WAKING;
	life->waking = world->now;
	life->woken = 0;
	life->first = false;
	set_waker(world, life, number);
	enter(world, life, TASK_WAKING);
}

/* try_to_wake_up() of a task that is about to sleep: sched_wakeup comes when it has left its CPU. */
static void wake_early(struct world *world, unsigned number)
{
	int id = find(world, is_running);
	struct life *life = id < 0 ? NULL : &world->lives[id];

	if (!life || world->variant != ALL || number == life->cpu)
		return;
	*emit_wake(world, number, "sched_waking", life) =
		(struct expected){ .task = -1, .other = -1, .acting = (int)world->cpus[number].current };
	set_waker(world, life, number);
	life->leaving = true;
}

/* The mode and prev_state of a task that leaves its CPU, and the letter. */
static const struct leave {
	uint8_t mode;
	unsigned state;
	char letter;
} leaves[] = { { TASK_SLEEPING, 1, 'S' },  { TASK_BLOCKED, 2, 'D' }, { TASK_STOPPED, 4, 'T' }, { TASK_STOPPED, 8, 't' },
	       { TASK_PREEMPTED, 0, 'R' }, { TASK_DEAD, 16, 'X' },   { TASK_DEAD, 32, 'Z' } };

static void drop(struct world *world, unsigned number, struct life *prev, const struct leave *leave)
{
	if (!prev->pid) {
		enter(world, prev, TASK_SLEEPING);
		return;
	}
	enter(world, prev, (enum task_mode)leave->mode);
	prev->letter = leave->letter;
	prev->waking = prev->woken = 0;
	prev->cpu = number;
	prev->early = prev->leaving;
	prev->leaving = false;
	if (leave->mode == TASK_DEAD) {
		prev->alive = false;
		prev->died = world->now;
	}
}

static void change(struct world *world, unsigned number)
{
	struct cpu *cpu = &world->cpus[number];
	struct life *prev = &world->lives[cpu->current], *next = &world->lives[number];
	const struct leave *leave = &leaves[pick(world, prev->leaving ? 2 : array_size(leaves))];
	struct expected *expected;

	for (size_t i = LOOM_CPUS; i < world->nr_lives; i++) {
		struct life *life = &world->lives[i];

		if (life->alive && life->cpu == number && waits(life) &&
		    (life->mode != TASK_WAKING || world->variant == NO_WAKEUP) && pick(world, 2))
			next = life;
	}
	if (prev == next || cpu->hard || cpu->soft)
		return;
	expected = emit(world, number, prev->pid, 1,
			"sched_switch prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%u next_comm=%s next_pid=%d "
			"next_prio=%d",
			prev->pid ? prev->comm : "swapper", prev->pid, prev->prio, prev->pid ? leave->state : 0,
			next->pid ? next->comm : "swapper", next->pid, next->prio);
	*expected = (struct expected){ .kind = STEP_SWITCH,
				       .was = next->mode,
				       .first = next->first,
				       .task = (int)(next - world->lives),
				       .other = (int)cpu->current,
				       .acting = (int)(next - world->lives),
				       .since = next->since,
				       .waking = next->waking,
				       .woken = next->woken,
				       .ran_since = prev->ran_since };
	drop(world, number, prev, leave);
	enter(world, next, TASK_RUNNING);
	next->waking = next->woken = 0;
	next->first = false;
	next->ran_since = world->now;
	next->cpu = number;
	cpu->current = (unsigned)(next - world->lives);
	cpu->switches++;
	if (!prev->pid || !next->pid)
		world->idle_changed = world->now;
	/* What context_switch() does before `current` changes. */
	if (pick(world, 4) == 0) {
		tick(world);
		emit(world, number, prev->pid, 1, "tlb_flush reason=1")->acting = (int)(prev - world->lives);
	}
}

static bool is_taken(const struct world *world, int32_t pid)
{
	for (size_t i = 0; i < world->nr_lives; i++)
		if (world->lives[i].pid == pid && (world->lives[i].alive || world->lossy))
			return true;
	return false;
}

static void name(struct world *world, struct life *life)
{
	snprintf(life->comm, sizeof(life->comm), "%c%.*s", (char)('a' + pick(world, 5)), (int)pick(world, 15),
		 "ifteen_letters");
}

static void bear(struct world *world, unsigned number)
{
	struct life *life = &world->lives[world->nr_lives], *parent = &world->lives[world->cpus[number].current];
	int32_t pid = 1 + (int32_t)pick(world, world->lossy ? 1000 : PIDS);
	struct expected *expected;

	if (world->nr_lives == LIVES || is_taken(world, pid) || world->cpus[number].hard || world->cpus[number].soft)
		return;
	*life = (struct life){ .pid = pid,
			       .alive = true,
			       .mode = TASK_NEW,
			       .born = world->now,
			       .since = world->now,
			       .prio = 120,
			       .waker = -1,
			       .cpu = number,
			       .wanted_until = 0 };
	for (size_t i = LOOM_CPUS; i < world->nr_lives; i++)
		life->generation += world->lives[i].pid == pid;
	name(world, life);
	expected = emit(world, number, parent->pid, 0,
			"sched_process_fork parent_comm=%s parent_pid=%d child_comm=%s child_pid=%d", parent->comm,
			parent->pid, life->comm, pid);
	expected->kind = STEP_FORK;
	expected->task = (int)world->nr_lives++;
	expected->other = (int)world->cpus[number].current;
	if (pick(world, 2)) {
		tick(world);
		emit(world, number, parent->pid, 0, "task_newtask pid=%d comm=%s", pid, life->comm);
	}
}

/* prctl(), /proc/PID/comm or an exec gives a task another name. */
static void rename_task(struct world *world, unsigned number)
{
	struct life *here = &world->lives[world->cpus[number].current], *life = here;
	bool exec = pick(world, 3) == 0, before;
	char old[TASK_COMM_LEN];
	int id = find(world, is_task);

	if (world->cpus[number].hard || world->cpus[number].soft || (exec && !here->pid) || id < 0)
		return;
	if (!exec)
		life = &world->lives[id];
	memcpy(old, life->comm, sizeof(old));
	before = is_wanted(world, life, world->now);
	name(world, life);
	if (!before && is_wanted(world, life, world->now) && world->by == BY_NAME)
		life->pending = 0;
	if (exec)
		emit(world, number, here->pid, 0, "sched_process_exec filename=%s%s pid=%d old_pid=%d",
		     pick(world, 2) ? "/usr/bin/" : "", life->comm, life->pid, life->pid);
	else
		emit(world, number, here->pid, 0, "task_rename pid=%d oldcomm=%s newcomm=%s", life->pid, old,
		     life->comm);
}

static void move(struct world *world, unsigned number)
{
	int id = find(world, is_moved);
	struct life *life = id < 0 ? NULL : &world->lives[id];
	unsigned to = pick(world, LOOM_CPUS);
	struct expected *expected;

	if (!life)
		return;
	expected = emit(world, number, world->lives[world->cpus[number].current].pid, flags_of(&world->cpus[number]),
			"sched_migrate_task comm=%s pid=%d prio=%d orig_cpu=%u dest_cpu=%u", life->comm, life->pid,
			life->prio, life->cpu, to);
	expected->kind = STEP_MIGRATE;
	expected->task = id;
	expected->cpu = to;
	aim(world, life, to);
}

static void interrupt(struct world *world, unsigned number)
{
	struct cpu *cpu = &world->cpus[number];

	if (cpu->hard && pick(world, 2)) {
		emit_here(world, number, "irq_handler_exit irq=9 ret=1");
		cpu->hard--;
	} else if (cpu->soft && !cpu->hard && pick(world, 2)) {
		emit_here(world, number, "softirq_exit vec=3");
		cpu->soft--;
	} else if (!cpu->hard && !cpu->soft && pick(world, 2)) {
		cpu->soft++;
		emit_here(world, number, "softirq_entry vec=3");
	} else if (cpu->hard < 3) {
		cpu->hard++;
		emit_here(world, number, "irq_handler_entry irq=9 name=eth0");
	}
}

static void happen(struct world *world)
{
	unsigned number = pick(world, LOOM_CPUS);
	int id;

	tick(world);
	switch (pick(world, 12)) {
	case 0:
	case 1:
	case 2:
		change(world, number);
		return;
	case 3:
		bear(world, number);
		return;
	case 4:
	case 5:
		wake(world, number);
		return;
	case 6:
	case 7:
		id = world->variant == NO_WAKEUP ? -1 : find(world, pick(world, 2) ? is_woken : sleeps_early);
		if (id >= 0)
			queue(world, number, &world->lives[id], "sched_wakeup");
		return;
	case 8:
		id = find(world, is_new);
		if (id >= 0)
			queue(world, number, &world->lives[id], "sched_wakeup_new");
		return;
	case 9:
		interrupt(world, number);
		return;
	case 10:
		if (pick(world, 2))
			rename_task(world, number);
		else
			move(world, number);
		return;
	default:
		if (pick(world, 4) == 0)
			wake_early(world, number);
		return;
	}
}

static void make(struct world *world, uint64_t seed, enum variant variant, enum wanted by, bool lossy)
{
	*world = (struct world){
		.seed = seed * 0x9e3779b97f4a7c15u, .now = 1000, .variant = variant, .by = by, .nr_lives = LOOM_CPUS
	};
	for (unsigned i = 0; i < LOOM_CPUS; i++) {
		world->lives[i] = (struct life){ .alive = true,
						 .mode = TASK_RUNNING,
						 .born = 1000,
						 .since = 1000,
						 .prio = -1,
						 .waker = -1,
						 .cpu = i };
		world->cpus[i].current = i;
	}
	for (unsigned i = 0; i < LOOM_CPUS; i++)
		emit_here(world, i, "tlb_flush reason=0");
	world->lossy = lossy;
	while (world->nr_expected < EVENTS)
		happen(world);
	world->lossy = false;
	for (unsigned i = 0; i < LOOM_CPUS; i++) {
		tick(world);
		world->cpus[i].dropping = 0;
		emit_here(world, i, "tlb_flush reason=0");
	}
}

/* The life of a task of the state; -1: none. */
static int life_of(const struct world *world, uint32_t id)
{
	const struct state_task *task = &world->state.tasks[id];

	if (id == STATE_NO_TASK)
		return -1;
	for (size_t i = 0; i < world->nr_lives; i++)
		if (i < LOOM_CPUS ? i < world->state.nr_cpus && world->state.cpus[i].idle_task == id :
				    world->lives[i].pid == task->pid && world->lives[i].generation == task->generation)
			return (int)i;
	return -1;
}

static void check_step(struct world *world, const struct event *event)
{
	const struct expected *expected = &world->expected[world->nr_seen++];
	const struct state_step *step = &world->state.step;

	CHECK(world->nr_seen <= world->nr_expected && step->kind == expected->kind);
	CHECK(life_of(world, step->task) == expected->task && life_of(world, step->other) == expected->other);
	CHECK(step->was == expected->was && step->cpu == expected->cpu && step->since == expected->since);
	CHECK(step->waking == expected->waking && step->woken == expected->woken);
	CHECK(step->first == expected->first && step->early == expected->early);
	CHECK(step->ran_since == expected->ran_since);
	CHECK(step->intact == (step->kind == STEP_SWITCH || step->kind == STEP_WAKING || step->kind == STEP_WOKEN));
	CHECK(life_of(world, state_acting(&world->state, event)) == expected->acting);
}

static void see(void *arg, const struct event *event)
{
	struct world *world = arg;

	state_see(&world->state, event);
	check_step(world, event);
}

static void see_only(void *arg, const struct event *event)
{
	struct world *world = arg;

	state_see(&world->state, event);
}

static bool wants_name(const void *arg, const struct state_task *task)
{
	return CHECK(arg) && name_wanted(task->comm);
}

static bool wants_time(const void *arg, const struct state_task *task)
{
	const struct world *world = arg;

	return time_wanted(task->pid, world->state.now);
}

static uint64_t away(const void *arg, const struct state_task *task, uint64_t from, uint64_t to)
{
	uint64_t ns = 0;

	CHECK(arg && from <= to);
	for (; from < to; from++)
		ns += !time_wanted(task->pid, from);
	return ns;
}

/* Whether a CPU had lost something that no event had told of at this time. */
static bool is_hidden(const struct world *world, uint64_t at)
{
	for (size_t i = 0; i < world->nr_lost; i++)
		if (world->lost[i].from <= at && at <= world->lost[i].to)
			return true;
	return false;
}

/* What is told of a task is a part of what it did. */
static void check_told(const struct world *world, const struct life *life, unsigned mode, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < life->nr_history; i++) {
		const struct stretch *stretch = &life->history[i];

		if (stretch->from < to && stretch->to > from)
			CHECK(stretch->mode == mode || mode == TASK_UNKNOWN || is_hidden(world, to));
	}
}

static void take_told(void *arg, const struct state_task *task, unsigned mode, uint64_t from, uint64_t to)
{
	struct world *world = arg;
	int id = life_of(world, (uint32_t)(task - world->state.tasks));
	struct life *life = id < 0 ? NULL : &world->lives[id];

	/* The idle tasks are no tasks of a CPU yet when they are first told of. */
	if (!life)
		return;
	CHECK(from < to && (!life->told_until || life->told_until == from));
	life->told_until = to;
	life->told[mode] += to - from;
	check_told(world, life, mode, from, to);
}

static void play(struct world *world, bool exact)
{
	struct reader_consumer consumer = world->consumer;
	struct fail fail = FAIL_INIT;
	struct reader reader;
	struct trace *trace;
	struct loom loom;

	if (!consumer.see)
		consumer = (struct reader_consumer){ exact ? see : see_only, world };
	loom_init(&loom);
	/* Some of them are of the other byte order. */
	loom.swap = world->nr_lives & 1;
	loom_type(&loom, "sched", "sched_wakeup_new", "char comm[16]; pid_t pid; int prio; int target_cpu", "\"\"");
	loom_type(&loom, "sched", "sched_migrate_task",
		  "char comm[16]; pid_t pid; int prio; int orig_cpu; int dest_cpu", "\"\"");
	loom_type(&loom, "task", "task_newtask", "pid_t pid; char comm[16]", "\"\"");
	loom_type(&loom, "task", "task_rename", "pid_t pid; char oldcomm[16]; char newcomm[16]", "\"\"");
	loom_type(&loom, "sched", "sched_process_exec", "__data_loc char[] filename; pid_t pid; pid_t old_pid", "\"\"");
	loom_type(&loom, "irq", "softirq_entry", "int vec", "\"\"");
	loom_type(&loom, "irq", "softirq_exit", "int vec", "\"\"");
	loom_type(&loom, "tlb", "tlb_flush", "int reason; long pages", "\"\"");
	loom_play(&loom, buf_str(&world->script));
	trace = loom_trace(&loom);
	reader_init(&reader);
	state_init(&world->state, false);
	if (world->by == BY_NAME)
		state_follow_names(&world->state, wants_name, world);
	if (world->by == BY_TIME)
		state_follow_wanted(&world->state, wants_time, away, world);
	if (!world->consumer.see)
		state_follow_spent(&world->state, take_told, world);
	CHECK(trace && !reader_add_trace(&reader, trace, &fail) &&
	      !reader_start(&reader, &(struct reader_options){ .pool = NULL }, &fail) &&
	      !reader_run(&reader, &consumer, 1, &fail));
	/* What is asked before the end counts what goes on. */
	for (uint32_t i = 0; exact && i < world->state.nr_tasks; i++) {
		const struct life *life = &world->lives[life_of(world, i)];

		for (int mode = 0; mode < TASK_MODES; mode++) {
			CHECK(state_spent(&world->state, i, (enum task_mode)mode) == life->spent[mode]);
			if (world->by && life->pid)
				CHECK(state_elsewhere(&world->state, &world->state.tasks[i], (enum task_mode)mode) ==
				      life->elsewhere[mode]);
		}
	}
	state_settle(&world->state);
	CHECK(state_adds_up(&world->state, &fail));
	reader_release(&reader);
	trace_free(trace);
	loom_release(&loom);
}

static void end(struct world *world)
{
	for (size_t i = 0; i < world->nr_lives; i++)
		free(world->lives[i].history);
	buf_release(&world->script);
	state_release(&world->state);
}

static void check_life(const struct world *world, uint32_t id)
{
	const struct state_task *task = &world->state.tasks[id];
	const struct life *life = &world->lives[life_of(world, id)];

	for (int mode = 0; mode < TASK_MODES; mode++) {
		CHECK(task->spent[mode] == life->spent[mode]);
		CHECK(!life->pid || life->told[mode] == life->spent[mode]);
		if (world->by && life->pid)
			CHECK(state_elsewhere(&world->state, task, (enum task_mode)mode) == life->elsewhere[mode]);
	}
	CHECK(task->born == life->born && task->died == life->died && task->mode == life->mode);
	CHECK(life->mode == TASK_NEW ||
	      (task->prio == life->prio && task->cpu == life->cpu && task->letter == life->letter));
	CHECK(task->forked == (life->pid != 0));
	CHECK_STR(task->comm, life->comm);
	CHECK(task->waker.pid == life->waker);
	CHECK_STR(causes_name(&world->state.causes, task->waker.name), life->waker_name);
	if (world->by != BY_TIME)
		CHECK(task->beside_idle == life->beside);
	for (uint64_t since = world->by && (life->alive || world->by == BY_NAME) ? life->born : UINT64_MAX;
	     since < world->now; since += 2003)
		CHECK(state_had_name(&world->state, task, since) ==
		      ((life->wanted_until > since) || is_wanted(world, life, life->died ?: world->now)));
	if (life->pid)
		CHECK(state_task_of(&world->state, life->pid) == (life->alive ? id : (uint32_t)STATE_NO_TASK) ||
		      is_taken(world, life->pid));
}

TEST(state_says_of_a_machine_what_each_task_and_each_cpu_did)
{
	for (uint64_t seed = 1; seed <= 18; seed++) {
		struct world world;

		make(&world, seed, (enum variant)(seed % VARIANTS), (enum wanted)(seed / VARIANTS % 3), false);
		play(&world, true);
		CHECK(world.nr_seen == world.nr_expected && world.state.nr_tasks == world.nr_lives);
		CHECK(!world.state.breaks && !world.state.losses && world.state.now == world.now);
		for (uint32_t i = 0; i < world.state.nr_tasks; i++)
			check_life(&world, i);
		for (unsigned i = 0; i < LOOM_CPUS; i++) {
			for (int mode = 0; mode < CPU_MODES; mode++)
				CHECK(world.state.cpus[i].spent[mode] == world.cpus[i].spent[mode]);
			CHECK(world.state.cpus[i].switches == world.cpus[i].switches);
		}
		end(&world);
	}
}

TEST(state_says_nothing_wrong_of_a_machine_whose_events_are_lost_here_and_there)
{
	for (uint64_t seed = 1; seed <= 24; seed++) {
		struct world world;

		make(&world, seed, (enum variant)(seed % VARIANTS), EVERYBODY, true);
		play(&world, false);
		CHECK(world.state.losses == world.nr_lost && world.nr_lost > 1);
		end(&world);
	}
}

/* --- intervals: state_restart() --- */

/* The life of the task at this time. */
static struct life *life_then(struct world *world, const struct state_task *task, unsigned idle_cpu)
{
	if (!task->pid)
		return &world->lives[idle_cpu];
	for (size_t i = world->nr_lives; i-- > LOOM_CPUS;)
		if (world->lives[i].pid == task->pid && world->lives[i].born <= task->born)
			return &world->lives[i];
	return NULL;
}

/* For how long it was in a mode between two times. */
static uint64_t spent_then(const struct life *life, unsigned mode, uint64_t from, uint64_t to)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < life->nr_history; i++) {
		const struct stretch *stretch = &life->history[i];
		uint64_t begin = stretch->from > from ? stretch->from : from, end = stretch->to < to ? stretch->to : to;

		if (stretch->mode == mode && begin < end)
			ns += end - begin;
	}
	return ns;
}

struct divided {
	struct world *world;
	uint64_t next, every, intervals, busy[LOOM_CPUS];
	uint64_t beside[LIVES];
};

static void check_interval(struct divided *divided, uint64_t at)
{
	struct world *world = divided->world;
	struct state *state = &world->state;
	uint32_t held = STATE_NO_TASK, moved;
	struct fail fail = FAIL_INIT;
	int32_t held_pid = 0;

	state_advance(state, at);
	state_divide(state);
	state_settle(state);
	CHECK(state_adds_up(state, &fail));
	for (uint32_t i = 0; i < state->nr_tasks; i++) {
		const struct state_task *task = &state->tasks[i];
		unsigned cpu = 0;
		struct life *life;

		while (task->idle && state->cpus[cpu].idle_task != i)
			cpu++;
		life = life_then(world, task, cpu);
		if (!CHECK(life))
			continue;
		for (unsigned mode = TASK_NEW; mode < TASK_MODES; mode++) {
			uint64_t truth = spent_then(life, mode, task->born, task->died ?: state->now);

			CHECK(task->spent[mode] <= truth);
			if (mode == TASK_RUNNING || state_waits((enum task_mode)mode))
				CHECK(task->spent[mode] == truth);
		}
		divided->beside[life - world->lives] += task->beside_idle;
		if (!task->died && task->mode == TASK_SLEEPING && !task->idle)
			held = i;
	}
	for (unsigned i = 0; i < state->nr_cpus; i++)
		divided->busy[i] += state->cpus[i].spent[CPU_TASK];
	if (held != STATE_NO_TASK) {
		held_pid = state->tasks[held].pid;
		state_hold(state, held);
	}
	CHECK(state_restart(state));
	divided->intervals++;
	moved = held == STATE_NO_TASK ? held : state_moved(state, held);
	CHECK(held == STATE_NO_TASK || (moved < state->nr_tasks && state->tasks[moved].pid == held_pid));
	CHECK(state_moved(state, UINT32_MAX - 1) == STATE_NO_TASK);
	for (uint32_t i = 0; i < state->nr_tasks; i++) {
		const struct state_task *task = &state->tasks[i];

		CHECK(task->idle || task->mode == TASK_RUNNING || state_waits((enum task_mode)task->mode) ||
		      i == moved);
		CHECK(!task->held && task->born == state->now && !task->beside_idle);
		CHECK(!task->pid || state_task_of(state, task->pid) == i);
	}
}

static void see_divided(void *arg, const struct event *event)
{
	struct divided *divided = arg;

	for (; event->ts >= divided->next; divided->next += divided->every)
		check_interval(divided, divided->next);
	state_see(&divided->world->state, event);
}

TEST(state_says_of_each_interval_what_each_task_did_in_it)
{
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct world world;
		struct divided divided = { .world = &world, .next = 1000, .every = 200 + 100 * seed };

		make(&world, seed, NO_WAKING, EVERYBODY, false);
		world.consumer = (struct reader_consumer){ see_divided, &divided };
		play(&world, false);
		check_interval(&divided, world.now);
		CHECK(divided.intervals > 3);
		for (unsigned i = 0; i < LOOM_CPUS; i++)
			CHECK(divided.busy[i] == world.cpus[i].spent[CPU_TASK]);
		for (size_t i = LOOM_CPUS; i < world.nr_lives; i++)
			CHECK(divided.beside[i] ==
			      world.lives[i].beside +
				      (world.lives[i].alive && waits(&world.lives[i]) ? world.lives[i].pending : 0));
		end(&world);
	}
}
