// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/export/stacks_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/export/exports_internal.h"
#include "formats/export/held_stack_internal.h"
#include "formats/export/notes_internal.h"
#include "lib/ground/base/labels.h"
#include "lib/ground/base/u64_map.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/comms.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/graph_events.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/follow/frame_sort.h"
#include "lib/meaning/follow/stack.h"
#include "lib/meaning/follow/tick.h"
#include "lib/meaning/follow/user_stacks.h"
#include "lib/meaning/follow/who.h"
#include "lib/meaning/names/symbols.h"
#include "lib/meaning/query/selection.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/state/state.h"
#include "lib/meaning/timeline/timeline.h"

enum { NODES_MAX = 1 << 20, NO_NODE = 0 };

/* A task, while it is off its CPU. */
struct off {
	uint32_t node;             /* of the stack with which it left its CPU; NO_NODE: none was recorded */
	uint64_t blocked, waiting; /* ns without a stack */
	bool shown;                /* the user chose the event in which it left */
};

enum part { PART_UNKNOWN, PART_NONE, PART_STACK, PART_USER, PART_CALL };

struct buffer {
	struct stacks *stacks;
	const struct context *context;
	struct timeline *timeline;
	bool shares;                 /* the timeline is the exporter's */
	bool chosen;                 /* the user chose some of the events, and not only tasks */
	uint64_t tick_ns;            /* it has the ticks of CPUs, which stand for so long; 0: another one */
	struct u64_map functions;    /* by address: number of the name + 1 */
	struct u64_map comms;        /* by PID: node + 1 */
	struct u64_map offs;         /* by index of state::tasks: struct off */
	struct user_stacks *unwound; /* of programs, from record --stacks user */
	bool of_events;              /* also of system calls and probes */
	struct held_stacks held;
	struct place caller, user_caller, tgid;
	uint8_t parts[EVENT_TYPES_MAX];
};

struct stacks {
	struct labels labels;
	struct stack_node *nodes;
	size_t most; /* nodes */
	size_t nr_nodes;
	struct u64_map places; /* by parent and name: node */
	bool divides;          /* the stacks of each process stand alone */
	struct stacks_process *processes;
	size_t nr_processes;
	struct u64_map numbers; /* by buffer and PID: the number of the process + 1 */
	struct u64_map owners;  /* by first node: the same */
	struct buffer *buffers;
	size_t nr_buffers;
	uint64_t totals[NR_WEIGHTS];
	uint64_t cut;
	bool failed;
	int chosen;                          /* enum weight; -1: the first there is */
	uint32_t blocked, runnable, without; /* names */
};

const char *const weight_names[NR_WEIGHTS] = { "self-time", "on-cpu", "off-cpu", "count" };

static uint32_t name_of(struct stacks *stacks, const char *text, size_t len)
{
	bool fresh;
	uint32_t name = labels_add(&stacks->labels, text, len, &fresh);

	stacks->failed |= name == LABEL_NONE;
	return name == LABEL_NONE ? 0 : name;
}

/* Finds or makes the node with this key on another one; returns the lower node if there is no room. */
static uint32_t node_at(struct stacks *stacks, uint64_t key, uint32_t parent, uint32_t name)
{
	uint32_t *place = u64_map_find(&stacks->places, key);
	struct stack_node *node;

	if (place)
		return *place;
	if (stacks->nr_nodes >= stacks->most) {
		stacks->cut++;
		return parent;
	}
	place = u64_map_add(&stacks->places, key);
	node = place ? vec_push(stacks->nodes, stacks->nr_nodes) : NULL;
	if (!node) {
		stacks->failed = true;
		return parent;
	}
	*node = (struct stack_node){ .parent = parent, .name = name };
	*place = (uint32_t)(stacks->nr_nodes - 1);
	return *place;
}

static void weigh(struct stacks *stacks, uint32_t node, enum weight weight, uint64_t value)
{
	stacks->nodes[node].weights[weight] += value;
	stacks->totals[weight] += value;
}

