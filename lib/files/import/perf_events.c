// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/files/import/perf_internal.h"
#include "lib/files/rewrite/binder.h"
#include "lib/ground/base/bytes.h"
#include "lib/ground/base/fail.h"
#include "lib/meaning/schema/format.h"
#include "lib/pages/ring/page.h"

/* The same event under two attributes is recorded within so many ns. */
enum { TWICE_NS = 10000 };

/* Marks in a chain of callers (enum perf_callchain_context). */
#define CHAIN_MARKS ((uint64_t)-4095)
#define CHAIN_KERNEL ((uint64_t)-128)
#define CHAIN_USER ((uint64_t)-512)

static int bind(struct perf_import *import, const struct record *record, struct fail *fail)
{
	int64_t lost = import->pending[import->cpu];

	/* Where the events are not sorted; an interrupt may write one while another one that is older is written. */
	if (!import->sorter && record->ts < import->last[import->cpu])
		return lost ? -EAGAIN : binder_insert(import->binder, import->cpu, record, fail);
	import->pending[import->cpu] = 0;
	import->counts.lost += (uint64_t)lost;
	return binder_add(import->binder, import->cpu, record, lost, fail);
}

/* Binds the record that was made. */
static int bind_made(struct perf_import *import, uint64_t time, struct fail *fail)
{
	const struct record record = { .ts = time,
				       .data = (const uint8_t *)import->record.data,
				       .len = (uint32_t)import->record.len };

	return bind(import, &record, fail);
}

/* Binds an event, whose stacks follow. 1: it was bound before, when perf wrote it for the first time. */
static int bind_event(struct perf_import *import, const struct perf_event *event, const void *data, uint32_t len,
		      struct fail *fail)
{
	const struct record record = { .ts = event->time, .data = data, .len = len };
	bool repeated = false;
	int r = 0;

	if (event->late && !import->sorter)
		r = binder_has(import->binder, import->cpu, &record, &repeated, fail);
	import->counts.repeated += repeated;
	import->counts.events -= repeated;
	return r || repeated ? r + repeated : bind(import, &record, fail);
}

static void put_u32(struct perf_import *import, size_t at, uint32_t value)
{
	value = import->swap ? __builtin_bswap32(value) : value;
	memcpy(import->record.data + at, &value, sizeof(value));
}

/* Addresses of the part of a chain that begins at `from`; *ret_nr of them, up to the next mark. */
static const uint8_t *part_of(const struct perf_import *import, const uint8_t *chain, size_t nr, uint64_t mark,
			      size_t *ret_nr)
{
	const uint8_t *begin = NULL;

	*ret_nr = 0;
	for (size_t i = 0; i < nr; i++) {
		uint64_t address = load_u64(chain + i * 8, import->swap);

		if (address >= CHAIN_MARKS && begin)
			break;
		if (address == mark)
			begin = chain + (i + 1) * 8;
		else if (begin && address < CHAIN_MARKS)
			(*ret_nr)++;
	}
	return begin;
}

/* Writes a stack of the task of the event whose record is there: its common fields are those of the event. */
static int bind_stack(struct perf_import *import, uint64_t time, bool user, const uint8_t *from, size_t nr,
		      uint32_t tgid, struct fail *fail)
{
	size_t at = import->callers, word = import->long_size, room = user ? PERF_USER_CALLERS : nr;
	uint16_t id = user ? PERF_USER_STACK_ID : PERF_KERNEL_STACK_ID;
	struct buf *record = &import->record;

	if (nr > room) {
		nr = room;
		import->counts.cut_stacks++;
	}
	record->len = import->common;
	if (!buf_reserve(record, at - import->common + room * word))
		return fail_memory(fail);
	memset(record->data + import->common, 0, at - import->common + room * word);
	record->len = at + room * word;
	id = import->swap ? __builtin_bswap16(id) : id;
	memcpy(record->data, &id, sizeof(id));
	put_u32(import, import->common, user ? tgid : (uint32_t)nr);
	for (size_t i = 0; i < nr; i++) {
		if (word == 8)
			memcpy(record->data + at + i * 8, from + i * 8, 8);
		else
			put_u32(import, at + i * 4, (uint32_t)load_u64(from + i * 8, import->swap));
	}
	import->counts.stacks++;
	import->counts.unnamed += !user && !import->kallsyms;
	return bind_made(import, time, fail);
}

static int bind_stacks(struct perf_import *import, const struct perf_event *event, struct fail *fail)
{
	size_t kernel_nr, user_nr;
	const uint8_t *kernel = part_of(import, event->chain, event->nr_chain, CHAIN_KERNEL, &kernel_nr);
	const uint8_t *user = part_of(import, event->chain, event->nr_chain, CHAIN_USER, &user_nr);
	int r = 0;

	if (kernel_nr)
		r = bind_stack(import, event->time, false, kernel, kernel_nr, 0, fail);
	if (!r && user_nr)
		r = bind_stack(import, event->time, true, user, user_nr, (uint32_t)event->tgid, fail);
	return r;
}

static bool is_seen(const struct perf_event *event, uint64_t time, uint64_t what)
{
	return event->time == time && event->what == what;
}

/*
 * Whether the same event came shortly before under another attribute of the same tracepoint, or perf wrote it once
 * more; counts it.
 */
