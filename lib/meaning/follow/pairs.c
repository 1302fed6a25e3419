// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/follow/pairs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/vec.h"

enum { OPEN_MAX = 1 << 20 };

/* The first row that fits counts. */
static const struct pair_kind kinds[] = {
	{ "wakeup", "sched:sched_waking", "sched:sched_switch", "pid=next_pid", PAIR_KNOWN },
	{ "wakeup", "sched:sched_wakeup", "sched:sched_switch", "pid=next_pid", PAIR_KNOWN },
	{ "wakeup", "sched:sched_wakeup_new", "sched:sched_switch", "pid=next_pid", PAIR_KNOWN },
	{ "run", "sched:sched_switch", "sched:sched_switch", "common_cpu,next_pid=prev_pid", PAIR_KNOWN },
	{ "softirq", "irq:softirq_entry", "irq:softirq_exit", "common_cpu,vec", PAIR_KNOWN },
	{ "irq", "irq:irq_handler_entry", "irq:irq_handler_exit", "common_cpu,irq", PAIR_KNOWN },
	{ "block", "block:block_rq_issue", "block:block_rq_complete", "dev,sector", PAIR_KNOWN },
	{ "syscall", "raw_syscalls:sys_enter", "raw_syscalls:sys_exit", "common_pid", PAIR_KNOWN },
	{ "syscall", "syscalls:sys_enter*", "syscalls:sys_exit*", "common_pid", PAIR_KNOWN },
	/* A mutex for which a task first spins and then sleeps has two contention_begin: __mutex_lock_common(). */
	{ "lock", "lock:contention_begin", "lock:contention_end", "common_pid,lock_addr", PAIR_GOES_ON },
	{ "function", "ftrace:funcgraph_entry", "ftrace:funcgraph_exit", "common_pid,func,depth", PAIR_KNOWN },
	{ "function", "ftrace:fgraph_retaddr_entry", "ftrace:funcgraph_exit", "common_pid,func,depth", PAIR_KNOWN },
	{ "timer", "timer:timer_expire_entry", "timer:timer_expire_exit", "common_cpu,timer", PAIR_KNOWN },
	{ "hrtimer", "timer:hrtimer_expire_entry", "timer:hrtimer_expire_exit", "common_cpu,hrtimer", PAIR_KNOWN },
	{ NULL, "*_entry", "*_exit", "common_cpu", PAIR_KNOWN },
	{ NULL, "*_begin", "*_end", "common_pid", PAIR_GUESSED },
	{ NULL, "*_start", "*_end", "common_pid", PAIR_GUESSED },
	{ NULL, "*_issue", "*_complete", "dev,sector", PAIR_GUESSED },
	{ NULL, "*_start", "*_done", "common_pid", PAIR_GUESSED },
};

/* One that is open. Another one with the same hash replaces it, and its end is then unknown: never a wrong one. */
struct pair_open {
	uint64_t start;
	uint64_t values[PAIRS_KEYS_MAX];
	uint32_t cpu; /* UINT32_MAX: it may end on any */
	int32_t pid;
	uint16_t own;
	bool known;
};

const struct pair_kind *pairs_named(const char *name)
{
	for (size_t i = 0; i < array_size(kinds); i++)
		if (kinds[i].name && !strcmp(kinds[i].name, name))
			return &kinds[i];
	return NULL;
}

/* Whether a format is called so. *ret_stem: the text for which '*' stands; else NULL. */
static bool is_called(const char *pattern, const struct format *format, const char **ret_stem, size_t *ret_len)
{
	const char *colon = strchr(pattern, ':'), *name = colon ? colon + 1 : pattern, *star = strchr(name, '*');
	size_t head = star ? (size_t)(star - name) : 0, tail = star ? strlen(star + 1) : 0;
	size_t len = strlen(format->name);

	*ret_stem = NULL;
	if (colon ? strncmp(pattern, format->system, (size_t)(colon - pattern)) || format->system[colon - pattern] :
		    !strcmp(format->system, "ftrace"))
		return false;
	if (!star)
		return !strcmp(name, format->name);
	if (len < head + tail || memcmp(name, format->name, head) || strcmp(star + 1, format->name + len - tail))
		return false;
	*ret_stem = format->name + head;
	*ret_len = len - head - tail;
	return true;
}