static uint32_t function_of(struct buffer *buffer, uint64_t address)
{
	uint32_t *number = u64_map_add(&buffer->functions, address);
	struct symbol symbol;
	char text[STACK_NAME];

	if (!number) {
		buffer->stacks->failed = true;
		return 0;
	}
	if (*number)
		return *number - 1;
	stack_name(buffer->context->symbols, address, text, &symbol);
	*number = name_of(buffer->stacks, symbol.name, symbol.name_len) + 1;
	return *number - 1;
}

static uint32_t node_on(struct stacks *stacks, uint32_t parent, uint32_t name)
{
	return node_at(stacks, (uint64_t)parent << 32 | name, parent, name);
}

/* The first frame of a task, apart from those of other processes: no node has so high a number. */
static uint32_t process_node(struct buffer *buffer, int32_t pid, uint32_t name)
{
	struct stacks *stacks = buffer->stacks;
	int32_t tgid = who_process(buffer->context, pid, UINT64_MAX, NULL);
	uint64_t key = (uint64_t)(buffer - stacks->buffers) << 32 | (uint32_t)(tgid ? tgid : pid);
	uint32_t *number = u64_map_add(&stacks->numbers, key), node, *owner, at;
	struct stacks_process *process = number && !*number ? vec_push(stacks->processes, stacks->nr_processes) : NULL;

	if (process) {
		*process = (struct stacks_process){ .context = buffer->context, .pid = tgid ? tgid : pid };
		*number = (uint32_t)stacks->nr_processes;
	}
	if (!number || !*number) {
		stacks->failed = true;
		return 0;
	}
	at = *number - 1;
	node = node_at(stacks, (uint64_t)(UINT32_MAX - at) << 32 | name, 0, name);
	owner = node ? u64_map_add(&stacks->owners, node) : NULL;
	stacks->failed |= node && !owner;
	if (owner)
		*owner = at + 1;
	return node;
}

static uint32_t task_node(struct buffer *buffer, int32_t pid)
{
	uint32_t *node = u64_map_add(&buffer->comms, (uint32_t)pid), number;
	struct task_name name;

	if (!node) {
		buffer->stacks->failed = true;
		return 0;
	}
	if (!*node) {
		name = context_comm(buffer->context, pid, COMMS_LAST);
		number = name_of(buffer->stacks, name.text, name.len);
		*node = (buffer->stacks->divides && pid > 0 ? process_node(buffer, pid, number) :
							      node_on(buffer->stacks, 0, number)) +
			1;
	}
	return *node - 1;
}

static uint32_t interrupt_node(struct buffer *buffer, uint16_t cpu)
{
	char text[32];

	snprintf(text, sizeof(text), "[interrupts of CPU %u]", cpu);
	return node_on(buffer->stacks, 0, name_of(buffer->stacks, text, strlen(text)));
}

static void enter(void *arg, const struct event *event, struct track *track)
{
	struct buffer *buffer = arg;
	struct frame *frame = &track->frames[track->nr_frames - 1];
	uint32_t below;

	(void)event;
	if (track->nr_frames > 1)
		below = frame[-1].note;
	else
		below = track->interrupt ? interrupt_node(buffer, track->cpu) : task_node(buffer, track->pid);
	frame->note = node_on(buffer->stacks, below, function_of(buffer, frame->func));
}

static void leave(struct buffer *buffer, const struct timeline_slice *slice)
{
	const struct frame *frame = &slice->track->frames[slice->track->nr_frames - 1];

	if (slice->exited && frame->whole && slice->lasted > frame->nested)
		weigh(buffer->stacks, frame->note, WEIGHT_SELF_TIME, slice->lasted - frame->nested);
}

