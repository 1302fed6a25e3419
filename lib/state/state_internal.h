/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_STATE_STATE_INTERNAL_H
#define WEFT_STATE_STATE_INTERNAL_H

#include "lib/state/state.h"

/* The two halves of the state: tasks, and CPUs that have them. Numbers of tasks are STATE_NO_TASK without memory. */

/* A task that is not yet known, of a new generation of its PID. */
uint32_t tasks_add(struct state *state, int32_t pid);
/* The task of the PID, made if there is none. */
uint32_t tasks_of(struct state *state, int32_t pid);
/* Ends the mode of a task and begins another. Returns whether the mode that ends was known all the time. */
bool tasks_enter(struct state *state, uint32_t id, enum task_mode mode);
/* It is not known what a task has done since then. */
void tasks_lose(struct state *state, uint32_t id, uint64_t from);
/* Its PID may come to belong to another. */
void tasks_end(struct state *state, uint32_t id);

static inline bool tasks_waits(enum task_mode mode)
{
	return mode == TASK_PREEMPTED || mode == TASK_WAKING || mode == TASK_QUEUED;
}

/* The CPU of the event; NULL without memory. */
struct state_cpu *cpus_of(struct state *state, uint32_t number);
/* A task has the CPU from now on; it is not asked who had it before. */
void cpus_give(struct state *state, uint32_t number, uint32_t id);
/* What the CPU did since its last event is not known. */
void cpus_lose(struct state *state, uint32_t number);
/* The mode follows from the task and the interrupts. */
void cpus_account(struct state *state, struct state_cpu *cpu);
/* The idle task of a CPU. */
uint32_t cpus_idle_task(struct state *state, uint32_t number);
/* How long, up to now, some CPU other than this one idled. */
uint64_t cpus_others_idled(struct state *state, uint32_t number);

#endif
