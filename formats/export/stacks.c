// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/export/stacks_internal.h"

#include "formats/export/export.h"
#include "formats/export/left_note_internal.h"
#include "lib/base/labels.h"
#include "lib/base/u64_map.h"
#include "lib/base/vec.h"
#include "lib/event/context.h"
#include "lib/event/place.h"
#include "lib/event/tasks.h"
#include "lib/follow/stack.h"
#include "lib/names/symbols.h"
#include "lib/reader/reader.h"
#include "lib/state/state.h"
#include "lib/timeline/timeline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES_MAX = 1 << 20, ADDRESSES_MAX = 256, NO_NODE = 0 };

/* A task, while it is off its CPU. */
struct off {
	uint32_t node;             /* of the stack with which it left its CPU; NO_NODE: none was recorded */
	uint64_t blocked, waiting; /* ns without a stack */
};

enum part { PART_UNKNOWN, PART_NONE, PART_STACK, PART_LEFT_ALONE };

struct buffer {
	struct stacks *stacks;
	const struct context *context;
	struct timeline *timeline;
	bool shares;              /* the timeline is the exporter's */
	struct u64_map functions; /* by address: number of the name + 1 */
	struct u64_map comms;     /* by PID: node + 1 */
	struct u64_map offs;      /* by index of state::tasks: struct off */
	uint32_t *left;           /* by CPU: index + 1 of the task that left it, if that was the CPU's last event */
	size_t nr_left;
	struct place caller;
	uint8_t parts[EVENT_TYPES_MAX];
};

struct stacks {
	struct labels labels;
	struct stack_node *nodes;
	size_t most; /* nodes */
	size_t nr_nodes;
	struct u64_map places; /* by parent and name: node */
	struct buffer *buffers;
	size_t nr_buffers;
	uint64_t totals[NR_WEIGHTS];
	uint64_t cut;
	bool failed;
	int chosen;                          /* enum weight; -1: the first there is */
	uint32_t blocked, runnable, without; /* names */
};

const char *const weight_names[NR_WEIGHTS] = { "self-time", "off-cpu", "count" };

static uint32_t name_of(struct stacks *stacks, const char *text, size_t len)
{
	bool fresh;
	uint32_t name = labels_add(&stacks->labels, text, len, &fresh);

	stacks->failed |= name == LABEL_NONE;
	return name == LABEL_NONE ? 0 : name;
}

/* Finds or makes the node of a frame on another one; returns the lower node if there is no room. */
static uint32_t node_on(struct stacks *stacks, uint32_t parent, uint32_t name)
{
	uint64_t key = (uint64_t)parent << 32 | name;
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

static uint32_t task_node(struct buffer *buffer, int32_t pid)
{
	uint32_t *node = u64_map_add(&buffer->comms, (uint32_t)pid);
	struct task_name name;

	if (!node) {
		buffer->stacks->failed = true;
		return 0;
	}
	if (!*node) {
		name = task_name(buffer->context->tasks, pid);
		*node = node_on(buffer->stacks, 0, name_of(buffer->stacks, name.text, name.len)) + 1;
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
	enum turns_off what = turns_off(slice->mode->mode);
	bool waits = what == TURNS_WAITS;
	uint64_t lasted = slice->to - slice->start;
	struct stacks *stacks = buffer->stacks;
	struct off *off;

	if (what == TURNS_NOT_OFF || timeline_state(buffer->timeline)->tasks[slice->task].idle)
		return;
	off = u64_map_add(&buffer->offs, slice->task);
	if (!off)
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

static int buffer_init(struct stacks *stacks, struct buffer *buffer, uint16_t index, const struct context *context)
{
	const struct timeline_calls calls = {
		.arg = buffer,
		.wanted = 1 << TIMELINE_STATE | 1 << TIMELINE_FUNCTION,
		.slice = put,
		.enter = enter,
		.one_wait = true,
	};

	buffer->stacks = stacks;
	buffer->context = context;
	u64_map_init(&buffer->functions, sizeof(uint32_t));
	u64_map_init(&buffer->comms, sizeof(uint32_t));
	u64_map_init(&buffer->offs, sizeof(struct off));
	buffer->timeline = timeline_new(&calls, context->preempt_rt);
	return buffer->timeline && timeline_add(buffer->timeline, index, context) ? 0 : -ENOMEM;
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
					   "--weight: unknown weight '%s'; use self-time, off-cpu or count", text));
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
	stacks->most = NODES_MAX;
	stacks->buffers = calloc(reader->nr_buffers + 1, sizeof(*stacks->buffers));
	if (!stacks->buffers || !vec_push(stacks->nodes, stacks->nr_nodes))
		return fail_memory(fail);
	(void)name_of(stacks, "all", 3);
	stacks->blocked = name_of(stacks, "[blocked]", 9);
	stacks->runnable = name_of(stacks, "[runnable]", 10);
	stacks->without = name_of(stacks, "[no stack]", 10);
	stacks->nr_buffers = reader->nr_buffers;
	for (size_t i = 0; i < reader->nr_buffers; i++)
		if (buffer_init(stacks, &stacks->buffers[i], (uint16_t)i, reader->buffers[i].context))
			return fail_memory(fail);
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
		free(buffer->left);
	}
	free(stacks->buffers);
	free(stacks->nodes);
	u64_map_release(&stacks->places);
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
	if (!strcmp(type->format->name, "kernel_stack"))
		return place_find(&buffer->caller, type, "caller") ? PART_STACK : PART_NONE;
	return !strcmp(type->format->name, "user_stack") ? PART_LEFT_ALONE : PART_NONE;
}

