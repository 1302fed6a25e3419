// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/setup/setup.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/setup/tasks.h"
#include "lib/kernel/setup/tracer.h"
#include "lib/kernel/undo/undo.h"
#include "tests/unit/setup_scene.h"
#include "tests/unit/test.h"

static const struct setup_text before[] = {
	{ "tracing_on", "0\n" },
	{ "current_tracer", "function\n" },
	{ "available_tracers", "branch function nop\n" },
	{ "trace_clock", "[local] global mono\n" },
	{ "trace_options", "print-parent\nnosym-offset\n" },
	{ "options/sym-offset", "0\n" },
	{ "options/event-fork", "0\n" },
	{ "options/function-fork", "0\n" },
	{ "options/stacktrace", "0\n" },
	{ "options/branch", "0\n" },
	{ "options/overwrite", "1\n" },
	{ "buffer_size_kb", "1408\n" },
	{ "buffer_subbuf_size_kb", "4\n" },
	{ "syscall_user_buf_size", "63\n" },
	{ "tracing_max_latency", "77\n" },
	{ "tracing_thresh", "0\n" },
	{ "hwlat_detector/width", "500000\n" },
	{ "snapshot", "# tracer: nop\n#\n#\n# * Snapshot is freed *\n#\n" },
	{ "set_event", "" },
	{ "set_event_pid", "" },
	{ "set_event_notrace_pid", "" },
	{ "set_ftrace_pid", "no pid\n" },
	{ "set_ftrace_notrace_pid", "no pid\n" },
	{ "events/enable", "0\n" },
	{ "events/header_page", "" },
	{ "events/sched/enable", "0\n" },
	{ "events/sched/sched_switch/enable", "0\n" },
	{ "events/sched/sched_switch/filter", "none\n" },
	{ "events/sched/sched_switch/trigger", "" },
	{ "events/sched/sched_waking/enable", "0\n" },
	{ "events/sched/sched_waking/filter", "none\n" },
	{ "events/sched/sched_waking/trigger", "" },
	{ "events/irq/enable", "0\n" },
	{ "events/irq/irq_handler_entry/enable", "0\n" },
	{ "events/irq/irq_handler_entry/filter", "none\n" },
	{ "events/irq/irq_handler_entry/trigger", "" },
	{ "available_events", "sched:sched_switch\nsched:sched_waking\nirq:irq_handler_entry\n" },
};

static bool begin(struct setup_scene *scene)
{
	return setup_scene_begin(scene, before, array_size(before));
}

static struct setup_event *add_event(struct setup_scene *scene, const char *pattern)
{
	struct setup_event *event = setup_add_event(scene->wanted, pattern);

	CHECK(event != NULL);
	return event;
}

TEST(setup_sets_triggers_and_journals_what_else_they_change)
{
	struct fail fail = FAIL_INIT;
	struct setup_scene scene;

	if (begin(&scene)) {
		CHECK(setup_list_add(&add_event(&scene, "sched:sched_switch")->triggers, "stacktrace:5"));
		CHECK(setup_list_add(&add_event(&scene, "sched:sched_waking")->triggers, "snapshot"));
		CHECK(setup_list_add(&add_event(&scene, "irq:irq_handler_entry")->triggers,
				     "hist:keys=irq:ts=common_timestamp"));
		CHECK(!setup_scene_apply(&scene, &fail));
		CHECK_STR(fail.text, "");
		CHECK(setup_scene_holds(&scene, "events/sched/sched_switch/trigger", "stacktrace:5\n"));
		CHECK(setup_scene_holds(&scene, "events/sched/sched_waking/trigger", "snapshot\n"));
		CHECK(setup_scene_holds(&scene, "events/irq/irq_handler_entry/trigger",
					"hist:keys=irq:ts=common_timestamp\n"));
		/* The triggers have changed these files since. */
		fake_write(&scene.fake, "snapshot", "# tracer: nop\n");
		fake_write(&scene.fake, "trace_clock", "local [global] mono\n");
		CHECK(!undo_restore(scene.undo, NULL));
		CHECK(setup_scene_holds(&scene, "snapshot", "0\n") &&
		      setup_scene_holds(&scene, "trace_clock", "local\n"));
	}
	setup_scene_end(&scene);
}

