/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_STATE_STATE_H
#define WEFT_STATE_STATE_H

#include "lib/base/cleanup.h"
#include "lib/base/u64_map.h"
#include "lib/event/place.h"
#include "lib/event/roles.h"
#include "lib/state/gaps.h"
#include "lib/state/letters.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event;
struct schema_abi;

/*
 * What each CPU and each task is doing, as far as the events of a reader tell. Shown every event in order, it keeps for each task how long it
 * was in which mode, and for each CPU how long it did what; an analysis asks after each event, through state::step, what has changed.
 * Invariants: time does not go back (an event that is older than one before counts as of that one's time); the spent times of a CPU add
 * up to the span of all events; those of a task to its life, from when it was first seen to its end or that of the events.
 * Every event tells which task had its CPU (common_pid). Where that is not the one of the last sched_switch, and where events were lost, the
 * time since the last event of the CPU is unknown, and what happened to waiting and sleeping tasks since then, too.
 * A task is a PID and its generation: a fork, or the end of a task, makes the PID another's. PID 0 is a task for each CPU.
 */
enum task_mode {
	TASK_UNKNOWN,
	TASK_NEW, /* forked, and not yet woken */
	TASK_RUNNING,
	TASK_PREEMPTED, /* left its CPU and wants it back: preempted or yielded, the kernel does not tell which */
	TASK_WAKING,    /* somebody decided to wake it (sched_waking); it is on no queue yet */
	TASK_QUEUED,    /* woken (sched_wakeup), or waking when that event is not recorded; waits for a CPU */
	TASK_SLEEPING,  /* S; kernel threads that idle (I) or are parked (P) */
	TASK_BLOCKED,   /* D */
	TASK_STOPPED,   /* T, t */
	TASK_DEAD,
	TASK_MODES,
};

enum { STATE_COMM = 16, STATE_NO_TASK = UINT32_MAX, STATE_NO_CPU = UINT32_MAX };

struct state_task {
	int32_t pid;
	uint32_t generation;        /* 0 for the first of its PID */
	char comm[STATE_COMM];      /* the last; "" unknown */
	uint64_t born, died;        /* when first seen; its end, 0: there was none */
	uint64_t since;             /* of the mode */
	uint64_t spent[TASK_MODES]; /* without the time since then */
	uint64_t waking,
		woken;        /* of a WAKING or QUEUED one: when sched_waking and sched_wakeup were; 0: was not seen */
	uint64_t gap;         /* gaps::number at `since` */
	uint64_t beside_idle; /* of its waiting, how long another CPU idled */
	uint64_t idle_then;   /* how long others had idled when it began to wait */
	int32_t prio;         /* the kernel's: below 100 is real-time; -1 unknown */
	int32_t waker;        /* the PID of who woke it last, or whom that interrupted */
	uint32_t cpu;         /* where it runs, ran last or is to run */
	uint8_t mode;         /* enum task_mode */
	char letter;          /* of its last switch: 'R', '+', 'S', 'D'...; 0: none was seen */
	bool exact;           /* the mode began at an event, not where something was lost */
	bool idle;
	bool forked;  /* its beginning was seen */
	uint8_t soft; /* softirqs that it was in when it lost its CPU: PREEMPT_RT */
};

enum cpu_mode {
	CPU_UNKNOWN,
	CPU_TASK,
	CPU_IDLE,
	CPU_SOFTIRQ, /* without interrupts that hit it */
	CPU_HARDIRQ,
	CPU_MODES,
};

struct state_cpu {
	uint64_t since; /* of the mode */
	uint64_t last;  /* its last event */
	uint64_t spent[CPU_MODES];
	uint64_t idle_alone; /* how long it was the only one that idled */
	uint64_t switches;
	uint32_t task;      /* who has it; STATE_NO_TASK: unknown */
	uint32_t idle_task; /* its own; STATE_NO_TASK: not yet made */
	int32_t pid;        /* of `task` */
	uint8_t mode;       /* enum cpu_mode */
	uint8_t hard, soft; /* depth */
	bool seen;
};

