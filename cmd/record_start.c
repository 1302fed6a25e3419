// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/record_start.h"

#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "cmd/command.h"
#include "lib/base/buf.h"
#include "lib/base/text.h"
#include "lib/record/session.h"

enum { NAMES_SHOWN = 6 };

/* "sched, syscalls and 3 more" */
static bool add_names(const struct setup *setup, struct buf *names)
{
	size_t nr = 0;
	bool ok = true;

	for (size_t i = 0; i < setup->nr_instances; i++) {
		const struct setup_instance *instance = &setup->instances[i];

		if (instance->tracer && nr++ < NAMES_SHOWN)
			ok = ok && buf_addf(names, "%sthe tracer %s", names->len ? ", " : "", instance->tracer);
		for (size_t j = 0; j < instance->nr_events; j++) {
			const struct setup_event *event = &instance->events[j];

			if (!event->off && nr++ < NAMES_SHOWN)
				ok = ok && buf_addf(names, "%s%s", names->len ? ", " : "",
						    event->pattern ? event->pattern : event->probe);
		}
	}
	return ok && (nr <= NAMES_SHOWN || buf_addf(names, " and %zu more", nr - NAMES_SHOWN));
}

void record_tell_start(const struct record_options *options)
{
	cleanup_buf struct buf names = BUF_INIT;
	char time[TEXT_HUMAN] = "";

	if (options->argv || !isatty(STDERR_FILENO) || !add_names(&options->setup, &names))
		return;
	if (options->duration_ns)
		text_time(time, options->duration_ns);
	command_warn("recording %s%s%s%s; Ctrl-C ends it", buf_str(&names), *time ? " for " : "", time,
		     options->setup.nr_pids && !options->setup.follow ? ", until the last of these tasks has ended" :
									"");
}
