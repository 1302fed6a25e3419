/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_STATE_STATE_H
#define WEFT_MEANING_STATE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/u64_map.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/follow/listed.h"
#include "lib/meaning/follow/roles.h"
#include "lib/meaning/state/causes.h"
#include "lib/meaning/state/gaps.h"
#include "lib/meaning/state/letters.h"
#include "lib/meaning/state/naming.h"
#include "lib/meaning/state/state_roles.h"

struct context;
struct schema_abi;

/*
 * The modes of each CPU and each task over time, according to the events of a reader. state_see() must get every event
 * in order; it adds up the time of each task and of each CPU in each mode. After each event state::step tells an
 * analysis what has changed.
 * Invariants: time does not go back (an event that is older than one before counts as of that one's time); the spent
 * times of a CPU add up to the span of all events; those of a task add up to its life, from its first event to its end
 * or the last event. Every event names the task on its CPU (common_pid). If it differs from that of the last
 * sched_switch, or if events were lost, the modes of the CPU and of waiting and sleeping tasks are unknown since the
 * last event of the CPU.
 * A task is a PID and its generation: after a fork or the end of a task the PID belongs to another task. PID 0 is a
 * task for each CPU.
 */
enum task_mode {
	TASK_UNKNOWN,
	TASK_NEW, /* forked, and not yet woken */
	TASK_RUNNING,
	/* left its CPU and is still runnable: preempted or yielded, the kernel does not tell which */
	TASK_PREEMPTED,
	TASK_WAKING,   /* being woken (sched_waking); if sched_wakeup is not recorded, also while it waits for a CPU */
	TASK_QUEUED,   /* woken (sched_wakeup), waits on a run queue for a CPU */
	TASK_SLEEPING, /* S; kernel threads that idle (I) or are parked (P) */
	TASK_BLOCKED,  /* D */
	TASK_STOPPED,  /* T, t */
	TASK_DEAD,
	TASK_MODES,
};

/* The mode of a task that left its CPU with this letter. */
static inline enum task_mode tasks_mode_of(char letter)
{
	switch (letter) {
	case 'S':
	case 'I':
	case 'P':
		return TASK_SLEEPING;
	case 'D':
		return TASK_BLOCKED;
	case 'T':
	case 't':
		return TASK_STOPPED;
	case 'X':
	case 'x':
	case 'Z':
		return TASK_DEAD;
	}
	return TASK_PREEMPTED;
}

enum { STATE_NO_TASK = UINT32_MAX, STATE_NO_CPU = UINT32_MAX, STATE_SEATS = 256 };

struct state_task {
	int32_t pid;
	uint32_t generation;        /* 0 for the first of its PID */
	char comm[TASK_COMM_LEN];   /* the last; "" unknown */
	uint64_t born, died;        /* born: when it was first seen; died: its end, 0: alive */
	uint64_t since;             /* of the mode */
	uint64_t spent[TASK_MODES]; /* without the time since then */
	uint64_t waking, woken; /* while WAKING or QUEUED: the times of sched_waking and sched_wakeup; 0: not seen */
	uint64_t gap;           /* gaps::number at `since` */
	uint64_t beside_idle;   /* the part of its waiting time during which another CPU was idle */
	uint64_t idle_then;     /* the other CPUs' idle time up to the beginning of its wait */
	int32_t prio;           /* the kernel's: state_is_real_time(); -1 unknown */
	struct waker waker;     /* who woke it last; pid -1: it was not seen */
	uint32_t cpu;           /* the CPU where it runs, ran last, or will run */
	uint8_t mode;           /* enum task_mode */
	char letter;            /* of its last switch: 'R', '+', 'S', 'D'...; 0: none was seen */
	bool exact;             /* the mode began at an event, not at a gap */
	bool unsure; /* while QUEUED: its sched_waking was not seen, so the wait may have begun before `woken` */
	bool early;  /* its sched_waking came while it could not be woken; its sched_wakeup is to come */
	bool idle;
	bool forked;  /* its fork was seen */
	bool first;   /* while QUEUED: sched_wakeup_new, which begins the life of a task, put it there */
	bool held;    /* state_hold() */
	uint8_t soft; /* PREEMPT_RT: nesting depth of softirqs when the task lost its CPU */
};

enum cpu_mode {
	CPU_UNKNOWN,
	CPU_TASK,
	CPU_IDLE,
	CPU_SOFTIRQ, /* in a softirq, but not in a hard interrupt */
	CPU_HARDIRQ,
	CPU_MODES,
};

