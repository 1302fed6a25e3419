// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>
#include <string.h>

#include "formats/kernel/ftrace.h"
#include "formats/kernel/ftrace_sink_internal.h"
#include "formats/kernel/graph.h"
#include "formats/sink.h"
#include "lib/meaning/event/buffers.h"

/* What the lines of a function graph need of the lines before them, where these are made by another thread. */

void graph_cpu_forget(struct graph_cpu *cpu)
{
	/* An interrupt that is left out is rare: none is taken to be open. */
	*cpu = (struct graph_cpu){
		.last_pid = GRAPH_UNKNOWN_PID, .depth = GRAPH_UNKNOWN_DEPTH, .depth_irq = -1, .guesses = true
	};
	for (size_t i = 0; i < GRAPH_DEPTH; i++)
		cpu->entered[i] = GRAPH_UNKNOWN_FUNC;
}

/* Marks the lines of functions that had not been entered before. */
static bool check_funcs(const struct graph_cpu *before, const struct graph_cpu *cpu, struct sink_patches *patches)
{
	for (uint64_t left = cpu->guessed; left; left &= left - 1) {
		unsigned depth = (unsigned)__builtin_ctzll(left);
		uint32_t number = cpu->numbers[depth];

		if (before->entered[depth] == cpu->funcs[depth])
			continue;
		if (patches->failed || number >= patches->nr)
			return false;
		patches->at[number].wrong = true;
	}
	return true;
}

bool graph_cpu_join(const struct graph_cpu *before, struct graph_cpu *cpu, struct sink_patches *patches)
{
	if (!cpu->guesses)
		return true;
	if (cpu->wrong || before->depth_irq != -1 || (cpu->guessed_depth && before->depth) ||
	    (cpu->guessed_pid && before->last_pid != cpu->pid && before->last_pid != -1) ||
	    !check_funcs(before, cpu, patches))
		return false;
	if (cpu->last_pid == GRAPH_UNKNOWN_PID)
		cpu->last_pid = before->last_pid;
	if (cpu->depth == GRAPH_UNKNOWN_DEPTH)
		cpu->depth = before->depth;
	for (size_t i = 0; i < GRAPH_DEPTH; i++)
		if (cpu->entered[i] == GRAPH_UNKNOWN_FUNC)
			cpu->entered[i] = before->entered[i];
	cpu->guesses = false;
	return true;
}

size_t graph_seam_size(const struct graph *graph)
{
	return graph->nr_seam * sizeof(struct graph_cpu);
}

/* Room for the CPUs of a seam. */
static bool have_cpus(struct graph *graph)
{
	if (graph->nr_cpus < graph->nr_seam) {
		struct graph_cpu *cpus = realloc(graph->cpus, graph->nr_seam * sizeof(*cpus));

		if (!cpus)
			return false;
		for (size_t i = graph->nr_cpus; i < graph->nr_seam; i++)
			graph_cpu_init(&cpus[i]);
		graph->cpus = cpus;
		graph->nr_cpus = graph->nr_seam;
	}
	return true;
}

bool graph_seam_forget(struct graph *graph)
{
	if (!have_cpus(graph))
		return false;
	graph->patches = NULL;
	for (size_t i = 0; i < graph->nr_seam; i++)
		graph_cpu_forget(&graph->cpus[i]);
	return true;
}

void graph_seam_begin(struct graph *graph, struct sink_patches *patches)
{
	/* What was guessed until now had no lines. */
	for (size_t i = 0; i < graph->nr_seam; i++)
		graph->cpus[i].guessed_pid = graph->cpus[i].guessed_depth = false;
	graph->patches = patches;
}

void graph_seam_save(const struct graph *graph, void *seam)
{
	struct graph_cpu *cpus = seam;

	for (size_t i = 0; i < graph->nr_seam; i++) {
		if (i < graph->nr_cpus)
			cpus[i] = graph->cpus[i];
		else
			graph_cpu_init(&cpus[i]);
	}
}

void graph_seam_load(struct graph *graph, const void *seam)
{
	/* forget() has made room. */
	memcpy(graph->cpus, seam, graph_seam_size(graph));
	graph->patches = NULL;
}

bool graph_seam_join(const void *before, void *seam, size_t size, struct sink_patches *patches)
{
	const struct graph_cpu *old = before;
	struct graph_cpu *cpus = seam;

	for (size_t i = 0; i < size / sizeof(*cpus); i++)
		if (!graph_cpu_join(&old[i], &cpus[i], patches))
			return false;
	return true;
}

/* The first part of a seam; the bits of CPUs, and the seam of the graph, follow. */
struct frame_seam {
	size_t words; /* of `started`, and of `said` after it; 0: no line announces a CPU */
	uint64_t settled;
	bool guesses;
	bool begun_annotated, annotate; /* at the start, and at the end */
	uint64_t started[];
};

/* Whether any line may announce a CPU: settle_gap() of ftrace_sink.c, and the overruns of the header. */
static bool may_annotate(const struct ftrace *ftrace)
{
	const struct context *context = ftrace->context;

	return ftrace->annotate || (!context->frozen && !context->recorded && !context->nr_stats &&
				    context_option(context, OPTION_ANNOTATE));
}