/* What ends with weft frees the snapshot, also in an instance that existed before: the snapshot would be in no file. */
TEST(setup_of_a_recording_refuses_all_that_takes_snapshots)
{
	static const char *const triggers[] = { "snapshot", "snapshot:1 if prev_pid == 1",
						"hist:keys=next_pid:onmax(hitcount).snapshot()" };
	struct setup_scene scene;

	for (size_t i = 0; i <= array_size(triggers); i++) {
		struct fail fail = FAIL_INIT;
		bool started = begin(&scene);

		if (started && i < array_size(triggers))
			CHECK(setup_list_add(&add_event(&scene, "sched:sched_switch")->triggers, triggers[i]));
		else if (started)
			CHECK(setup_list_add(&scene.wanted->commands, "vfs_read:snapshot"));
		if (started) {
			struct setup_context context = { .tracing = &scene.fake.tracing,
							 .undo = scene.undo,
							 .catalog = scene.catalog,
							 .setup = &scene.setup,
							 .manner = SETUP_PRIVATE };

			CHECK(setup_apply(&context, scene.wanted, scene.top, &scene.events, &fail) == -EOPNOTSUPP);
			CHECK(strstr(fail.text, "'weft extract -s' then saves the snapshot"));
			CHECK(setup_scene_holds(&scene, "events/sched/sched_switch/trigger", ""));
		}
		setup_scene_end(&scene);
	}
}

/*
 * trace_branch_enable() is called when a tracer begins, and branches are traced until another one begins without the
 * option. So the option is set before the tracer and restored before it: the journal has the tracer first.
 */
TEST(setup_sets_and_restores_the_option_of_branches_before_the_tracer)
{
	cleanup_buf struct buf journal = BUF_INIT;
	struct setup_scene scene;

	if (begin(&scene)) {
		const char *tracer, *option;
		char path[FAKE_PATH + 8];
		glob_t found;

		scene.wanted->tracer = "nop";
		CHECK(setup_list_add(&scene.wanted->options, "branch"));
		CHECK(!setup_scene_apply(&scene, NULL));
		CHECK_STR(scene.told, "");
		CHECK(setup_scene_holds(&scene, "options/branch", "1\n"));
		snprintf(path, sizeof(path), "%s/undo-*", scene.fake.journals);
		REQUIRE(!glob(path, 0, NULL, &found));
		CHECK(!tracing_read_path(found.gl_pathv[0], &journal, NULL));
		globfree(&found);
		tracer = strstr(buf_str(&journal), "current_tracer");
		option = strstr(buf_str(&journal), "options/branch");
		CHECK(tracer && option && tracer < option);
		CHECK(!undo_restore(scene.undo, NULL));
		CHECK(setup_scene_holds(&scene, "options/branch", "0\n"));
		CHECK(setup_scene_holds(&scene, "current_tracer", "function\n"));
	}
	setup_scene_end(&scene);
}

TEST(setup_warns_of_the_option_of_branches_when_no_tracer_begins)
{
	static const char *const tracers[] = { NULL, "function" };
	struct setup_scene scene;

	for (size_t i = 0; i < array_size(tracers); i++) {
		if (begin(&scene)) {
			scene.wanted->tracer = tracers[i];
			CHECK(setup_list_add(&scene.wanted->options, "branch"));
			CHECK(!setup_scene_apply(&scene, NULL));
			CHECK(strstr(scene.told, "only when a tracer begins"));
		}
		setup_scene_end(&scene);
	}
}

TEST(setup_removes_events_of_a_later_option_from_those_of_an_earlier_one)
{
	struct setup_scene scene;

	if (begin(&scene)) {
		fake_write(&scene.fake, "events/irq/irq_handler_entry/enable", "1\n");
		add_event(&scene, "sched");
		add_event(&scene, "sched:sched_waking")->off = true;
		add_event(&scene, "irq:irq_handler_entry")->off = true;
		CHECK(!setup_scene_apply(&scene, NULL));
		CHECK(scene.events.nr == 1);
		CHECK(setup_scene_holds(&scene, "events/sched/sched_switch/enable", "1\n"));
		CHECK(!fake_holds(&scene.fake, "events/sched/sched_waking/enable", "1\n"));
		CHECK(!fake_holds(&scene.fake, "events/irq/irq_handler_entry/enable", "1\n"));
	}
	setup_scene_end(&scene);
}

