/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_SYSCALLS_SYSCALLS_INTERNAL_H
#define WEFT_ANSWERS_SYSCALLS_SYSCALLS_INTERNAL_H

#include "lib/answers/frame/last_switch_out.h"
#include "lib/answers/frame/pass.h"
#include "lib/answers/frame/slowest.h"
#include "lib/answers/syscalls/syscalls.h"
#include "lib/answers/syscalls/syscalls_trace_internal.h"
#include "lib/ground/base/table.h"
#include "lib/ground/base/u64_map.h"
#include "lib/meaning/event/kinds.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/follow/roles.h"
#include "lib/meaning/state/vcpus.h"
#include "lib/meaning/uapi/names.h"

/* The data of the parts of the analysis: pairing calls, printing them, and making the tables. */

enum { SYSCALLS_NAME = 48 };

/* Numbers below this have their kinds in an array, and the rows used last are found without a search. */
enum { SYSCALLS_NEAR = 512, SYSCALLS_NEAR_ROWS = 64 };

/* The parts of a call's time. Unknown time is in none of them. */
struct call_time {
	uint64_t wall, on_cpu, blocked, waiting;
	uint64_t
		slept; /* of blocked: until somebody woke it or a signal came (S), for which it may have to wait long */
};

/* The call that a task is in. */
struct open_call {
	uint64_t since;
	uint64_t blocked, waiting, unknown, slept; /* the task's times in its life, when the call began */
	uint64_t losses;                           /* state::losses at that time */
	int64_t number;
	bool open;
	bool seen;             /* the task has been in a call before */
	uint8_t wanted;        /* 0: not determined yet; 1: no; 2: yes */
	uint32_t file;         /* what its descriptor was; SYSCALLS_NO_FILE: it has none */
	bool table32;          /* the task uses the 32-bit table of a 64-bit kernel */
	bool proves;           /* if this call exists, the task is a 32-bit task */
	bool paid;             /* a part of its time is in the rows of earlier intervals: syscalls::paid */
	struct pass_away away; /* when the call began; of a selection by name */
};

/* What is known about the call with a number. */
struct call_kind {
	const char *name; /* NULL: unknown */
	bool restores;    /* it is a sigreturn: its return value is a register */
	bool is_exec;
	bool ends;           /* it is an exit, which never returns */
	bool takes, returns; /* a descriptor: as its first argument, or as its result */
	bool moves;          /* it returns the number of bytes that it read or wrote */
	bool looked_up;
};

struct call_row {
	uint64_t calls, errors;
	uint64_t bytes;   /* that the calls read and wrote */
	uint64_t endless; /* number of calls that never returned, because their task ended */
	struct call_time total;
	struct samples lasted;
	int64_t number;                 /* of the call; of a row by task: unused */
	int64_t error;                  /* of a row by error; else 0 */
	char worst_comm[TASK_COMM_LEN]; /* of the task of `worst`, when it ended */
	uint32_t task;                  /* of a row by task or process: any task of it */
	uint32_t cpu;
	struct {
		uint64_t lasted, at;
		uint64_t from; /* of held */
		uint32_t cpu, task;
	} worst, held; /* held: the longest that held up its task, as syscalls_held() says */
};

/* The longest time for which a task was blocked in its call; only with options.rows.slowest. */
struct call_block {
	uint64_t since;     /* when the call began to which this belongs */
	uint64_t lasted;    /* blocked, without the wait for a CPU that followed; 0: it was not blocked */
	uint32_t stack;     /* where, in syscalls::outs.store; 0: not known */
	struct waker waker; /* who ended it */
};

/* A call that has no descriptor; else a number of lib/meaning/follow/files.h. */
enum { SYSCALLS_NO_FILE = UINT32_MAX };

struct slow_call {
	struct call_time time; /* begins with how long it lasted, as slowest_internal.h asks */
	uint64_t at;           /* when it ended */
	int64_t number, returned;
	uint32_t cpu, task;
	uint32_t file; /* as open_call::file; only by file, as is: */
	uint64_t bytes;
	struct call_block block;
	char comm[TASK_COMM_LEN]; /* of the task, when it ended; only of those that are kept */
};

