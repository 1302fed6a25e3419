// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/setup/setup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/kernel/setup/tracer.h"
#include "lib/kernel/undo/instance_open.h"
#include "tests/unit/setup_scene.h"
#include "tests/unit/test.h"

static const struct setup_text before[] = {
	{ "tracing_on", "0\n" },
	{ "current_tracer", "nop\n" },
	{ "available_tracers", "wakeup_rt wakeup function nop\n" },
	{ "available_filter_functions", "vfs_read\nvfs_write\nksys_read\n" },
	{ "trace_clock", "[local] global mono\n" },
	{ "trace_options", "print-parent\n" },
	{ "set_event", "" },
	{ "set_event_pid", "" },
	{ "set_ftrace_pid", "no pid\n" },
	{ "set_ftrace_filter", "#### all functions enabled ####\nvfs_read:traceoff:unlimited\n" },
	{ "set_graph_notrace", "#### no functions disabled ####\n" },
	{ "max_graph_depth", "0\n" },
	{ "events/enable", "0\n" },
	{ "events/header_page", "" },
	{ "events/irq/enable", "0\n" },
	{ "events/irq/irq_handler_entry/enable", "0\n" },
	{ "events/sched/enable", "0\n" },
	{ "events/sched/sched_switch/enable", "0\n" },
	{ "events/sched/sched_switch/filter", "none\n" },
	{ "events/sched/sched_switch/trigger", "# Available triggers:\n# traceon traceoff snapshot stacktrace\n" },
	{ "events/sched/sched_waking/enable", "0\n" },
	{ "events/sched/sched_waking/filter", "none\n" },
	{ "events/sched/sched_waking/trigger", "snapshot:unlimited\n" },
	{ "available_events", "irq:irq_handler_entry\nsched:sched_switch\nsched:sched_waking\n" },
	{ "instances/box/current_tracer", "wakeup\n" },
	{ "instances/box/available_tracers", "wakeup nop\n" },
};

static bool begin(struct setup_scene *scene)
{
	return setup_scene_begin(scene, before, array_size(before));
}

static bool ask_rival(struct setup_scene *scene)
{
	scene->wanted->tracer = "wakeup_rt";
	return true;
}

static bool ask_tracer_not_built(struct setup_scene *scene)
{
	scene->wanted->tracer = "irqsoff";
	return true;
}

static bool ask_event(struct setup_scene *scene)
{
	return setup_add_event(scene->wanted, "sched:sched_switch");
}

static bool ask_events(struct setup_scene *scene)
{
	return setup_add_event(scene->wanted, "irq:irq_handler_entry,sched:sched_waking");
}

static bool ask_system(struct setup_scene *scene)
{
	return setup_add_event(scene->wanted, "sched");
}

static bool ask_module(struct setup_scene *scene)
{
	return setup_add_event(scene->wanted, "*:mod:loom");
}

static bool ask_filter(struct setup_scene *scene)
{
	struct setup_event *event = setup_add_event(scene->wanted, "sched");

	if (event)
		event->filter = "prev_prio < 100";
	return event;
}

static bool ask_trigger(struct setup_scene *scene, const char *event, const char *trigger)
{
	struct setup_event *wanted = setup_add_event(scene->wanted, event);

	return wanted && setup_list_add(&wanted->triggers, trigger);
}

static bool ask_unknown_trigger(struct setup_scene *scene)
{
	return ask_trigger(scene, "sched:sched_switch", "stacktrac");
}

static bool ask_unknown_trigger_beside_another(struct setup_scene *scene)
{
	return ask_trigger(scene, "sched:sched_waking", "stacktrac");
}

static bool ask_trigger_not_built(struct setup_scene *scene)
{
	return ask_trigger(scene, "sched:sched_switch", "hist:keys=prev_pid");
}

static bool ask_second_trigger(struct setup_scene *scene)
{
	return ask_trigger(scene, "sched:sched_waking", "snapshot");
}

static bool ask_pid(struct setup_scene *scene)
{
	return setup_add_pid(&scene->setup, 7);
}

static bool ask_pid_of_functions(struct setup_scene *scene)
{
	scene->wanted->tracer = "function";
	return setup_add_pid(&scene->setup, 7);
}

static bool ask_children(struct setup_scene *scene)
{
	scene->setup.follow = true;
	return setup_add_pid(&scene->setup, 7);
}

static bool ask_no_pid(struct setup_scene *scene)
{
	return setup_add_notrace_pid(&scene->setup, 7);
}

static bool ask_function(struct setup_scene *scene)
{
	return setup_list_add(&scene->wanted->functions, "vfs_reed");
}