struct state_cpu {
	uint64_t since; /* of the mode */
	uint64_t last;  /* time of its last event */
	uint64_t spent[CPU_MODES];
	uint64_t idle_alone; /* the time during which it was the only idle CPU */
	uint64_t switches;
	uint64_t events; /* number of its events and gaps */
	uint64_t tail;   /* `events` as long as only the tail of the last sched_switch has followed it: see is_tail() */
	int32_t left;    /* the PID of the task that lost the CPU then */
	uint8_t left_flags; /* common_flags of that event */
	uint32_t left_task; /* that task; STATE_NO_TASK */
	uint32_t task;      /* the task that has the CPU; STATE_NO_TASK: unknown */
	uint32_t idle_task; /* the CPU's idle task; STATE_NO_TASK: not yet seen */
	int32_t pid;        /* of `task` */
	uint8_t mode;       /* enum cpu_mode */
	uint8_t hard, soft; /* nesting depth */
	bool seen;
	bool absent;           /* its data ended before its first event: EVENT_LOST_REST */
	uint64_t unused;       /* 128 bytes: indices are multiplied with the size for each event */
} __attribute__((aligned(8))); /* 32-bit x86 would align a u64 to 4 bytes */
_Static_assert(sizeof(struct state_cpu) == 128, "a power of two");

enum step_kind {
	STEP_NONE, /* no task changed */
	STEP_LOST,
	STEP_SWITCH,
	STEP_WAKING, /* the first event that can wake the task; further ones are STEP_NONE */
	STEP_WOKEN,
	STEP_MIGRATE,
	STEP_FORK,
};

/* A priority of the kernel below MAX_RT_PRIO (include/linux/sched/prio.h) is one of a real-time or deadline task. */
static inline bool state_is_real_time(int32_t prio)
{
	return prio >= 0 && prio < 100;
}

/* The change by the last event. Tasks are indices of state::tasks. */
struct state_step {
	uint8_t kind; /* enum step_kind */
	uint8_t was;  /* enum task_mode of `task` before */
	bool intact;  /* nothing was lost since that mode began; SWITCH: nor was the wakeup */
	bool first; /* WOKEN, SWITCH: the task is new and has not slept: it was put on its queue by sched_wakeup_new */
	bool early; /* WOKEN: its sched_waking came while it still had its CPU */
	uint32_t task; /* SWITCH: the task that gets the CPU; else the task that the step changes */
	/*
	 * SWITCH: the task that loses the CPU; WAKING, WOKEN: the task on the waker's CPU; FORK: the parent; or
	 * STATE_NO_TASK
	 */
	uint32_t other;
	uint32_t cpu;           /* WAKING, WOKEN, MIGRATE: the task's new CPU */
	uint32_t cause;         /* WAKING, WOKEN: causes_now() of it */
	uint64_t since;         /* when `was` began; LOST: the time of the CPU's last event */
	uint64_t waking, woken; /* SWITCH: the wakeup that began the task's wait; 0: not seen */
	uint64_t ran_since;     /* SWITCH: when `other` got the CPU; 0: unknown */
};

struct state {
	struct state_task *tasks;
	size_t nr_tasks;
	struct state_cpu *cpus; /* by number */
	size_t nr_cpus;
	uint64_t start, now; /* the span of the events so far */
	struct state_step step;
	/* Gaps in the stream of events. After EVENT_LOST_REST all time is one: there is one for each event. */
	uint64_t losses;
	uint64_t ends; /* those of `losses` that are EVENT_LOST_REST */
	bool rest;     /* there was one, at any time */
	uint16_t rest_cpu;
	uint64_t breaks; /* contradictions: the task of an event is not the one of its CPU's last sched_switch */
	uint64_t events[STATE_ROLES]; /* how many of each role */
	bool failed;                  /* memory ran out: the state is incomplete */
	/*
	 * If listed.filtered, what tasks did that are not listed is unknown, but for the moments at which they and a
	 * listed task follow each other on a CPU.
	 */
	struct listed listed;
	struct naming naming; /* for a selection by name */
	struct causes causes;
	/* Nobody asks for whom an interrupt woke a task: the causes stay empty. Set it before the first event. */
	bool no_causes;
	/* Private to the state: */
	bool preempt_rt, started;
	struct roles roles;
	struct state_places {
		struct place pid, other, state, prio, other_prio, cpu, comm, other_comm;
		/*
		 * The length of a record from which all fields can be read as most kernels have them: numbers except
		 * `state` as signed 4-byte numbers in our byte order, names as char[16]. UINT32_MAX: they cannot.
		 */
		uint32_t whole;
	} places[STATE_ROLES];
	/* The event of a tracer that has this role, until the event of the scheduler comes, which tells more. */
	struct state_stand_in {
		bool is, ended;
		uint16_t buffer, index;
	} stand_ins[STATE_ROLES];
	bool stood_in; /* there was one */
	struct letters letters;
	struct u64_map ids; /* by PID: uint32_t, index + 1 of its last task; 0: memory ran out */
	/* What was found there last, by the low bits of the PID: most lookups are for a few PIDs. */
	struct state_seat {
		int32_t pid;
		uint32_t id; /* index + 1; 0: nobody's */
	} seats[STATE_SEATS];
	struct gaps gaps;
	uint32_t *moved; /* by the index before the last restart: the index + 1; 0: it was not kept */
	size_t nr_moved;
	uint64_t idle_any, idle_since; /* the time, until idle_since, during which at least one CPU idled */
	uint64_t idle_changed;         /* when a CPU last began or ceased to idle */
	uint32_t nr_idle;
	uint32_t idle_sum; /* the sum of the numbers of the idle CPUs: when only one idles, its number */
};