enum step_kind {
	STEP_NONE, /* nothing that changes a task */
	STEP_LOST,
	STEP_SWITCH,
	STEP_WAKING, /* the first that can wake the task; others are STEP_NONE */
	STEP_WOKEN,
	STEP_MIGRATE,
	STEP_FORK,
};

/* What the last event changed. Tasks are indices of state::tasks. */
struct state_step {
	uint8_t kind;  /* enum step_kind */
	uint8_t was;   /* enum task_mode of `task` before */
	bool intact;   /* that mode was known all the time since it began */
	uint32_t task; /* SWITCH: who gets the CPU; else whom it is about */
	uint32_t
		other; /* SWITCH: who loses it; WAKING, WOKEN: who had the waker's CPU; FORK: the parent; or STATE_NO_TASK */
	uint32_t cpu;           /* WAKING, WOKEN: where it is to run; MIGRATE: where to */
	uint64_t since;         /* when `was` began */
	uint64_t waking, woken; /* SWITCH: of the wait that ends, if it began with a wakeup; 0: was not seen */
	uint64_t ran_since;     /* SWITCH: when `other` got the CPU; 0: unknown */
};

/* The events that it reads, by role: struct state::places. */
enum state_role {
	STATE_SWITCH = 1,
	STATE_WAKING,
	STATE_WAKEUP,
	STATE_WAKEUP_NEW,
	STATE_MIGRATE,
	STATE_FORK,
	STATE_NEWTASK,
	STATE_RENAME,
	STATE_EXEC,
	STATE_HARD_ENTRY,
	STATE_HARD_EXIT,
	STATE_SOFT_ENTRY,
	STATE_SOFT_EXIT,
	STATE_ROLES,
};

struct state {
	struct state_task *tasks;
	size_t nr_tasks;
	struct state_cpu *cpus; /* by number */
	size_t nr_cpus;
	uint64_t start, now; /* the span of the events so far */
	struct state_step step;
	uint64_t losses;              /* gaps in the stream of events */
	uint64_t breaks;              /* where a task was not what the last sched_switch had made of it */
	uint64_t events[STATE_ROLES]; /* how many of each role */
	bool failed;                  /* no memory: what it knows is not all */
	/* Its own: */
	const struct schema_abi *abi;
	bool preempt_rt, started;
	struct roles roles;
	struct state_places {
		struct place pid, other, state, prio, other_prio, cpu, comm, other_comm;
	} places[STATE_ROLES];
	struct letters letters;
	struct u64_map ids; /* by PID: uint32_t, index + 1; 0: the last one died */
	struct gaps gaps;
	uint64_t idle_any, idle_since; /* how long some CPU has idled, until idle_since */
	uint32_t nr_idle;
	uint32_t idle_sum; /* of the numbers of those that idle: which one it is when it is one */
};

void state_init(struct state *state, const struct schema_abi *abi, bool preempt_rt);
void state_release(struct state *state);

void state_see(struct state *state, const struct event *event);

/* Counts the time up to now in all modes: at the end, before spent[] is read. */
void state_settle(struct state *state);

/* How long a task was in a mode, up to now. */
uint64_t state_spent(const struct state *state, uint32_t task, enum task_mode mode);

/* The task of a PID that is alive, or STATE_NO_TASK. Not for PID 0. */
uint32_t state_task_of(const struct state *state, int32_t pid);

/* The task that has a CPU, or STATE_NO_TASK. */
static inline uint32_t state_running(const struct state *state, uint32_t cpu)
{
	return cpu < state->nr_cpus ? state->cpus[cpu].task : (uint32_t)STATE_NO_TASK;
}

/* Whether all that was counted adds up: false, and in words what does not, is an error of weft. After state_settle(). */
bool state_adds_up(const struct state *state, struct fail *fail);

#endif
