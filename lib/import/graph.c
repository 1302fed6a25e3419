// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/import/graph_internal.h"

#include "lib/base/buf.h"
#include "lib/base/cleanup.h"
#include "lib/import/names_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A text may contain any duration, so the clock stops here before it overflows. */
static const uint64_t clock_max = UINT64_C(1) << 61;

enum { TIME_FIRST = 1000, US = 1000, MARK_ABOVE = 10000, SHOWN_DEPTH = 50 };
enum { IDLE_FIRST = 1u << 31 };

struct graph_cpu {
	int32_t pid;
	bool known;
	/* the open function at each depth, of whatever task, as the kernel keeps it for each CPU */
	uint64_t entered[GRAPH_TEXT_DEPTH_MAX + 1];
};

/* The open function of a task. */
struct opened {
	uint64_t start, func;
};

void import_graph_init(struct import_graph *graph)
{
	*graph = (struct import_graph){ .cpus = NULL };
	u64_map_init(&graph->opened, sizeof(struct opened));
}

void import_graph_release(struct import_graph *graph)
{
	for (size_t i = 0; graph->cpus && i < HEAD_CPU_MAX; i++)
		free(graph->cpus[i]);
	free(graph->cpus);
	u64_map_release(&graph->opened);
}

/* Returns NULL when memory runs out. */
static struct graph_cpu *cpu_of(struct import_graph *graph, uint32_t cpu)
{
	if (!graph->cpus)
		graph->cpus = calloc(HEAD_CPU_MAX, sizeof(*graph->cpus));
	if (graph->cpus && !graph->cpus[cpu]) {
		graph->cpus[cpu] = calloc(1, sizeof(**graph->cpus));
		if (graph->cpus[cpu])
			graph->cpus[cpu]->pid = GRAPH_UNKNOWN_PID + (int32_t)cpu;
	}
	graph->starved |= !graph->cpus || !graph->cpus[cpu];
	return graph->cpus ? graph->cpus[cpu] : NULL;
}

/* Each CPU has an idle task of its own. Returns NULL when memory runs out. */
static struct opened *opened_of(struct import_graph *graph, const struct graph_text *text)
{
	uint32_t task = text->head.pid ? (uint32_t)text->head.pid : IDLE_FIRST + text->head.cpu;
	struct opened *opened = u64_map_add(&graph->opened, (uint64_t)task << 32 | text->depth);

	graph->starved |= !opened;
	return opened;
}

/*
 * Returns the time of a line in ns. If the line has a time, that is it, with ns added to keep the order. If not, the
 * line follows the line before; an exit comes after its entry by its duration.
 */
static uint64_t time_of(struct import_graph *graph, const struct graph_text *text, uint64_t clock, uint64_t last)
{
	uint64_t ts = last + 1 > clock ? last + 1 : clock, start;
	const struct opened *opened;

	if (text->has_time)
		return ts > text->head.ts && ts - text->head.ts < US ? ts : text->head.ts;
	graph->guessed++;
	ts = ts > TIME_FIRST ? ts : TIME_FIRST;
	if (text->what == GRAPH_TEXT_EXIT && text->has_duration) {
		opened = opened_of(graph, text);
		start = opened ? opened->start : 0;
		if (text->duration < clock_max && ts < start + text->duration)
			ts = start + text->duration;
	}
	return ts < clock_max ? ts : clock_max;
}

static void see_columns(struct import_graph *graph, const struct graph_text *text)
{
	graph->seen = true;
	*(text->has_time && !text->is_relative ? &graph->some.abstime : &graph->lack.abstime) = true;
	*(text->is_relative ? &graph->some.relative : &graph->lack.relative) = true;
	*(text->head.has_flags ? &graph->some.flags : &graph->lack.flags) = true;
	*(text->has_cpu ? &graph->some.cpu : &graph->lack.cpu) = true;
	*(text->has_column ? &graph->some.duration : &graph->lack.duration) = true;
	graph->proc |= text->has_task;
	graph->bare |= !text->has_cpu && !text->has_column && !text->has_time && !text->has_task;
	graph->no_overhead |= text->has_duration && !text->has_mark && text->duration > MARK_ABOVE;
	graph->retval |= text->has_retval;
}

bool import_graph_place(struct import_graph *graph, struct graph_text *text, const uint64_t *clock, uint64_t last)
{
	struct graph_cpu *cpu;

	see_columns(graph, text);
	if (!text->has_cpu)
		text->head.cpu = graph->last_cpu;
	cpu = cpu_of(graph, text->head.cpu);
	if (!cpu)
		return true;
	if (text->has_task)
		cpu->pid = text->head.pid;
	cpu->known |= text->has_task;
	text->head.pid = cpu->pid;
	text->head.ts = time_of(graph, text, clock[text->head.cpu], last);
	text->head.has_unit = true;
	return cpu->known;
}

bool import_graph_switch(struct import_graph *graph, const struct graph_text *text)
{
	struct graph_cpu *cpu = cpu_of(graph, text->head.cpu);
	bool first = cpu && !cpu->known;

	graph->seen = true;
	graph->last_cpu = text->head.cpu;
	if (!cpu)
		return false;
	cpu->known = true;
	cpu->pid = text->next.pid;
	return first;
}

