/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_WHY_WHY_LOG_INTERNAL_H
#define WEFT_ANSWERS_WHY_WHY_LOG_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/labels.h"
#include "lib/ground/base/u64_map.h"
#include "lib/meaning/state/state.h"

/*
 * What each task and each CPU did, as far back as memory allows: from the end of an interval the walk (why_walk.c)
 * looks back in it. A record is a change of state; those of a task are linked from the last one back, and so are those
 * of a CPU. Only what events prove counts: where two records contradict each other, the time between them is unknown,
 * from the moment on at which events may have been lost.
 */
enum {
	WHY_RECORDS_MAX = 1 << 20, /* of tasks, and of CPUs: 32 MiB each */
	WHY_RECORDS_FEW = 1 << 16,
	WHY_CAUSES_MAX = 1 << 18,
	WHY_GAPS_MAX = 256,
	WHY_NEAR = 128,
};

enum why_mode {
	MODE_UNKNOWN,
	MODE_NEW, /* forked, and not yet woken; `waker` is the parent */
	MODE_RUN,
	MODE_WAY,  /* woken, and not yet on a queue */
	MODE_WAIT, /* waits for a CPU */
	MODE_BLOCKED,
	MODE_DEAD,
};

/* Why a time is not explained. */
enum why_reason {
	REASON_NONE,
	REASON_LOST,      /* events were lost */
	REASON_MISSING,   /* the events of the task contradict each other */
	REASON_FIRST,     /* before the first event of the task */
	REASON_ENDED,     /* the task had ended */
	REASON_WAKING,    /* no event tells who woke it */
	REASON_ASLEEP,    /* it was not woken before the events end */
	REASON_INTERRUPT, /* an interrupt did, and no event tells which */
	REASON_OLD,       /* older than what is kept */
	REASON_DEEP,      /* too many wakers of wakers: a bug */
	REASONS,
};

struct why_moment {
	uint64_t from;
	uint32_t before; /* number of the task's record before; 0: none */
	uint32_t cause;  /* WAY, WAIT: of the wakeup that began it: causes_get() */
	int32_t waker;   /* the task that woke it; 0: an interrupt did; -1: it was not woken */
	uint32_t name;   /* of the task: labels of why_log::names, + 1; 0: not known */
	uint16_t cpu;
	uint8_t mode;   /* enum why_mode */
	uint8_t reason; /* UNKNOWN: enum why_reason */
	bool early;     /* it was woken while it still had its CPU */
};

enum why_occupant_kind { OCCUPANT_UNKNOWN, OCCUPANT_TASK, OCCUPANT_IDLE, OCCUPANT_INTERRUPT };

struct why_occupant {
	uint64_t from;
	uint32_t before;
	int32_t pid;   /* TASK */
	uint32_t name; /* of the task, or of the interrupt */
	int16_t prio;  /* the kernel's */
	uint8_t kind;  /* enum why_occupant_kind */
};

/* That a task began a call that may send something to another task, or came back from one that may receive it. */
struct why_talk {
	uint64_t at;
	uint32_t before; /* number of the task's talk before; 0: none */
	bool sends;
};

/* Where a search last was in a list: the walk goes back in time, and so does it. */
struct why_cursor {
	uint32_t at, after; /* numbers of records; 0: none */
	uint64_t walk;      /* the number of the walk that it is of */
};

struct why_task {
	uint32_t last, first;
	uint32_t name;
	char comm[TASK_COMM_LEN];
	uint8_t was; /* enum why_mode before the first record */
	struct why_cursor cursor;
	uint32_t talk; /* the last one */
	uint64_t born; /* 0: before the first event */
	struct why_cursor talked;
};

struct why_log {
	const struct state *state; /* borrowed */
	struct labels names;
	struct u64_map tasks; /* by PID: struct why_task */
	/* What was found there last, by the low bits of the PID. */
	struct why_near {
		struct why_task *task; /* NULL: nobody's */
		int32_t pid;
	} near[WHY_NEAR];
	uint32_t *cause_names; /* by causes_name(): why_log_name() of it; 0: not yet looked up */
	size_t nr_cause_names;
	struct why_moment *moments;
	size_t most; /* how many records of each kind are kept */
	size_t moments_room;
	uint32_t nr_moments; /* the number of the last one */
	struct why_occupant *occupants;
	size_t occupants_room;
	uint32_t nr_occupants;
	struct why_talk *talks;
	size_t talks_room;
	uint32_t nr_talks;
	struct why_cpu {
		uint64_t last; /* time of its last event */
		uint32_t list; /* the number of its last occupant */
		uint32_t task; /* index in the state, as it was last seen */
		uint32_t nested;
		char comm[TASK_COMM_LEN]; /* of that task */
		bool begun;
		struct why_cursor cursor;
	} * cpus;
	size_t nr_cpus;
	struct why_gap {
		uint64_t from, to;
		uint32_t cpu;
	} gaps[WHY_GAPS_MAX]; /* the newest ones: a ring */
	uint64_t nr_gaps;
	uint64_t walk;     /* the number of the last walk back */
	uint64_t lookback; /* who did something longer before an interval is not known */
	bool failed;
};

/* `most`: a power of two. */
void why_log_init(struct why_log *log, struct state *state, size_t most);
void why_log_release(struct why_log *log);
/* Call it after the state has seen an event that has a role there below STATE_SOFT_RAISE, or a gap. */
void why_log_see(struct why_log *log, const struct event *event);
/* Whether an event that changed nothing else shows that another task has the CPU than was noted: call why_log_see(). */
static inline bool why_log_differs(const struct why_log *log, uint32_t cpu)
{
	return cpu < log->nr_cpus && log->cpus[cpu].task != state_running(log->state, cpu);
}

/* Call it when a task, which is not an idle one, begins a call that sends or ends one that receives. */
void why_log_talk(struct why_log *log, const struct state_task *task, bool sends);

/* The first gap that ended after this time: events that are missing since then may have been lost from then on. */
bool why_log_gap(const struct why_log *log, uint64_t since, uint64_t *ret);

enum { WHY_ANY_CPU = UINT32_MAX };

/* From when to when events of a CPU, or of any, were lost in this time, or beside it; false: none were. */
bool why_log_lost(const struct why_log *log, uint32_t cpu, uint64_t from, uint64_t to, struct why_gap *ret);

/* NULL: 0, or it is no longer kept. */
const struct why_moment *why_moment_at(const struct why_log *log, uint32_t number);
const struct why_occupant *why_occupant_at(const struct why_log *log, uint32_t number);
const struct why_talk *why_talk_at(const struct why_log *log, uint32_t number);
/* A text's number, + 1; 0: "". */
uint32_t why_log_name(struct why_log *log, const char *text);
const char *why_log_text(const struct why_log *log, uint32_t name);
/* The cursor of this walk in a list of which `last` is the last record. */
static inline struct why_cursor *why_cursor_of(const struct why_log *log, struct why_cursor *cursor, uint32_t last)
{
	if (cursor->walk != log->walk)
		*cursor = (struct why_cursor){ .at = last, .walk = log->walk };
	return cursor;
}

#endif