TEST(setup_goes_on_without_missing_events_where_that_is_asked)
{
	struct fail fail = FAIL_INIT;
	struct setup_scene scene;

	if (begin(&scene)) {
		scene.setup.ignore_missing = true;
		add_event(&scene, "sched:sched_swich,irq:irq_handler_entry");
		CHECK(!setup_scene_apply(&scene, &fail));
		CHECK(strstr(scene.told, "sched_swich") && strstr(scene.told, "sched_switch"));
		CHECK(scene.events.nr == 1);
	}
	setup_scene_end(&scene);
}

TEST(setup_writes_events_of_modules_as_they_are)
{
	struct fail fail = FAIL_INIT;
	struct setup_scene scene;

	if (begin(&scene)) {
		add_event(&scene, "*:mod:loom");
		CHECK(!setup_scene_apply(&scene, &fail));
		CHECK(setup_scene_holds(&scene, "set_event", "*:mod:loom\n"));
		add_event(&scene, "*:mod:loom")->filter = "a == 1";
		CHECK(setup_scene_apply(&scene, &fail) == -EOPNOTSUPP);
		CHECK(strstr(fail.text, "load the module 'loom' first"));
	}
	setup_scene_end(&scene);
	if (begin(&scene)) {
		add_event(&scene, "sched,*:mod:loom");
		CHECK(setup_scene_apply(&scene, &fail) == -EOPNOTSUPP);
		CHECK(strstr(fail.text, "events of a module need an -e of their own"));
	}
	setup_scene_end(&scene);
}

TEST(setup_follows_and_excludes_tasks_for_events_and_functions)
{
	struct fail fail = FAIL_INIT;
	struct setup_scene scene;

	if (begin(&scene)) {
		CHECK(setup_add_pid(&scene.setup, 7) && setup_add_pid(&scene.setup, 8) &&
		      setup_add_notrace_pid(&scene.setup, 9));
		scene.setup.follow = true;
		CHECK(!setup_scene_apply(&scene, &fail));
		CHECK_STR(fail.text, "");
		CHECK(setup_scene_holds(&scene, "set_event_pid", "7 8\n") &&
		      setup_scene_holds(&scene, "set_ftrace_pid", "7 8\n"));
		CHECK(setup_scene_holds(&scene, "options/event-fork", "1\n") &&
		      setup_scene_holds(&scene, "options/function-fork", "1\n"));
		CHECK(setup_scene_holds(&scene, "set_event_notrace_pid", "9\n"));
	}
	setup_scene_end(&scene);
}

TEST(setup_empties_the_lists_of_tasks)
{
	struct setup_scene scene;

	if (begin(&scene)) {
		fake_write(&scene.fake, "set_event_pid", "7\n8\n");
		fake_write(&scene.fake, "set_event_notrace_pid", "9\n");
		scene.setup.all_pids = scene.setup.no_notrace_pids = true;
		CHECK(!setup_scene_apply(&scene, NULL));
		CHECK(setup_scene_holds(&scene, "set_event_pid", "") &&
		      setup_scene_holds(&scene, "set_event_notrace_pid", ""));
		CHECK(!kernel_tasks_nobody(scene.top, "set_event_pid"));
		CHECK_STR(kernel_tasks_nobody(scene.top, "set_ftrace_pid"),
			  "holds an empty list of tasks: the functions of no task are traced");
	}
	setup_scene_end(&scene);
}

