// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/graph/call_sums.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/frame/pass.h"
#include "lib/answers/graph/graph_facts.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/u64_map.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/graph_events.h"
#include "lib/meaning/event/kinds.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/follow/calls.h"
#include "lib/meaning/follow/roles.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/uapi/names.h"

enum role { ENTRY = 1, EXIT, CALL, CALL_END };

static const struct role_name names[] = {
	GRAPH_EVENTS(ENTRY, EXIT),
	{ "raw_syscalls", "sys_enter", CALL },
	{ "raw_syscalls", "sys_exit", CALL_END },
	{ "syscalls", "sys_enter_*", CALL },
	{ "syscalls", "sys_exit_*", CALL_END },
	{ NULL, NULL, 0 },
};

/* Bits 62 and 63 of a node for a system call; no kernel has functions at such addresses. */
static const uint64_t SYSCALL = UINT64_C(1) << 62, SYSCALL_BITS = UINT64_C(3) << 62;

/* The system call that a task is in. */
struct in_call {
	uint64_t since;
	uint32_t node, number;
	bool open;
};

struct call_sums_analysis {
	struct pass *pass;
	struct call_sums *sums;
	struct roles roles;
	struct calls *calls; /* NULL: no event of the function graph was seen */
	uint16_t buffer;
	struct u64_map tasks; /* by PID: struct in_call */
	struct kinds numbers; /* of entries of calls: struct place */
};

static bool init(void *arg, struct pass *pass, const void *options)
{
	struct call_sums_analysis *own = arg;

	own->pass = pass;
	/* The options are the result, which belongs to whoever adds the analysis. */
	own->sums = (struct call_sums *)(uintptr_t)options;
	own->sums->machine = pass->machine;
	roles_init(&own->roles, names);
	u64_map_init(&own->tasks, sizeof(struct in_call));
	return !kinds_init(&own->numbers, pass->reader->nr_buffers, free) && call_tree_begin(&own->sums->tree, 0);
}

static void release(void *arg)
{
	struct call_sums_analysis *own = arg;

	calls_free(own->calls);
	u64_map_release(&own->tasks);
	kinds_release(&own->numbers);
	roles_release(&own->roles);
}

static uint8_t look(void *arg, const struct event *event)
{
	struct call_sums_analysis *own = arg;
	bool fresh;
	uint8_t role = roles_of(&own->roles, event, &fresh);

	if (role == CALL) {
		struct place *number = calloc(1, sizeof(*number));

		if (number && !place_find(number, event->type, "__syscall_nr") &&
		    !place_find(number, event->type, "nr"))
			(void)place_find(number, event->type, "id");
		own->pass->failed |= !number || !kinds_set(&own->numbers, event, number);
		own->sums->syscalls = true;
	}
	if ((role == ENTRY || role == EXIT) && !own->calls) {
		own->calls = calls_new();
		own->buffer = event->buffer;
		own->sums->context = event->type->context;
		own->sums->functions = true;
		own->pass->failed |= !own->calls;
	}
	return role;
}

/* Returns CALL_TREE_NONE for a call beyond the limit, and for all calls below it. */
static uint32_t child(struct call_sums_analysis *own, uint32_t parent, uint64_t func)
{
	struct call_sums *sums = own->sums;
	uint32_t node;

	if (parent == CALL_TREE_NONE)
		return CALL_TREE_NONE;
	if (sums->nodes_max && sums->tree.nr >= sums->nodes_max) {
		for (node = sums->tree.nodes[parent].first; node != CALL_TREE_NONE; node = sums->tree.nodes[node].next)
			if (sums->tree.nodes[node].func == func)
				break;
		return node;
	}
	node = call_tree_child(&sums->tree, parent, func);
	own->pass->failed |= node == CALL_TREE_NONE;
	return node;
}

static bool wants(const struct call_sums_analysis *own, const struct event *event)
{
	const struct state_task *task = graph_task(own->pass, event);

	return (!task || pass_wants_since(own->pass, task, event->ts)) && pass_wants_cpu(own->pass, event->cpu);
}

/* The node below which a function stands that no known function called. */
static uint32_t outer_node(struct call_sums_analysis *own, const struct event *event, const struct calls_frame *frame)
{
	const struct in_call *in = u64_map_find(&own->tasks, (uint32_t)event->pid);

	if (frame->depth)
		return child(own, 0, CALL_TREE_NOT_SEEN);
	return event->pid && in && in->open && !(frame->within & (EVENT_HARDIRQ | EVENT_NMI)) ? in->node : 0;
}

static void enter(struct call_sums_analysis *own, const struct event *event)
{
	struct calls_frame frame, caller = { .word = NULL };
	uint32_t parent, node;

	/* A call that is too deep has no frame: the frame on top belongs to another call and has its word set. */
	if (!calls_frame(own->calls, event, 0, &frame) || *frame.word || !wants(own, event))
		return;
	if (calls_frame(own->calls, event, 1, &caller) && *caller.word)
		parent = (uint32_t)(*caller.word - 1);
	else
		parent = outer_node(own, event, &frame);
	node = child(own, parent, graph_function(own->sums->context, frame.func));
	*frame.word = (uint64_t)node + 1;
}

static void count(struct call_node *node, uint64_t lasted, uint64_t self, uint64_t since)
{
	node->calls++;
	node->total += lasted;
	node->self += self;
	if (lasted > node->longest || !node->longest_at) {
		node->longest = lasted;
		node->longest_at = since;
	}
}

