// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/record_start.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/terminal/progress.h"
#include "lib/base/buf.h"
#include "lib/base/text.h"
#include "lib/record/session.h"
#include "lib/record/so_far.h"

enum { NAMES_SHOWN = 6, NS_PER_S = 1000000000 };

/* Adds names such as "sched, syscalls and 3 more". */
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

/* Draws a line with the events of the last second; sizes and losses count from the start. */
static void draw(const struct so_far *so_far)
{
	static uint64_t last_events, last_ns;
	uint64_t ns = so_far->lasted_ns - last_ns;
	char text[256], rate[TEXT_HUMAN], bytes[TEXT_HUMAN], lost[TEXT_HUMAN];

	text_count(rate, ns ? (uint64_t)((double)(so_far->events - last_events) * NS_PER_S / (double)ns) : 0);
	snprintf(text, sizeof(text), "%" PRIu64 " s, %s events/s, %s, buffers %u %% full, %s lost",
		 so_far->lasted_ns / NS_PER_S, rate, text_size(bytes, so_far->bytes), so_far->fill,
		 text_count(lost, so_far->lost));
	progress_draw(text);
	last_events = so_far->events;
	last_ns = so_far->lasted_ns;
}

void record_watch(struct record_options *options)
{
	/* A COMMAND may write to the same terminal. */
	if (options->argv || !progress_can_draw())
		return;
	options->look = draw;
	options->look_ms = progress_period_ms();
}
