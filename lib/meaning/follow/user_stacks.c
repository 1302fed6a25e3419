// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/follow/user_stacks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/u64_map.h"
#include "lib/ground/base/vec.h"
#include "lib/ground/base/xxh64.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/events.h"
#include "lib/meaning/event/own_formats.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/follow/roles.h"
#include "lib/meaning/follow/stack.h"
#include "lib/meaning/follow/tick.h"
#include "lib/meaning/follow/who.h"
#include "lib/meaning/names/unwind.h"
#include "lib/pages/trace/trace.h"

enum { BATCH = 256, FRAMES = 128, ITEMS_MAX = 1 << 24, PARTS = 8, COPY_MAX = 4096 };

/* HIT: of a probe of a program. */
enum role { SWITCH = 1, TICK, CALL, HIT, ROLES };

#define CALL_NS UINT64_C(1000000000) /* from the event of a call to its function at most */
#define SWITCH_NS UINT64_C(1000000)  /* from the copy to the event of a switch: interrupts are off meanwhile */

/* Those of lib/kernel/setup/setup_user_stacks.c. */
static const struct role_name names[] = {
	{ "weft", "psi_task_switch*", SWITCH },
	{ "weft", "pick_next_task_fair*", SWITCH },
	{ "weft", "task_tick_fair*", TICK },
	{ "weft", "__x64_sys_*", CALL },
	{ "weft", "sys_enter*", CALL },
	{ "weft", "*", HIT },
	{ NULL, NULL, 0 },
};

/* The number in the psABI of each of struct pt_regs of x86-64 (arch/x86/include/asm/ptrace.h), in its order. */
enum { PT_REGS = 21, NOT_ONE = UNWIND_REGISTERS };
static const uint8_t numbers[PT_REGS] = { 15, 14, 13, 12, 6,       3,  11,      10,      9, 8,      0,
					  2,  1,  4,  5,  NOT_ONE, 16, NOT_ONE, NOT_ONE, 7, NOT_ONE };

/* Frames that several stacks share. */
struct run {
	size_t at;
	uint32_t nr;
	uint8_t end; /* enum unwind_end */
};

struct taken {
	uint64_t ts;
	int32_t pid, tgid;
	uint64_t key; /* of a CALL its number, of a HIT its address */
	uint32_t run;
	uint8_t role;
};

/* What tells of an event which stack is its own. */
struct looked {
	uint8_t role;
	bool known;
	struct place key;
};

struct user_stacks {
	const struct context *context;
	struct roles roles;
	struct bound {
		struct place registers, parts[PARTS], named[UNWIND_REGISTERS];
	} bound[ROLES];
	struct taken *taken; /* by role, PID and time */
	size_t nr, nr_of[ROLES];
	uint64_t *losses; /* times of copies that the buffer lost, ascending */
	size_t nr_losses;
	struct u64_map looked; /* by type of event: struct looked */
	struct run *runs;
	size_t nr_runs;
	uint64_t *frames;
	size_t nr_frames;
	struct u64_map hashes; /* of frames: uint32_t, the run + 1 */
	struct user_stacks_counts counts;
	bool starved;
};

static uint32_t keep(struct user_stacks *stacks, const uint64_t *frames, uint32_t nr, enum unwind_end end)
{
	uint64_t hash = xxh64(frames, nr * sizeof(*frames)) ^ end;
	uint32_t *known = u64_map_add(&stacks->hashes, hash);
	const struct run *other = known && *known ? &stacks->runs[*known - 1] : NULL;
	struct run *run;

	if (other && other->nr == nr && other->end == end &&
	    !memcmp(&stacks->frames[other->at], frames, nr * sizeof(*frames)))
		return *known - 1;
	run = known && stacks->nr_runs < ITEMS_MAX ? vec_push(stacks->runs, stacks->nr_runs) : NULL;
	if (run)
		*run = (struct run){ stacks->nr_frames, nr, (uint8_t)end };
	for (uint32_t i = 0; run && i < nr; i++) {
		uint64_t *frame = vec_push(stacks->frames, stacks->nr_frames);

		stacks->starved |= !frame;
		if (!frame)
			return 0;
		*frame = frames[i];
	}
	stacks->starved |= !run;
	if (run)
		*known = (uint32_t)stacks->nr_runs;
	return run ? (uint32_t)stacks->nr_runs - 1 : 0;
}

