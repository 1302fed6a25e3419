// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options/flight_place.h"

#include "cmd/options/setup_options.h"
#include "cmd/options/setup_values.h"
#include "lib/base/near.h"
#include "lib/base/text.h"
#include "lib/flight/flight.h"
#include "lib/setup/setup.h"

#include <string.h>
#include <unistd.h>

bool flight_is_in_kernel(const char *arg, struct argp_state *state)
{
	static const char *const places[] = { "ring", "kernel" };
	struct near near = near_to(arg);
	char hint[256];

	for (size_t i = 0; i < array_size(places); i++) {
		near_offer(&near, places[i]);
		if (!strcmp(places[i], arg))
			return i;
	}
	near_hint(&near, hint, sizeof(hint));
	setup_usage(state, "--keep-in takes ring or kernel, not '%s'%s%s", arg, *hint ? "; " : "", hint);
	return false;
}

uint64_t flight_kernel_share(const struct flight_options *flight, const struct setup *setup)
{
	uint64_t nr = 0;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	for (size_t i = 0; i < setup->nr_instances; i++)
		nr += setup_uses(setup, i) && !setup->instances[i].size;
	return flight->max_memory / (nr ? nr : 1) / (cpus > 0 ? (uint64_t)cpus : 1);
}
