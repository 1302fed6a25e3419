// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options/setup_complete.h"

#include "cmd/options/option_value.h"
#include "cmd/options/setup_values.h"
#include "lib/setup/setup.h"

#include <string.h>

/* Sizes, clock and CPUs that were given before the first -B hold for all that follow. */
static void inherit(struct setup *setup, struct argp_state *state)
{
	const struct setup_instance *first = &setup->instances[0];

	for (size_t i = 1; i < setup->nr_instances; i++) {
		struct setup_instance *wanted = &setup->instances[i];
		bool sized = wanted->size || wanted->nr_cpu_sizes;

		for (size_t j = 0; !sized && j < first->nr_cpu_sizes; j++)
			option_need(setup_add_cpu_size(wanted, &first->cpu_sizes[j].cpus, first->cpu_sizes[j].size),
				    state);
		if (!wanted->size)
			wanted->size = first->size;
		if (!wanted->subbuf_size)
			wanted->subbuf_size = first->subbuf_size;
		if (!wanted->clock)
			wanted->clock = first->clock;
		wanted->absolute_time |= first->absolute_time;
		if (!wanted->has_percent && first->has_percent) {
			wanted->has_percent = true;
			wanted->percent = first->percent;
		}
		if (!wanted->has_user_size && first->has_user_size) {
			wanted->has_user_size = true;
			wanted->user_size = first->user_size;
		}
		if (!wanted->has_cpus && first->has_cpus) {
			wanted->has_cpus = true;
			wanted->cpus = first->cpus;
		}
	}
}

/*
 * Files that all instances share: where nothing else is asked of the main one, the next brings them, its own after
 * them.
 */
static void pass_files(struct setup *setup, struct argp_state *state)
{
	struct setup_instance *first = &setup->instances[0], *next = first + 1, kept;

	if (setup->nr_instances == 1 || setup_wants(first))
		return;
	for (size_t i = 0; i < next->nr_files; i++)
		option_need(setup_add_file(first, &next->files[i]), state);
	kept = *next;
	next->files = first->files;
	next->nr_files = first->nr_files;
	first->files = kept.files;
	first->nr_files = kept.nr_files;
}

const char *setup_own_option(const struct setup_instance *wanted)
{
	const struct {
		bool given;
		const char *option;
	} own[] = {
		{ wanted->functions.nr + wanted->functions.nr_gone + wanted->commands.nr_gone, "-l" },
		{ wanted->notrace.nr + wanted->notrace.nr_gone, "-n" },
		{ wanted->graph.nr + wanted->graph.nr_gone, "-g" },
		{ wanted->graph_notrace.nr + wanted->graph_notrace.nr_gone, "--no-graph-function" },
		{ wanted->graph_depth, "--max-graph-depth" },
		{ wanted->options.nr, "-O" },
		{ wanted->function_stacks, "--func-stack" },
		{ wanted->stacks, "-T" },
		{ wanted->reset_max_latency, "--max-latency-reset" },
	};

	for (size_t i = 0; i < array_size(own); i++)
		if (own[i].given)
			return own[i].option;
	return NULL;
}

static void check_instances(const struct setup *setup, struct argp_state *state)
{
	for (size_t i = 0; i < setup->nr_instances; i++) {
		const struct setup_instance *wanted = &setup->instances[i];

		if (wanted->function_stacks && !wanted->functions.nr)
			setup_usage(
				state,
				"--func-stack needs -l: the stack of every function would bring the machine to a halt");
		for (size_t j = 1; j < i; j++)
			if (!strcmp(setup->instances[j].name, wanted->name))
				setup_usage(state, "instance '%s' is named twice", wanted->name);
	}
}

void setup_complete(struct setup *setup, bool changes, struct argp_state *state)
{
	check_instances(setup, state);
	if (!changes && setup->nr_instances == 1 && !setup_wants(&setup->instances[0]))
		setup_usage(state, "nothing to trace: choose events with -e or a tracer with -p");
	if (!changes && setup->follow && !setup->only_command && !setup->nr_pids)
		setup_usage(state, "-c needs -F or -P: without them all tasks are traced");
	if (!changes && !setup_wants(&setup->instances[0]) && setup_own_option(&setup->instances[0]))
		setup_usage(
			state,
			"%s before the first -B applies to the main instance, which records nothing: put it after a -B",
			setup_own_option(&setup->instances[0]));
	inherit(setup, state);
	pass_files(setup, state);
}