static enum unwind_end step(const struct context *context, int32_t tgid, struct unwind *unwind)
{
	const char *rules;
	uint64_t offset;
	size_t len;

	/* A call may be the last instruction of its function. */
	if (!stack_user_rules(context, tgid, unwind->registers[UNWIND_PLACE] - unwind->called, &rules, &len, &offset))
		return UNWIND_UNKNOWN;
	return unwind_step(unwind, rules, len, offset);
}

static uint32_t unwind_all(struct user_stacks *stacks, int32_t tgid, struct unwind *unwind)
{
	uint64_t frames[FRAMES];
	enum unwind_end end = UNWIND_GOES_ON;
	uint32_t nr = 0;

	while (nr < FRAMES && end == UNWIND_GOES_ON) {
		/* What is in no file with rules is no return address. */
		frames[nr++] = unwind->registers[UNWIND_PLACE];
		end = step(stacks->context, tgid, unwind);
		if (end == UNWIND_UNKNOWN && nr > 1 &&
		    !stack_user_is_code(stacks->context, tgid, frames[nr - 1] - unwind->called))
			nr--;
	}
	return keep(stacks, frames, nr, end == UNWIND_GOES_ON ? UNWIND_CUT : end);
}

static bool read_named(const struct bound *bound, const struct event *event, struct unwind *ret)
{
	for (size_t i = 0; i < UNWIND_REGISTERS; i++) {
		if (!bound->named[i].field)
			return false;
		ret->registers[i] = place_u64(&bound->named[i], event);
		ret->known |= 1u << i;
	}
	ret->stack_at = ret->registers[UNWIND_STACK];
	ret->swap = event->type->context->abi.swap;
	return true;
}

static bool read_registers(const struct bound *bound, const struct event *event, struct unwind *ret)
{
	const uint8_t *data;
	size_t len;

	if (!place_bytes(&bound->registers, event, &data, &len) || len != PT_REGS * sizeof(uint64_t))
		return false;
	for (size_t i = 0; i < PT_REGS; i++)
		if (numbers[i] != NOT_ONE) {
			ret->registers[numbers[i]] = load_u64(data + i * sizeof(uint64_t), bound->registers.swap);
			ret->known |= 1u << numbers[i];
		}
	ret->stack_at = ret->registers[UNWIND_STACK];
	ret->swap = bound->registers.swap;
	return true;
}

/* All events of a role have the same fields. */
static void bind(struct bound *bound, const struct event_type *type)
{
	static const char *const registers[] = { USER_STACKS_REGISTERS };
	char name[8];

	(void)place_find(&bound->registers, type, "r");
	for (unsigned i = 0; i < UNWIND_REGISTERS; i++)
		(void)place_find(&bound->named[i], type, registers[i]);
	for (unsigned i = 0; i < PARTS; i++) {
		snprintf(name, sizeof(name), "w%u", i);
		(void)place_find(&bound->parts[i], type, name);
	}
}

/* Field 15 of struct pt_regs is what the program has called. */
static uint64_t key_of(const struct bound *bound, uint8_t role, const struct event *event, const struct unwind *unwind)
{
	enum { ORIG_AX = 15 };
	const uint8_t *data;
	size_t len;

	if (role == HIT)
		return unwind->registers[UNWIND_PLACE];
	return role == CALL && place_bytes(&bound->registers, event, &data, &len) ?
		       load_u64(data + ORIG_AX * sizeof(uint64_t), bound->registers.swap) :
		       0;
}

