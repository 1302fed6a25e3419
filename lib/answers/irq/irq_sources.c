// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/irq/irq_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/digits.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/names/symbols.h"

/* The sources of runs, by kind and name. */

uint32_t irq_source_of(struct irq_analysis *irq, enum irq_kind kind, const char *name, size_t len)
{
	char key[1 + IRQ_NAME] = { (char)kind };
	struct irq_source *source;
	uint32_t number;
	bool is_new;

	len = len < IRQ_NAME ? len : IRQ_NAME - 1;
	memcpy(key + 1, name, len);
	number = labels_add(&irq->ids, key, 1 + len, &is_new);
	if (number < irq->nr_sources)
		return number;
	source = number == irq->nr_sources ? vec_push(irq->sources, irq->nr_sources) : NULL;
	if (!source) {
		irq->pass->failed = true;
		return UINT32_MAX;
	}
	source->kind = kind;
	memcpy(source->name, name, len);
	return number;
}

uint32_t irq_source_of_function(struct irq_analysis *irq, enum irq_kind kind, const struct event *event,
				const struct place *place)
{
	uint64_t address = place_u64(place, event);
	struct symbol symbol;
	char text[IRQ_NAME];

	if (symbols_find(event->type->context->symbols, address, &symbol))
		return irq_source_of(irq, kind, symbol.name, symbol.name_len);
	return irq_source_of(irq, kind, text, (size_t)snprintf(text, sizeof(text), "0x%" PRIx64, address));
}

/* The name of a source of this kind is a number, a blank and the name of a handler, which may be cut off. */
static bool is_hard(const struct irq_source *source, size_t digits, const char *name, size_t len)
{
	return digits + len < sizeof(source->name) && !memcmp(source->name + digits, name, len) &&
	       !source->name[digits + len];
}

uint32_t irq_source_of_hard(struct irq_analysis *irq, uint64_t number, const char *name, size_t len)
{
	struct irq_near *near = &irq->near[number % IRQ_NEAR];
	char text[DIGITS_MAX + IRQ_NAME], *end;

	len = len < IRQ_NAME ? len : IRQ_NAME;
	if (near->digits && near->number == number && is_hard(&irq->sources[near->source], near->digits, name, len))
		return near->source;
	end = digits_put_u64(text, number);
	*end++ = ' ';
	memcpy(end, name, len);
	*near = (struct irq_near){ .number = number,
				   .source = irq_source_of(irq, IRQ_HARD, text, (size_t)(end - text) + len),
				   .digits = (uint32_t)(end - text) };
	if (near->source == UINT32_MAX)
		near->digits = 0;
	return near->source;
}
