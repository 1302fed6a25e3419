/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_LATENCY_LATENCY_TIMERLAT_INTERNAL_H
#define WEFT_ANSWERS_LATENCY_LATENCY_TIMERLAT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/answers/latency/latency_split_internal.h"
#include "lib/answers/latency/latency_spread_internal.h"
#include "lib/ground/base/cleanup.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/follow/roles.h"

struct event;
struct findings;
struct late_stacks;
struct noises;
struct pass;

/*
 * Samples of the tracer timerlat: how late its timer's interrupt was, and then how late its thread was, both counted
 * from when the timer should have expired. The event comes as soon as the clock was read, unless something interrupts
 * the thread.
 * Samples are split by the events of the scheduler and of interrupts. If some of these are missing, events of osnoise
 * replace them. Such an event comes when something has ended on the CPU, and has its time without what interrupted it.
 * So a sample of the timer's interrupt is split when that interrupt has ended, and the parts of the thread's sample
 * begin with those of the interrupt's sample.
 * The tracer may write a stack behind a sample (osnoise/print_stack): where the CPU was when the timer's interrupt of
 * that period came.
 * The kernel reports softirqs and threads only from the timer's interrupt
 * on: until then the task that the interrupt hit has had the CPU.
 */
struct timerlats {
	struct pass *pass;
	struct history *history;
	const struct noises *noises;
	const struct late_stacks *stacks;
	struct roles roles;
	struct place context, latency, number;
	struct timerlat_cpu {
		struct late irq;           /* the last sample of the timer's interrupt */
		struct history_wait *wait; /* since the timer should have expired; NULL: no sample yet */
		uint64_t number;           /* the period's number, the same in both of its samples */
		uint32_t hit;              /* the task that the interrupt hit, or STATE_NO_TASK */
		bool in_softirq;           /* the interrupt hit a softirq of that task */
		bool waits;                /* the sample is not split yet */
		bool split;                /* the sample was split by events of osnoise */
		bool lost;                 /* events were lost since the sample */
		/* The last sample, as long as its stack may follow: the kind is NULL if not. */
		uint64_t last_at, last_number;
		const char *last_kind;
		int32_t last_pid;
	} * cpus;
	size_t nr_cpus;
	struct lates samples;       /* the owner calls lates_init() */
	struct spreads spreads;     /* by context */
	uint64_t nr_samples, wrong; /* wrong: samples whose parts do not add up */
	uint64_t unexplained;       /* samples that no event explains */
	bool failed;
};

/* Borrows the pass, its history, the noises and the stacks, all of which see each event first. */
void timerlats_init(struct timerlats *timerlats, struct pass *pass, struct history *history,
		    const struct noises *noises, const struct late_stacks *stacks);
void timerlats_release(struct timerlats *timerlats);

/* Returns whether events of this type are samples. Call it with the first event of each type. */
bool timerlats_look(struct timerlats *timerlats, const struct event *event);
void timerlats_see(struct timerlats *timerlats, const struct event *event, bool is_sample);
/* Returns whether a stack belongs to the sample before it. Then it is set by timerlats_set_stack(). */
bool timerlats_has_stack(const struct timerlats *timerlats, const struct event *event);
void timerlats_set_stack(struct timerlats *timerlats, uint32_t cpu, uint32_t stack);
/* Call it after the last event. */
void timerlats_end(struct timerlats *timerlats);
/* Adds the table for a comparison of recordings. */
void timerlats_put(const struct timerlats *timerlats, struct findings *findings);

#endif
