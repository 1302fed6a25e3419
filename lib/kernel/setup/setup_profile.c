// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/setup/setup_profile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/ground/base/fail.h"
#include "lib/kernel/refusals/fitting.h"
#include "lib/kernel/setup/setup.h"
#include "lib/meaning/event/own_formats.h"

/*
 * The function of the timer that ticks (kernel/time/tick-sched.c). Before Linux 6.9 tick_nohz_handler() is another one,
 * which no high resolution timer calls.
 */
static int find_tick(struct functions *functions, uint64_t *ret, struct fail *fail)
{
	static const char *const names[] = { "tick_sched_timer", "tick_nohz_handler" };
	int found = 0;

	for (size_t i = 0; i < array_size(names) && found != 1; i++)
		found = function_find(functions, NULL, names[i], ret);
	if (found != 1)
		return fail_set(fail, -EOPNOTSUPP,
				"--profile: no function of this kernel is known to make its ticks (/proc/kallsyms has "
				"neither tick_sched_timer nor tick_nohz_handler)");
	return *ret ? 0 :
		      fail_set(fail, -EOPNOTSUPP,
			       "--profile: the kernel hides its addresses, so its ticks cannot be told from other "
			       "timers; 'sysctl kernel.kptr_restrict=1' shows them to root");
}

int setup_profile_add(struct setup *setup, struct setup_profile *ret, struct fail *fail)
{
	struct setup_instance *wanted;
	struct setup_event *event;
	uint64_t tick;
	int err = find_tick(&setup->functions, &tick, fail);

	*ret = (struct setup_profile){ .filter = NULL };
	if (err)
		return err;
	if (asprintf(&ret->filter, "function == 0x%" PRIx64, tick) < 0) {
		ret->filter = NULL;
		return fail_memory(fail);
	}
	wanted = setup_add_instance(setup, OWN_BUFFER_PROFILE);
	event = wanted ? setup_add_event(wanted, "timer:hrtimer_expire_entry") : NULL;
	if (!event || !setup_list_add(&wanted->wishes, "userstacktrace"))
		return fail_memory(fail);
	wanted->own = true;
	wanted->stacks = true;
	wanted->clock = setup->instances[0].clock;
	wanted->size = setup->instances[0].size;
	event->filter = ret->filter;
	return 0;
}

void setup_profile_release(struct setup_profile *profile)
{
	free(profile->filter);
	profile->filter = NULL;
}
