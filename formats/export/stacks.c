// SPDX-License-Identifier: GPL-2.0-only
#include "formats/export/stacks.h"

#include "formats/export/export.h"
#include "formats/export/frames.h"
#include "formats/export/labels.h"
#include "lib/base/u64_map.h"
#include "lib/base/vec.h"
#include "lib/event/context.h"
#include "lib/event/place.h"
#include "lib/event/stack.h"
#include "lib/event/symbols.h"
#include "lib/event/tasks.h"
#include "lib/reader/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES_MAX = 1 << 20, ADDRESSES_MAX = 256, NO_NODE = 0 };

enum role { ROLE_UNKNOWN, ROLE_NONE, ROLE_STACK, ROLE_SWITCH, ROLE_WAKING, ROLE_LEFT_ALONE };

/* A task that is off its CPU. */
struct off {
	uint64_t since, woken; /* woken: 0 until a task wakes it */
	uint32_t node;         /* NO_NODE: no stack was recorded */
};

struct cpu {
	bool switched; /* the last event was a sched_switch, of this task */
	int32_t pid;
};

struct buffer {
	struct stacks *stacks;
	const struct context *context;
	struct frames *frames;
	struct u64_map functions; /* by address: number of the name + 1 */
	struct u64_map comms;     /* by PID: node + 1 */
	struct u64_map offs;      /* by PID: struct off */
	struct u64_map cpus;      /* struct cpu */
	struct place caller, prev_pid, prev_state, next_pid, pid;
	uint8_t roles[EVENT_TYPES_MAX];
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
	int chosen;                 /* enum weight; -1: the first there is */
	uint32_t blocked, runnable; /* names */
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

static void leave(void *arg, uint16_t index, struct track *track, uint64_t ts, uint64_t lasted, bool exited)
{
	const struct frame *frame = &track->frames[track->nr_frames - 1];
	struct buffer *buffer = arg;

	(void)index;
	(void)ts;
	if (exited && frame->whole && lasted > frame->nested)
		weigh(buffer->stacks, frame->note, WEIGHT_SELF_TIME, lasted - frame->nested);
}

static int buffer_init(struct stacks *stacks, struct buffer *buffer, const struct context *context)
{
	const struct frames_calls calls = { .enter = enter, .leave = leave, .arg = buffer, .late = true };

	buffer->stacks = stacks;
	buffer->context = context;
	u64_map_init(&buffer->functions, sizeof(uint32_t));
	u64_map_init(&buffer->comms, sizeof(uint32_t));
	u64_map_init(&buffer->offs, sizeof(struct off));
	u64_map_init(&buffer->cpus, sizeof(struct cpu));
	buffer->frames = frames_new(&context->abi, &calls);
	return buffer->frames ? 0 : -ENOMEM;
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
	stacks->nr_buffers = reader->nr_buffers;
	for (size_t i = 0; i < reader->nr_buffers; i++)
		if (buffer_init(stacks, &stacks->buffers[i], reader->buffers[i].context))
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

		frames_free(buffer->frames);
		u64_map_release(&buffer->functions);
		u64_map_release(&buffer->comms);
		u64_map_release(&buffer->offs);
		u64_map_release(&buffer->cpus);
	}
	free(stacks->buffers);
	free(stacks->nodes);
	u64_map_release(&stacks->places);
	labels_release(&stacks->labels);
	free(stacks);
}

static enum role role_of(struct buffer *buffer, const struct format *format)
{
	const struct schema_abi *abi = &buffer->context->abi;
	const char *name = format ? format->name : "";

