/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANALYSIS_LOCKS_INTERNAL_H
#define WEFT_ANALYSIS_LOCKS_INTERNAL_H

#include "lib/analysis/extreme_internal.h"
#include "lib/analysis/locks.h"
#include "lib/analysis/pass.h"
#include "lib/analysis/slowest_internal.h"
#include "lib/base/table.h"
#include "lib/base/u64_map.h"
#include "lib/event/place.h"
#include "lib/follow/roles.h"

/*
 * The data of the analysis `locks`, shared by locks.c, which follows waits, and locks_tables.c. A wait is identified by
 * its task and the lock's address: a task can wait for several locks at once, because an interrupt that hits it also
 * takes locks.
 */
enum { LOCKS_COLUMNS = 22, LOCKS_NAME = 40, LOCKS_ROLES = 13, LOCKS_CALLS = 4 };

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

struct lock_wait {
	uint64_t address, since;
	uint64_t blocked, waiting, unknown; /* the task's times in its life, when the wait began */
	uint64_t losses;                    /* state::losses at that time */
	uint64_t caller;                    /* the function that takes the lock; 0: no stack was recorded */
	uint32_t task, cpu;
	uint8_t type;
};

/* The last wait that began on a CPU. */
struct lock_last {
	uint64_t key;    /* of the wait */
	uint64_t events; /* state_cpu::events then: the next event may be the stack of the begin */
	bool begun;      /* false: its stack is of no use */
};

struct lock_row {
	struct samples waits, held;
	uint64_t spun, slept, queued; /* queued: from the wakeup until the task had a CPU */
	uint64_t given_up;
	uint64_t address, caller;
	uint32_t task;
	uint8_t type;
	int32_t waker; /* the task whose wakeup ended the longest wait; -1: none */
	struct extreme longest;
};

/* One of the longest waits. */
struct lock_slow {
	uint64_t lasted, at; /* at: when it ended */
	uint64_t blocked, queued, spun;
	uint64_t address, caller;
	uint32_t task, cpu;
	int32_t waker; /* the task whose wakeup ended it; -1: none, or not known */
	uint8_t type;
	bool given_up;
};

struct locks_analysis {
	struct pass *pass;
	enum locks_by by;
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
	struct u64_map waits;    /* by task and address: struct lock_wait */
	struct u64_map calls;    /* by task: address of the futex for which its system call waits */
	struct u64_map held;     /* by task and address: struct lock_wait */
	struct u64_map names;    /* by address: char[LOCKS_NAME], from lockdep */
	struct u64_map last;     /* by CPU: struct lock_last */
	struct u64_map callers;  /* by address in a function: 0: unknown; 1: a caller; 2: one of the own functions */
	struct u64_map rows;
	struct slowest slowest; /* struct lock_slow */
	uint64_t seen, cut, broken;
	struct table_column columns[LOCKS_COLUMNS];
};

int must_check locks_finish(void *arg, struct findings *findings, struct fail *fail);

#endif