/* Adds a time during which a task was off its CPU. */
static void put_state(struct buffer *buffer, const struct timeline_slice *slice)
{
	enum runs_off what = runs_off(slice->mode->mode);
	bool waits = what == RUNS_WAITS;
	uint64_t lasted = slice->to - slice->start;
	struct stacks *stacks = buffer->stacks;
	struct off *off;

	if (what == RUNS_NOT_OFF || timeline_state(buffer->timeline)->tasks[slice->task].idle)
		return;
	off = u64_map_add(&buffer->offs, slice->task);
	if (!off || (buffer->chosen && !off->shown))
		return;
	if (off->node != NO_NODE)
		weigh(stacks, node_on(stacks, off->node, waits ? stacks->runnable : stacks->blocked), WEIGHT_OFF_CPU,
		      lasted);
	else if (waits)
		off->waiting += lasted;
	else
		off->blocked += lasted;
}

static void put(void *arg, const struct timeline_slice *slice)
{
	if (slice->kind == TIMELINE_FUNCTION)
		leave(arg, slice);
	else
		put_state(arg, slice);
}

static int buffer_init(struct stacks *stacks, struct buffer *buffer, uint16_t index, const struct reader_buffer *of)
{
	const struct context *context = of->context;
	struct selection *shown = of->shown;
	const struct timeline_calls calls = {
		.arg = buffer,
		.wanted = 1 << TIMELINE_STATE | 1 << TIMELINE_FUNCTION,
		.slice = put,
		.enter = enter,
		.one_wait = true,
	};

	buffer->stacks = stacks;
	buffer->context = context;
	buffer->tick_ns = tick_buffer(context) ? tick_ns(context) : 0;
	u64_map_init(&buffer->functions, sizeof(uint32_t));
	u64_map_init(&buffer->comms, sizeof(uint32_t));
	u64_map_init(&buffer->offs, sizeof(struct off));
	buffer->timeline = timeline_new(&calls, context->preempt_rt);
	buffer->unwound = user_stacks_new(context);
	buffer->of_events = buffer->unwound && user_stacks_of_events(buffer->unwound);
	if (!buffer->unwound || !buffer->timeline || !timeline_add(buffer->timeline, index, context))
		return -ENOMEM;
	timeline_choose(buffer->timeline, index, shown);
	buffer->chosen = shown && selection_asks_events(shown);
	return 0;
}

static int choose(struct stacks *stacks, const char *text, struct fail *fail)
{
	stacks->chosen = -1;
	for (int i = 0; text && i < NR_WEIGHTS; i++)
		if (!strcmp(text, weight_names[i]))
			stacks->chosen = i;
	if (text && stacks->chosen < 0)
		return fail_usage(fail,
				  fail_set(fail, -EINVAL,
					   "--weight: unknown weight '%s'; use self-time, on-cpu, off-cpu or count",
					   text));
	return 0;
}

static int init(struct stacks *stacks, const struct export_input *input, struct fail *fail)
{
	const struct reader *reader = input->reader;
	int r = choose(stacks, input->weight, fail);

	if (r)
		return r;
	labels_init(&stacks->labels);
	u64_map_init(&stacks->places, sizeof(uint32_t));
	u64_map_init(&stacks->owners, sizeof(uint32_t));
	u64_map_init(&stacks->numbers, sizeof(uint32_t));
	stacks->most = NODES_MAX;
	stacks->buffers = calloc(reader->nr_buffers + 1, sizeof(*stacks->buffers));
	if (!stacks->buffers || !vec_push(stacks->nodes, stacks->nr_nodes))
		return fail_memory(fail);
	(void)name_of(stacks, "all", 3);
	stacks->blocked = name_of(stacks, "[blocked]", 9);
	stacks->runnable = name_of(stacks, "[runnable]", 10);
	stacks->without = name_of(stacks, "[no stack]", 10);
	stacks->nr_buffers = reader->nr_buffers;
	for (size_t i = 0; i < reader->nr_buffers; i++) {
		if (buffer_init(stacks, &stacks->buffers[i], (uint16_t)i, &reader->buffers[i]))
			return fail_memory(fail);
	}
	return stacks->failed ? fail_memory(fail) : 0;
}

