// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/setup/setup.h"

#include <errno.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/setup/borrow_internal.h"
#include "lib/kernel/setup/tasks.h"
#include "lib/kernel/setup/tracer.h"
#include "lib/kernel/undo/change.h"
#include "lib/kernel/undo/claim.h"
#include "lib/kernel/undo/instance_open.h"
#include "lib/kernel/undo/undo.h"

/* Whether a trigger or a function command will switch tracing off. */
static bool stops_itself(const struct setup_instance *wanted)
{
	for (size_t i = 0; i < wanted->commands.nr; i++)
		if (strstr(wanted->commands.items[i], ":traceoff"))
			return true;
	for (size_t i = 0; i < wanted->nr_events; i++)
		for (size_t j = 0; j < wanted->events[i].triggers.nr; j++)
			if (!strncmp(wanted->events[i].triggers.items[j], "traceoff", strlen("traceoff")))
				return true;
	return false;
}

static void tell_waiting(const char *text, void *data)
{
	const struct setup_context *context = data;
	struct fail told;

	fail_set(&told, 0, "%s: waiting", text);
	setup_warn(context->setup, &told);
}

/* Claims an instance, so that no other weft traces there. A plan changes nothing, so it claims nothing. */
static int claim(const struct setup_context *context, const char *instance, struct fail *fail)
{
	const struct setup *setup = context->setup;
	bool elsewhere = !*instance && context->manner == SETUP_TOP;
	const struct claim_manner manner = {
		.waits = setup->waits,
		.wait_ns = setup->wait_ns,
		.replaces = context->manner == SETUP_TOP,
		.waiting = tell_waiting,
		.data = (void *)context,
	};
	struct fail why;
	int err = 0;

	if (context->undo && !context->tracing->plan && context->manner != SETUP_CHANGE)
		err = undo_claim(context->undo, instance, &manner, &why);
	if (err)
		return fail_set(fail, err, "%s%s%s", why.text,
				err == -EBUSY ? "; --wait waits for the end of that" : "",
				err == -EBUSY && elsewhere ? ", -B NAME traces in an instance of its own" : "");
	return 0;
}

/* Claims all instances of the setup in the order of their names, so that two processes cannot deadlock. */
static int claim_named(const struct setup_context *context, struct fail *fail)
{
	const struct setup *setup = context->setup;
	const char *next = "", *last;
	int err = 0;

	while (!err && next) {
		last = next;
		next = NULL;
		for (size_t i = 0; i < setup->nr_instances; i++) {
			const char *name = setup->instances[i].name;

			/* A name with a slash is invalid. It is skipped here; opening it reports the error. */
			if (name && setup_uses(setup, i) && !strchr(name, '/') && strcmp(name, last) > 0 &&
			    (!next || strcmp(name, next) < 0))
				next = name;
		}
		err = next ? claim(context, next, fail) : 0;
	}
	return err;
}

static int open_top(const struct setup_context *context, struct instance **ret, struct fail *fail)
{
	int err = claim(context, "", fail);

	return err ? err : instance_open_top(context->tracing, context->undo, ret, fail);
}

static int open_private(const struct setup_context *context, const struct setup_instance *wanted, struct instance **ret,
			struct fail *fail)
{
	const char *tracer = wanted->tracer;
	bool graph = wanted->graph.nr || wanted->graph_notrace.nr;
	bool heeds = tracer && tracer_heeds_top(tracer) && stops_itself(wanted);
	struct instance *instance;
	struct fail told;
	int err = 0;

	if (!heeds) {
		err = instance_new_private(context->tracing, context->undo, &instance, fail);
		if (err)
			return err;
		if (!tracer || !tracer_needs_top(instance, tracer, graph, wanted->graph_depth != 0)) {
			*ret = instance;
			return 0;
		}
		err = instance_close(instance, fail);
	}
	if (!err)
		err = open_top(context, ret, fail);
	if (err)
		return err;
	fail_set(&told, 0,
		 "tracer '%s'%s only in the top instance: that instance is used, its settings are put back afterwards, "
		 "what its buffer held is gone",
		 tracer,
		 heeds                        ? " keeps what it found until a trigger stops it" :
		 graph || wanted->graph_depth ? " with -g or --max-graph-depth exists" :
						" exists");
	setup_warn(context->setup, &told);
	return 0;
}

/*
 * Warns if set_ftrace_pid holds an installed but empty list, with which no task was traced. instance_borrow() removes
 * the list.
 */