const struct pair_kind *pairs_between(const struct format *begin, const struct format *end)
{
	const char *first, *second;
	size_t first_len, second_len;

	for (size_t i = 0; i < array_size(kinds); i++)
		if (is_called(kinds[i].begin, begin, &first, &first_len) &&
		    is_called(kinds[i].end, end, &second, &second_len) &&
		    (!first || (first_len == second_len && !memcmp(first, second, first_len))))
			return &kinds[i];
	return NULL;
}

/* The fields of one end, in the order of the table. */
static void find_keys(struct pair_end *end, const struct event_type *type)
{
	char match[64], *rest = match, *word;

	snprintf(match, sizeof(match), "%s", end->kind->match);
	end->nr_keys = 0;
	while ((word = strsep(&rest, ",")) && end->nr_keys < PAIRS_KEYS_MAX) {
		struct pair_key *key = &end->keys[end->nr_keys++];
		char *second = strchr(word, '=');

		if (second)
			*second++ = '\0';
		key->of = !strcmp(word, "common_cpu") ? PAIR_KEY_CPU :
			  !strcmp(word, "common_pid") ? PAIR_KEY_TASK :
							PAIR_KEY_FIELD;
		end->on_cpu |= key->of == PAIR_KEY_CPU;
		end->of_task |= key->of == PAIR_KEY_TASK;
		if (key->of == PAIR_KEY_FIELD)
			(void)place_find(&key->place, type, !end->begins && second ? second : word);
	}
}

static void settle(struct pair_end *end, const struct event_type *type)
{
	const char *name = type->format->name, *last = strrchr(name, '_');

	if (!end->stem) {
		end->stem = name;
		end->stem_len = last ? (size_t)(last - name) : strlen(name);
	}
	find_keys(end, type);
}

bool pair_end_find(struct pair_end *ret, const struct event_type *type)
{
	*ret = (struct pair_end){ .kind = NULL };
	for (unsigned begins = 2; type->format && begins-- > 0 && !ret->kind;) {
		for (size_t i = 0; i < array_size(kinds) && !ret->kind; i++) {
			if (!is_called(begins ? kinds[i].begin : kinds[i].end, type->format, &ret->stem,
				       &ret->stem_len))
				continue;
			ret->kind = &kinds[i];
			ret->begins = begins;
		}
	}
	if (ret->kind)
		settle(ret, type);
	return ret->kind;
}

void pair_end_values(const struct pair_end *end, const struct event *event, uint64_t values[PAIRS_KEYS_MAX])
{
	for (unsigned i = 0; i < PAIRS_KEYS_MAX; i++) {
		const struct pair_key *key = &end->keys[i];

		values[i] = i >= end->nr_keys        ? 0 :
			    key->of == PAIR_KEY_CPU  ? event->cpu :
			    key->of == PAIR_KEY_TASK ? (uint32_t)event->pid :
			    key->place.size == 0     ? 0 :
						       place_u64(&key->place, event);
	}
}

void pair_end_partner(const struct pair_end *end, char into[PAIRS_NAME])
{
	const char *pattern = end->begins ? end->kind->end : end->kind->begin, *colon = strchr(pattern, ':');
	const char *name = colon ? colon + 1 : pattern, *star = strchr(name, '*');

	if (star)
		snprintf(into, PAIRS_NAME, "%.*s%.*s%s", (int)(star - name), name,
			 (int)(end->stem_len < 40 ? end->stem_len : 40), end->stem, star + 1);
	else
		snprintf(into, PAIRS_NAME, "%s", name);
}

