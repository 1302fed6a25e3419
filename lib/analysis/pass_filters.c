// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/pass.h"

#include "lib/analysis/analysis.h"
#include "lib/analysis/findings.h"
#include "lib/base/number.h"
#include "lib/base/text.h"
#include "lib/event/context.h"
#include "lib/reader/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { FILTER_SHOWN = 4, EVENTS_SHOWN = 2, FILTER_TEXT = 60 };

/* What the user had the kernel leave out, which is therefore in no figure of a table. */

const struct context *pass_filtered(const struct pass *pass)
{
	for (size_t i = 0; i < pass->reader->nr_buffers; i++)
		if (context_has_pids(pass->reader->buffers[i].context))
			return pass->reader->buffers[i].context;
	return NULL;
}

/* The list may be long: its first PIDs stand for it. */
static void put_pids(const struct pass *pass, struct findings *findings)
{
	const struct context *context = pass_filtered(pass);
	const char *list = context->event_pids ? context->event_pids : context->event_pids_left;
	size_t len = 0, nr = 0;
	struct text_word word;
	char pids[64] = "";

	while (list && text_next_word(&list, " \n", &word))
		if (nr++ < FILTER_SHOWN && len + word.len + 2 < sizeof(pids))
			len += (size_t)snprintf(pids + len, sizeof(pids) - len, "%s%.*s", len ? " " : "", (int)word.len,
						word.at);
	findings_note(findings,
		      "only the tasks of a PID filter were recorded (set_event_pid %s%s%s): what other tasks did, and "
		      "when CPUs were idle, is unknown",
		      pids, nr > FILTER_SHOWN ? " ..." : "",
		      context->event_fork ? ", and what they forked" : "; record with -c to have their children, too");
}

/* A mask of all possible CPUs has at least as many bits as there are CPUs online. */
static void put_cpumask(const struct context *context, struct findings *findings)
{
	const char *list = context->cpumask;
	struct text_word word;
	uint32_t bits = 0;

	while (list && text_next_word(&list, ",\n", &word)) {
		const char *at = word.at;
		uint64_t mask;

		bits += number_hex(&at, &mask) ? (uint32_t)__builtin_popcountll(mask) : 0;
	}
	if (bits && bits < context->online_cpus)
		findings_note(
			findings,
			"%" PRIu32 " of %" PRIu32
			" CPUs were recorded (tracing_cpumask %.*s): what tasks did on the others is unknown, and "
			"counts as sleeping or waiting",
			bits, context->online_cpus, (int)strcspn(context->cpumask, "\n"), context->cpumask);
}

/* Whether an analysis or the state, which all tables of tasks and CPUs depend on, needs the event. */
static bool needs(const struct pass *pass, const struct analysis_ops *ops, const char *name)
{
	for (size_t i = 0; ops->wants[i].event; i++)
		if (pass_is_named(ops->wants[i].event, name) || pass_is_named(ops->wants[i].instead, name))
			return true;
	return pass->state.events[STATE_SWITCH] && !strcmp(name, "sched:sched_switch");
}

/* Names the first events whose filter hides something from the analysis. */
static void put_events(const struct pass *pass, const struct analysis_ops *ops, const struct context *context,
		       struct findings *findings)
{
	const char *at = context->filters;
	char names[400] = "", name[128];
	struct text_word line;
	size_t len = 0, nr = 0;
	bool times = false;

	while (at && text_next_word(&at, "\n", &line)) {
		const char *blank = memchr(line.at, ' ', line.len);
		size_t filter = blank ? line.len - (size_t)(blank + 1 - line.at) : 0;

		snprintf(name, sizeof(name), "%.*s", blank ? (int)(blank - line.at) : 0, line.at);
		if (!needs(pass, ops, name))
			continue;
		times = times || !strncmp(name, "sched:", 6) || !strncmp(name, "irq:", 4);
		if (nr++ >= EVENTS_SHOWN)
			continue;
		len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s (%.*s%s)", len ? ", " : "", name,
					(int)(filter < FILTER_TEXT ? filter : FILTER_TEXT), blank + 1,
					filter > FILTER_TEXT ? "..." : "");
	}
	if (nr)
		findings_note(findings, "recorded with a filter: %s%s: what it left out is in no figure%s", names,
			      nr > EVENTS_SHOWN ? ", ..." : "",
			      times ? ", and its time counts for what came before" : "");
}

void pass_put_filters(const struct pass *pass, const struct analysis_ops *ops, struct findings *findings)
{
	if (pass->state.events[STATE_SWITCH])
		put_cpumask(pass->reader->buffers[0].context, findings);
	for (size_t i = 0; i < pass->reader->nr_buffers; i++)
		put_events(pass, ops, pass->reader->buffers[i].context, findings);
	if (pass->state.listed.filtered)
		put_pids(pass, findings);
}