int stacks_new(const struct export_input *input, struct stacks **ret, struct fail *fail)
{
	struct stacks *stacks = calloc(1, sizeof(*stacks));
	int r;

	if (!stacks)
		return fail_memory(fail);
	r = init(stacks, input, fail);
	if (r)
		stacks_free(stacks);
	else
		*ret = stacks;
	return r;
}

void stacks_free(struct stacks *stacks)
{
	if (!stacks)
		return;
	for (size_t i = 0; stacks->buffers && i < stacks->nr_buffers; i++) {
		struct buffer *buffer = &stacks->buffers[i];

		if (!buffer->shares)
			timeline_free(buffer->timeline);
		u64_map_release(&buffer->functions);
		u64_map_release(&buffer->comms);
		u64_map_release(&buffer->offs);
		held_stacks_release(&buffer->held);
		user_stacks_free(buffer->unwound);
	}
	free(stacks->buffers);
	free(stacks->nodes);
	free(stacks->processes);
	u64_map_release(&stacks->places);
	u64_map_release(&stacks->owners);
	u64_map_release(&stacks->numbers);
	labels_release(&stacks->labels);
	free(stacks);
}

bool stacks_share(struct stacks *stacks, struct timeline *timeline)
{
	struct buffer *buffer = &stacks->buffers[0];

	if (stacks->nr_buffers != 1)
		return false;
	timeline_free(buffer->timeline);
	buffer->timeline = timeline;
	buffer->shares = true;
	return true;
}

void stacks_enter(struct stacks *stacks, const struct event *event, struct track *track)
{
	enter(&stacks->buffers[0], event, track);
}

void stacks_slice(struct stacks *stacks, const struct timeline_slice *slice)
{
	put(&stacks->buffers[0], slice);
}

static enum part part_of(struct buffer *buffer, const struct event_type *type)
{
	if (!type->format || strcmp(type->format->system, "ftrace"))
		return PART_NONE;
	if (graph_event_of(type->format) != GRAPH_EVENT_NONE)
		return PART_CALL;
	if (!strcmp(type->format->name, "kernel_stack"))
		return place_find(&buffer->caller, type, "caller") ? PART_STACK : PART_NONE;
	if (strcmp(type->format->name, "user_stack") != 0)
		return PART_NONE;
	(void)place_find(&buffer->tgid, type, "tgid");
	return place_find(&buffer->user_caller, type, "caller") ? PART_USER : PART_NONE;
}

static void bind(struct buffer *buffer, const struct event_type *type)
{
	uint8_t *part = &buffer->parts[type->index];

	if (*part == PART_UNKNOWN)
		*part = (uint8_t)part_of(buffer, type);
}

/* The functions of the program, on its task. */
static uint32_t user_node(struct buffer *buffer, const struct event *event, uint32_t node)
{
	int32_t tgid = (int32_t)place_u64(&buffer->tgid, event);
	uint64_t frames[STACK_USER_ENTRIES];
	char text[STACK_USER_NAME];
	size_t nr = stack_user_frames(&buffer->user_caller, tgid, event, frames);

	while (nr) {
		size_t len = stack_user_name(buffer->context, tgid, frames[--nr], text, sizeof(text));

		node = node_on(buffer->stacks, node, name_of(buffer->stacks, text, len));
	}
	return node;
}

static bool find_unwound(struct buffer *buffer, const struct event *event, const struct held_stack *held,
			 struct stack *ret, int32_t *ret_tgid)
{
	const struct state *state = timeline_state(buffer->timeline);
	enum user_stacks_at at = held->ticked ? USER_STACKS_TICK : USER_STACKS_SWITCH;
	uint64_t from = held->ticked ? event->ts : state->step.ran_since;
	uint64_t to = held->ticked ? event->ts + buffer->tick_ns / 2 : event->ts;
	int32_t pid = held->ticked ? held->pid : held->left ? state->tasks[held->left - 1].pid : 0;

