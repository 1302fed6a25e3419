// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options/sample.h"

#include <inttypes.h>
#include <string.h>
#include <sys/utsname.h>

#include "cmd/command.h"
#include "cmd/options/setup_values.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/record/sampling.h"

void sample_take(const struct option_row *row, void *member, char *arg, struct argp_state *state)
{
	uint32_t *of = member;
	struct fail fail;
	uint64_t number = 0;

	if (strncmp(arg, "1/", 2) != 0 || text_parse_range(arg + 2, 1, SAMPLING_OF_MAX, &number, &fail))
		setup_usage(state, "--%s takes 1/N, as 1/20, with N up to %d", row->name, SAMPLING_OF_MAX);
	*of = (uint32_t)number;
}

enum record_skip sample_skips(uint32_t of, bool quiet)
{
	const char *resource;
	struct utsname name;
	int percent;

	if (!uname(&name) && !sampling_takes(name.nodename, now_unix_ns() / NS_PER_S, of)) {
		if (!quiet)
			command_warn("nothing is recorded: this hour of '%s' is not in the sample 1/%" PRIu32,
				     name.nodename, of);
		return RECORD_SKIP_HOUR;
	}
	if (!sampling_pressure(&resource, &percent)) {
		if (!quiet)
			command_warn("note: this kernel does not measure pressure (psi=1), so nothing tells whether "
				     "the machine has time to spare");
		return RECORD_SKIP_NOT;
	}
	if (percent <= SAMPLING_PRESSURE_MAX)
		return RECORD_SKIP_NOT;
	if (!quiet)
		command_warn("nothing is recorded: the machine is under pressure: for %d %% of the last 10 s tasks "
			     "waited for %s, and a sample allows %d %%",
			     percent, resource, SAMPLING_PRESSURE_MAX);
	return RECORD_SKIP_PRESSURE;
}
