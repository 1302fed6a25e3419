// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the lines of a function graph need of the lines before them, where these are made by another thread. */
#include "formats/kernel/graph.h"

#include "formats/sink.h"

#include <stdlib.h>
#include <string.h>

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