static size_t words_of(const struct ftrace *ftrace)
{
	const struct context *context = ftrace->context;

	return may_annotate(ftrace) ? (buffers_own_cpus(context) + 63) / 64 : 0;
}

static size_t frame_size(size_t words)
{
	return sizeof(struct frame_seam) + 2 * words * sizeof(uint64_t);
}

static bool has_graph(const struct ftrace *ftrace)
{
	return ftrace->tracer == &graph_tracer;
}

static bool seam_can(const struct sink *sink)
{
	const struct ftrace *ftrace = (const struct ftrace *)sink;

	return ftrace->settles_plain && (!ftrace->tracer || !ftrace->tracer->settle || has_graph(ftrace));
}

static size_t seam_size(const struct sink *sink)
{
	const struct ftrace *ftrace = (const struct ftrace *)sink;

	return frame_size(words_of(ftrace)) + (has_graph(ftrace) ? graph_seam_size(ftrace->graph) : 0);
}

static bool seam_forget(struct sink *sink)
{
	struct ftrace *ftrace = (struct ftrace *)sink;
	size_t words = words_of(ftrace), size = words * sizeof(uint64_t);

	if (!ftrace->earlier) {
		ftrace->earlier = calloc(2 * words + 1, sizeof(uint64_t));
		if (!ftrace->earlier)
			return false;
		ftrace->said = ftrace->earlier + words;
	}
	memset(ftrace->started, 0, size);
	memset(ftrace->earlier, 0, 2 * size);
	/* `annotate` is guessed to be as in the slice that this sink had before. */
	ftrace->settled = 3;
	ftrace->guesses = false;
	return !has_graph(ftrace) || graph_seam_forget(ftrace->graph);
}

static void seam_begin(struct sink *sink, struct sink_patches *patches)
{
	struct ftrace *ftrace = (struct ftrace *)sink;
	size_t size = words_of(ftrace) * sizeof(uint64_t);

	memcpy(ftrace->earlier, ftrace->started, size);
	memset(ftrace->started, 0, size);
	ftrace->guesses = true;
	ftrace->begun_annotated = ftrace->annotate;
	if (has_graph(ftrace))
		graph_seam_begin(ftrace->graph, patches);
}

static bool seam_patches(const struct sink *sink)
{
	return has_graph((const struct ftrace *)sink);
}

bool ftrace_seam_started(struct ftrace *ftrace, uint16_t cpu_index)
{
	uint64_t bit = ftrace->earlier[cpu_index / 64] & UINT64_C(1) << cpu_index % 64;

	ftrace->said[cpu_index / 64] |= bit;
	return bit;
}

static void seam_save(const struct sink *sink, void *seam)
{
	const struct ftrace *ftrace = (const struct ftrace *)sink;
	struct frame_seam *frame = seam;
	size_t words = words_of(ftrace), size = words * sizeof(uint64_t);

	*frame = (struct frame_seam){
		.words = words,
		.settled = ftrace->settled,
		.guesses = ftrace->guesses,
		.begun_annotated = ftrace->begun_annotated,
		.annotate = ftrace->annotate,
	};
	memcpy(frame->started, ftrace->started, size);
	if (ftrace->guesses)
		memcpy(frame->started + words, ftrace->said, size);
	if (has_graph(ftrace))
		graph_seam_save(ftrace->graph, (char *)seam + frame_size(words));
}

static void seam_load(struct sink *sink, const void *seam)
{
	struct ftrace *ftrace = (struct ftrace *)sink;
	const struct frame_seam *frame = seam;

	ftrace->settled = frame->settled;
	ftrace->annotate = frame->annotate;
	ftrace->guesses = false;
	memcpy(ftrace->started, frame->started, frame->words * sizeof(uint64_t));
	if (has_graph(ftrace))
		graph_seam_load(ftrace->graph, (const char *)seam + frame_size(frame->words));
}

/* A line of each CPU in `started` of the slice depends on whether it had started before. */
static bool join_frame(const struct frame_seam *before, struct frame_seam *frame)
{
	const uint64_t *said = frame->started + frame->words;

	if (!frame->guesses)
		return true;
	if (before->words != frame->words || before->settled < 3 || before->annotate != frame->begun_annotated)
		return false;
	for (size_t i = 0; i < frame->words; i++)
		if ((before->started[i] & frame->started[i]) != said[i])
			return false;
	for (size_t i = 0; i < frame->words; i++)
		frame->started[i] |= before->started[i];
	frame->guesses = false;
	return true;
}

static bool seam_join(const void *before, void *seam, size_t size, struct sink_patches *patches)
{
	struct frame_seam *frame = seam;
	size_t own = frame_size(frame->words);

	return join_frame(before, seam) &&
	       (size <= own || graph_seam_join((const char *)before + own, (char *)seam + own, size - own, patches));
}

const struct sink_seam_ops ftrace_seam = {
	.can = seam_can,
	.size = seam_size,
	.forget = seam_forget,
	.begin = seam_begin,
	.patches = seam_patches,
	.save = seam_save,
	.load = seam_load,
	.join = seam_join,
};