	if (!held->ticked && !held->left)
		return user_stacks_of(buffer->unwound, event, ret, ret_tgid);
	/* A copy from before the task had the CPU is of another time off. */
	return pid && from && user_stacks_find(buffer->unwound, at, pid, from, to, ret, ret_tgid);
}

/*
 * The functions of the program where the event took the CPU from a task, ticked, or was a system call or a probe, if
 * its stack was copied then, on the node of the task; the node + 1, 0: it was not.
 */
static uint32_t unwound_node(struct buffer *buffer, const struct event *event, const struct held_stack *held)
{
	int32_t pid = held->left ? timeline_state(buffer->timeline)->tasks[held->left - 1].pid : held->pid, tgid;
	uint64_t addresses[HELD_ADDRESSES];
	char text[STACK_USER_NAME];
	struct stack stack;
	uint32_t node;
	size_t nr = 0;

	if (!find_unwound(buffer, event, held, &stack, &tgid))
		return 0;
	node = task_node(buffer, pid);
	while (nr < HELD_ADDRESSES && stack_next(&stack, &addresses[nr]))
		nr++;
	if (stack.cut || nr == HELD_ADDRESSES)
		node = node_on(buffer->stacks, node, name_of(buffer->stacks, "...", 3));
	while (nr--) {
		uint64_t frame = stack_user_frame(buffer->context, tgid, addresses[nr], !nr);
		size_t len = stack_user_name(buffer->context, tgid, frame, text, sizeof(text));

		node = node_on(buffer->stacks, node, name_of(buffer->stacks, text, len));
	}
	return node + 1;
}

/* The kernel's stack that is held, on the node of the task or of its program: also with which the task left its CPU. */
static uint32_t held_node(struct buffer *buffer, const struct held_stack *held, uint32_t node)
{
	struct off *off = held->left ? u64_map_add(&buffer->offs, held->left - 1) : NULL;

	for (uint32_t i = held->nr; i;)
		node = node_on(buffer->stacks, node, function_of(buffer, held->addresses[--i]));
	if (off)
		off->node = node;
	return node;
}

static void count_held(struct buffer *buffer, struct held_stack *held, uint32_t node)
{
	node = held->program ? held->program - 1 : node;
	if (!buffer->tick_ns)
		weigh(buffer->stacks, held_node(buffer, held, node), WEIGHT_COUNT, 1);
	else if (held->ticked)
		weigh(buffer->stacks, held_node(buffer, held, node), WEIGHT_ON_CPU, buffer->tick_ns);
	held->ticked = false;
	held->counts = false;
	held->nr = 0;
	held->left = 0;
}

/* A stack belongs to the event before it. */
static void hold(struct buffer *buffer, const struct event *event, struct held_stack *held)
{
	held_stack_fill(held, &buffer->caller, event);
	if (buffer->tick_ns)
		held_stack_drop(held, frames_of_timer(buffer->context->symbols, held->addresses, held->nr));
	/* The next event of the CPU may be the switch back: then there is no stack of the program. */
	if (held->left)
		(void)held_node(buffer, held, held->program ? held->program - 1 : task_node(buffer, event->pid));
}

static void let_go(struct buffer *buffer, struct held_stack *held)
{
	/* The task may be back on its CPU, and off it once more. */
	held->left = 0;
	if (held->nr || held->ticked || held->counts)
		count_held(buffer, held, task_node(buffer, held->pid));
}

