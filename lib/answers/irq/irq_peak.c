// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/irq/irq_peak_internal.h"

/* Adds time in a window that is not older than those before it. */
static void take(struct irq_taking *taking, uint64_t number, uint64_t taken)
{
	struct irq_window *last = &taking->last;

	if (last->taken && last->number == number) {
		last->taken += taken;
		return;
	}
	if (!taking->first.taken)
		taking->first = *last;
	else if (last->taken > taking->largest.taken)
		taking->largest = *last;
	*last = (struct irq_window){ number, taken };
}

void irq_taking_pause(struct irq_taking *taking, uint64_t now)
{
	uint64_t since = taking->since, first = since / IRQ_WINDOW, last = now / IRQ_WINDOW;

	taking->since = 0;
	if (!since || now <= since)
		return;
	if (first == last) {
		take(taking, first, now - since);
		return;
	}
	take(taking, first, (first + 1) * IRQ_WINDOW - since);
	/* The first of the windows that it took as a whole is enough. */
	if (first + 1 < last)
		take(taking, first + 1, IRQ_WINDOW);
	if (now > last * IRQ_WINDOW)
		take(taking, last, now - last * IRQ_WINDOW);
}

static void add(struct irq_peak *peak, struct irq_sums *sums, const struct irq_window *window, uint32_t cpu)
{
	uint64_t sum = window->taken;

	if (!sum)
		return;
	if (window->number > sums->number) {
		sums->before = window->number == sums->number + 1 ? sums->taken : 0;
		sums->taken = 0;
		sums->number = window->number;
	}
	if (window->number == sums->number)
		sum = sums->taken += sum;
	else if (window->number + 1 == sums->number)
		sum = sums->before += sum;
	if (sum > peak->taken)
		*peak = (struct irq_peak){ sum, window->number, cpu };
}

void irq_peak_add(struct irq_peak *peak, struct irq_sums *sums, const struct irq_taking *taking, uint32_t cpu)
{
	add(peak, sums, &taking->first, cpu);
	add(peak, sums, &taking->largest, cpu);
	add(peak, sums, &taking->last, cpu);
}
