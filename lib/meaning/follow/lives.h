/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_FOLLOW_LIVES_H
#define WEFT_MEANING_FOLLOW_LIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/meaning/event/tasks.h"

struct event;

/*
 * Tasks over time: who started each task, which programs it executed, when and how it ended. It comes from
 * sched_process_fork, task_newtask, sched_process_exec, task_rename, sched_process_exit, and, for how a task ended,
 * sys_enter_exit_group and sys_enter_exit, or sys_enter of raw_syscalls, and signal_deliver. lib/meaning/event/tasks.h
 * has one name for each PID, the last one that the kernel remembered; here a PID that was used again is a task of its
 * own. The consumer passes every event of these types in order. Lost events are not known here: they may hide any of
 * this.
 * Memory grows with the number of tasks and of different programs, not with the number of events.
 */
struct lives;

#define LIFE_NONE UINT32_MAX

/* What an event says about a task. */
enum life_what {
	LIFE_NOTHING,
	LIFE_FORKED,
	LIFE_EXECED, /* a new program: the kernel sets the name to its file's */
	LIFE_RENAMED,
	LIFE_EXITED,
};

enum life_known {
	LIFE_TOLD = 1,     /* at least one event names the task; else it is only known as the parent of another */
	LIFE_BEGAN = 2,    /* its fork was seen: `began` */
	LIFE_ENDED = 4,    /* its end was seen: `ended` */
	LIFE_REPLACED = 8, /* its end was not seen, but its PID belongs to another task since */
	LIFE_FLAGS = 16,   /* `flags` are from clone(2) */
};

/* How a task ended: the status of exit(2), or LIFE_BY_SIGNAL and the number of the signal. */
enum { LIFE_STATUS_UNKNOWN = 1 << 12, LIFE_BY_SIGNAL = 1 << 8 };

/* A task. Tasks are numbered from 0 in the order in which events name them first. */
struct life {
	int32_t pid;
	int32_t parent_pid; /* PID of the task that started it; -1: unknown */
	uint32_t parent; /* the task that started it, which has a lower number; LIFE_NONE: unknown, or an idle task */
	uint32_t leader; /* the first task of its process, as far as `flags` show: itself, or one with a lower number */
	uint32_t before; /* the former task with this PID; LIFE_NONE: there was none */
	uint64_t began, ended;
	uint64_t first, last; /* times of the first and the last event that names the task */
	uint64_t flags;
	uint32_t cpu;     /* of the first event */
	uint32_t program; /* the last one that it executed: lives_program(); LIFE_NONE: no exec was seen */
	uint32_t execs, renames, started;
	uint16_t status;                 /* LIFE_STATUS_UNKNOWN until it has ended, and where no event has it */
	uint8_t known;                   /* enum life_known */
	char name[TASK_COMM_LEN];        /* the last one; "": unknown */
	char parent_name[TASK_COMM_LEN]; /* the parent's name when it started this task; "": unknown */
	/* Private to lives: */
	uint16_t reason, group_reason; /* the last cause of an end so far, of the task and of its process */
	uint8_t told_by;               /* the events that have its fork */
	bool by_number;                /* `reason` is of a call that only its number names */
	bool renamed_last;             /* its last event is a rename, which may belong to an exec */
};

/* A bit of life::flags: CLONE_THREAD of include/uapi/linux/sched.h. */
enum { LIFE_THREAD = 0x00010000 };

/* Whether both its fork and its end were seen. */
static inline bool life_is_whole(const struct life *life)
{
	return (life->known & LIFE_BEGAN) && (life->known & LIFE_ENDED);
}

/* Whether the task is known to be a thread of a process that another task began. */
static inline bool life_is_thread(const struct life *life)
{
	return life->known & LIFE_FLAGS && life->flags & LIFE_THREAD;
}

/* NULL without memory. */
struct lives *lives_new(void);
void lives_free(struct lives *lives);

/*
 * Call it with the first event of each type in each buffer: returns the role that lives_see() needs for the events of
 * this type, or ROLE_NONE for an event that says nothing about tasks. Borrows the format.
 */
uint8_t lives_look(struct lives *lives, const struct event *event);

/* Whether events of this role only say why a task may end soon: of them lives_see() tells LIFE_NOTHING. */
bool lives_is_reason(uint8_t role);

/* *ret is the number of the task that the event is about; it is not set for LIFE_NOTHING. */
enum life_what lives_see(struct lives *lives, const struct event *event, uint8_t role, uint32_t *ret);

/* What the consumer knows of the switches tells when a task ended, of which no event of the above did. */
void lives_end(struct lives *lives, uint32_t number, uint64_t at);

size_t lives_count(const struct lives *lives);

/* The task with this number, which must exist. Valid until the next lives_see(). */
const struct life *lives_at(const struct lives *lives, uint32_t number);

/* The file of a program, as the kernel has it. `len` may be NULL. */
const char *lives_program(const struct lives *lives, uint32_t program, size_t *ret_len);

/* Whether memory ran out, so that tasks are missing. */
bool lives_failed(const struct lives *lives);

#endif
