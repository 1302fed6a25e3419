// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/tally/tally_internal.h"

#include <string.h>

#include "lib/meaning/event/comms.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/release.h"
#include "lib/meaning/plugin/decoded.h"

void tally_key_put(struct tally_key *key, const void *bytes, size_t len)
{
	if (len > sizeof(key->data) - key->len)
		return;
	memcpy(key->data + key->len, bytes, len);
	key->len += len;
}

static void put_text(struct tally_key *key, const char *text, size_t len)
{
	uint16_t stored;

	/* as strncpy() does */
	len = strnlen(text, len < TALLY_STRING_MAX ? len : TALLY_STRING_MAX);
	stored = (uint16_t)len;
	tally_key_put(key, &stored, 2);
	tally_key_put(key, text, len);
}

/*
 * As order_base_2() of include/linux/log2.h, which takes an unsigned long. Older kernels round up to a power of two
 * before. For 0 and from half of all values on they shift 1 by all bits: that is 0 on arm and powerpc, whose logarithm
 * is -1, and 1 again on others.
 */
static uint64_t log2_of(uint64_t value, const struct context *context)
{
	uint64_t half = context->abi.long_size == 4 ? UINT64_C(1) << 31 : UINT64_C(1) << 63;

	if (context->abi.long_size == 4)
		value = (uint32_t)value;
	if ((!value || value > half) && release_shifts_log2(context))
		return !strncmp(context->machine, "arm", 3) || !strncmp(context->machine, "ppc", 3) ? UINT64_MAX : 0;
	return value > 1 ? 64 - (uint64_t)__builtin_clzll(value - 1) : 0;
}

/* The value of a column that a plugin decodes. */
struct fact {
	const char *name;
	struct tally_key *key; /* gets a text; NULL: a number is asked for */
	uint64_t number;
	bool found;
};

static void take_fact(void *arg, const struct decoded *decoded)
{
	struct fact *fact = arg;

	if (fact->found || strcmp(decoded->name, fact->name) || (decoded->kind == DECODED_TEXT) != (fact->key != NULL))
		return;
	fact->found = true;
	fact->number = decoded->value;
	if (fact->key)
		put_text(fact->key, decoded->text, decoded->len);
}

/* Returns the number, and puts a text into the key: 0 or the empty text if the plugin does not say it. */
static uint64_t put_fact(const struct tally_column *column, const struct tally_bound *bound, struct tally_key *key,
			 const struct event *event)
{
	struct fact fact = { .name = column->fact, .key = key };

	if (bound->decoder && !decoder_each(bound->decoder, event->data, event->len, take_fact, &fact))
		context_lacks_memory(bound->context);
	if (key && !fact.found)
		put_text(key, "", 0);
	return fact.number;
}

uint64_t tally_number(const struct tally *tally, const struct tally_column *column, const struct tally_bound *bound,
		      const struct place *place, uint64_t lat, const struct event *event)
{
	uint64_t value = 1;

	if (column->fact) {
		value = put_fact(column, bound, NULL, event);
	} else if (column->of == TALLY_NUMBER) {
		value = place_u64(place, event);
		/* DEFINE_HIST_FIELD_FN() of kernel/trace/trace_events_hist.c casts each field to unsigned long. */
		if (bound->context->abi.long_size == 4 && !tally_is_of_samples(column))
			value = (uint32_t)value;
	}
	if (column->of == TALLY_CPU)
		value = event->cpu;
	else if (column->of == TALLY_TIME)
		value = tally->program.usecs && bound->context->unit == CLOCK_UNIT_NS ? tally_usecs(event->ts) :
											event->ts;
	else if (column->of == TALLY_LATENCY)
		value = lat;
	if (column->how == TALLY_LOG2)
		return log2_of(value, bound->context);
	return column->how == TALLY_BUCKETS ? value / column->buckets * column->buckets : value;
}

void tally_key_add(const struct tally *tally, struct tally_key *key, const struct tally_column *column,
		   const struct tally_bound *bound, const struct place *place, uint64_t lat, const struct event *event)
{
	struct task_name name;
	const char *text;
	uint64_t number;
	size_t len;

	if (column->of == TALLY_STRING && column->fact) {
		(void)put_fact(column, bound, key, event);
	} else if (column->of == TALLY_STRING) {
		if (place_string(place, event, &text, &len))
			put_text(key, text, len);
		else
			put_text(key, "", 0);
	} else if (column->of == TALLY_TASK) {
		name = context_comm(bound->context, event->pid, event->ts);
		put_text(key, name.text, name.len);
	} else if (column->of == TALLY_STACK) {
		key->stack_at = key->len;
		put_text(key, "", 0);
	} else {
		number = tally_number(tally, column, bound, place, lat, event);
		tally_key_put(key, &number, 8);
	}
}

