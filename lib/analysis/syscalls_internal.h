/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_ANALYSIS_SYSCALLS_INTERNAL_H
#define WEFT_ANALYSIS_SYSCALLS_INTERNAL_H

#include "lib/analysis/pass.h"
#include "lib/analysis/syscalls.h"
#include "lib/analysis/syscalls_trace.h"
#include "lib/base/table.h"
#include "lib/base/u64_map.h"
#include "lib/event/place.h"
#include "lib/event/roles.h"

/* The two halves of the analysis: pairing calls, and the tables. */

enum { SYSCALL_COLUMNS = 17, SLOW_COLUMNS = 12, SYSCALLS_NAME = 48 };

/* The parts of a call's time. Unknown time is in none of them. */
struct call_time {
	uint64_t wall, on_cpu, blocked, waiting;
};

/* A call that its task is in. */
struct open_call {
	uint64_t since;
	uint64_t blocked, waiting, unknown; /* of the task's life, when it began */
	uint64_t losses;                    /* state::losses then */
	int64_t number;
	bool open;
	bool seen;      /* the task has been in a call before */
	uint8_t wanted; /* 0: not asked yet; 1: no; 2: yes */
	bool table32;   /* its task calls by the 32-bit table of a 64-bit kernel */
	bool proves;    /* this call says so, if there is such a call */
};

/* What is known of a number. */
struct call_kind {
	const char *name; /* NULL: not known */
	bool restores;    /* sigreturn: what it returns is a register */
	bool looked_up;
};

struct call_row {
	uint64_t calls, errors;
	uint64_t endless; /* the number of calls that never returned, because their task ended */
	struct call_time total;
	struct samples lasted;
	int64_t number; /* of the call; by task: of none */
	int64_t error;  /* by error; 0 */
	uint32_t task;  /* by task or process: any of its tasks */
	uint32_t cpu;
	struct {
		uint64_t lasted, at;
		uint32_t cpu, task;
	} worst;
};

struct slow_call {
	struct call_time time;
	uint64_t at; /* its end */
	int64_t number, returned;
	uint32_t cpu, task;
};

struct analysis {
	struct pass *pass;
	struct syscalls_options options;
	struct roles roles;
	struct place raw_number[2], raw_return, raw_args; /* number: of entry and exit */
	struct u64_map types;    /* by buffer and type, of the system syscalls: struct call_type */
	struct u64_map kinds;    /* by number: struct call_kind */
	bool raw;                /* raw_syscalls are there: syscalls:* tell the same again */
	struct open_call *calls; /* by the state's index of the task */
	size_t nr_calls;
	struct u64_map rows;       /* by row_key(): struct call_row */
	struct slow_call *slowest; /* the longest first */
	size_t nr_slowest;
	uint64_t began_before, broken;
	struct syscalls_trace trace;
	struct table_column columns[SYSCALL_COLUMNS];
};

/* Places of a type of the system syscalls. */
struct call_type {
	struct place number, returned;
	const char *name; /* borrowed from the format: "read" */
};

/* A number of the 32-bit table of a 64-bit kernel has this bit set. */
static const int64_t SYSCALLS_TABLE32 = INT64_C(1) << 32;

/* Of the 32-bit table; NULL: there is none of that number. */
const char *syscalls_table32_name(const struct analysis *syscalls, int64_t number);
/*
 * The number of a raw entry or exit, with SYSCALLS_TABLE32 where it is one of these, after what the event tells of its
 * task.
 */
int64_t syscalls_table32_enter(struct analysis *syscalls, const struct event *event, struct open_call *call,
			       int64_t number);
int64_t syscalls_table32_exit(struct analysis *syscalls, struct open_call *call, int64_t number, int64_t returned);
/* After an event that makes a task: it calls by what its parent calls by. */
void syscalls_table32_fork(struct analysis *syscalls);

const struct call_kind *syscalls_new_kind(struct analysis *syscalls, int64_t number, const char *name);

/* What is known of a number; NULL without memory. `name`: as an event's format tells it, or NULL. */
static inline const struct call_kind *syscalls_kind(struct analysis *syscalls, int64_t number, const char *name)
{
	const struct call_kind *kind = u64_map_find(&syscalls->kinds, (uint64_t)number);

	if (__builtin_expect(kind && kind->looked_up && (!name || kind->name), 1))
		return kind;
	return syscalls_new_kind(syscalls, number, name);
}

/* "read", or "syscall_7"; of the 32-bit table of a 64-bit kernel "read (32-bit)". */
const char *syscalls_name(struct analysis *syscalls, int64_t number, char into[SYSCALLS_NAME]);
/* Whether the calls of this task are asked for. */
bool syscalls_wants(const struct analysis *syscalls, struct open_call *call, const struct state_task *task);
struct call_row *syscalls_row(struct analysis *syscalls, int64_t number, int64_t error, uint32_t task, uint32_t cpu);
int syscalls_finish(struct analysis *syscalls, struct findings *findings, struct fail *fail);

/* What a call returned is an error; those of restarting (-512 to -516) never reach a program. */
static inline bool syscalls_failed(int64_t returned)
{
	return returned < 0 && returned >= -4095 && (returned > -512 || returned < -516);
}

#endif
