// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * An event is counted in the row of its key. With stacks it waits until its own has come: the stack of an event follows
 * it on its CPU. Interrupts between the two have events of their own, at another level.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/answers/tally/tally_internal.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/follow/stack.h"
#include "lib/meaning/names/symbols.h"

enum { CPUS_MAX_WAITING = 1 << 13 };

static unsigned level_of(const struct event *event)
{
	return event->flags & EVENT_NMI ? 3 : event->flags & EVENT_HARDIRQ ? 2 : event->flags & EVENT_SOFTIRQ ? 1 : 0;
}

static struct tally_waiting *waiting_at(struct tally *tally, const struct event *event, unsigned level)
{
	size_t index = (size_t)event->cpu_index * TALLY_LEVELS + level;

	while (tally->nr_waiting <= index && index < (size_t)CPUS_MAX_WAITING * TALLY_LEVELS)
		if (!vec_push(tally->waiting, tally->nr_waiting)) {
			tally->failed = true;
			return NULL;
		}
	return index < tally->nr_waiting ? &tally->waiting[index] : NULL;
}

void tally_add_row(struct tally *tally, const uint8_t *key, size_t len, const uint64_t *values, uint64_t times)
{
	struct tally_row *row = tally_map_add(&tally->rows, key, len);

	/* Adding a key counts one hit. */
	*(row ? &tally->rows.hits : &tally->rows.dropped) += times - 1;
	if (!row)
		return;
	row->sums[0] += times;
	for (size_t i = 0; i < tally->program.nr_values; i++) {
		row->sums[i + 1] += values[i] * times;
		for (uint64_t j = 0; tally_is_of_samples(&tally->program.values[i]) && j < times; j++)
			tally_sample(tally, row, i + 1, values[i]);
	}
}

/* Counts a row whose event has no stack. */
static void settle(struct tally *tally, struct tally_waiting *waiting)
{
	if (!waiting || !waiting->some)
		return;
	tally_add_row(tally, waiting->key, waiting->len, waiting->values, 1);
	free(waiting->key);
	*waiting = (struct tally_waiting){ .some = false };
}

static void wait_for_stack(struct tally *tally, const struct tally_key *key, const uint64_t *values,
			   const struct event *event)
{
	struct tally_waiting *waiting = waiting_at(tally, event, level_of(event));
	uint8_t *copy = waiting ? malloc(key->len) : NULL;

	if (!copy) {
		tally->failed |= waiting != NULL;
		return;
	}
	memcpy(copy, key->data, key->len);
	*waiting = (struct tally_waiting){
		.some = true, .pid = event->pid, .key = copy, .len = key->len, .stack_at = key->stack_at
	};
	memcpy(waiting->values, values, sizeof(waiting->values));
}

/* Copies the next key of the first event from its saved bytes. */
static void copy_key(const struct tally_program *program, struct tally_key *key, size_t index, const uint8_t **at,
		     size_t *left)
{
	const uint8_t *begin = *at;
	struct tally_part part;

	if (tally_key_part(program, at, left, index, &part))
		tally_key_put(key, begin, (size_t)(*at - begin));
}

void tally_make_key(const struct tally *tally, const struct tally_bound *bound, const uint8_t **at, size_t *left,
		    uint64_t lat, const struct event *event, struct tally_key *ret)
{
	const struct tally_program *program = &tally->program;

	ret->len = ret->stack_at = 0;
	for (size_t i = 0; i < program->nr_keys; i++)
		if (program->keys[i].of_first)
			copy_key(program, ret, i, at, left);
		else
			tally_key_add(tally, ret, &program->keys[i], bound, &bound->keys[i], lat, event);
}

void tally_count(struct tally *tally, const struct tally_bound *bound, const struct tally_row *begun, uint64_t lat,
		 const struct event *event, uint64_t times)
{
	const struct tally_program *program = &tally->program;
	const uint8_t *at = begun ? begun->more : NULL;
	size_t left = begun ? begun->more_len : 0;
	uint64_t values[TALLY_COLUMNS_MAX] = { 0 };
	struct tally_key key;

	tally_make_key(tally, bound, &at, &left, lat, event, &key);
	for (size_t i = 0; i < program->nr_values; i++) {
		if (!program->values[i].of_first) {
			values[i] = tally_number(tally, &program->values[i], bound, &bound->values[i], lat, event);
		} else if (left >= 8) {
			memcpy(&values[i], at, 8);
			at += 8;
			left -= 8;
		}
	}
	if (program->stacks)
		wait_for_stack(tally, &key, values, event);
	else
		tally_add_row(tally, key.data, key.len, values, times);
}

/* The kernel's histograms skip five frames, most of which belong to the tracing code; weft skips only these. */
static bool is_of_tracing(const struct symbols *symbols, uint64_t address)
{
	static const char *const names[] = { "trace_event_raw_event_", "trace_event_buffer_", "event_triggers_",
					     "ftrace_syscall_", "__traceiter_" };
	struct symbol symbol;

	if (!stack_symbol(symbols, address, &symbol))
		return false;
	for (size_t i = 0; i < array_size(names); i++)
		if (symbol.name_len >= strlen(names[i]) && !memcmp(symbol.name, names[i], strlen(names[i])))
			return true;
	return false;
}

static void take_stack(struct tally *tally, const struct tally_buffer *buffer, struct tally_waiting *waiting,
		       const struct event *event)
{
	size_t max = context_since(buffer->last.context, 6, 3) ? TALLY_STACK_MAX : TALLY_STACK_MAX_OLD, nr = 0;
	struct tally_key key;
	uint64_t address;
	struct stack stack;
	uint16_t len = 0;

	key.len = 0;
	tally_key_put(&key, waiting->key, waiting->stack_at);
	tally_key_put(&key, &len, 2);
	stack_of_kernel(&buffer->caller, event, &stack);
	while (nr < max && stack_next(&stack, &address)) {
		if (!nr && is_of_tracing(buffer->last.context->symbols, address))
			continue;
		tally_key_put(&key, &address, 8);
		nr++;
	}
	len = (uint16_t)(8 * nr);
	memcpy(key.data + waiting->stack_at, &len, 2);
	tally_key_put(&key, waiting->key + waiting->stack_at + 2, waiting->len - waiting->stack_at - 2);
	tally_add_row(tally, key.data, key.len, waiting->values, 1);
	free(waiting->key);
	*waiting = (struct tally_waiting){ .some = false };
	tally->stacks++;
}

void tally_stack_see(struct tally *tally, const struct tally_buffer *buffer, const struct event *event)
{
	struct tally_waiting *waiting = waiting_at(tally, event, level_of(event));

	if (!waiting || !waiting->some)
		return;
	if (event->id == buffer->stack_id && event->pid == waiting->pid)
		take_stack(tally, buffer, waiting, event);
	else
		settle(tally, waiting);
}

void tally_stack_lost(struct tally *tally, const struct event *event)
{
	for (unsigned level = 0; level < TALLY_LEVELS; level++)
		settle(tally, waiting_at(tally, event, level));
}

void tally_stack_end(struct tally *tally)
{
	for (size_t i = 0; i < tally->nr_waiting; i++)
		settle(tally, &tally->waiting[i]);
}
