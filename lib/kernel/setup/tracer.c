// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/setup/tracer.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/tracefs/kconfig.h"
#include "lib/kernel/undo/change.h"
#include "lib/kernel/undo/undo.h"

static bool in_list(const char *const *list, size_t nr, const char *name)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(list[i], name))
			return true;
	return false;
}

bool tracer_is_max_latency(const char *tracer)
{
	static const char *const names[] = {
		"irqsoff", "preemptoff", "preemptirqsoff", "wakeup", "wakeup_rt", "wakeup_dl",
	};

	return in_list(names, array_size(names), tracer);
}

bool tracer_heeds_top(const char *tracer)
{
	static const char *const names[] = { "irqsoff", "preemptoff", "preemptirqsoff" };

	return in_list(names, array_size(names), tracer);
}

bool tracer_owns_option(const char *option)
{
	static const char *const names[] = {
		"func_stack_trace", "func-no-repeats", "func-args",  "sleep-time",
		"graph-time",       "blk_classic",     "blk_cgname", "blk_cgroup",
	};

	return in_list(names, array_size(names), option) || !strncmp(option, "funcgraph-", strlen("funcgraph-"));
}

bool tracer_is_function(const char *tracer)
{
	static const char *const names[] = { "function", "function_graph" };

	return in_list(names, array_size(names), tracer);
}

static bool has_word(const char *words, const char *word, struct near *near)
{
	struct text_word one;

	while (text_next_word(&words, " \n", &one)) {
		char name[NEAR_NAME_SIZE];

		if (text_word_is(one, word))
			return true;
		snprintf(name, sizeof(name), "%.*s", (int)one.len, one.at);
		if (near)
			near_offer(near, name);
	}
	return false;
}

bool tracer_offered(const struct instance *instance, const char *tracer)
{
	cleanup_buf struct buf buf = BUF_INIT;

	return !instance_read(instance, "available_tracers", &buf, NULL) && has_word(buf_str(&buf), tracer, NULL);
}

bool tracer_needs_top(const struct instance *instance, const char *tracer, bool graph_functions, bool graph_depth)
{
	struct instance top = instance_top(instance->tracing);

	if (!tracer_offered(instance, tracer))
		return tracer_offered(&top, tracer);
	return (graph_functions && !instance_has(instance, "set_graph_function") &&
		instance_has(&top, "set_graph_function")) ||
	       (graph_depth && !instance_has(instance, "max_graph_depth") && instance_has(&top, "max_graph_depth"));
}

static int not_offered(const struct instance *instance, const char *tracer, struct fail *fail)
{
	struct near near = near_to(tracer);
	cleanup_buf struct buf buf = BUF_INIT;
	cleanup_free char *path = NULL;
	char hint[KCONFIG_HINT_SIZE];
	int err;

	if (asprintf(&path, "%s/available_tracers", instance->tracing->dir) < 0) {
		path = NULL;
		return fail_memory(fail);
	}
	err = tracing_read_path(path, &buf, fail);
	if (err)
		return err;
	if (has_word(buf_str(&buf), tracer, &near))
		return fail_set(fail, -EOPNOTSUPP, "this kernel has the tracer '%s' only in its top instance", tracer);
	if (kconfig_find(KCONFIG_TRACER, tracer))
		return fail_set(fail, -ENOENT, "this kernel has no tracer '%s'%s", tracer,
				kconfig_hint(KCONFIG_TRACER, tracer, hint));
	return near_fail(&near, fail, -ENOENT, "this kernel has no tracer '%s'", tracer);
}

/*
 * Tracers of one family share a resource that the kernel has only once: irqsoff_busy, wakeup_busy, hwlat_busy, or the
 * threads of osnoise and timerlat.
 */
static const char *family_of(const char *tracer)
{
	static const char *const families[] = {
		" irqsoff preemptoff preemptirqsoff ",
		" wakeup wakeup_rt wakeup_dl ",
		" hwlat ",
		" osnoise timerlat ",
	};

	for (size_t i = 0; i < array_size(families); i++)
		if (has_word(families[i], tracer, NULL))
			return families[i];
	return NULL;
}

