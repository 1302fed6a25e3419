// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/setup/setup_quota.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/refusals/fitting.h"
#include "lib/kernel/setup/setup.h"
#include "lib/kernel/tracefs/instance.h"
#include "lib/kernel/tracefs/tracing.h"
#include "lib/kernel/undo/instance_open.h"
#include "lib/meaning/event/own_formats.h"
#include "lib/memory/image/layout.h"

/* Where a group of tasks has the number of its control group, and a run queue that of its CPU. */
struct places {
	struct layout_member group, node, number, cpu;
	struct layout_member pid, set, of_set; /* of a new task, what clone3() was given, and the group of that */
};

static bool find_places(const struct btf *btf, struct places *places)
{
	struct btf_type tasks, group, node, queue, task, clone, set;

	if (!layout_structure(btf, "task_group", &tasks) || !layout_structure(btf, "cgroup", &group) ||
	    !layout_structure(btf, "kernfs_node", &node) || !layout_structure(btf, "rq", &queue))
		return false;
	*places = (struct places){
		.group = layout_find(btf, &tasks, "css.cgroup"),
		.node = layout_find(btf, &group, "kn"),
		.number = layout_find(btf, &node, "id"),
		.cpu = layout_find(btf, &queue, "cpu"),
	};
	if (layout_structure(btf, "task_struct", &task) && layout_structure(btf, "kernel_clone_args", &clone) &&
	    layout_structure(btf, "css_set", &set)) {
		places->pid = layout_find(btf, &task, "pid");
		places->set = layout_find(btf, &clone, "cset");
		places->of_set = layout_find(btf, &set, "dfl_cgrp");
	}
	return places->group.found && places->node.found && places->number.found && places->cpu.found;
}

static bool read_places(struct places *places)
{
	cleanup_buf struct buf data = BUF_INIT;
	struct btf btf = { .nr = 0 };
	bool found;

	if (tracing_read_path("/sys/kernel/btf/vmlinux", &data, NULL) || btf_open(&btf, data.data, data.len, NULL))
		return false;
	found = find_places(&btf, places);
	btf_release(&btf);
	return found;
}

static bool add_probe(struct setup_instance *wanted, struct setup_quota *quota, struct buf *text)
{
	struct setup_event *event = quota->nr_probes < SETUP_QUOTA_PROBES ? setup_add_event(wanted, NULL) : NULL;
	char *probe = event ? buf_take(text, NULL) : NULL;

	if (!probe)
		return false;
	quota->probes[quota->nr_probes++] = probe;
	event->probe = probe;
	return true;
}

static bool add_group(struct setup_instance *wanted, struct setup_quota *quota, const char *function,
		      const struct places *places)
{
	cleanup_buf struct buf text = BUF_INIT;

	return buf_addf(&text, "p %s id=+%u(+%u(+%u($arg1))):u64 cpu=+%u($arg2):s32", function, places->number.offset,
			places->node.offset, places->group.offset, places->cpu.offset) &&
	       add_probe(wanted, quota, &text);
}

/* A child that clone3() puts into another group than its parent's: no event has its group. */
static bool add_births(struct setup_instance *wanted, struct setup_quota *quota, const struct places *places,
		       struct functions *functions)
{
	cleanup_buf struct buf text = BUF_INIT;

	if (!places->pid.found || !places->set.found || !places->of_set.found ||
	    function_exists(functions, NULL, "cgroup_post_fork") != 1)
		return true;
	return buf_addf(&text, "p cgroup_post_fork pid=+%u($arg1):s32 id=+%u(+%u(+%u(+%u($arg2)))):u64",
			places->pid.offset, places->number.offset, places->node.offset, places->of_set.offset,
			places->set.offset) &&
	       add_probe(wanted, quota, &text);
}

static bool add_steal(struct setup_instance *wanted, struct setup_quota *quota, struct functions *functions)
{
	cleanup_buf struct buf text = BUF_INIT;

	return function_exists(functions, NULL, "account_steal_time") != 1 ||
	       (buf_add_str(&text, "p account_steal_time ns=$arg1:u64") && add_probe(wanted, quota, &text));
}

static int choose(const struct instance *top, struct setup *setup, struct setup_quota *quota, struct fail *fail)
{
	struct functions *functions = &setup->functions;
	struct setup_instance *wanted;
	struct places places;

	if (!instance_has(top, "kprobe_events"))
		return fail_set(
			fail, -EOPNOTSUPP,
			"--quota: this kernel has no probes of its functions (CONFIG_KPROBE_EVENTS), which tell "
			"when a control group has used up its quota: leave out --quota");
	if (function_exists(functions, NULL, "tg_throttle_down") != 1 ||
	    function_exists(functions, NULL, "tg_unthrottle_up") != 1)
		return fail_set(fail, -EOPNOTSUPP,
				"--quota: control groups have no quota of CPU time in this kernel "
				"(CONFIG_CFS_BANDWIDTH): leave out --quota");
	if (!read_places(&places))
		return fail_set(fail, -EOPNOTSUPP,
				"--quota: this kernel does not tell its structures (CONFIG_DEBUG_INFO_BTF), so a probe "
				"cannot say which control group has used up its quota: leave out --quota");
	wanted = setup_add_instance(setup, OWN_BUFFER_QUOTA);
	if (!wanted)
		return fail_memory(fail);
	wanted->own = true;
	wanted->clock = setup->instances[0].clock;
	wanted->size = setup->instances[0].size;
	if (!add_group(wanted, quota, "tg_throttle_down", &places) ||
	    !add_group(wanted, quota, "tg_unthrottle_up", &places) || !add_steal(wanted, quota, functions) ||
	    !add_births(wanted, quota, &places, functions))
		return fail_memory(fail);
	return 0;
}

int setup_quota_add(struct setup *setup, struct setup_quota *ret, struct fail *fail)
{
	struct tracing tracing = { .dir = NULL };
	struct instance top;
	int err = tracing_find(&tracing, fail);

	*ret = (struct setup_quota){ .nr_probes = 0 };
	if (!err) {
		top = instance_top(&tracing);
		err = choose(&top, setup, ret, fail);
	}
	tracing_release(&tracing);
	return err;
}

void setup_quota_release(struct setup_quota *quota)
{
	for (size_t i = 0; i < quota->nr_probes; i++)
		free(quota->probes[i]);
	*quota = (struct setup_quota){ .nr_probes = 0 };
}
