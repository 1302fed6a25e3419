// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/record_nothing.h"

#include "cmd/command.h"
#include "lib/base/buf.h"
#include "lib/setup/setup.h"

#include <stdio.h>

static bool add(struct buf *why, const char *text)
{
	return buf_addf(why, "%s%s", why->len ? "; " : "", text);
}

/* Adds the first filter, and whether there are more. */
static bool add_filters(const struct setup *setup, struct buf *why)
{
	const char *first = NULL;
	size_t nr = 0;

	for (size_t i = 0; i < setup->nr_instances; i++)
		for (size_t j = 0; j < setup->instances[i].nr_events; j++) {
			const char *filter = setup->instances[i].events[j].filter;

			first = first || !filter ? first : filter;
			nr += filter != NULL;
		}
	if (!first)
		return true;
	return buf_addf(why, "%sthe filter '%s'%s matched no event", why->len ? "; " : "", first,
			nr > 1 ? " and others" : "");
}

static bool add_tracer(const struct setup_instance *instance, struct buf *why)
{
	if (instance->functions.nr || instance->graph.nr)
		return add(why, "the functions of -l or -g were not called");
	return true;
}

static bool add_choices(const struct setup *setup, struct buf *why)
{
	bool ok = add_filters(setup, why);

	if (ok && setup->only_command)
		ok = add(why, setup->follow ? "only tasks of COMMAND are traced (-F -c)" :
					      "only COMMAND itself is traced, not its children (-F without -c)");
	else if (ok && (setup->nr_pids || setup->nr_notrace_pids))
		ok = add(why, "only some tasks are traced (-P)");
	for (size_t i = 0; ok && i < setup->nr_instances; i++) {
		if (setup->instances[i].has_cpus)
			ok = add(why, "only some CPUs are traced (-M)");
		ok = ok && add_tracer(&setup->instances[i], why);
	}
	return ok;
}

void record_tell_nothing(const struct setup *setup)
{
	cleanup_buf struct buf why = BUF_INIT;

	if (!add_choices(setup, &why))
		return;
	if (why.len)
		command_warn("note: nothing was recorded; possible reasons: %s", buf_str(&why));
	else
		command_warn("note: nothing was recorded: none of the requested events or functions occurred");
}