struct rival {
	const struct tracing *tracing;
	const char *own; /* the name of the instance that may have the tracer */
	const char *family;
	char why[128];
	struct fail *fail;
};

static int tell_rival(const char *name, void *data)
{
	const struct rival *rival = data;
	struct instance top = instance_top(rival->tracing);
	char file[300], now[64];

	if (rival->own && !strcmp(name, rival->own))
		return 0;
	snprintf(file, sizeof(file), "%s%s%scurrent_tracer", *name ? "instances/" : "", name, *name ? "/" : "");
	if (instance_read_word(&top, file, now, sizeof(now), NULL) || !has_word(rival->family, now, NULL))
		return 0;
	fail_set(rival->fail, -EBUSY, "%s, and %s%s%s has %s", rival->why,
		 *name ? "the instance '" : "the top instance", name, *name ? "'" : "", now);
	return 1;
}

int tracer_functions_on(const struct instance *instance, struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;

	if (instance->tracing->plan || tracing_read_path("/proc/sys/kernel/ftrace_enabled", &text, NULL) ||
	    *buf_str(&text) != '0')
		return 0;
	return fail_set(fail, -EPERM,
			"no function can be traced while the sysctl kernel.ftrace_enabled is 0; "
			"'weft set --ftrace-enabled on' changes that");
}

int tracer_remember_common(const struct tracing *tracing, struct undo *undo, const char *tracer, struct fail *fail)
{
	static const char mode[] = "hwlat_detector/mode";
	struct instance top = instance_top(tracing);

	if (!undo || tracing->plan || strcmp(tracer, "hwlat") != 0 || !instance_has(&top, mode))
		return 0;
	return undo_remember(undo, "", mode, fail);
}

/* The tracers with a family are those that set this file to 0 when they start, and then to their own worst case. */
static int remember_worst(struct instance *instance, const char *tracer, struct fail *fail)
{
	static const char file[] = "tracing_max_latency";

	return family_of(tracer) && instance_has(instance, file) ? instance_remember(instance, file, fail) : 0;
}

int tracer_check(const struct instance *instance, const char *tracer, struct fail *fail)
{
	return tracer_offered(instance, tracer) ? 0 : not_offered(instance, tracer, fail);
}

int tracer_set(struct instance *instance, const char *tracer, struct fail *fail)
{
	struct rival rival = { instance->tracing, instance->name, .family = family_of(tracer), .fail = fail };
	int err;

	snprintf(rival.why, sizeof(rival.why), "the kernel has the tracer '%.40s' for one instance at a time", tracer);
	if (!tracer_offered(instance, tracer))
		return not_offered(instance, tracer, fail);
	err = tracer_is_function(tracer) ? tracer_functions_on(instance, fail) : remember_worst(instance, tracer, fail);
	if (err)
		return err;
	err = instance_set(instance, "current_tracer", tracer, fail);
	if (err == -EBUSY && rival.family && fail && !tell_rival("", &rival))
		(void)!instance_each(instance->tracing, tell_rival, &rival, NULL);
	return err;
}

int tracer_check_alone(const struct tracing *tracing, const char *own, const char *tracer, struct fail *fail)
{
	struct rival rival = { tracing, own, .family = family_of(tracer), .fail = fail };
	int r;

	snprintf(rival.why, sizeof(rival.why), "the tracer '%.40s' stops tracing in every instance that has it",
		 tracer);
	r = tell_rival("", &rival);
	if (!r)
		r = instance_each(tracing, tell_rival, &rival, fail);
	return r > 0 ? -EBUSY : r;
}

int tracer_no_file(const struct instance *instance, const char *file, struct fail *fail)
{
	struct instance top = instance_top(instance->tracing);

	if (*instance->name && instance_has(&top, file))
		return fail_set(fail, -EOPNOTSUPP, "this kernel has '%s' only in its top instance", file);
	return kconfig_no_file(file, fail);
}

int tracer_graph_depth(struct instance *instance, unsigned depth, struct fail *fail)
{
	char value[16];

	if (!instance_has(instance, "max_graph_depth"))
		return tracer_no_file(instance, "max_graph_depth", fail);
	snprintf(value, sizeof(value), "%u", depth);
	return instance_set(instance, "max_graph_depth", value, fail);
}