static bool ask_graph_notrace(struct setup_scene *scene)
{
	return setup_list_add(&scene->wanted->graph_notrace, "vfs_*x");
}

static bool ask_command(struct setup_scene *scene, const char *command)
{
	return setup_list_add(&scene->wanted->commands, command);
}

static bool ask_command_twice(struct setup_scene *scene)
{
	return ask_command(scene, "vfs_read:traceoff");
}

static bool ask_command_of_unknown(struct setup_scene *scene)
{
	return ask_command(scene, "vfs_raed:traceoff");
}

static bool ask_command_of_no_match(struct setup_scene *scene)
{
	return ask_command(scene, "nosuch_*:traceoff");
}

static bool ask_command_away(struct setup_scene *scene)
{
	return ask_command(scene, "!vfs_write:traceon");
}

static bool ask_snapshot(struct setup_scene *scene)
{
	return ask_command(scene, "vfs_write:snapshot");
}

static bool ask_count(struct setup_scene *scene)
{
	return ask_command(scene, "vfs_write:traceoff:many");
}

static bool ask_command_without_event(struct setup_scene *scene)
{
	return ask_command(scene, "vfs_write:enable_event:sched");
}

/*
 * A request, the part that the kernel refuses and its error, and the message that the user reads. err 0: the message is
 * a warning, and the other requests are carried out.
 */
static const struct {
	bool (*ask)(struct setup_scene *scene);
	const char *file, *value;
	int error, err;
	const char *said;
} refused[] = {
	{ ask_rival, "current_tracer", "wakeup_rt", EBUSY, -EBUSY,
	  "the kernel has the tracer 'wakeup_rt' for one instance at a time, and the instance 'box' has wakeup" },
	{ ask_tracer_not_built, NULL, NULL, 0, -ENOENT, "this kernel has no tracer 'irqsoff'" },
	{ ask_event, "events/sched/sched_switch/enable", "1", EBUSY, -EBUSY, "cannot enable 'sched:sched_switch': " },
	{ ask_events, "events/sched/sched_waking/enable", "1", EINVAL, -EINVAL,
	  "cannot enable 'sched:sched_waking': Invalid argument\n  (refused for 1 of 2 events)" },
	{ ask_filter, "events/sched/sched_waking/filter", "prev_prio", EINVAL, 0,
	  "the filter 'prev_prio < 100' is valid for 1 of the 2 events of 'sched'; "
	  "these are traced without a filter: sched_waking" },
	{ ask_filter, "events/sched/sched_waking/filter", "prev_prio", EPERM, -EPERM, "sched_waking/filter" },
	{ ask_unknown_trigger, "events/sched/sched_switch/trigger", "", EINVAL, -EINVAL,
	  "no trigger 'stacktrac'; did you mean 'stacktrace'?" },
	{ ask_unknown_trigger_beside_another, "events/sched/sched_waking/trigger", "", EINVAL, -EINVAL,
	  "no trigger 'stacktrac'; did you mean 'stacktrace'?" },
	{ ask_trigger_not_built, "events/sched/sched_switch/trigger", "", EINVAL, -EINVAL,
	  "this kernel has no trigger 'hist'" },
	{ ask_second_trigger, "events/sched/sched_waking/trigger", "", EEXIST, -EEXIST,
	  "'sched:sched_waking' has a trigger of the kind of 'snapshot' already, and can have only one" },
	{ ask_module, "set_event", "*:mod:loom", EINVAL, -ENOENT, "':mod:' needs Linux 6.14 or later" },
	{ ask_pid, "set_event_pid", "7", ESRCH, -ESRCH, "there is no task with pid 7" },
	{ ask_pid_of_functions, "set_ftrace_pid", "7", EPERM, -EPERM,
	  "this kernel does not permit function tracing: 'set_ftrace_pid'" },
	{ ask_children, NULL, NULL, 0, -EOPNOTSUPP,
	  "this kernel cannot follow children: it has no option 'event-fork'" },
	{ ask_no_pid, NULL, NULL, 0, -EOPNOTSUPP, "set_event_notrace_pid" },
	{ ask_function, "set_ftrace_filter", "vfs_reed", EINVAL, -ENOENT,
	  "no function 'vfs_reed' that can be traced; did you mean 'vfs_read'" },
	{ ask_graph_notrace, "set_graph_notrace", "vfs_", EINVAL, -ENOENT,
	  "no function that can be traced matches 'vfs_*x'" },
	{ ask_command_twice, "set_ftrace_filter", "vfs_read", EINVAL, -EINVAL,
	  "'vfs_read' has the command traceoff already" },
	{ ask_command_of_unknown, "set_ftrace_filter", "vfs_raed", EINVAL, -ENOENT,
	  "no function 'vfs_raed' that can be traced; did you mean 'vfs_read'" },
	{ ask_command_of_no_match, "set_ftrace_filter", "nosuch_", ENOENT, -ENOENT,
	  "no function that can be traced matches 'nosuch_*'" },
	{ ask_command_away, "set_ftrace_filter", "!", ENODEV, -ENODEV, "no function has the command 'traceon'" },
	{ ask_snapshot, "set_ftrace_filter", "snapshot", EINVAL, -EINVAL, "'vfs_write:snapshot' was refused" },
	{ ask_count, "set_ftrace_filter", "many", EINVAL, -EINVAL, "or no number where a count is expected" },
	{ ask_command_without_event, NULL, NULL, 0, -EINVAL,
	  "enable_event takes an event, FUNCTION:enable_event:SYSTEM:EVENT[:COUNT]" },
};

