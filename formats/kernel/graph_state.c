// SPDX-License-Identifier: LGPL-2.1-or-later
/* Mirrors kernel/trace/trace_functions_graph.c: the state that is kept from line to line. */
#include "formats/kernel/graph.h"

#include <stdlib.h>

#include "formats/kernel/ftrace.h"
#include "formats/kernel/renderers_internal.h"
#include "lib/meaning/event/events.h"
#include "lib/meaning/event/graph_events.h"

_Static_assert(sizeof(struct graph_note) <= NOTE_RENDERER_SIZE, "the note has room");

void graph_cpu_init(struct graph_cpu *cpu)
{
	*cpu = (struct graph_cpu){ .last_pid = -1, .depth_irq = -1 };
}

bool graph_cpu_switch(struct graph_cpu *cpu, int32_t pid, int32_t *ret_before)
{
	int32_t before = cpu->last_pid;

	cpu->last_pid = pid;
	if (__builtin_expect(pid == GRAPH_UNKNOWN_PID, 0))
		cpu->wrong = true;
	if (before == pid || before == -1)
		return false;
	if (__builtin_expect(before == GRAPH_UNKNOWN_PID, 0) && cpu->guesses) {
		cpu->guessed_pid = true;
		cpu->pid = pid;
		return false;
	}
	*ret_before = before;
	return true;
}

bool graph_cpu_hides(struct graph_cpu *cpu, const struct graph *graph, uint64_t func, int32_t depth)
{
	if (graph->irqs)
		return false;
	if (cpu->depth_irq >= 0)
		return true;
	if (!graph_is_irq(graph, func))
		return false;
	cpu->depth_irq = depth;
	return true;
}

bool graph_cpu_leaves_irq(struct graph_cpu *cpu, const struct graph *graph, int32_t depth)
{
	if (graph->irqs || cpu->depth_irq == -1)
		return false;
	if (cpu->depth_irq >= depth)
		cpu->depth_irq = -1;
	return true;
}

/* Depths come from the file, so they may be any number. */
static int32_t above(int32_t depth)
{
	return (int32_t)((uint32_t)depth - 1);
}

void graph_cpu_enter(struct graph_cpu *cpu, uint64_t func, int32_t depth, bool leaf)
{
	cpu->depth = leaf ? above(depth) : depth;
	if (__builtin_expect(cpu->depth == GRAPH_UNKNOWN_DEPTH || func == GRAPH_UNKNOWN_FUNC, 0))
		cpu->wrong = true;
	if (depth >= 0 && depth < GRAPH_DEPTH)
		cpu->entered[depth] = leaf ? 0 : func;
}

/* Whether it was entered is known when the slice before is: a line that depends on it is mended then. */
__attribute__((noinline)) static enum graph_what guess_func(struct graph_cpu *cpu, uint64_t func, int32_t depth,
							    struct sink_patches *patches)
{
	if (!cpu->guesses)
		return func == GRAPH_UNKNOWN_FUNC ? GRAPH_EXIT : GRAPH_EXIT_LOST;
	if (func == GRAPH_UNKNOWN_FUNC)
		cpu->wrong = true;
	/* Before the slice no line depends on it. */
	if (!patches)
		return GRAPH_EXIT;
	cpu->guessed |= UINT64_C(1) << depth;
	cpu->funcs[depth] = func;
	cpu->numbers[depth] = patches->guesses++;
	return GRAPH_EXIT_GUESSED;
}

enum graph_what graph_cpu_leave(struct graph_cpu *cpu, uint64_t func, int32_t depth, struct sink_patches *patches)
{
	uint64_t open;

	cpu->depth = above(depth);
	if (__builtin_expect(cpu->depth == GRAPH_UNKNOWN_DEPTH, 0))
		cpu->wrong = true;
	if (depth < 0 || depth >= GRAPH_DEPTH)
		return GRAPH_EXIT;
	open = cpu->entered[depth];
	cpu->entered[depth] = 0;
	if (__builtin_expect(open == GRAPH_UNKNOWN_FUNC, 0))
		return guess_func(cpu, func, depth, patches);
	return open == func ? GRAPH_EXIT : GRAPH_EXIT_LOST;
}

/* NULL without memory: like the kernel, lines are then printed without the state of earlier lines. */
__attribute__((noinline)) static struct graph_cpu *cpu_add(struct graph *graph, size_t index)
{
	size_t count = index + 1;
	struct graph_cpu *cpus;

	cpus = realloc(graph->cpus, count * sizeof(*cpus));
	if (!cpus)
		return NULL;
	for (size_t i = graph->nr_cpus; i < count; i++)
		graph_cpu_init(&cpus[i]);
	graph->cpus = cpus;
	graph->nr_cpus = count;
	return &cpus[index];
}

static inline struct graph_cpu *cpu_at(struct graph *graph, size_t index)
{
	return __builtin_expect(index < graph->nr_cpus, 1) ? &graph->cpus[index] : cpu_add(graph, index);
}

static inline struct graph_note *note_start(struct event *event, enum graph_what what)
{
	struct graph_note *note = (struct graph_note *)sink_note(event);

	note->what = (uint8_t)what;
	note->switched = false;
	return note;
}

static inline void note_task(struct graph_note *note, struct graph_cpu *cpu, int32_t pid)
{
	note->switched = graph_cpu_switch(cpu, pid, &note->before);
}

