/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_IRQ_IRQ_INTERNAL_H
#define WEFT_ANSWERS_IRQ_IRQ_INTERNAL_H

#include "lib/answers/frame/pass.h"
#include "lib/answers/frame/slowest.h"
#include "lib/answers/irq/irq_peak_internal.h"
#include "lib/ground/base/labels.h"
#include "lib/ground/base/u64_map.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/event/softirqs.h"
#include "lib/meaning/follow/roles.h"

/* The rows of victims; the options of irq_analysis are struct row_options. From IRQ_BY_WHO on enum who_part. */
enum irq_by { IRQ_BY_TASK, IRQ_BY_WHO };

/*
 * The data of the analysis `irq`, shared by irq.c, which follows the events, irq_charge.c, which adds up the time of
 * runs that have ended, and irq_tables.c.
 * On each CPU entries and exits nest. A frame belongs to the task in which it was entered, and only frames of the same
 * task nest in each other: a softirq of PREEMPT_RT can be preempted, and an interrupt that comes then does not hit it.
 */
enum irq_kind { IRQ_HARD, IRQ_SOFT, IRQ_VECTOR, IRQ_IPI, IRQ_TIMER, IRQ_HRTIMER, IRQ_WORK, IRQ_KINDS };

enum { IRQ_DEPTH = 32, IRQ_NAME = 64, IRQ_NEAR = 16 };

struct irq_longest {
	uint64_t lasted, at; /* at: when it ended; 0: there is none */
	uint32_t cpu;
};

struct irq_source {
	enum irq_kind kind;
	char name[IRQ_NAME];
	struct samples lasted, delays;
	struct irq_longest longest, latest;
	struct irq_peak peak;
	uint64_t self, in_thread; /* in_thread: time of softirqs in ksoftirqd */
	bool has_self;
	uint64_t total; /* of all runs, with what nested in them */
};

struct irq_frame {
	enum irq_kind kind;
	uint32_t source, task;
	uint64_t id, start, nested, off; /* off: for how long the task had been off the CPU */
	uint64_t inner;                  /* the time of the longest run that nested in it */
	uint32_t inner_source;           /* its source, if inner is not 0 */
	struct irq_taking taking;
	uint64_t paid, paid_self; /* what earlier intervals have of its time, and of its own time */
};

static inline void irq_see_inner(struct irq_frame *outer, const struct irq_frame *inner, uint64_t lasted)
{
	if (lasted <= outer->inner)
		return;
	outer->inner = lasted;
	outer->inner_source = inner->source;
}

/* What runs have taken from the task that they hit, by kind of run. All sums together are the times of the sources. */
enum irq_taker { IRQ_BY_HARD, IRQ_BY_SOFT, IRQ_BY_VECTOR, IRQ_BY_TIMER, IRQ_TAKERS };

struct irq_victim {
	uint64_t hits, taken[IRQ_TAKERS];
};

/* The tasks that belong together. */
struct irq_group {
	struct irq_victim victim;
	uint64_t ran;
};

struct irq_cpu {
	struct irq_frame frames[IRQ_DEPTH];
	size_t depth;
	uint64_t raised[SOFTIRQS];   /* when each softirq was first raised since it last ran; 0: not raised */
	uint64_t switches[SOFTIRQS]; /* state_cpu::switches then */
	uint64_t runs[IRQ_KINDS], self[IRQ_KINDS];
	bool lost;
};

/* One of the longest runs. */
struct irq_slow {
	uint64_t lasted, self, at; /* at: when it ended */
	uint64_t inner;
	uint32_t source, inner_source, cpu;
	uint32_t task;   /* that it hit */
	uint32_t waiter; /* the task that waited for the CPU longest meanwhile; STATE_NO_TASK: none did */
	uint64_t waited; /* of its wait, the part during the run */
	char comm[TASK_COMM_LEN], waiter_comm[TASK_COMM_LEN]; /* of both tasks, when it ended */
};

struct irq_work {
	uint64_t queued;        /* 0: not seen */
	struct irq_frame frame; /* start 0: it does not run */
};

struct irq_analysis {
	struct pass *pass;
	struct roles roles;
	struct irq_places {
		struct place id, name, value;
	} places[18];      /* by role */
	struct labels ids; /* kind and name of each source, at its index */
	struct irq_source *sources;
	size_t nr_sources;
	struct irq_cpu *cpus;
	size_t nr_cpus;
	struct u64_map sums;        /* by source << 32 | CPU: struct irq_sums */
	struct irq_victim *victims; /* by the state's index of the task */
	size_t nr_victims;
	struct irq_victim nobody; /* the task was not known */
	enum irq_by by;
	enum who_part part;            /* of IRQ_BY_WHO */
	struct u64_map groups;         /* by pass_group(): struct irq_group */
	struct u64_map each;           /* by the state's index: struct samples, the hits; only for a comparison */
	struct u64_map works, expires; /* by address: struct irq_work; the time when an hrtimer should expire */
	/* The sources of hard interrupts that were found last, by their numbers: a line can have several handlers. */
	struct irq_near {
		uint64_t number;
		uint32_t source;
		uint32_t digits; /* of the number and a blank, with which the name begins; 0: nothing was found yet */
	} near[IRQ_NEAR];
	uint64_t seen, cut, broken, unended;
	bool under_way;         /* something was when the interval began */
	bool filtered;          /* there is a PID filter: some of what happened between two events is not recorded */
	struct slowest slowest; /* struct irq_slow; not of works */
};

/*
 * Adds a run that has ended to its source, its CPU and the task that it hit: its time from entry to exit, and its own
 * time without what nested inside it. `end` is its last event.
 */
void irq_charge(struct irq_analysis *irq, const struct irq_frame *frame, uint64_t lasted, uint64_t self,
		const struct event *end);
/* Adds the time of a run up to now to the same, without what earlier intervals have of it. */
void irq_pay(struct irq_analysis *irq, const struct irq_frame *frame, uint64_t lasted, uint64_t self, uint32_t number);
/* For how long a task has been off the CPU in its life: a softirq of PREEMPT_RT can be preempted. */
uint64_t irq_off_cpu(const struct irq_analysis *irq, uint32_t task);
/* The source of a kind and a name, which is added if needed; UINT32_MAX when memory runs out. */
uint32_t irq_source_of(struct irq_analysis *irq, enum irq_kind kind, const char *name, size_t len);
/* Of the function at an address; of an interrupt's number and the name of its handler. */
uint32_t irq_source_of_function(struct irq_analysis *irq, enum irq_kind kind, const struct event *event,
				const struct place *place);
uint32_t irq_source_of_hard(struct irq_analysis *irq, uint64_t number, const char *name, size_t len);
void irq_see_longest(struct irq_longest *longest, uint64_t lasted, const struct event *event);
struct irq_cpu *irq_add_cpu(struct irq_analysis *irq, uint32_t number);
/* Returns the CPU, and adds it if needed; NULL without memory. */
static inline struct irq_cpu *irq_cpu_of(struct irq_analysis *irq, uint32_t number)
{
	return __builtin_expect(number < irq->nr_cpus, 1) ? &irq->cpus[number] : irq_add_cpu(irq, number);
}

/* irq_divide.c: what the end of an interval cuts. */
void irq_divide(void *arg);
void irq_carry(void *arg, void *before);

extern const struct table_column irq_columns[];
extern const struct analysis_slow irq_slow[];
int must_check irq_finish(void *arg, struct findings *findings, struct fail *fail);

#endif
