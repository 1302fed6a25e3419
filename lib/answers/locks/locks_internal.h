/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_LOCKS_LOCKS_INTERNAL_H
#define WEFT_ANSWERS_LOCKS_LOCKS_INTERNAL_H

#include "lib/answers/frame/extreme.h"
#include "lib/answers/frame/pass.h"
#include "lib/answers/frame/slowest.h"
#include "lib/ground/base/table.h"
#include "lib/ground/base/u64_map.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/follow/roles.h"

/*
 * The data of the analysis `locks`, shared by locks.c, which follows waits, and locks_tables.c. A wait is identified by
 * its task and the lock's address: a task can wait for several locks at once, because an interrupt that hits it also
 * takes locks.
 */
/* The rows; the options of locks_analysis are struct row_options. From LOCKS_BY_WHO on enum who_part, in its order. */
enum locks_by { LOCKS_BY_LOCK, LOCKS_BY_CALLER, LOCKS_BY_TASK, LOCKS_BY_WAKER, LOCKS_BY_WHO };

enum { LOCKS_NAME = 40, LOCKS_ROLES = 13, LOCKS_CALLS = 4 };

enum lock_type {
	LOCK_SEMAPHORE,
	LOCK_SPIN,
	LOCK_READ_LOCK,
	LOCK_WRITE_LOCK,
	LOCK_RWSEM_READ,
	LOCK_RWSEM_WRITE,
	LOCK_RT,
	LOCK_RT_READ,
	LOCK_RT_WRITE,
	LOCK_PERCPU,
	LOCK_MUTEX,
	LOCK_NAMED,
	LOCK_FUTEX,
	LOCK_TYPES
};

/* The parts of a wait. Time that lost events hide is in none of the last three. */
struct lock_time {
	uint64_t all, spun, slept, queued; /* queued: from the wakeup until the task had a CPU */
};

struct lock_wait {
	uint64_t address, since;
	uint64_t blocked, waiting, unknown; /* the task's times in its life, when the wait began */
	uint64_t losses;                    /* state::losses at that time */
	uint64_t caller;                    /* the function that takes the lock; 0: no stack was recorded */
	struct lock_time paid;              /* what earlier intervals have of it */
	uint32_t task, cpu;
	uint8_t type;
	bool mutex; /* a futex, for which it waits as mutexes of the C library do */
};

/* The last wait that began on a CPU. */
struct lock_last {
	uint64_t key;    /* of the wait */
	uint64_t events; /* state_cpu::events then: the next event may be the stack of the begin */
	bool begun;      /* false: its stack is of no use */
};

struct lock_row {
	struct samples waits, held;
	struct lock_time waited;
	uint64_t held_all;
	uint64_t given_up, mutexes;
	uint64_t address, caller;
	uint32_t task, who; /* who: as pass_group() */
	uint8_t type;
	struct waker waker; /* the task whose wakeup ended the longest wait; pid -1: none */
	struct extreme longest;
};

/* One of the longest waits. */
struct lock_slow {
	uint64_t lasted, at; /* at: when it ended */
	uint64_t blocked, queued, spun;
	uint64_t address, caller;
	uint32_t task, cpu;
	struct waker waker;       /* the task whose wakeup ended it; pid -1: none, or not known */
	char comm[TASK_COMM_LEN]; /* of the task, when it ended */
	uint8_t type;
	bool given_up;
};

struct locks_analysis {
	struct pass *pass;
	enum locks_by by;
	enum who_part part; /* of LOCKS_BY_WHO */
	struct roles roles;
	struct lock_places {
		struct place address, value, name, array;
	} places[LOCKS_ROLES];      /* by role */
	int64_t futex[LOCKS_CALLS]; /* the numbers of the system call, and of that with other times */
	size_t nr_futex;
	/* length of a record whose number is as on most machines (place_whole_long()): of entries, of exits */
	uint32_t raw_whole[2];
	bool raw;                /* the file has raw_syscalls, so syscalls:* are duplicates */
	bool contention, stacks; /* the file has contention_begin; some wait has a stack */
	bool of_kernel;          /* there are events of locks of the kernel */
	struct u64_map waits;    /* by task and address: struct lock_wait */
	struct u64_map calls;    /* by task: address of the futex for which its system call waits */
	struct u64_map held;     /* by task and address: struct lock_wait */
	struct u64_map names;    /* by address: char[LOCKS_NAME], from lockdep */
	struct u64_map last;     /* by CPU: struct lock_last */
	struct u64_map callers;  /* by address in a function: 0: unknown; 1: a caller; 2: one of the own functions */
	struct u64_map rows;
	struct slowest slowest; /* struct lock_slow */
	uint64_t seen, cut, broken;
	uint64_t losses; /* of the state, when the interval ended */
	uint64_t joins;  /* waits for the end of a thread */
};

/* Finds the numbers of futex: machines of 32 bits have a second one, and mips has one for each way to make a call. */
void locks_find_futex(struct locks_analysis *locks);
/* Whether a call with this operation waits. */
bool locks_futex_waits(uint64_t operation);
/* Whether it waits as a mutex of the C library does, not as a condition variable, where a thread waits for work. */
bool locks_futex_is_mutex(uint64_t operation);
/* Whether a call of the task that expects this value waits for the end of a thread, and so for no lock. */
bool locks_futex_joins(const struct locks_analysis *locks, uint32_t task, uint64_t operation, uint32_t value);

/* Adds a time, without what earlier intervals have of it. */
static inline void locks_add_time(struct lock_time *sum, const struct lock_time *time, const struct lock_time *paid)
{
	sum->all += time->all - paid->all;
	sum->spun += time->spun - paid->spun;
	sum->slept += time->slept - paid->slept;
	sum->queued += time->queued - paid->queued;
}

static inline uint64_t locks_wait_key(uint64_t address, uint32_t task)
{
	return address ^ (uint64_t)task * 0x9e3779b97f4a7c15u;
}

/* The row of a wait, which this task ended; NULL without memory. */
struct lock_row *locks_row(struct locks_analysis *locks, const struct lock_wait *wait, struct waker waker);
/* The parts of a wait up to `until`, when its task was off the CPU no more. */
struct lock_time locks_time(const struct locks_analysis *locks, const struct lock_wait *wait, uint64_t until);

/* locks_divide.c: what the end of an interval cuts. */
void locks_divide(void *arg);
void locks_carry(void *arg, void *before);

extern const struct table_column locks_columns[];
extern const struct analysis_slow locks_slow[];
int must_check locks_finish(void *arg, struct findings *findings, struct fail *fail);

#endif