/* The event may be followed by stacks. */
static void see_cause(struct buffer *buffer, const struct event *event, struct held_stack *held, bool shows)
{
	const struct state_step *step = &timeline_state(buffer->timeline)->step;
	bool leaves = step->kind == STEP_SWITCH && step->other != STATE_NO_TASK;
	struct off *off = !leaves                 ? NULL :
			  shows && buffer->chosen ? u64_map_add(&buffer->offs, step->other) :
						    u64_map_find(&buffer->offs, step->other);

	let_go(buffer, held);
	if (off) {
		off->node = NO_NODE;
		off->shown = shows;
	}
	held->ticked = shows && buffer->tick_ns && !tick_is_idle(event);
	held->pid = event->pid;
	held->left = shows && leaves ? step->other + 1 : 0;
	held->program = shows ? unwound_node(buffer, event, held) : 0;
	held->counts = held->program && !held->left && !held->ticked;
	off = held->left && held->program ? u64_map_add(&buffer->offs, step->other) : NULL;
	if (off)
		off->node = held->program - 1;
}

static void see_record(struct buffer *buffer, const struct event *event, bool shows)
{
	enum part part = buffer->parts[event->type->index];
	struct held_stack *held = held_stacks_of(&buffer->held, event->cpu);

	if (!held) {
		buffer->stacks->failed = true;
		return;
	}
	if (part == PART_USER && shows) {
		count_held(buffer, held, user_node(buffer, event, task_node(buffer, event->pid)));
		return;
	}
	if (part == PART_STACK && shows) {
		if (held->nr && !held->ticked)
			count_held(buffer, held, task_node(buffer, held->pid));
		hold(buffer, event, held);
		return;
	}
	if (part == PART_NONE || part == PART_CALL)
		see_cause(buffer, event, held, shows);
}

/* Most events neither have a stack nor take a task off its CPU. */
static inline bool is_of_no_use(const struct buffer *buffer, const struct event *event)
{
	return event->kind == EVENT_RECORD && buffer->parts[event->type->index] == PART_NONE &&
	       event->cpu < buffer->held.nr && !buffer->held.at[event->cpu].left && !buffer->held.at[event->cpu].nr &&
	       !buffer->tick_ns && !buffer->of_events && timeline_state(buffer->timeline)->step.kind != STEP_SWITCH;
}

void stacks_saw(struct stacks *stacks, struct export *export, const struct event *event, enum timeline_part part)
{
	struct buffer *buffer = &stacks->buffers[event->buffer];

	if (__builtin_expect(is_of_no_use(buffer, event), 1))
		return;
	if (event->kind != EVENT_LOST && part != TIMELINE_A_FUNCTION) {
		bind(buffer, event->type);
		see_record(buffer, event, export->shows);
	} else if (event->kind == EVENT_LOST && event->cpu < buffer->held.nr)
		let_go(buffer, &buffer->held.at[event->cpu]);
	if (stacks->failed)
		export_no_memory(export);
}

void stacks_see(struct stacks *stacks, struct export *export, const struct event *event)
{
	struct buffer *buffer = &stacks->buffers[event->buffer];

	stacks_saw(stacks, export, event, export_see(export, buffer->timeline, event));
}

/* So that the times off the CPUs add up to the times of weft sched. */
static void put_without(struct buffer *buffer)
{
	struct stacks *stacks = buffer->stacks;
	const struct off *off;
	uint64_t id;

	for (size_t at = 0; (off = u64_map_next(&buffer->offs, &at, &id));) {
		uint32_t node;

		if (!off->blocked && !off->waiting)
			continue;
		node = node_on(stacks, task_node(buffer, timeline_state(buffer->timeline)->tasks[id].pid),
			       stacks->without);
		if (off->blocked)
			weigh(stacks, node_on(stacks, node, stacks->blocked), WEIGHT_OFF_CPU, off->blocked);
		if (off->waiting)
			weigh(stacks, node_on(stacks, node, stacks->runnable), WEIGHT_OFF_CPU, off->waiting);
	}
}

static bool is_starved(const struct buffer *buffer)
{
	return timeline_starved(buffer->timeline) || buffer->offs.starved;
}

