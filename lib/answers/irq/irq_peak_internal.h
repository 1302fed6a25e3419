/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_IRQ_IRQ_PEAK_INTERNAL_H
#define WEFT_ANSWERS_IRQ_IRQ_PEAK_INTERNAL_H

#include <stdint.h>

/*
 * The most time that a source of interrupts took of one CPU within a window of 10 ms. Windows are fixed: they begin at
 * the multiples of 10 ms of the trace's clock, so one pass and a few numbers for each source and CPU give exact sums.
 * They do not depend on where the trace or the selected part of it begins.
 */
enum { IRQ_WINDOW = 10 * 1000 * 1000 };

struct irq_window {
	uint64_t number, taken; /* taken: ns; 0: nothing */
};

/*
 * The time that one run has taken so far. It counts only once the run has ended, because a run whose end was not
 * recorded has no known length. Only its first and its last window can also have time of other runs; of the others the
 * largest is enough. All zero: nothing was taken yet.
 */
struct irq_taking {
	uint64_t since; /* it has had the CPU since then; 0: it does not have it */
	struct irq_window first, largest, last;
};

/* All runs of a source on one CPU. All zero: there was none. */
struct irq_sums {
	uint64_t number;        /* the newest window */
	uint64_t taken, before; /* in it, and in the one before it */
};

struct irq_peak {
	uint64_t taken, number; /* taken 0: there is none */
	uint32_t cpu;
};

static inline void irq_taking_begin(struct irq_taking *taking, uint64_t now)
{
	taking->since = now;
}

/* The run no longer has the CPU. */
void irq_taking_pause(struct irq_taking *taking, uint64_t now);

/*
 * Adds a run that has ended. Runs are added in the order in which they end. The sums are exact unless runs of one
 * source overlap on a CPU for longer than a window; they are then too small.
 */
void irq_peak_add(struct irq_peak *peak, struct irq_sums *sums, const struct irq_taking *taking, uint32_t cpu);

#endif