static uint32_t stack_node(struct buffer *buffer, const struct event *event, int32_t pid)
{
	uint64_t addresses[ADDRESSES_MAX];
	uint32_t node = task_node(buffer, pid);
	struct stack stack;
	size_t nr = 0;

	stack_of_kernel(&buffer->caller, event, &stack);
	while (nr < ADDRESSES_MAX && stack_next(&stack, &addresses[nr]))
		nr++;
	while (nr)
		node = node_on(buffer->stacks, node, function_of(buffer, addresses[--nr]));
	return node;
}

/* A stack belongs to the event before it. */
static void see_stack(struct buffer *buffer, const struct event *event, uint32_t left)
{
	uint32_t node = stack_node(buffer, event, event->pid);
	struct off *off = left ? u64_map_add(&buffer->offs, left - 1) : NULL;

	weigh(buffer->stacks, node, WEIGHT_COUNT, 1);
	if (off)
		off->node = node;
}

/* NULL without memory. */
static uint32_t *left_of(struct buffer *buffer, uint16_t cpu)
{
	while (buffer->nr_left <= cpu)
		if (!vec_push(buffer->left, buffer->nr_left)) {
			buffer->stacks->failed = true;
			return NULL;
		}
	return &buffer->left[cpu];
}

static void see_record(struct buffer *buffer, const struct event *event)
{
	const struct state_step *step = &timeline_state(buffer->timeline)->step;
	uint8_t *part = &buffer->parts[event->type->index];
	struct off *off;
	uint32_t *left;

	if (*part == PART_UNKNOWN)
		*part = (uint8_t)part_of(buffer, event->type);
	if (*part == PART_LEFT_ALONE)
		return;
	left = left_of(buffer, event->cpu);
	if (!left)
		return;
	if (*part == PART_STACK)
		see_stack(buffer, event, *left);
	*left = step->kind == STEP_SWITCH && step->other != STATE_NO_TASK ? step->other + 1 : 0;
	off = *left ? u64_map_find(&buffer->offs, step->other) : NULL;
	if (off)
		off->node = NO_NODE;
}

/* Most events neither have a stack nor take a task off its CPU. */
static inline bool is_of_no_use(const struct buffer *buffer, const struct event *event)
{
	return event->kind == EVENT_RECORD && buffer->parts[event->type->index] == PART_NONE &&
	       event->cpu < buffer->nr_left && !buffer->left[event->cpu] &&
	       timeline_state(buffer->timeline)->step.kind != STEP_SWITCH;
}

void stacks_saw(struct stacks *stacks, struct export *export, const struct event *event, enum timeline_part part)
{
	struct buffer *buffer = &stacks->buffers[event->buffer];

	if (__builtin_expect(is_of_no_use(buffer, event), 1))
		return;
	if (event->kind != EVENT_LOST && part != TIMELINE_A_FUNCTION)
		see_record(buffer, event);
	else if (event->kind == EVENT_LOST && event->cpu < buffer->nr_left)
		buffer->left[event->cpu] = 0;
	if (stacks->failed)
		export_no_memory(export);
}

void stacks_see(struct stacks *stacks, struct export *export, const struct event *event)
{
	stacks_saw(stacks, export, event, timeline_see(stacks->buffers[event->buffer].timeline, event));
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
