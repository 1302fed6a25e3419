// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/setup/setup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/kernel/undo/undo.h"
#include "tests/unit/setup_scene.h"
#include "tests/unit/test.h"

static const struct setup_text before[] = {
	{ "tracing_on", "0\n" },
	{ "current_tracer", "nop\n" },
	{ "available_tracers", "function_graph function nop\n" },
	{ "trace_clock", "[local] global mono\n" },
	{ "buffer_size_kb", "7 (expanded: 1408)\n" },
	{ "buffer_percent", "50\n" },
	{ "trace_options", "print-parent\nnosym-offset\nnoevent-fork\nnostacktrace\n" },
	{ "options/sym-offset", "0\n" },
	{ "options/stacktrace", "0\n" },
	{ "options/event-fork", "0\n" },
	{ "set_event", "" },
	{ "set_event_pid", "" },
	{ "tracing_thresh", "0\n" },
	{ "events/enable", "0\n" },
	{ "events/header_page", "" },
	{ "events/sched/enable", "0\n" },
	{ "events/sched/sched_switch/enable", "0\n" },
	{ "events/sched/sched_switch/filter", "none\n" },
	{ "events/sched/sched_switch/trigger", "# Available triggers:\n" },
	{ "events/sched/sched_switch/format",
	  "name: sched_switch\nID: 1\nformat:\n"
	  "\tfield:int prev_prio;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n" },
	{ "events/sched/sched_waking/enable", "0\n" },
	{ "events/sched/sched_waking/filter", "none\n" },
	{ "events/sched/sched_waking/format", "name: sched_waking\nID: 2\nformat:\n\nprint fmt: \"\"\n" },
	{ "available_events", "sched:sched_switch\nsched:sched_waking\n" },
};

static bool begin(struct setup_scene *scene)
{
	return setup_scene_begin(scene, before, array_size(before));
}

TEST(setup_writes_what_was_asked_and_undo_puts_each_file_back)
{
	struct setup_scene scene;

	if (begin(&scene)) {
		scene.wanted->clock = "mono";
		scene.wanted->size = 4096 << 10;
		scene.wanted->has_percent = true;
		scene.wanted->percent = 10;
		CHECK(setup_add_file(scene.wanted, &(struct setup_file){ .file = "tracing_thresh", .number = 100 }));
		CHECK(setup_list_add(&scene.wanted->options, "sym-offset"));
		CHECK(!setup_scene_apply(&scene, NULL));
		CHECK(setup_scene_holds(&scene, "trace_clock", "mono\n"));
		CHECK(setup_scene_holds(&scene, "buffer_size_kb", "4096\n"));
		CHECK(setup_scene_holds(&scene, "buffer_percent", "10\n"));
		CHECK(setup_scene_holds(&scene, "tracing_thresh", "100\n"));
		CHECK(setup_scene_holds(&scene, "options/sym-offset", "1\n"));
		CHECK(setup_scene_holds(&scene, "tracing_on", "0\n"));
		CHECK(!undo_restore(scene.undo, NULL));
		CHECK(setup_scene_holds(&scene, "trace_clock", "local\n"));
		CHECK(setup_scene_holds(&scene, "buffer_size_kb", "1408\n"));
		CHECK(setup_scene_holds(&scene, "buffer_percent", "50\n"));
		CHECK(setup_scene_holds(&scene, "tracing_thresh", "0\n"));
		CHECK(setup_scene_holds(&scene, "options/sym-offset", "0\n"));
	}
	setup_scene_end(&scene);
}

TEST(setup_switches_events_on_with_their_filters)
{
	struct fail fail = FAIL_INIT;
	struct setup_event *event;
	struct setup_scene scene;

	if (begin(&scene)) {
		event = setup_add_event(scene.wanted, "sched:sched_switch");
		REQUIRE(event != NULL);
		event->filter = "prev_prio < 100";
		CHECK(!setup_scene_apply(&scene, &fail));
		CHECK_STR(fail.text, "");
		CHECK(setup_scene_holds(&scene, "events/sched/sched_switch/enable", "1\n"));
		CHECK(setup_scene_holds(&scene, "events/sched/sched_switch/filter", "prev_prio < 100\n"));
		CHECK(setup_scene_holds(&scene, "events/sched/sched_waking/enable", "0\n"));
		CHECK(scene.events.nr == 1);
	}
	setup_scene_end(&scene);
}

TEST(setup_takes_of_what_an_analysis_wants_what_there_is_and_refuses_to_go_without_the_essential)
{
	struct fail fail = FAIL_INIT;
	struct setup_event *event;
	struct setup_scene scene;

	if (begin(&scene)) {
		event = setup_add_event(scene.wanted, "sched:sched_process_fork,sched:sched_waking");
		REQUIRE(event != NULL);
		event->what_for = "who is born";
		event = setup_add_event(scene.wanted, "task:task_newtask");
		REQUIRE(event != NULL);
		event->instead = "sched:sched_switch";
		event->what_for = "who runs";
		CHECK(!setup_scene_apply(&scene, &fail));
		CHECK_STR(scene.told, "");
		CHECK(scene.events.nr == 2);
		CHECK(setup_scene_holds(&scene, "events/sched/enable", "1\n"));
		event = setup_add_event(scene.wanted, "irq");
		REQUIRE(event != NULL);
		event->what_for = "time in interrupts";
		event->optional = true;
		CHECK(!setup_scene_apply(&scene, &fail));
		CHECK(strstr(scene.told, "'irq'") && strstr(scene.told, "time in interrupts"));
		scene.wanted->events[2].optional = false;
		CHECK(setup_scene_apply(&scene, &fail) == -ENOENT);
		CHECK(strstr(fail.text, "'irq'") && strstr(fail.text, "time in interrupts"));
	}
	setup_scene_end(&scene);
}

TEST(setup_names_tasks_and_lets_them_be_followed)
{
	struct setup_scene scene;

	if (begin(&scene)) {
		CHECK(setup_add_pid(&scene.setup, 7) && setup_add_pid(&scene.setup, 8));
		scene.setup.follow = true;
		CHECK(!setup_scene_apply(&scene, NULL));
		CHECK(setup_scene_holds(&scene, "set_event_pid", "7 8\n"));
		CHECK(setup_scene_holds(&scene, "options/event-fork", "1\n"));
	}
	setup_scene_end(&scene);
}

TEST(setup_says_what_this_kernel_does_not_have)
{
	struct fail fail = FAIL_INIT;
	struct setup_scene scene;

	if (begin(&scene)) {
		scene.wanted->clock = "mano";
		CHECK(setup_scene_apply(&scene, &fail) == -ENOENT);
		CHECK(strstr(fail.text, "mano") && strstr(fail.text, "mono"));
		CHECK(setup_scene_holds(&scene, "trace_clock", "[local] global mono\n"));
		scene.wanted->clock = NULL;
		CHECK(setup_add_event(scene.wanted, "sched:sched_swich") != NULL);
		CHECK(setup_scene_apply(&scene, &fail) == -ENOENT);
		CHECK(strstr(fail.text, "sched_swich") != NULL);
	}
	setup_scene_end(&scene);
}