static bool has_length(const struct tally_column *column)
{
	return column->of == TALLY_STRING || column->of == TALLY_TASK || column->of == TALLY_STACK;
}

bool tally_key_part(const struct tally_program *program, const uint8_t **at, size_t *left, size_t index,
		    struct tally_part *ret)
{
	bool length = has_length(&program->keys[index]);
	size_t head = length ? 2 : 8, len = 0;
	uint16_t stored = 0;

	*ret = (struct tally_part){ .number = 0 };
	if (*left < head)
		return false;
	if (length) {
		memcpy(&stored, *at, 2);
		len = stored;
	} else {
		memcpy(&ret->number, *at, 8);
	}
	*at += head;
	*left -= head;
	if (*left < len)
		return false;
	ret->at = *at;
	ret->len = len;
	*at += len;
	*left -= len;
	return true;
}

static int compare_numbers(uint64_t a, uint64_t b, unsigned size, bool is_signed)
{
	unsigned shift = size && size < 8 ? 64 - 8 * size : 0;

	/* As tracing_map_cmp_num(): only the field's own bytes are compared. */
	a <<= shift;
	b <<= shift;
	if (is_signed)
		return (int64_t)a < (int64_t)b ? -1 : (int64_t)a > (int64_t)b;
	return a < b ? -1 : a > b;
}

/* The kernel compares the bytes of the pointer as if they were the string. */
static int compare_pointers(uint64_t a, uint64_t b)
{
	char first[9] = "", second[9] = "";

	for (unsigned i = 0; i < 8; i++) {
		first[i] = (char)(a >> 8 * i);
		second[i] = (char)(b >> 8 * i);
	}
	return strcmp(first, second);
}

static int compare_texts(const struct tally_part *a, const struct tally_part *b)
{
	size_t len = a->len < b->len ? a->len : b->len;
	int order = memcmp(a->at, b->at, len);

	return order ? order : a->len < b->len ? -1 : a->len > b->len;
}

static bool part_of(const struct tally_program *program, const struct tally_row *row, size_t index,
		    struct tally_part *ret)
{
	const uint8_t *at = row->key;
	size_t left = row->len;

	for (size_t i = 0; i <= index; i++)
		if (!tally_key_part(program, &at, &left, i, ret))
			return false;
	return true;
}

static int compare_keys(const struct tally_program *program, size_t index, const struct tally_row *a,
			const struct tally_row *b)
{
	const struct tally_column *column = &program->keys[index];
	struct tally_part first, second;

	if (column->of == TALLY_STACK || !part_of(program, a, index, &first) || !part_of(program, b, index, &second))
		return 0;
	if (has_length(column))
		return compare_texts(&first, &second);
	if (column->is_pointer)
		return compare_pointers(first.number, second.number);
	return compare_numbers(first.number, second.number, column->size, column->is_signed);
}

/* The kernel compares sums as unsigned numbers. */
static int compare_values(const struct tally *tally, size_t index, const struct tally_row *a, const struct tally_row *b)
{
	const struct tally_column *column = index ? &tally->program.values[index - 1] : NULL;

	return compare_numbers(tally_value(tally, a, index), tally_value(tally, b, index), 8,
			       column && tally_is_of_samples(column) && column->is_signed);
}

int tally_compare(const struct tally *tally, const struct tally_row *a, const struct tally_row *b)
{
	const struct tally_program *program = &tally->program;
	int order = 0;

	for (size_t i = 0; i < program->nr_sorts && !order; i++) {
		size_t column = program->sorts[i].column;

		if (column <= program->nr_values)
			order = compare_values(tally, column, a, b);
		else
			order = compare_keys(program, column - 1 - program->nr_values, a, b);
		if (program->sorts[i].descending)
			order = -order;
	}
	/* The order in which the kernel has equal rows is unknown; these are ordered by their keys. */
	if (!order)
		order = memcmp(a->key, b->key, a->len < b->len ? a->len : b->len);
	return order ? order : a->len < b->len ? -1 : a->len > b->len;
}