struct syscalls_analysis {
	struct pass *pass;
	struct syscalls_options options;
	struct roles roles;
	struct place raw_number[2], raw_return, raw_args; /* number: in the entry and in the exit */
	/* length of a record whose numbers are as on most kernels: of entries, of exits; UINT32_MAX: of none */
	uint32_t raw_whole[2];
	struct kinds types;                         /* of events of the system syscalls: struct call_type */
	struct u64_map kinds;                       /* by number, of the others: struct call_kind */
	struct call_kind near_kinds[SYSCALLS_NEAR]; /* by number */
	bool named;                                 /* events of the system syscalls occurred */
	bool raw;                                   /* raw_syscalls occurred, so syscalls:* are duplicates */
	bool twice;                                 /* raw_syscalls were enabled: so they are from the start */
	struct open_call *calls;                    /* by the task's index in the state */
	size_t nr_calls;
	struct call_time *paid; /* by the task's index, up to the last that has some */
	size_t nr_paid;
	struct u64_map rows; /* by row_key(): struct call_row */
	struct syscalls_near_row {
		uint64_t key;
		struct call_row *row; /* NULL: none; valid until a row is added */
	} near_rows[SYSCALLS_NEAR_ROWS];
	struct last_switch_out last_outs; /* only with options.rows.slowest */
	struct call_block *blocks;        /* by the task's index in the state; only with options.rows.slowest */
	size_t nr_blocks;
	uint64_t *left; /* by the task's index: how long it had been blocked in its life when it left its CPU */
	size_t nr_left;
	struct slowest slowest; /* struct slow_call */
	uint64_t began_before, broken;
	bool uring;           /* io_uring_enter() occurs */
	bool of_files;        /* what is behind the descriptors of calls is asked for */
	bool entered, exited; /* an entry was seen, an exit was seen: with one of them alone no call is broken */
	uint64_t refused;     /* calls that have no entry, because seccomp or ptrace refused them */
	struct syscalls_trace trace;
	struct syscalls_host *host; /* of a guest whose host is known; NULL: of none */
};

/*
 * syscalls_host.c: what the host did during the calls of a guest, in the time in which the guest's kernel had them on a
 * CPU.
 */
struct host_row {
	int64_t number;
	uint64_t calls;
	struct call_time time;
	struct vcpu_time parts;
};
struct syscalls_host *syscalls_host_new(struct pass *pass);
void syscalls_host_free(struct syscalls_host *host);
void syscalls_host_enter(struct syscalls_analysis *syscalls, uint32_t task);
void syscalls_host_exit(struct syscalls_analysis *syscalls, const struct slow_call *call);
/* The rows by call, from `at` 0 on; NULL: no more. */
const struct host_row *syscalls_host_next(const struct syscalls_host *host, size_t *at);

/* The places of an event type of the system syscalls. */
struct call_type {
	struct place number, returned, first;
	const char *name; /* "read"; borrowed from the format */
};

/* The bit that marks a number of the 32-bit table of a 64-bit kernel. */
static const int64_t SYSCALLS_TABLE32 = INT64_C(1) << 32;

/* syscalls_kinds.c: returns a name from the 32-bit table; NULL: the table has no such number. */
const char *syscalls_table32_name(const struct syscalls_analysis *syscalls, int64_t number);
/* Call it after an event that makes a task: a new task uses the table of its parent. */
void syscalls_table32_fork(struct syscalls_analysis *syscalls);

/* The table of requests of io_uring, or a note that they are not known. */
void syscalls_put_uring(struct syscalls_analysis *syscalls, struct findings *findings);

/* Returns whether the call, whose name may be NULL, is an exec. */
bool syscalls_is_exec(const char *name);
const struct call_kind *syscalls_new_kind(struct syscalls_analysis *syscalls, int64_t number, const char *name);

/*
 * Returns what is known about a number; NULL when memory runs out. `name` is the name in the event's format, or NULL.
 */
