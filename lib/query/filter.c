// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/query/filter.h"

#include "lib/base/text.h"
#include "lib/event/context.h"
#include "lib/event/event.h"
#include "lib/event/tasks.h"
#include "lib/plugin/decoded.h"
#include "lib/query/filter_program_internal.h"

#include <stdlib.h>
#include <string.h>

enum { STRING_MAX = 4096 };

void filter_free(struct filter *filter)
{
	if (!filter)
		return;
	for (size_t i = 0; i < filter->nr; i++) {
		free(filter->terms[i].text);
		free(filter->terms[i].cpus);
	}
	free(filter->terms);
	free(filter);
}

static bool number_meets(enum filter_op op, uint64_t value, uint64_t number, bool is_signed)
{
	bool less = is_signed ? (int64_t)value < (int64_t)number : value < number;

	switch (op) {
	case FILTER_EQ:
		return value == number;
	case FILTER_NE:
		return value != number;
	case FILTER_LT:
		return less;
	case FILTER_LE:
		return less || value == number;
	case FILTER_GT:
		return !less && value != number;
	case FILTER_GE:
		return !less;
	case FILTER_AND:
		return value & number;
	case FILTER_GLOB:
	case FILTER_OPS:
		break;
	}
	return false;
}

/* do_filter_scalar_cpumask(): the CPU equals the only one of the list. */
static bool cpu_meets(enum filter_op op, uint64_t cpu, const struct cpus *cpus)
{
	bool has = cpu < CPUS_MAX && cpus_has(cpus, (uint32_t)cpu), only = has && cpus_count(cpus) == 1;

	return op == FILTER_AND ? has : op == FILTER_EQ ? only : !only;
}

/* Bit n of a bitmap that consists of longs of the traced machine. */
static bool mask_has(const struct schema_abi *abi, const uint8_t *at, size_t len, size_t bit)
{
	size_t word = abi->long_size ? abi->long_size : 8, byte = bit / 8;

	if (abi->big_endian)
		byte = byte / word * word + (word - 1 - byte % word);
	return byte < len && at[byte] >> bit % 8 & 1;
}

static bool mask_meets(const struct filter *filter, const struct filter_term *term, const struct event *event)
{
	bool equal = true, common = false;
	const uint8_t *at;
	size_t len;

	if (!place_bytes(&term->place, event, &at, &len))
		return false;
	for (size_t cpu = 0; cpu < CPUS_MAX; cpu++) {
		bool has = mask_has(&filter->context->abi, at, len, cpu), wanted = cpus_has(term->cpus, (uint32_t)cpu);

		equal = equal && has == wanted;
		common = common || (has && wanted);
	}
	return term->op == FILTER_AND ? common : term->op == FILTER_EQ ? equal : !equal;
}

static bool string_meets(const struct filter_term *term, const char *text, size_t len)
{
	char copy[STRING_MAX];

	if (!term->is_glob)
		return (len == term->len && !memcmp(text, term->text, len)) == (term->op != FILTER_NE);
	if (len >= sizeof(copy))
		len = sizeof(copy) - 1;
	memcpy(copy, text, len);
	copy[len] = '\0';
	return text_glob(term->text, copy);
}

/* A comparison with a decoded field, while the plugin decodes the event. */
struct asked {
	const struct filter_term *term;
	bool met;
};

static void meet_decoded(void *arg, const struct decoded *decoded)
{
	struct asked *asked = arg;
	const struct filter_term *term = asked->term;

	if (strcmp(decoded->name, term->decoded->name))
		return;
	if (decoded->kind == DECODED_TEXT)
		asked->met |= term->text && string_meets(term, decoded->text, decoded->len);
	else
		asked->met |= !term->text &&
			      number_meets(term->op, decoded->value, term->number, decoded->kind == DECODED_INTEGER);
}

static bool decoded_meets(const struct filter *filter, const struct filter_term *term, const struct event *event)
{
	struct asked asked = { .term = term };

	if (!decoder_each(term->decoder, event->data, event->len, meet_decoded, &asked))
		context_lacks_memory(filter->context);
	return asked.met;
}

static bool term_meets(const struct filter *filter, const struct filter_term *term, const struct event *event)
{
	struct task_name name;
	const char *text;
	size_t len;

	switch (term->of) {
	case FILTER_OF_NUMBER:
		if (term->has_cpus)
			return cpu_meets(term->op, place_u64(&term->place, event), term->cpus);
		return number_meets(term->op, place_u64(&term->place, event), term->number, term->place.is_signed);
	case FILTER_OF_CPU:
		if (term->has_cpus)
			return cpu_meets(term->op, event->cpu, term->cpus);
		return term->op != FILTER_AND && number_meets(term->op, event->cpu, term->number, true);
	case FILTER_OF_STRING:
		return place_string(&term->place, event, &text, &len) && string_meets(term, text, len);
	case FILTER_OF_TASK:
		name = task_name(filter->context->tasks, event->pid);
		return string_meets(term, name.text, name.len);
	case FILTER_OF_MASK:
		return mask_meets(filter, term, event);
	case FILTER_OF_DECODED:
		return decoded_meets(filter, term, event);
	}
	return false;
}

bool filter_needs_task(const struct filter *filter)
{
	for (size_t i = 0; i < filter->nr; i++)
		if (filter->terms[i].of == FILTER_OF_TASK)
			return true;
	return false;
}

bool filter_match(const struct filter *filter, const struct event *event)
{
	int at = 0;

	while (at >= 0) {
		const struct filter_term *term = &filter->terms[at];

		at = term->next[term_meets(filter, term, event) != term->is_not];
	}
	return at == FILTER_TRUE;
}
