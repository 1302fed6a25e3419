// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options/flight_conditions.h"

#include "cmd/options/option_value.h"
#include "cmd/options/setup_values.h"
#include "lib/base/fail.h"
#include "lib/base/vec.h"
#include "lib/flight/condition.h"
#include "lib/setup/setup.h"

#include <string.h>

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