static void see(struct user_stacks *stacks, const struct event *event)
{
	struct unwind unwind = { .known = 0 };
	uint8_t copy[COPY_MAX];
	struct taken *taken;
	struct bound *bound;
	uint64_t *loss = event->kind == EVENT_LOST ? vec_push(stacks->losses, stacks->nr_losses) : NULL;
	bool fresh;
	uint8_t role = event->kind == EVENT_RECORD ? roles_of(&stacks->roles, event, &fresh) : 0;
	int32_t tgid;

	if (loss)
		*loss = event->ts;
	if (!role)
		return;
	bound = &stacks->bound[role];
	if (fresh)
		bind(bound, event->type);
	if (role == HIT ? !read_named(bound, event, &unwind) : !read_registers(bound, event, &unwind))
		return;
	unwind.stack = copy;
	for (unsigned i = 0; i < PARTS; i++) {
		const uint8_t *part;
		size_t len;

		if (!bound->parts[i].field || !place_bytes(&bound->parts[i], event, &part, &len) ||
		    len > sizeof(copy) - unwind.stack_len)
			break;
		memcpy(copy + unwind.stack_len, part, len);
		unwind.stack_len += len;
	}
	tgid = who_process(stacks->context, event->pid, event->ts, NULL);
	tgid = tgid ? tgid : event->pid;
	taken = stacks->nr < ITEMS_MAX ? vec_push(stacks->taken, stacks->nr) : NULL;
	stacks->starved |= !taken;
	if (taken)
		*taken = (struct taken){ .ts = event->ts,
					 .pid = event->pid,
					 .tgid = tgid,
					 .key = key_of(bound, role, event, &unwind),
					 .run = unwind_all(stacks, tgid, &unwind),
					 .role = role };
	stacks->nr_of[role] += taken != NULL;
}

static void read_buffer(struct user_stacks *stacks, const struct context *context)
{
	struct events_options options = { .until = UINT64_MAX };
	struct event *batch = calloc(BATCH, sizeof(*batch));
	struct events *events;
	int nr;

	stacks->starved |= !batch;
	if (batch && !events_open(context, &options, &events, NULL)) {
		while ((nr = events_batch(events, batch, BATCH, NULL)) > 0)
			for (int i = 0; i < nr; i++)
				see(stacks, &batch[i]);
		events_free(events);
	}
	free(batch);
}

static int compare(const void *a, const void *b)
{
	const struct taken *one = a, *other = b;

	if (one->role != other->role)
		return one->role < other->role ? -1 : 1;
	if (one->pid != other->pid)
		return one->pid < other->pid ? -1 : 1;
	return one->ts < other->ts ? -1 : one->ts > other->ts;
}

struct user_stacks *user_stacks_new(const struct context *of)
{
	struct user_stacks *stacks = calloc(1, sizeof(*stacks));

	if (!stacks)
		return NULL;
	stacks->context = of;
	roles_init(&stacks->roles, names);
	u64_map_init(&stacks->hashes, sizeof(uint32_t));
	u64_map_init(&stacks->looked, sizeof(struct looked));
	for (size_t i = 0; i < trace_buffers(of->trace); i++) {
		struct context *context;

		if (!own_buffer_is(trace_buffer(of->trace, i)->name.text, OWN_BUFFER_STACKS) ||
		    context_new(of->trace, i, &context, NULL))
			continue;
		if (context_shares_times(of, context))
			read_buffer(stacks, context);
		context_free(context);
	}
	if (stacks->nr)
		qsort(stacks->taken, stacks->nr, sizeof(*stacks->taken), compare);
	if (stacks->starved || stacks->roles.failed) {
		user_stacks_free(stacks);
		return NULL;
	}
	return stacks;
}

void user_stacks_free(struct user_stacks *stacks)
{
	if (!stacks)
		return;
	roles_release(&stacks->roles);
	u64_map_release(&stacks->hashes);
	u64_map_release(&stacks->looked);
	free(stacks->losses);
	free(stacks->taken);
	free(stacks->runs);
	free(stacks->frames);
	free(stacks);
}

/* The index of the first one that is not before the key. */
static size_t first_from(const struct user_stacks *stacks, const struct taken *key)
{
	return vec_count(stacks->nr, i, compare(&stacks->taken[i], key) < 0);
}

static void give(struct user_stacks *stacks, const struct taken *taken, struct stack *ret, int32_t *ret_tgid)
{
	const struct run *run = &stacks->runs[taken->run];

	stacks->counts.found++;
	stacks->counts.cut += run->end == UNWIND_CUT;
	stacks->counts.unknown += run->end == UNWIND_UNKNOWN;
	*ret = (struct stack){ .left = bytes_of(&stacks->frames[run->at], run->nr * sizeof(uint64_t), false),
			       .size = sizeof(uint64_t),
			       .user = true,
			       .unwound = true,
			       .cut = run->end != UNWIND_WHOLE };
	*ret_tgid = taken->tgid;
}

static bool is_of(const struct taken *taken, const struct taken *key)
{
	return taken->role == key->role && taken->pid == key->pid;
}