static inline const struct call_kind *syscalls_kind(struct syscalls_analysis *syscalls, int64_t number,
						    const char *name)
{
	const struct call_kind *kind = (uint64_t)number < SYSCALLS_NEAR ?
					       &syscalls->near_kinds[number] :
					       u64_map_find(&syscalls->kinds, (uint64_t)number);

	if (__builtin_expect(kind && kind->looked_up && (!name || kind->name), 1))
		return kind;
	return syscalls_new_kind(syscalls, number, name);
}

int64_t syscalls_table32_learn_enter(struct syscalls_analysis *syscalls, const struct event *event,
				     struct open_call *call, int64_t number);
int64_t syscalls_table32_learn_exit(struct syscalls_analysis *syscalls, struct open_call *call, int64_t number,
				    int64_t returned);

/*
 * Returns the number of a raw entry or exit, with SYSCALLS_TABLE32 if it belongs to that table. It first learns from
 * the event which table the task uses; most events tell nothing new.
 */
static inline int64_t syscalls_table32_enter(struct syscalls_analysis *syscalls, const struct event *event,
					     struct open_call *call, int64_t number)
{
	if (__builtin_expect(call->table32 || (uint64_t)number >= SYSCALLS_NEAR || !syscalls->near_kinds[number].name,
			     0))
		return syscalls_table32_learn_enter(syscalls, event, call, number);
	call->proves = false;
	return number;
}

static inline int64_t syscalls_table32_exit(struct syscalls_analysis *syscalls, struct open_call *call, int64_t number,
					    int64_t returned)
{
	if (__builtin_expect(!call->open || call->number != number || call->proves ||
				     (uint64_t)number >= SYSCALLS_NEAR ||
				     (!returned && syscalls->near_kinds[number].is_exec),
			     0))
		return syscalls_table32_learn_exit(syscalls, call, number, returned);
	return number;
}

/* Returns "read", or "syscall_7" if the name is unknown; for the 32-bit table of a 64-bit kernel, "read (32-bit)". */
const char *syscalls_name(struct syscalls_analysis *syscalls, int64_t number, char into[SYSCALLS_NAME]);

/* Returns whether the user wants a call that began at `since`; UINT64_MAX: what is at this moment. */
static inline bool syscalls_wants(const struct syscalls_analysis *syscalls, struct open_call *call,
				  const struct state_task *task, uint64_t since)
{
	/*
	 * A task's name can change, mostly by an exec, and it leaves its spans, and its next call is of another file:
	 * these filters are asked again.
	 */
	if (!call->wanted || syscalls->pass->state.naming.wants || pass_asks_times(syscalls->pass))
		call->wanted = pass_wants_since(syscalls->pass, task, since) ? 2 : 1;
	return call->wanted == 2;
}

/* The parts of a call's time up to `until`, when its task was blocked no more. */
static inline struct call_time syscalls_time(const struct state_task *task, const struct open_call *call,
					     uint64_t until)
{
	struct call_time time = { .wall = until - call->since,
				  .slept = task->spent[TASK_SLEEPING] - call->slept,
				  .blocked = state_blocked(task) - call->blocked,
				  .waiting = state_waited(task) - call->waiting };

	time.on_cpu = time.wall - time.blocked - time.waiting - (task->spent[TASK_UNKNOWN] - call->unknown);
	return time;
}

/*
 * For how long a call held up its task: without what it slept or waited for a CPU, and of a call that copies bytes
 * without what it ran, which grows with their number.
 */
static inline uint64_t syscalls_held(const struct call_time *time, bool moves)
{
	return time->wall - time->slept - time->waiting - (moves ? time->on_cpu : 0);
}

static inline enum who_part syscalls_part(enum syscalls_by by)
{
	return (enum who_part)(WHO_PROGRAM + (by - SYSCALLS_BY_PROGRAM));
}

/* What a call adds to the sums of a row: with a selection by name its time under such a name. */
static inline struct call_time syscalls_named_time(const struct syscalls_analysis *syscalls,
						   const struct open_call *call, const struct state_task *task,
						   struct call_time time)
{
	struct pass_away away;