bool pair_end_fits(const struct pair_end *end, const struct event_type *type, struct pair_end *ret)
{
	*ret = (struct pair_end){ .begins = !end->begins };
	for (size_t i = 0; type->format && i < array_size(kinds); i++) {
		const struct pair_kind *kind = &kinds[i];
		const char *mine = end->begins ? kind->begin : kind->end;

		/* A call of the function graph has one of two events at its begin. */
		if (strcmp(mine, end->begins ? end->kind->begin : end->kind->end) ||
		    !is_called(end->begins ? kind->end : kind->begin, type->format, &ret->stem, &ret->stem_len))
			continue;
		if (ret->stem && (ret->stem_len != end->stem_len || memcmp(ret->stem, end->stem, end->stem_len)))
			continue;
		ret->kind = kind;
		settle(ret, type);
		return true;
	}
	return false;
}

void pairs_init(struct pairs *pairs)
{
	*pairs = (struct pairs){ .owns = NULL };
	u64_map_init(&pairs->open, sizeof(struct pair_open));
}

void pairs_release(struct pairs *pairs)
{
	free(pairs->owns);
	u64_map_release(&pairs->open);
}

bool pairs_bind(struct pairs *pairs, const struct event_type *type, struct pair_end *ret)
{
	struct pairs_own *own;
	size_t i = 0;

	if (!pair_end_find(ret, type))
		return false;
	for (; i < pairs->nr_owns; i++) {
		own = &pairs->owns[i];
		if (own->kind == ret->kind && own->stem_len == ret->stem_len &&
		    !memcmp(own->stem, ret->stem, ret->stem_len))
			break;
	}
	if (i == pairs->nr_owns) {
		own = vec_push(pairs->owns, pairs->nr_owns);
		pairs->starved |= !own;
		if (!own)
			return false;
		*own = (struct pairs_own){ ret->kind, ret->stem, ret->stem_len };
	}
	ret->own = (uint16_t)i;
	return true;
}

static uint64_t mix(uint64_t key)
{
	key *= UINT64_C(0x9e3779b97f4a7c15);
	return key ^ key >> 29;
}

static uint64_t key_of(const struct pair_end *end, const uint64_t values[PAIRS_KEYS_MAX])
{
	uint64_t key = mix(end->own);

	for (unsigned i = 0; i < end->nr_keys; i++)
		key = mix(key ^ values[i]);
	return key;
}

static bool is_of(const struct pair_open *open, const struct pair_end *end, const uint64_t values[PAIRS_KEYS_MAX])
{
	return open->known && open->own == end->own && !memcmp(open->values, values, PAIRS_KEYS_MAX * sizeof(*values));
}

void pairs_begin(struct pairs *pairs, const struct pair_end *end, const struct event *event)
{
	uint64_t values[PAIRS_KEYS_MAX];
	struct pair_open *open;

	/* What never ends must not fill memory. */
	if (pairs->open.len >= OPEN_MAX)
		u64_map_clear(&pairs->open);
	pair_end_values(end, event, values);
	open = u64_map_add(&pairs->open, key_of(end, values));
	if (!open || (end->kind->how == PAIR_GOES_ON && is_of(open, end, values)))
		return;
	*open = (struct pair_open){ .start = event->ts,
				    .cpu = end->on_cpu ? event->cpu : UINT32_MAX,
				    .pid = event->pid,
				    .own = end->own,
				    .known = true };
	memcpy(open->values, values, sizeof(values));
}

bool pairs_end(struct pairs *pairs, const struct pair_end *end, const struct event *event, uint64_t *ret_start,
	       int32_t *ret_pid)
{
	uint64_t values[PAIRS_KEYS_MAX], key;
	struct pair_open *open;
	bool known;

	pair_end_values(end, event, values);
	key = key_of(end, values);
	open = u64_map_find(&pairs->open, key);
	if (!open)
		return false;
	known = is_of(open, end, values) && !(pairs->rest && open->cpu == UINT32_MAX);
	*ret_start = open->start;
	*ret_pid = open->pid;
	u64_map_remove(&pairs->open, key);
	return known;
}

void pairs_lose(struct pairs *pairs, const struct event *gap)
{
	struct pair_open *open;
	size_t at = 0;
	uint64_t key;

	pairs->rest |= gap->lost == EVENT_LOST_REST;
	while ((open = u64_map_next(&pairs->open, &at, &key)))
		if (open->cpu == gap->cpu || open->cpu == UINT32_MAX)
			open->known = false;
}