TEST(setup_says_what_the_kernel_refused_and_what_would_do)
{
	for (size_t i = 0; i < array_size(refused); i++) {
		struct fail fail = FAIL_INIT;
		struct setup_scene scene;

		if (begin(&scene) && CHECK(refused[i].ask(&scene))) {
			int err;
			bool ok;

			if (refused[i].file)
				fake_refuse(&scene.fake, refused[i].file, refused[i].value, refused[i].error);
			err = setup_scene_apply(&scene, &fail);
			ok = CHECK(err == refused[i].err);
			ok = CHECK(strstr(err ? fail.text : scene.told, refused[i].said)) && ok;
			if (!ok)
				fprintf(stderr, "%zu: %d, said '%s', told '%s'\n", i, err, fail.text, scene.told);
		}
		setup_scene_end(&scene);
	}
}

TEST(setup_traces_the_events_of_a_system_that_the_kernel_lets_be_enabled)
{
	struct fail fail = FAIL_INIT;
	struct setup_scene scene;

	if (begin(&scene) && CHECK(ask_system(&scene))) {
		fake_refuse(&scene.fake, "events/sched/enable", "1", EINVAL);
		fake_refuse(&scene.fake, "events/sched/sched_switch/enable", "1", EINVAL);
		CHECK(!setup_scene_apply(&scene, &fail));
		CHECK(strstr(scene.told,
			     "cannot enable 'sched:sched_switch': Invalid argument\n  (refused for 1 of 2 events)"));
		CHECK(setup_scene_holds(&scene, "events/sched/sched_waking/enable", "1\n"));
		CHECK(setup_scene_holds(&scene, "events/sched/sched_switch/enable", "0\n"));
	}
	setup_scene_end(&scene);
}

TEST(setup_refuses_a_filter_that_fits_no_event)
{
	struct fail fail = FAIL_INIT;
	struct setup_scene scene;

	if (begin(&scene) && CHECK(ask_filter(&scene))) {
		fake_refuse(&scene.fake, "events/sched/sched_switch/filter", "prev_prio", EINVAL);
		fake_refuse(&scene.fake, "events/sched/sched_waking/filter", "prev_prio", EINVAL);
		CHECK(setup_scene_apply(&scene, &fail) == -EINVAL);
		CHECK(strstr(fail.text, "(refused for 2 of 2 events)"));
		CHECK(setup_scene_holds(&scene, "events/sched/enable", "0\n"));
	}
	setup_scene_end(&scene);
}

TEST(setup_says_which_tracers_and_files_only_the_top_instance_has)
{
	struct instance *box = NULL;
	struct fail fail = FAIL_INIT;
	struct setup_scene scene;

	if (begin(&scene) && CHECK(!instance_open(&scene.fake.tracing, "box", false, scene.undo, &box, NULL))) {
		CHECK(tracer_set(box, "function", &fail) == -EOPNOTSUPP);
		CHECK_STR(fail.text, "this kernel has the tracer 'function' only in its top instance");
		CHECK(tracer_graph_depth(box, 3, &fail) == -EOPNOTSUPP);
		CHECK_STR(fail.text, "this kernel has 'max_graph_depth' only in its top instance");
		CHECK(tracer_needs_top(box, "function", false, false) &&
		      !tracer_needs_top(box, "wakeup", false, false));
		CHECK(tracer_needs_top(box, "wakeup", false, true));
		CHECK(!instance_close(box, NULL));
	}
	setup_scene_end(&scene);
}