	if (__builtin_expect(!syscalls->pass->state.naming.wants, 1))
		return time;
	away = pass_away(syscalls->pass, task);
	return (struct call_time){ .wall = time.wall - (away.all - call->away.all),
				   .on_cpu = time.on_cpu - (away.running - call->away.running),
				   .blocked = time.blocked - (away.blocked - call->away.blocked),
				   .waiting = time.waiting - (away.waiting - call->away.waiting) };
}

/* Events were lost, so the call that ends here may be another one. */
static inline bool syscalls_is_broken(const struct state *state, const struct open_call *call,
				      const struct state_task *task)
{
	return state->losses != call->losses &&
	       (task->spent[TASK_UNKNOWN] != call->unknown || !state->events[STATE_SWITCH]);
}

/* Adds a time to a row, without what earlier intervals have of it. */
static inline void syscalls_add_time(struct call_row *row, const struct call_time *time, const struct call_time *paid)
{
	row->total.wall += time->wall - paid->wall;
	row->total.on_cpu += time->on_cpu - paid->on_cpu;
	row->total.blocked += time->blocked - paid->blocked;
	row->total.waiting += time->waiting - paid->waiting;
}

/* syscalls_rows.c: adds entries of tasks up to this one; false without memory. */
bool syscalls_add_calls(struct syscalls_analysis *syscalls, uint32_t task);

/* The entry of a task, which is added if needed; NULL without memory. */
static inline struct open_call *syscalls_call(struct syscalls_analysis *syscalls, uint32_t task)
{
	return __builtin_expect(task < syscalls->nr_calls, 1) || syscalls_add_calls(syscalls, task) ?
		       &syscalls->calls[task] :
		       NULL;
}

/* The row in which such a call counts, which is added if needed; NULL without memory. Valid until a row is added. */
struct call_row *syscalls_find_row(struct syscalls_analysis *syscalls, int64_t number, int64_t error, uint32_t task,
				   uint32_t cpu, uint32_t file);
static inline struct call_row *syscalls_row(struct syscalls_analysis *syscalls, int64_t number, int64_t error,
					    uint32_t task, uint32_t cpu, uint32_t file)
{
	const struct syscalls_near_row *near = &syscalls->near_rows[(uint64_t)number % SYSCALLS_NEAR_ROWS];

	if (__builtin_expect(syscalls->options.rows.by == SYSCALLS_BY_CALL && near->row &&
				     near->key == (uint64_t)number && near->row->calls,
			     1))
		return near->row;
	return syscalls_find_row(syscalls, number, error, task, cpu, file);
}

/* syscalls_lines.c: print the line of an entry or exit, if the user wants the calls of this task on this CPU. */
void syscalls_line_enter(struct syscalls_analysis *syscalls, const struct event *event, int64_t number,
			 const char *name, struct open_call *call, uint32_t task);
/* `done` is the call from its entry on; NULL: the entry was not seen. */
void syscalls_line_exit(struct syscalls_analysis *syscalls, const struct event *event, int64_t number, int64_t returned,
			const char *name, struct open_call *call, uint32_t task, const struct slow_call *done);
/* Prints that a CPU lost events, if lines are printed. */
void syscalls_line_loss(struct syscalls_analysis *syscalls, const struct event *event);

/* syscalls_slow.c: an event of sched_switch; and the end of a call, which is kept if it is among the longest. */
void syscalls_slow_switch(struct syscalls_analysis *syscalls, const struct event *event);
void syscalls_slow_keep(struct syscalls_analysis *syscalls, const struct slow_call *slow);

/* syscalls_divide.c: what the end of an interval cuts. */
void syscalls_divide(void *arg);
void syscalls_carry(void *arg, void *before);

extern const struct table_column syscalls_columns[];
extern const struct analysis_slow syscalls_slow[];
int syscalls_finish(void *arg, struct findings *findings, struct fail *fail);

#endif