bool user_stacks_find(struct user_stacks *stacks, enum user_stacks_at at, int32_t pid, uint64_t from, uint64_t to,
		      struct stack *ret, int32_t *ret_tgid)
{
	const struct taken key = { .ts = from, .pid = pid, .role = at == USER_STACKS_TICK ? TICK : SWITCH };
	size_t low = first_from(stacks, &key);
	const struct taken *taken;

	if (low == stacks->nr)
		return false;
	taken = &stacks->taken[low];
	if (!is_of(taken, &key) || taken->ts > to)
		return false;
	while (key.role == SWITCH && ++low < stacks->nr && is_of(&stacks->taken[low], &key) &&
	       stacks->taken[low].ts <= to)
		taken = &stacks->taken[low];
	give(stacks, taken, ret, ret_tgid);
	return true;
}

bool user_stacks_of_events(const struct user_stacks *stacks)
{
	return stacks->nr_of[CALL] || stacks->nr_of[HIT];
}

static const struct looked *look(struct user_stacks *stacks, const struct event *event)
{
	const struct format *format = event->type->format;
	struct looked *looked = format ? u64_map_add(&stacks->looked, (uintptr_t)event->type) : NULL;

	if (!looked || looked->known)
		return looked;
	looked->known = true;
	if (!strcmp(format->system, "raw_syscalls") && !strcmp(format->name, "sys_enter"))
		looked->role = place_find(&looked->key, event->type, "id") ? CALL : 0;
	else if (!strcmp(format->system, "syscalls") && !strncmp(format->name, "sys_enter_", 10))
		looked->role = place_find(&looked->key, event->type, "__syscall_nr") ? CALL : 0;
	else
		looked->role = place_find(&looked->key, event->type, "__probe_ip") ? HIT : 0;
	return looked;
}

static bool lost_between(const struct user_stacks *stacks, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < stacks->nr_losses; i++)
		if (stacks->losses[i] > from && stacks->losses[i] <= to)
			return true;
	return false;
}

/*
 * The function of a system call comes behind the event, and the probe of the tracepoint, too: it was added later. Of
 * the probes of one instruction the kernel calls the one first that was added last.
 */
bool user_stacks_of(struct user_stacks *stacks, const struct event *event, struct stack *ret, int32_t *ret_tgid)
{
	struct taken key = { .ts = event->ts, .pid = event->pid };
	const struct looked *looked;
	const struct taken *taken;
	size_t at;

	if (!user_stacks_of_events(stacks))
		return false;
	looked = look(stacks, event);
	if (!looked || !looked->role || !stacks->nr_of[looked->role])
		return false;
	key.role = looked->role;
	key.key = place_u64(&looked->key, event);
	key.ts += key.role == HIT;
	at = first_from(stacks, &key);
	if (key.role == HIT ? !at : at == stacks->nr)
		return false;
	taken = &stacks->taken[key.role == HIT ? at - 1 : at];
	if (!is_of(taken, &key) || taken->key != key.key || (key.role == CALL && taken->ts - key.ts > CALL_NS) ||
	    (key.role == CALL ? lost_between(stacks, key.ts, taken->ts) : lost_between(stacks, taken->ts, key.ts)))
		return false;
	give(stacks, taken, ret, ret_tgid);
	return true;
}

bool user_stacks_beside(struct user_stacks *stacks, const struct event *event, struct stack *ret, int32_t *ret_tgid)
{
	const struct format *format = event->type->format;
	const struct context *context = event->type->context;
	uint64_t from = event->ts > SWITCH_NS ? event->ts - SWITCH_NS : 0;

	if (!stacks->nr)
		return false;
	if (format && !strcmp(format->name, "sched_switch") && !strcmp(format->system, "sched"))
		return !lost_between(stacks, from, event->ts) &&
		       user_stacks_find(stacks, USER_STACKS_SWITCH, event->pid, from, event->ts, ret, ret_tgid);
	if (tick_buffer(context))
		return user_stacks_find(stacks, USER_STACKS_TICK, event->pid, event->ts,
					event->ts + tick_ns(context) / 2, ret, ret_tgid);
	return user_stacks_of(stacks, event, ret, ret_tgid);
}

struct user_stacks_counts user_stacks_counts(const struct user_stacks *stacks)
{
	return stacks->counts;
}