void state_init(struct state *state, bool preempt_rt);
void state_release(struct state *state);

/*
 * Takes note of the PID filter (set_event_pid) of a buffer whose events are to come. Call it for each buffer before the
 * first event.
 */
void state_restrict(struct state *state, const struct context *context);

/* Follows the names of tasks (lib/meaning/state/naming.h). Borrows `arg`. Call it before the first event. */
void state_follow_names(struct state *state, naming_wants *wants, const void *arg);
/* The same for what can be asked at any time, instead of names. */
void state_follow_wanted(struct state *state, naming_wants *wants, naming_away *away, const void *arg);
/* Tells of all time that tasks spend, from the start to state_settle(). */
void state_follow_spent(struct state *state, naming_spent *spent, void *arg);
/* What was noted of the names of a task; NULL: nothing. */
const struct naming_task *state_names_of(const struct state *state, const struct state_task *task);
/* Returns whether the task had a wanted name at a moment from `since` to now; UINT64_MAX: whether it has one now. */
bool state_had_name(const struct state *state, const struct state_task *task, uint64_t since);
/* How long a task was in a mode, up to now, while it had names that are not wanted: a part of state_spent(). */
uint64_t state_elsewhere(const struct state *state, const struct state_task *task, enum task_mode mode);

void state_see(struct state *state, const struct event *event);

/*
 * Once the data of a CPU has ended early (EVENT_LOST_REST), an event of it may be missing before each event. Returns
 * whether it is so before this one: then the state has to see *ret first, and so does everybody who pairs events.
 */
static inline bool state_rest(const struct state *state, const struct event *event, struct event *ret)
{
	if (__builtin_expect(!state->rest, 1) || event->kind != EVENT_RECORD)
		return false;
	*ret = (struct event){ .ts = event->ts,
			       .lost = EVENT_LOST_REST,
			       .cpu = state->rest_cpu,
			       .buffer = event->buffer,
			       .kind = EVENT_LOST };
	return true;
}

/*
 * The two halves of state_see() for an EVENT_RECORD, for a caller that remembers the role of each type of event:
 * state_look() returns it. See the first event of a type in a buffer with it before the next event.
 */
uint8_t state_look(struct state *state, const struct event *event);
/*
 * The role of an EVENT_RECORD without a state, and whom it is about: the task that gets the CPU, is woken or moved, or
 * the new one; else the one that ran. Its type has a format.
 */
uint8_t state_role_of(const struct event *event, int32_t *ret_pid);
void state_see_record(struct state *state, const struct event *event, uint8_t role);

static const struct state_step state_no_step = { .kind = STEP_NONE, .task = STATE_NO_TASK, .other = STATE_NO_TASK };

static inline void state_see_as(struct state *state, const struct event *event, uint8_t role)
{
	struct state_cpu *cpu = event->cpu < state->nr_cpus ? &state->cpus[event->cpu] : NULL;

	/* Most events say only that the same task still has the CPU. */
	if (__builtin_expect(role || !cpu || cpu->task == STATE_NO_TASK || cpu->pid != event->pid, 0)) {
		state_see_record(state, event, role);
		return;
	}
	if (event->ts > state->now)
		state->now = event->ts;
	if (state->step.kind != STEP_NONE)
		state->step = state_no_step;
	cpu->last = state->now;
	cpu->events++;
}