static void end_call(struct call_sums_analysis *own, const struct call *call)
{
	struct call_node *node;

	if (!call->word) {
		own->sums->unpaired += !call->entered;
		return;
	}
	if (call->word - 1 == CALL_TREE_NONE) {
		own->sums->left_out++;
		return;
	}
	if (!call->timed)
		return;
	node = &own->sums->tree.nodes[call->word - 1];
	/* The mark is the time of the event of the entry, where one can go to. */
	count(node, call->lasted, call->lasted > call->nested ? call->lasted - call->nested : 0, call->mark);
	node->interrupts += call->interrupts;
}

static uint32_t number_of(struct call_sums_analysis *own, const struct event *event)
{
	const struct place *place = kinds_find(&own->numbers, event);

	return place ? (uint32_t)place_u64(place, event) : 0;
}

static void enter_call(struct call_sums_analysis *own, const struct event *event)
{
	struct in_call *in = u64_map_add(&own->tasks, (uint32_t)event->pid);
	uint32_t number = number_of(own, event);

	if (!in) {
		own->pass->failed = true;
		return;
	}
	/* With raw_syscalls and syscalls each call has two entries. */
	if (in->open && in->number == number && in->since + 1000 > event->ts)
		return;
	own->sums->open += in->open;
	*in = (struct in_call){ .since = event->ts, .number = number, .open = wants(own, event) };
	if (in->open)
		in->node = child(own, 0, SYSCALL | number);
}

static void exit_call(struct call_sums_analysis *own, const struct event *event)
{
	struct in_call *in = u64_map_find(&own->tasks, (uint32_t)event->pid);

	if (!in || !in->open)
		return;
	in->open = false;
	if (in->node == CALL_TREE_NONE)
		own->sums->left_out++;
	else
		/* What was called in it is taken away from its own time at the end. */
		count(&own->sums->tree.nodes[in->node], event->ts - in->since, event->ts - in->since, in->since);
}

static void lose(struct call_sums_analysis *own, const struct event *event)
{
	struct in_call *in;
	struct call call;
	size_t at = 0;
	uint64_t key;

	if (own->calls && event->buffer == own->buffer)
		(void)calls_see(own->calls, event, &call);
	while ((in = u64_map_next(&own->tasks, &at, &key)))
		own->sums->open += in->open;
	u64_map_clear(&own->tasks);
}

static void see(void *arg, const struct event *event, uint8_t role)
{
	struct call_sums_analysis *own = arg;
	struct call call;

	if (event->kind == EVENT_LOST) {
		lose(own, event);
		return;
	}
	switch ((enum role)role) {
	case ENTRY:
	case EXIT:
		if (!own->calls || own->buffer != event->buffer)
			return;
		calls_mark(own->calls, event->ts);
		if (calls_see(own->calls, event, &call))
			end_call(own, &call);
		else if (role == ENTRY)
			enter(own, event);
		return;
	case CALL:
		enter_call(own, event);
		return;
	case CALL_END:
		exit_call(own, event);
		return;
	}
}

static int finish(void *arg, struct findings *findings, struct fail *fail)
{
	struct call_sums_analysis *own = arg;
	const struct in_call *in;
	size_t at = 0;
	uint64_t key;

	(void)findings;
	if (own->pass->failed || own->roles.failed || own->tasks.starved || (own->calls && calls_starved(own->calls)))
		return fail_memory(fail);
	if (!own->sums->functions && !own->sums->syscalls)
		return PASS_NOTHING;
	while ((in = u64_map_next(&own->tasks, &at, &key)))
		own->sums->open += in->open;
	if (own->calls)
		own->sums->open += calls_left(own->calls).open + calls_left(own->calls).lost;
	call_tree_settle(&own->sums->tree);
	return 0;
}

static const struct analysis_want call_wants[] = {
	{ "ftrace:funcgraph_exit", "ftrace:function", "which functions were called" },
	{ "raw_syscalls:sys_enter", "syscalls:sys_enter_*", "when a system call begins" },
	{ NULL, NULL, NULL },
};

const struct analysis_ops call_sums_analysis = {
	.name = "graph",
	.summary = "show which function called which",
	.wants = call_wants,
	.nothing = "there are neither function graphs nor system calls among the events",
	.recorded_by = "-p function_graph or -e raw_syscalls",
	.essential = 1,
	.size = sizeof(struct call_sums_analysis),
	.init = init,
	.look = look,
	.see = see,
	.finish = finish,
	.release = release,
};

void call_sums_release(struct call_sums *sums)
{
	call_tree_release(&sums->tree);
	*sums = (struct call_sums){ .machine = NULL };
}

bool call_sums_is_syscall(uint64_t func)
{
	return (func & SYSCALL_BITS) == SYSCALL;
}

void call_sums_name(const struct call_sums *sums, uint64_t func, char name[CALL_SUMS_NAME])
{
	const char *known;

	if (!func) {
		snprintf(name, CALL_SUMS_NAME, "all calls");
	} else if (func == CALL_TREE_NOT_SEEN) {
		snprintf(name, CALL_SUMS_NAME, "[entered before the start]");
	} else if (func == CALL_TREE_INTERRUPT) {
		snprintf(name, CALL_SUMS_NAME, "[an interrupt]");
	} else if (call_sums_is_syscall(func)) {
		known = system_call_name(sums->machine, (int64_t)(uint32_t)func);
		if (known)
			snprintf(name, CALL_SUMS_NAME, "%s()", known);
		else
			snprintf(name, CALL_SUMS_NAME, "syscall_%" PRIu32 "()", (uint32_t)func);
	} else {
		graph_name(sums->context, func, name, CALL_SUMS_NAME);
	}
}
