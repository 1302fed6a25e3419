/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_ANALYSIS_LATENCY_TIMERLAT_H
#define WEFT_ANALYSIS_LATENCY_TIMERLAT_H

#include "lib/analysis/latency_split.h"
#include "lib/analysis/latency_spread.h"
#include "lib/base/cleanup.h"
#include "lib/event/place.h"
#include "lib/event/roles.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event;
struct findings;
struct noises;
struct pass;

/*
 * Samples of the tracer timerlat: how late its timer's interrupt was, and then how late its thread, both from when the
 * timer was to expire. The event comes as soon as the clock was read, unless something interrupts the thread.
 * They are split by the events of the scheduler and of interrupts. Where these are not all there, events of osnoise
 * will do, which tell what ran on the CPU when it has ended, each without what interrupted it. So a sample of the
 * timer's interrupt is split when that interrupt has ended, and that of the thread begins with the parts of its
 * interrupt's. The kernel tells softirqs and threads only from the timer's interrupt on: before it, what it hit has had
 * the CPU.
 */
struct timerlats {
	struct pass *pass;
	const struct timeline *timeline;
	const struct noises *noises;
	size_t worst;
	struct roles roles;
	struct place context, latency, number;
	struct timerlat_cpu {
		struct late irq; /* the last sample of the interrupt */
		uint64_t number; /* of both samples of a period */
		uint32_t hit;    /* the task that the interrupt hit; STATE_NO_TASK */
		bool in_softirq; /* it hit a softirq of that task */
		bool waits;      /* the sample is not split yet */
		bool split;      /* it was, by events of osnoise */
		bool lost;       /* events, since then */
	} * cpus;
	size_t nr_cpus;
	struct lates samples;
	struct spreads spreads;     /* by context */
	uint64_t nr_samples, wrong; /* wrong: parts that do not add up */
	uint64_t unexplained;       /* that no event tells anything of */
	bool failed;
};

/* Borrows the pass, its timeline and the noises, which see each event before. */
void timerlats_init(struct timerlats *timerlats, struct pass *pass, const struct timeline *timeline,
		    const struct noises *noises, size_t worst);
void timerlats_release(struct timerlats *timerlats);

void timerlats_see(struct timerlats *timerlats, const struct event *event);
/* After the last event. */
void timerlats_end(struct timerlats *timerlats);
/* Where recordings are compared. */
void timerlats_put(const struct timerlats *timerlats, struct findings *findings);

#endif