/* Adds the time up to now to spent[]. Call it at the end, before spent[] is read. */
void state_settle(struct state *state);

/* Advances the time without an event. */
static inline void state_advance(struct state *state, uint64_t to)
{
	if (state->started && to > state->now)
		state->now = to;
}

/* Where an interval ends, before state_settle(): divides the waits for a CPU that go on in the next one. */
void state_divide(struct state *state);

/*
 * Starts a new interval now: all counts are 0. Tasks that have a CPU or wait for one are kept, and those that were held
 * since the last restart, with new indices; other tasks are added again by their next event. Call it after
 * state_settle(). False without memory.
 */
bool state_restart(struct state *state);
/* The task, which is alive, is kept at the next restart. */
static inline void state_hold(struct state *state, uint32_t task)
{
	state->tasks[task].held = true;
}
/* The index since the last restart of a task that had this one before; STATE_NO_TASK: it was not kept. */
static inline uint32_t state_moved(const struct state *state, uint32_t before)
{
	return before < state->nr_moved ? state->moved[before] - 1 : (uint32_t)STATE_NO_TASK;
}

/* Returns for how long, up to now, a task was in a mode. */
uint64_t state_spent(const struct state *state, uint32_t task, enum task_mode mode);

/* Whether a task in this mode is runnable and has no CPU. */
static inline bool state_waits(enum task_mode mode)
{
	return mode == TASK_PREEMPTED || mode == TASK_WAKING || mode == TASK_QUEUED;
}

/* For how long, in its life up to the beginning of its mode, a task was blocked; and waited for a CPU. */
static inline uint64_t state_blocked(const struct state_task *task)
{
	return task->spent[TASK_SLEEPING] + task->spent[TASK_BLOCKED] + task->spent[TASK_STOPPED];
}
static inline uint64_t state_waited(const struct state_task *task)
{
	return task->spent[TASK_PREEMPTED] + task->spent[TASK_WAKING] + task->spent[TASK_QUEUED];
}

/*
 * For how long it is not known what the task of a PID did; `event` is one of it, or NULL. If this is the same before
 * and after a loss of events, nothing that the task did was lost. Without switches it is another number after each
 * loss.
 */
uint64_t state_unknown(const struct state *state, int32_t pid, const struct event *event);

/* The same for an event of the task, nearly always while it has the CPU. */
static inline uint64_t state_unknown_at(const struct state *state, const struct event *event)
{
	const struct state_cpu *cpu = event->cpu < state->nr_cpus ? &state->cpus[event->cpu] : NULL;

	if (__builtin_expect(cpu && event->pid && cpu->pid == event->pid && cpu->task != STATE_NO_TASK &&
				     state->events[STATE_SWITCH],
			     1))
		return state->tasks[cpu->task].spent[TASK_UNKNOWN];
	return state_unknown(state, event->pid, event);
}

/* Returns the live task with this PID, or STATE_NO_TASK. Not for PID 0. */
uint32_t state_task_of(const struct state *state, int32_t pid);
/* The same, or the only task that had this PID if it has ended. */
uint32_t state_task_once(const struct state *state, int32_t pid);

/* Returns the task that has the CPU, or STATE_NO_TASK. */
static inline uint32_t state_running(const struct state *state, uint32_t cpu)
{
	return cpu < state->nr_cpus ? state->cpus[cpu].task : (uint32_t)STATE_NO_TASK;
}

/* Returns whether nothing but the tail of the last sched_switch (is_tail()) was seen since, and the PID is of that. */
static inline bool state_follows_switch(const struct state_cpu *cpu, int32_t pid)
{
	return cpu->tail && cpu->tail == cpu->events && cpu->left == pid;
}

/*
 * Returns the task of the event that was just seen: the task that has the CPU, or in the tail of a sched_switch the
 * task that has lost it. For a sched_switch it is the task that gets the CPU. STATE_NO_TASK: there is none.
 */
static inline uint32_t state_acting(const struct state *state, const struct event *event)
{
	const struct state_cpu *cpu = event->cpu < state->nr_cpus ? &state->cpus[event->cpu] : NULL;

	if (!cpu)
		return STATE_NO_TASK;
	if (__builtin_expect(state_follows_switch(cpu, event->pid) && state->step.kind != STEP_SWITCH, 0))
		return cpu->left_task;
	return cpu->task;
}

/*
 * Returns whether all sums agree. False is a bug in weft, and `fail` says which sum is wrong. Call it after
 * state_settle().
 */
bool state_adds_up(const struct state *state, struct fail *fail);

#endif