void import_graph_give_up(struct import_graph *graph)
{
	for (size_t i = 0; graph->cpus && i < HEAD_CPU_MAX; i++)
		if (graph->cpus[i])
			graph->cpus[i]->known = true;
}

static void enter(struct import_graph *graph, const struct graph_text *text, struct graph_cpu *cpu,
		  struct graph_call *call)
{
	struct opened *opened = opened_of(graph, text);

	cpu->entered[text->depth] = text->what == GRAPH_TEXT_LEAF ? 0 : call->func;
	if (opened)
		*opened = (struct opened){ text->head.ts, cpu->entered[text->depth] };
}

/*
 * A closing brace without a name belongs to the function that entered at this depth on this CPU. If no line has told
 * that function, its address is 0.
 */
static void leave(struct import_graph *graph, const struct graph_text *text, struct graph_cpu *cpu,
		  struct graph_call *call)
{
	struct opened *opened = opened_of(graph, text), was = opened ? *opened : (struct opened){ .start = 0 };
	uint64_t entered = graph->by_task ? was.func : cpu->entered[text->depth];
	bool same = text->name_len && call->func == entered;

	/* Without its CPU, a brace may have a name because another function was entered there. */
	if (same && !text->has_cpu && !text->has_retval && !text->note_len) {
		call->note = text->name;
		call->note_len = text->name_len;
	}
	graph->tail |= same && !text->has_retval && !text->note_len && text->depth < SHOWN_DEPTH;
	graph->no_tail |= !text->name_len;
	if (!text->name_len)
		call->func = entered;
	cpu->entered[text->depth] = 0;
	call->rettime = call->ts;
	if (!text->has_duration)
		call->calltime = was.start && was.start <= call->ts ? was.start : call->ts;
	else if (text->duration <= call->ts)
		call->calltime = call->ts - text->duration;
	else
		call->rettime = text->duration; /* of a call that began before the clock */
	if (opened)
		*opened = (struct opened){ .start = 0 };
}

size_t import_graph_calls(struct import_graph *graph, const struct graph_text *text, struct import_names *names,
			  struct graph_call calls[GRAPH_CALLS_MAX])
{
	struct graph_cpu *cpu = cpu_of(graph, text->head.cpu);
	struct graph_call call = { .ts = text->head.ts,
				   .depth = (int32_t)text->depth,
				   .has_retval = text->has_retval,
				   .retval = text->retval,
				   .note = text->note,
				   .note_len = text->note_len,
				   .exit = text->what == GRAPH_TEXT_EXIT };

	if (text->name_len)
		call.func = import_names_symbol(names, text->name, text->name_len);
	if (!cpu || (text->name_len && !call.func))
		return 0;
	if (text->what == GRAPH_TEXT_EXIT) {
		leave(graph, text, cpu, &call);
		calls[0] = call;
		return 1;
	}
	enter(graph, text, cpu, &call);
	calls[0] = call;
	calls[0].text = text->args;
	calls[0].text_len = text->args_len;
	if (text->what == GRAPH_TEXT_LEAF)
		calls[0].note_len = 0;
	if (text->what == GRAPH_TEXT_ENTRY)
		return 1;
	call.exit = true;
	call.calltime = call.ts;
	call.rettime = call.ts + text->duration;
	call.ts += text->duration < clock_max - call.ts ? text->duration : 0;
	calls[1] = call;
	return 2;
}

bool import_graph_is_relative(const struct import_graph *graph)
{
	return graph->some.relative && !graph->lack.relative;
}

void import_graph_partial(const struct import_graph *graph, bool plain, char *ret, size_t size)
{
	const struct graph_columns *some = &graph->some, *lack = &graph->lack;
	const struct {
		bool is;
		const char *text;
	} all[] = {
		{ (some->abstime && lack->abstime) || (some->relative && lack->relative), "times" },
		{ some->cpu && lack->cpu, "CPUs" },
		{ graph->proc && graph->bare, "tasks" },
		{ some->flags && (lack->flags || plain), "flags" },
		{ some->duration && lack->duration, "durations" },
	};
	size_t len = 0;

	*ret = '\0';
	for (size_t i = 0; i < array_size(all); i++)
		if (all[i].is && len < size)
			len += (size_t)snprintf(ret + len, size - len, "%s%s", len ? ", " : "", all[i].text);
}

bool import_graph_options(const struct import_graph *graph, bool plain, struct buf *options)
{
	const struct graph_columns *some = &graph->some, *lack = &graph->lack;
	const struct {
		bool is;
		const char *text;
	} all[] = {
		{ some->abstime && !lack->abstime, "funcgraph-abstime\n" },
		{ graph->proc, "funcgraph-proc\n" },
		{ lack->cpu, "nofuncgraph-cpu\n" },
		{ lack->duration, "nofuncgraph-duration\n" },
		{ graph->no_overhead, "nofuncgraph-overhead\n" },
		{ graph->tail && !graph->no_tail, "funcgraph-tail\n" },
		{ graph->overrun, "funcgraph-overrun\n" },
		{ graph->retval, "funcgraph-retval\n" },
		{ graph->bare, "nocontext-info\n" },
		{ some->flags && !lack->flags && !plain, "latency-format\n" },
	};

	for (size_t i = 0; graph->seen && i < array_size(all); i++)
		if (all[i].is && !buf_add_str(options, all[i].text))
			return false;
	return true;
}