	if (!format)
		return ROLE_NONE;
	if (!strcmp(name, "kernel_stack") && !strcmp(format->system, "ftrace"))
		return place_bind(&buffer->caller, format, abi, "caller") ? ROLE_STACK : ROLE_NONE;
	if (!strcmp(name, "user_stack") && !strcmp(format->system, "ftrace"))
		return ROLE_LEFT_ALONE;
	if (strcmp(format->system, "sched"))
		return ROLE_NONE;
	if (!strcmp(name, "sched_switch") && place_bind(&buffer->prev_pid, format, abi, "prev_pid") &&
	    place_bind(&buffer->prev_state, format, abi, "prev_state") &&
	    place_bind(&buffer->next_pid, format, abi, "next_pid"))
		return ROLE_SWITCH;
	if (!strcmp(name, "sched_waking") && place_bind(&buffer->pid, format, abi, "pid"))
		return ROLE_WAKING;
	return ROLE_NONE;
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

static void see_stack(struct buffer *buffer, const struct event *event, struct cpu *cpu)
{
	uint32_t node = stack_node(buffer, event, event->pid);
	struct off *off = cpu->switched ? u64_map_find(&buffer->offs, (uint32_t)cpu->pid) : NULL;

	weigh(buffer->stacks, node, WEIGHT_COUNT, 1);
	if (off)
		off->node = node;
}

/* The task runs again: adds the time during which it was off its CPU. */
static void came_back(struct buffer *buffer, const struct event *event, int32_t pid)
{
	struct off *off = u64_map_find(&buffer->offs, (uint32_t)pid);
	struct stacks *stacks = buffer->stacks;
	uint64_t woken;

	if (!off || !off->since)
		return;
	woken = off->woken ? off->woken : event->ts;
	if (off->node && woken > off->since)
		weigh(stacks, node_on(stacks, off->node, stacks->blocked), WEIGHT_OFF_CPU, woken - off->since);
	if (off->node && event->ts > woken)
		weigh(stacks, node_on(stacks, off->node, stacks->runnable), WEIGHT_OFF_CPU, event->ts - woken);
	*off = (struct off){ .since = 0 };
}

static void see_switch(struct buffer *buffer, const struct event *event, struct cpu *cpu)
{
	int32_t prev = (int32_t)place_u64(&buffer->prev_pid, event),
		next = (int32_t)place_u64(&buffer->next_pid, event);
	/* The states in which a task waits; higher bits mark a preempted task or one that has ended. */
	bool waits = place_u64(&buffer->prev_state, event) & 0xff;
	struct off *off;

	came_back(buffer, event, next);
	*cpu = (struct cpu){ .switched = prev != 0, .pid = prev };
	off = prev ? u64_map_add(&buffer->offs, (uint32_t)prev) : NULL;
	if (off)
		*off = (struct off){ .since = event->ts, .woken = waits ? 0 : event->ts };
}

static void see_waking(struct buffer *buffer, const struct event *event)
{
	struct off *off = u64_map_find(&buffer->offs, (uint32_t)place_u64(&buffer->pid, event));

	if (off && off->since && !off->woken)
		off->woken = event->ts;
}

static void forget(struct buffer *buffer)
{
	u64_map_clear(&buffer->offs);
	u64_map_clear(&buffer->cpus);
}

static void see_record(struct buffer *buffer, const struct event *event)
{
	uint8_t *role = &buffer->roles[event->type->index];
	struct cpu *cpu;

	if (*role == ROLE_UNKNOWN)
		*role = (uint8_t)role_of(buffer, event->type->format);
	if (*role == ROLE_LEFT_ALONE)
		return;
	cpu = u64_map_add(&buffer->cpus, event->cpu);
	if (!cpu) {
		buffer->stacks->failed = true;
		return;
	}
	if (*role == ROLE_STACK)
		see_stack(buffer, event, cpu);
	cpu->switched = false;
	if (*role == ROLE_SWITCH)
		see_switch(buffer, event, cpu);
	else if (*role == ROLE_WAKING)
		see_waking(buffer, event);
}

void stacks_see(struct stacks *stacks, struct export *export, const struct event *event)
{
	struct buffer *buffer = &stacks->buffers[event->buffer];

	if (event->kind == EVENT_LOST)
		forget(buffer);
	if (!frames_see(buffer->frames, event) && event->kind == EVENT_RECORD)
		see_record(buffer, event);
	if (stacks->failed)
		export_no_memory(export);
}

void stacks_end(struct stacks *stacks, struct export *export)
{
	struct frames_left left = { .cut = 0 };

	for (size_t i = 0; i < stacks->nr_buffers; i++) {
		frames_end(stacks->buffers[i].frames, (uint16_t)i, 0);
		frames_count(stacks->buffers[i].frames, &left);
		if (frames_starved(stacks->buffers[i].frames) || stacks->buffers[i].offs.starved)
			export_no_memory(export);
	}
	frames_note(&left, export);
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
