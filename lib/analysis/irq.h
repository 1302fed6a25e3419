/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_ANALYSIS_IRQ_H
#define WEFT_ANALYSIS_IRQ_H

#include "lib/analysis/pass.h"
#include "lib/event/event.h"
#include "lib/event/place.h"
#include "lib/event/roles.h"

/*
 * The data of the analysis `irq`, shared by irq.c, which follows the events, and irq_tables.c.
 * On each CPU entries and exits nest. A frame belongs to the task in which it was entered, and only frames of the same
 * task nest in each other: a softirq of PREEMPT_RT can be preempted, and an interrupt that comes then does not hit it.
 */
enum irq_kind { IRQ_HARD, IRQ_SOFT, IRQ_VECTOR, IRQ_IPI, IRQ_TIMER, IRQ_HRTIMER, IRQ_WORK, IRQ_KINDS };

enum { IRQ_DEPTH = 32, IRQ_NAME = 64, IRQ_SOFTIRQS = 10 };

struct irq_longest {
	uint64_t lasted, at; /* at: when it ended; 0: there is none */
	uint32_t cpu;
};

struct irq_source {
	enum irq_kind kind;
	char name[IRQ_NAME];
	struct samples lasted, delays;
	struct irq_longest longest, latest;
	uint64_t self, in_thread; /* in_thread: time of softirqs in ksoftirqd */
	bool has_self;
};

struct irq_frame {
	enum irq_kind kind;
	uint32_t source, task;
	uint64_t id, start, nested, off; /* off: for how long the task had been off the CPU */
};

struct irq_cpu {
	struct irq_frame frames[IRQ_DEPTH];
	size_t depth;
	uint64_t raised[IRQ_SOFTIRQS];   /* when each softirq was first raised since it last ran; 0: not raised */
	uint64_t switches[IRQ_SOFTIRQS]; /* state_cpu::switches then */
	uint64_t runs[IRQ_KINDS], self[IRQ_KINDS];
	bool lost;
};

struct irq_work {
	uint64_t queued;        /* 0: not seen */
	struct irq_frame frame; /* start 0: it does not run */
};

struct analysis {
	struct pass *pass;
	struct roles roles;
	struct irq_places {
		struct place id, name, value;
	} places[17];       /* by role */
	struct u64_map ids; /* by kind and name: uint32_t, index + 1 of sources */
	struct irq_source *sources;
	size_t nr_sources;
	struct irq_cpu *cpus;
	size_t nr_cpus;
	struct u64_map works, expires; /* by address: struct irq_work; the time when an hrtimer should expire */
	uint64_t seen, cut, broken, unended;
	bool filtered; /* there is a PID filter: some of what happened between two events is not recorded */
	char what[96]; /* a text about the longest */
};

int must_check irq_finish(struct analysis *irq, struct findings *findings, struct fail *fail);

#endif
