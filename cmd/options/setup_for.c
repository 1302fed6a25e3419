// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options/setup_for.h"

#include <string.h>

#include "cmd/command.h"
#include "cmd/options/option_value.h"
#include "lib/answers/frame/analysis.h"
#include "lib/ground/base/buf.h"
#include "lib/kernel/setup/setup.h"

static bool add_want(struct setup_instance *wanted, const struct analysis_want *want, bool essential)
{
	return setup_want_event(wanted, want->event, want->instead, want->what_for, essential);
}

static bool add_stacks(struct setup_instance *wanted, const char *events, const char *instead)
{
	struct setup_event *event = setup_add_event(wanted, events);

	if (!event || !setup_list_add(&event->triggers, "stacktrace"))
		return false;
	event->instead = instead;
	event->what_for = "the stacks";
	event->optional = true;
	return true;
}

static bool add_wants(struct setup_instance *wanted, const struct analysis_ops *ops, size_t essential)
{
	bool ok = true;

	for (size_t i = 0; ops->wants[i].event; i++)
		/* A tracer's own events cannot be enabled: the tracer writes them. */
		if (!ops->tracer || strncmp(ops->wants[i].event, "ftrace:", strlen("ftrace:")))
			ok = ok && add_want(wanted, &ops->wants[i], i < essential);
	return ok;
}

bool setup_for_analysis(struct setup_instance *wanted, const struct analysis_ops *ops)
{
	bool ok = true;

	/* An overview can do without any of its parts. */
	for (size_t i = 0; ops->like && ops->like[i]; i++)
		ok = ok && add_wants(wanted, ops->like[i], 0);
	ok = ok && add_wants(wanted, ops, ops->essential);
	if (ops->stacks)
		ok = ok && add_stacks(wanted, ops->stacks, ops->stacks_instead);
	if (ops->option)
		ok = ok && setup_list_add(&wanted->wishes, ops->option);
	if (ops->tracer)
		wanted->tracer = ops->tracer;
	/* For --process, --unit and so on: whom a task that starts meanwhile belongs to. */
	return ok && setup_want_who(wanted);
}

static void refuse(const char *option, const char *name, struct argp_state *state)
{
	cleanup_buf struct buf names = BUF_INIT;
	const char *about = command_about(name);

	argp_error(state, "%s: unknown analysis '%s'%s%s; the analyses are %s", option, name,
		   about ? "; did you mean " : "", about ? about : "",
		   analysis_list_text(&names) ? buf_str(&names) : "others");
}

void setup_for(struct setup_instance *wanted, const char *option, const char *name, struct argp_state *state)
{
	const struct analysis_ops *ops = analysis_named(name);

	if (!ops)
		refuse(option, name, state);
	else if (ops->tracer && wanted->tracer && strcmp(ops->tracer, wanted->tracer))
		argp_error(state, "%s %s needs the tracer %s, but another one is requested: %s", option, name,
			   ops->tracer, wanted->tracer);
	else if (!setup_for_analysis(wanted, ops))
		option_no_memory(state);
}

const struct analysis_ops *setup_for_intervals(const char *name, struct argp_state *state)
{
	const struct analysis_ops *ops = analysis_named(name);

	if (ops == &why_analysis)
		argp_error(state,
			   "why explains one thing that is over, and has no tables of intervals: 'weft record --for "
			   "why', and 'weft why'");
	return ops;
}