static int is_twice(struct perf_import *import, const struct perf_event *event, bool *ret, struct fail *fail)
{
	size_t len = event->raw_len;
	struct perf_seen *seen;

	for (size_t i = 0; i < PERF_TWICE_LAST && !*ret; i++) {
		bool again, other;

		seen = &import->seen[i];
		if (!seen->raw || seen->len != len || memcmp(seen->raw, event->raw, len) != 0)
			continue;
		again = event->late && (is_seen(event, seen->time, seen->what) ||
					(seen->taken && is_seen(event, seen->other_time, seen->other_what)));
		other = seen->what != event->what && !seen->taken && event->time - seen->time <= TWICE_NS;
		if (other) {
			seen->taken = true;
			seen->other_time = event->time;
			seen->other_what = event->what;
		}
		import->counts.repeated += again;
		import->counts.twice += other;
		*ret = again || other;
	}
	if (*ret)
		return 0;
	seen = &import->seen[import->nr_seen++ % PERF_TWICE_LAST];
	free(seen->raw);
	*seen = (struct perf_seen){ .time = event->time, .what = event->what, .raw = malloc(len), .len = len };
	if (!seen->raw)
		return fail_memory(fail);
	memcpy(seen->raw, event->raw, len);
	return 0;
}

static void forget_seen(struct perf_import *import)
{
	for (size_t i = 0; i < PERF_TWICE_LAST; i++) {
		free(import->seen[i].raw);
		import->seen[i] = (struct perf_seen){ .raw = NULL };
	}
}

/* perf fills an event up; without dynamic fields its format says where it ends, but for stacks and texts of ftrace. */
static bool is_open(const struct format *format)
{
	if (!strcmp(format->system, "ftrace") || !format->size)
		return true;
	for (uint32_t i = 0; i < format->nr_fields; i++)
		if (strstr(format->fields[i].type, "__data_loc") || strstr(format->fields[i].type, "__rel_loc") ||
		    !format->fields[i].size)
			return true;
	return false;
}

/* The id in an event is that of its attribute (perf.c: add_event()). */
static const struct perf_plan *plan_of(struct perf_import *import, const struct perf_event *event)
{
	struct perf_plan *plan = &import->plans[event->what];

	if (!plan->known) {
		plan->known = true;
		plan->format = schema_format(import->schema, load_u16(event->raw, import->swap), NULL);
		plan->end = plan->format && !is_open(plan->format) ? (plan->format->size + 3) / 4 * 4 : UINT32_MAX;
	}
	return plan;
}

static void put_u64(struct perf_import *import, size_t at, uint64_t value)
{
	value = import->swap ? __builtin_bswap64(value) : value;
	memcpy(import->record.data + at, &value, sizeof(value));
}

/* Writes a sample that is no tracepoint. Without callers its own address is its stack. */
static int bind_sample(struct perf_import *import, const struct perf_event *event, struct fail *fail)
{
	uint16_t id = import->sample_ids[event->what];
	struct buf *record = &import->record;
	struct perf_event alone = *event;
	uint64_t chain[2];
	int r;

	buf_clear(record);
	if (!buf_reserve(record, import->ip + 2 * sizeof(uint64_t)))
		return fail_memory(fail);
	record->len = import->ip + 2 * sizeof(uint64_t);
	memset(record->data, 0, record->len);
	id = import->swap ? __builtin_bswap16(id) : id;
	memcpy(record->data, &id, sizeof(id));
	put_u32(import, 4, (uint32_t)event->pid);
	put_u64(import, import->ip, event->ip);
	put_u64(import, import->ip + sizeof(uint64_t), event->period);
	r = bind_event(import, event, record->data, (uint32_t)record->len, fail);
	if (r || event->nr_chain)
		return r ? r : bind_stacks(import, event, fail);
	chain[0] = (int64_t)event->ip < 0 ? CHAIN_KERNEL : CHAIN_USER;
	chain[1] = event->ip;
	for (size_t i = 0; i < 2; i++)
		chain[i] = import->swap ? __builtin_bswap64(chain[i]) : chain[i];
	alone.chain = (const uint8_t *)chain;
	alone.nr_chain = 2;
	return event->ip ? bind_stacks(import, &alone, fail) : 0;
}

/* For the stacks of an event, which have its common fields. */
static bool keep_common(struct perf_import *import, const struct perf_event *event)
{
	buf_clear(&import->record);
	return buf_add(&import->record, event->raw, import->common);
}

static int bind_whole(struct perf_import *import, const struct perf_event *event, struct fail *fail)
{
	const struct perf_plan *plan;
	bool twice = false;
	uint32_t len;
	int r = 0;

	if (event->cpu != import->cpu) {
		import->cpu = event->cpu;
		forget_seen(import);
	}
	if (!event->raw)
		return bind_sample(import, event, fail);
	if (import->sorter && (import->has_late || import->twins[event->what]))
		r = is_twice(import, event, &twice, fail);
	if (r || twice) {
		import->counts.events -= twice;
		return r;
	}
	plan = plan_of(import, event);
	if (!plan->format || plan->format->size > event->raw_len || event->raw_len < import->common) {
		import->counts.unknown++;
		import->counts.events--;
		return 0;
	}
	len = plan->end < event->raw_len ? plan->end : event->raw_len;
	if (import->counts.preempt)
		event->raw[3]--;
	if (event->nr_chain && !keep_common(import, event))
		return fail_memory(fail);
	r = bind_event(import, event, event->raw, len, fail);
	if (r == -EFBIG) {
		import->counts.refused++;
		import->counts.events--;
		return 0;
	}
	return r || !event->nr_chain ? r : bind_stacks(import, event, fail);
}

int perf_events_bind(struct perf_import *import, const struct perf_event *event, struct fail *fail)
{
	int r = bind_whole(import, event, fail);

	return r > 0 ? 0 : r;
}
