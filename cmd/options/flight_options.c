// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options/flight_options.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/options/option_value.h"
#include "cmd/options/setup_options.h"
#include "cmd/options/setup_values.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/kernel/flight/condition.h"
#include "lib/kernel/flight/flight.h"
#include "lib/kernel/flight/persistent.h"
#include "lib/kernel/setup/setup.h"

void flight_keep_in(const char *arg, struct flight_options *flight, struct argp_state *state)
{
	static const char *const places[] = { "ring", "kernel", "persistent" };
	static const char named[] = "persistent:";
	struct near near = near_to(arg);
	char hint[256];

	flight->in_kernel = strcmp(arg, places[0]) != 0;
	flight->persistent = NULL;
	if (!strcmp(arg, places[2]))
		flight->persistent = "";
	else if (!strncmp(arg, named, strlen(named)) && arg[strlen(named)])
		flight->persistent = arg + strlen(named);
	if (flight->persistent)
		return;
	for (size_t i = 0; i < array_size(places); i++) {
		near_offer(&near, places[i]);
		if (!strcmp(places[i], arg))
			return;
	}
	near_hint(&near, hint, sizeof(hint));
	setup_usage(state, "--keep-in takes ring, kernel or persistent, not '%s'%s%s", arg, *hint ? "; " : "", hint);
}

/* The size of a CPU's buffer. */
static uint64_t share(const struct flight_options *flight, const struct setup *setup)
{
	uint64_t nr = 0;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	for (size_t i = 0; i < setup->nr_instances; i++)
		nr += setup_uses(setup, i) && !setup->instances[i].size;
	return flight->max_memory / (nr ? nr : 1) / (cpus > 0 ? (uint64_t)cpus : 1);
}

void flight_share(const struct flight_options *flight, struct setup *setup, struct argp_state *state)
{
	const struct setup_instance *first = &setup->instances[0];
	uint64_t size = flight->in_kernel ? share(flight, setup) : 0;

	if (flight->persistent && (first->size || first->nr_cpu_sizes || first->subbuf_size))
		setup_usage(state, "--keep-in persistent: the kernel's command line says how large the buffer is");
	for (size_t i = flight->persistent ? 1 : 0; i < setup->nr_instances; i++)
		if (!setup->instances[i].size)
			setup->instances[i].size = size;
}

int flight_find_place(struct flight_options *flight, struct setup *setup, struct persistent *ret, struct fail *fail)
{
	int err = flight->persistent ? persistent_find(flight->persistent, ret, fail) : 0;

	if (err || !flight->persistent)
		return err;
	for (size_t i = 1; i < setup->nr_instances; i++)
		if (!strcmp(setup->instances[i].name, ret->name))
			return fail_set(fail, -EINVAL, "-B %s: the flight itself is in this instance (--keep-in)",
					ret->name);
	flight->persistent = ret->name;
	flight->max_memory = ret->size;
	setup->instances[0].name = ret->name;
	return 0;
}

void flight_tell_place(const struct flight_options *flight)
{
	char keep[TEXT_HUMAN], memory[TEXT_HUMAN];

	text_time(keep, flight->keep_ns);
	text_size(memory, flight->max_memory);
	if (flight->persistent)
		command_warn("mode persistent (--keep-in): the instance '%s' holds %s, if its %s of memory are enough, "
			     "and survives a reset; nothing is read before a trigger",
			     flight->persistent, keep, memory);
	else if (flight->in_kernel)
		command_warn(
			"mode kernel (--keep-in): the kernel's buffers hold %s, in %s of memory if that is enough; "
			"nothing is read before a trigger",
			keep, memory);
	else
		command_warn("mode ring (the default): the recorders hold %s, compressed, in at most %s of memory; "
			     "nothing is written before a trigger",
			     keep, memory);
}

static void check_other(const struct condition *other, const struct condition *added, struct argp_state *state)
{
	if (added->noise && other->noise)
		setup_usage(state,
			    "a flight has one condition on timerlat or osnoise: the kernel has their bounds once");
	if (!strcmp(other->name, added->name))
		setup_usage(state, "two conditions are called '%s'; NAME= before one of them names it", added->name);
}

void flight_add_condition(const char *text, struct condition **conditions, size_t *nr, struct argp_state *state)
{
	struct condition *added = vec_push(*conditions, *nr);
	struct fail fail = FAIL_INIT;

	option_need(added, state);
	if (condition_parse(text, added, &fail))
		setup_usage(state, "--when: %s", fail.text);
	for (size_t i = 0; i + 1 < *nr; i++)
		check_other(&(*conditions)[i], added, state);
}

void flight_check_tracers(const struct condition *conditions, size_t nr, const struct setup *setup,
			  struct argp_state *state)
{
	const struct condition *condition = NULL;

	for (size_t i = 0; i < nr; i++)
		if (conditions[i].noise)
			condition = &conditions[i];
	for (size_t i = 0; condition && i < setup->nr_instances; i++) {
		const char *tracer = setup->instances[i].tracer;

		if (tracer && condition_noise_of(tracer))
			setup_usage(state,
				    "-p %s: --when %s has its tracer in an instance of its own, and would stop this "
				    "one, too; -e osnoise records what it finds",
				    tracer, condition->name);
	}
}