static void warn_of_empty(const struct setup_context *context, const struct instance *instance)
{
	static const char file[] = "set_ftrace_pid";
	cleanup_buf struct buf text = BUF_INIT;
	struct fail told;

	if (!instance_has(instance, file) || instance_read(instance, file, &text, NULL) || text.len)
		return;
	fail_set(
		&told, 0,
		"'%s' of the top instance held an empty list of tasks, so that no task was traced: the list is removed",
		file);
	setup_warn(context->setup, &told);
}

static int prepare(const struct setup_context *context, struct instance *instance, bool own, struct fail *fail)
{
	/* True if the settings that were found are from an earlier start. */
	bool ours = context->undo && undo_holds(context->undo, instance->name, "tracing_on");
	struct fail told;
	bool found = false;
	int err = instance_turn(instance, false, fail);

	/*
	 * The content of an existing named instance is kept and saved with the recording. The content of the top
	 * instance cannot be kept, because the kernel drops it when the tracer changes.
	 */
	if (!err && instance->kind == INSTANCE_TOP)
		err = instance_clear(instance, fail);
	if (!err && instance->kind == INSTANCE_TOP)
		warn_of_empty(context, instance);
	if (!err && instance->kind != INSTANCE_EXISTING)
		err = instance_borrow(instance, context->manner == SETUP_TOP, &found, fail);
	/* What programs write to the top trace_marker is also written to this instance (Linux 6.16). */
	if (!err && !own && instance->kind == INSTANCE_PRIVATE && option_exists(instance, "copy_trace_marker"))
		err = option_set(instance, "copy_trace_marker", fail);
	if (err || !found || ours || instance->kind != INSTANCE_TOP)
		return err;
	fail_set(&told, 0, "the top instance had settings that weft did not make: they are off until %s",
		 context->manner == SETUP_TOP ? "'weft reset'" : "this recording ends");
	setup_warn(context->setup, &told);
	return 0;
}

static void warn_if_deaf(const struct setup_context *context, const struct setup_instance *wanted,
			 const struct instance *instance)
{
	struct instance top = instance_top(context->tracing);
	struct fail told;
	char on[8];

	if (!wanted->tracer || !tracer_heeds_top(wanted->tracer) || instance->kind == INSTANCE_TOP ||
	    instance_read_word(&top, "tracing_on", on, sizeof(on), NULL) || *on != '0')
		return;
	fail_set(&told, 0,
		 "tracer '%s' finds nothing while tracing is off in the top instance ('weft restart' turns it on)",
		 wanted->tracer);
	setup_warn(context->setup, &told);
}

/* Warns if a list of tasks that weft did not install lets no task be traced. The list is left unchanged. */
static void warn_of_nobody(const struct setup_context *context, const struct instance *instance)
{
	static const char *const files[] = { "set_event_pid", "set_ftrace_pid" };
	const struct setup *setup = context->setup;
	struct fail told;

	if (setup->all_pids || setup_chooses_tasks(setup) || setup->only_command)
		return;
	for (size_t i = 0; i < array_size(files); i++) {
		const char *nobody = kernel_tasks_nobody(instance, files[i]);

		if (!nobody)
			continue;
		fail_set(&told, 0, "'%s' of %s%s%s %s; 'weft set %s%s -P \"\"' removes the list", files[i],
			 *instance->name ? "the instance '" : "the top instance", instance->name,
			 *instance->name ? "'" : "", nobody, *instance->name ? "-B " : "", instance->name);
		setup_warn(context->setup, &told);
	}
}

int setup_open(const struct setup_context *context, const struct setup_instance *wanted, struct instance **ret,
	       struct fail *fail)
{
	bool change = context->manner == SETUP_CHANGE;
	int err = claim_named(context, fail);

	*ret = NULL;
	if (!err && wanted->tracer)
		err = tracer_remember_common(context->tracing, context->undo, wanted->tracer, fail);
	if (err)
		return err;
	if (wanted->own)
		err = instance_new_private(context->tracing, context->undo, ret, fail);
	else if (wanted->name)
		err = instance_open(context->tracing, wanted->name, !change, context->undo, ret, fail);
	else if (context->manner == SETUP_PRIVATE)
		err = open_private(context, wanted, ret, fail);
	else
		err = open_top(context, ret, fail);
	if (!err)
		warn_if_deaf(context, wanted, *ret);
	if (!err && (change || (*ret)->kind == INSTANCE_EXISTING))
		warn_of_nobody(context, *ret);
	/* After an error the caller owns the instance, and closes it after the settings were restored. */
	return err || change ? err : prepare(context, *ret, wanted->own, fail);
}