TEST(setup_writes_the_numbers_that_are_asked_for)
{
	struct fail fail = FAIL_INIT;
	struct setup_scene scene;

	if (begin(&scene)) {
		scene.wanted->subbuf_size = 8192;
		scene.wanted->has_user_size = true;
		scene.wanted->user_size = 128;
		scene.wanted->reset_max_latency = true;
		CHECK(setup_add_file(scene.wanted,
				     &(struct setup_file){ .file = "hwlat_detector/width", .value = "250000" }));
		CHECK(setup_list_add(&scene.wanted->options, "nooverwrite"));
		CHECK(setup_list_add(&scene.wanted->wishes, "nosuch") &&
		      setup_list_add(&scene.wanted->wishes, "sym-offset"));
		scene.wanted->stacks = true;
		CHECK(!setup_scene_apply(&scene, &fail));
		CHECK_STR(fail.text, "");
		CHECK(setup_scene_holds(&scene, "buffer_subbuf_size_kb", "8\n"));
		CHECK(setup_scene_holds(&scene, "syscall_user_buf_size", "128\n"));
		CHECK(setup_scene_holds(&scene, "tracing_max_latency", "0\n"));
		CHECK(setup_scene_holds(&scene, "hwlat_detector/width", "250000\n"));
		CHECK(setup_scene_holds(&scene, "options/overwrite", "0\n"));
		CHECK(setup_scene_holds(&scene, "options/sym-offset", "1\n") &&
		      setup_scene_holds(&scene, "options/stacktrace", "1\n"));
		CHECK(!undo_restore(scene.undo, NULL));
		CHECK(setup_scene_holds(&scene, "syscall_user_buf_size", "63\n") &&
		      setup_scene_holds(&scene, "options/overwrite", "1\n"));
	}
	setup_scene_end(&scene);
}

TEST(setup_journals_the_longest_latency_that_the_tracer_replaces)
{
	struct fail fail = FAIL_INIT;
	struct setup_scene scene;

	if (begin(&scene)) {
		fake_write(&scene.fake, "available_tracers", "wakeup function nop\n");
		scene.wanted->tracer = "wakeup";
		CHECK(!setup_scene_apply(&scene, &fail));
		CHECK_STR(fail.text, "");
		/* The tracer does this. */
		fake_write(&scene.fake, "tracing_max_latency", "900\n");
		CHECK(!undo_restore(scene.undo, NULL));
		CHECK(setup_scene_holds(&scene, "tracing_max_latency", "77\n"));
	}
	setup_scene_end(&scene);
}

static bool ask_option(struct setup_instance *wanted)
{
	return setup_list_add(&wanted->options, "sym-ofset");
}

static bool ask_option_of_config(struct setup_instance *wanted)
{
	return setup_list_add(&wanted->options, "func_stack_trac");
}

static bool ask_depth(struct setup_instance *wanted)
{
	wanted->graph_depth = 3;
	return true;
}

static bool ask_file(struct setup_instance *wanted)
{
	return setup_add_file(wanted, &(struct setup_file){ .file = "osnoise/period_us", .number = 9 });
}

static bool ask_tracer(struct setup_instance *wanted)
{
	wanted->tracer = "functoin";
	return true;
}

static bool ask_system(struct setup_instance *wanted)
{
	return setup_add_event(wanted, "shced:*");
}

/* Settings that this kernel lacks, and words of the message. */
static const struct {
	bool (*ask)(struct setup_instance *wanted);
	const char *said;
} refused[] = {
	{ ask_option, "this kernel has no option 'sym-ofset'; did you mean 'sym-offset'?" },
	{ ask_option_of_config, "this kernel has no option 'func_stack_trac'" },
	{ ask_depth, "max_graph_depth" },
	{ ask_file, "osnoise/period_us" },
	{ ask_tracer, "'functoin'" },
	{ ask_system, "shced" },
};

TEST(setup_says_which_file_event_option_or_tracer_this_kernel_lacks)
{
	for (size_t i = 0; i < array_size(refused); i++) {
		struct fail fail = FAIL_INIT;
		struct setup_scene scene;

		if (begin(&scene) && CHECK(refused[i].ask(scene.wanted))) {
			bool failed = CHECK(setup_scene_apply(&scene, &fail) < 0),
			     said = CHECK(strstr(fail.text, refused[i].said));

			if (!failed || !said)
				fprintf(stderr, "%s, said: %s\n", refused[i].said, fail.text);
		}
		setup_scene_end(&scene);
	}
}