/* The first two fields of both records. */
static inline uint64_t func_of(const struct binding *binding, const struct event *event)
{
	const struct place *place = &binding->places[GRAPH_FUNC];

	return has_words(binding, event) ? load_u64(event->data + place->offset, false) : place_u64(place, event);
}

static inline int32_t depth_of(const struct binding *binding, const struct event *event)
{
	const struct place *place = &binding->places[GRAPH_DEPTH_AT];

	return (int32_t)(has_words(binding, event) ? load_u32(event->data + place->offset, false) :
						     place_u64(place, event));
}

/* get_return_for_leaf(): the exit, when it follows on this CPU, belongs to the line. */
static inline bool take_exit(struct ftrace *ftrace, struct events *events, const struct event *event, uint64_t func,
			     struct graph_note *note)
{
	const struct binding *binding;
	struct event next;

	if (!events_peek_record(events, &next) || next.pid != event->pid)
		return false;
	binding = ftrace_bind(ftrace, next.type);
	if (binding->graph_event != GRAPH_EVENT_EXIT || func_of(binding, &next) != func)
		return false;
	note->exit = next.data;
	note->exit_len = next.len;
	note->exit_binding = next.type->index;
	events_skip(events);
	return true;
}

static inline bool settle_entry(struct ftrace *ftrace, struct events *events, const struct binding *binding,
				struct event *event, struct graph_cpu *cpu)
{
	uint64_t func = func_of(binding, event);
	int32_t depth = depth_of(binding, event);
	struct graph_note *note = note_start(event, GRAPH_NESTED);

	if (cpu) {
		if (graph_cpu_hides(cpu, ftrace->graph, func, depth))
			return false;
		note_task(note, cpu, event->pid);
	}
	if (take_exit(ftrace, events, event, func, note))
		note->what = GRAPH_LEAF;
	if (cpu)
		graph_cpu_enter(cpu, func, depth, note->what == GRAPH_LEAF);
	return true;
}

static inline bool settle_exit(struct ftrace *ftrace, const struct binding *binding, struct event *event,
			       struct graph_cpu *cpu)
{
	struct graph_note *note = note_start(event, GRAPH_EXIT);
	int32_t depth = depth_of(binding, event);

	if (cpu) {
		if (graph_cpu_leaves_irq(cpu, ftrace->graph, depth))
			return false;
		note->what = (uint8_t)graph_cpu_leave(cpu, func_of(binding, event), depth, ftrace->graph->patches);
		note_task(note, cpu, event->pid);
	}
	return true;
}

bool graph_leaves(const struct binding *binding)
{
	return binding->renderer == &kernel_stack_renderer || binding->renderer == &function_renderer;
}

static inline int32_t depth_now(struct graph_cpu *cpu)
{
	if (__builtin_expect(cpu->depth != GRAPH_UNKNOWN_DEPTH || !cpu->guesses, 1))
		return cpu->depth;
	cpu->guessed_depth = true;
	return 0;
}

static bool settle_other(const struct binding *binding, struct event *event, struct graph_cpu *cpu)
{
	struct graph_note *note = note_start(event, GRAPH_COMMENT);

	note->depth = 0;
	if (graph_leaves(binding)) {
		note->what = GRAPH_USUAL;
	} else if (cpu) {
		note->depth = depth_now(cpu);
		note_task(note, cpu, event->pid);
	}
	return true;
}

bool graph_settle(struct ftrace *ftrace, const struct binding *binding, struct events *events, struct event *event)
{
	struct graph_cpu *cpu = cpu_at(ftrace->graph, event->cpu_index);

	if (__builtin_expect(!cpu, 0))
		context_lacks_memory(ftrace->context);
	if (binding->graph_event == GRAPH_EVENT_ENTRY)
		return settle_entry(ftrace, events, binding, event, cpu);
	if (binding->graph_event == GRAPH_EVENT_EXIT)
		return settle_exit(ftrace, binding, event, cpu);
	return settle_other(binding, event, cpu);
}

void graph_pass_over(struct ftrace *ftrace, const struct binding *binding, const struct event *event)
{
	struct graph_cpu *cpu = cpu_at(ftrace->graph, event->cpu_index);
	bool enters = binding->graph_event == GRAPH_EVENT_ENTRY;
	uint64_t func;
	int32_t depth;

	if (!cpu || (!enters && binding->graph_event != GRAPH_EVENT_EXIT))
		return;
	func = func_of(binding, event);
	depth = depth_of(binding, event);
	if (enters && !graph_cpu_hides(cpu, ftrace->graph, func, depth))
		graph_cpu_enter(cpu, func, depth, false);
	else if (!enters && !graph_cpu_leaves_irq(cpu, ftrace->graph, depth))
		(void)graph_cpu_leave(cpu, func, depth, NULL);
}

/* Settles functions of the graph while another tracer is current: the state of previous lines is unknown. */
bool graph_settle_alone(struct ftrace *ftrace, const struct binding *binding, struct events *events,
			struct event *event)
{
	/* With the option `fields` an exit is a line of its own. */
	if (ftrace->fields)
		return true;
	if (binding->graph_event == GRAPH_EVENT_EXIT)
		return settle_exit(ftrace, binding, event, NULL);
	return settle_entry(ftrace, events, binding, event, NULL);
}

void graph_hide_switch(struct event *event)
{
	((struct graph_note *)sink_note(event))->switched = false;
}