void stacks_end(struct stacks *stacks, struct export *export)
{
	struct frames_left left = { .cut = 0 };

	for (size_t i = 0; i < stacks->nr_buffers; i++) {
		for (size_t cpu = 0; cpu < stacks->buffers[i].held.nr; cpu++)
			let_go(&stacks->buffers[i], &stacks->buffers[i].held.at[cpu]);
		if (!stacks->buffers[i].shares)
			timeline_end(stacks->buffers[i].timeline, 0);
		timeline_count(stacks->buffers[i].timeline, &left);
		if (is_starved(&stacks->buffers[i]))
			export_no_memory(export);
	}
	for (size_t i = 0; stacks->totals[WEIGHT_OFF_CPU] && i < stacks->nr_buffers; i++)
		put_without(&stacks->buffers[i]);
	if (stacks->failed)
		export_no_memory(export);
	left_note(&left, export);
	if (stacks->cut)
		export_note(export,
			    "there are more than %zu different stacks: %" PRIu64
			    " frames are left out, and their weight is counted for the "
			    "frames below them",
			    stacks->most, stacks->cut);
}

bool stacks_some(const struct stacks *stacks, struct export *export)
{
	static const char *const how[NR_WEIGHTS] = {
		[WEIGHT_SELF_TIME] = "the function graph (-p function_graph)",
		[WEIGHT_ON_CPU] = "the ticks of CPUs (--profile)",
		[WEIGHT_OFF_CPU] = "sched_switch with stacks (-e sched:sched_switch -T)",
		[WEIGHT_COUNT] = "events with stacks (-T)",
	};
	struct fail fail = FAIL_INIT;
	enum weight weight = stacks_weight(stacks);

	if (stacks->totals[weight])
		return true;
	if (stacks->chosen >= 0)
		(void)fail_set(&fail, -ENODATA, "no stacks have the weight %s: record %s", weight_names[weight],
			       how[weight]);
	else
		(void)fail_set(&fail, -ENODATA,
			       "there are no stacks to export: no calls of the function graph "
			       "(record -p function_graph) and no stacks of events (record -T)");
	export_failed(export, -ENODATA, &fail);
	return false;
}

uint32_t stacks_put(struct stacks *stacks, uint32_t parent, const char *name, size_t len)
{
	return node_on(stacks, parent, name_of(stacks, name, len));
}

void stacks_limit(struct stacks *stacks, size_t nodes)
{
	stacks->most = nodes < NODES_MAX ? nodes : NODES_MAX;
}

void stacks_close(struct stacks *stacks)
{
	u64_map_release(&stacks->places);
}

bool stacks_starved(const struct stacks *stacks)
{
	return stacks->failed;
}

void stacks_divide(struct stacks *stacks)
{
	stacks->divides = true;
}

const struct stacks_process *stacks_processes(const struct stacks *stacks, size_t *ret_nr)
{
	*ret_nr = stacks->nr_processes;
	return stacks->processes;
}

int32_t stacks_process(const struct stacks *stacks, uint32_t node)
{
	const uint32_t *owner = u64_map_find(&stacks->owners, node);

	return owner ? (int32_t)*owner - 1 : STACKS_NO_PROCESS;
}

const struct stack_node *stacks_nodes(const struct stacks *stacks, size_t *ret_nr)
{
	*ret_nr = stacks->nr_nodes;
	return stacks->nodes;
}

const char *stacks_name(const struct stacks *stacks, uint32_t name, size_t *ret_len)
{
	*ret_len = stacks->labels.at[name].len;
	return stacks->labels.at[name].text;
}

size_t stacks_names(const struct stacks *stacks)
{
	return stacks->labels.nr;
}

enum weight stacks_weight(const struct stacks *stacks)
{
	if (stacks->chosen >= 0)
		return (enum weight)stacks->chosen;
	for (enum weight i = 0; i < NR_WEIGHTS; i++)
		if (stacks->totals[i])
			return i;
	return WEIGHT_SELF_TIME;
}

bool stacks_is_chosen(const struct stacks *stacks)
{
	return stacks->chosen >= 0;
}

uint64_t stacks_total(const struct stacks *stacks, enum weight weight)
{
	return stacks->totals[weight];
}
