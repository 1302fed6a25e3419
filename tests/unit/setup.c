// SPDX-License-Identifier: GPL-2.0-only
#include "lib/setup/setup.h"

#include "lib/base/fail.h"
#include "lib/tracefs/event_select.h"
#include "lib/undo/instance_open.h"
#include "lib/undo/undo.h"
#include "tests/unit/fake_tracefs.h"
#include "tests/unit/test.h"

#include <errno.h>
#include <string.h>

/* A tracefs of files, and what is asked of it. */
struct scene {
	struct fake fake;
	struct undo *undo;
	struct instance *top;
	struct catalog *catalog;
	struct setup setup;
	struct setup_instance *wanted;
	struct event_set events;
};

static const struct {
	const char *file, *text;
} before[] = {
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

static bool begin(struct scene *scene)
{
	*scene = (struct scene){ .undo = NULL };
	if (!CHECK(fake_new(&scene->fake)))
		return false;
	for (size_t i = 0; i < array_size(before); i++)
		fake_write(&scene->fake, before[i].file, before[i].text);
	scene->wanted = setup_add_instance(&scene->setup, NULL);
	return CHECK(scene->wanted && !undo_new(&scene->fake.tracing, scene->fake.journals, &scene->undo, NULL) &&
		     !instance_open_top(&scene->fake.tracing, scene->undo, &scene->top, NULL) &&
		     !catalog_new(&scene->fake.tracing, &scene->catalog, NULL));
}

static int apply(struct scene *scene, struct fail *fail)
{
	struct setup_context context = { .tracing = &scene->fake.tracing,
					 .undo = scene->undo,
					 .catalog = scene->catalog,
					 .setup = &scene->setup,
					 .manner = SETUP_CHANGE };

	return setup_apply(&context, scene->wanted, scene->top, &scene->events, fail);
}

static void end(struct scene *scene)
{
	event_set_release(&scene->events);
	catalog_free(scene->catalog);
	if (scene->top)
		instance_close(scene->top, NULL);
	undo_free(scene->undo);
	setup_release(&scene->setup);
	fake_free(&scene->fake);
}

TEST(setup_writes_what_was_asked_and_undo_puts_each_file_back)
{
	struct scene scene;

	if (begin(&scene)) {
		scene.wanted->clock = "mono";
		scene.wanted->size = 4096 << 10;
		scene.wanted->has_percent = true;
		scene.wanted->percent = 10;
		CHECK(setup_add_file(scene.wanted, &(struct setup_file){ .file = "tracing_thresh", .number = 100 }));
		CHECK(setup_list_add(&scene.wanted->options, "sym-offset"));
		CHECK(!apply(&scene, NULL));
		CHECK(fake_holds(&scene.fake, "trace_clock", "mono\n"));
		CHECK(fake_holds(&scene.fake, "buffer_size_kb", "4096\n"));
		CHECK(fake_holds(&scene.fake, "buffer_percent", "10\n"));
		CHECK(fake_holds(&scene.fake, "tracing_thresh", "100\n"));
		CHECK(fake_holds(&scene.fake, "options/sym-offset", "1\n"));
		CHECK(fake_holds(&scene.fake, "tracing_on", "0\n"));
		CHECK(!undo_restore(scene.undo, NULL));
		CHECK(fake_holds(&scene.fake, "trace_clock", "local\n"));
		CHECK(fake_holds(&scene.fake, "buffer_size_kb", "1408\n"));
		CHECK(fake_holds(&scene.fake, "buffer_percent", "50\n"));
		CHECK(fake_holds(&scene.fake, "tracing_thresh", "0\n"));
		CHECK(fake_holds(&scene.fake, "options/sym-offset", "0\n"));
	}
	end(&scene);
}

TEST(setup_switches_events_on_with_their_filters)
{
	struct fail fail = FAIL_INIT;
	struct setup_event *event;
	struct scene scene;

	if (begin(&scene)) {
		event = setup_add_event(scene.wanted, "sched:sched_switch");
		REQUIRE(event != NULL);
		event->filter = "prev_prio < 100";
		CHECK(!apply(&scene, &fail));
		CHECK_STR(fail.text, "");
		CHECK(fake_holds(&scene.fake, "events/sched/sched_switch/enable", "1\n"));
		CHECK(fake_holds(&scene.fake, "events/sched/sched_switch/filter", "prev_prio < 100\n"));
		CHECK(fake_holds(&scene.fake, "events/sched/sched_waking/enable", "0\n"));
		CHECK(scene.events.nr == 1);
	}
	end(&scene);
}

TEST(setup_names_tasks_and_lets_them_be_followed)
{
	struct scene scene;

	if (begin(&scene)) {
		CHECK(setup_add_pid(&scene.setup, 7) && setup_add_pid(&scene.setup, 8));
		scene.setup.follow = true;
		CHECK(!apply(&scene, NULL));
		CHECK(fake_holds(&scene.fake, "set_event_pid", "7 8\n"));
		CHECK(fake_holds(&scene.fake, "options/event-fork", "1\n"));
	}
	end(&scene);
}

TEST(setup_says_what_this_kernel_does_not_have)
{
	struct fail fail = FAIL_INIT;
	struct scene scene;

	if (begin(&scene)) {
		scene.wanted->clock = "mano";
		CHECK(apply(&scene, &fail) == -ENOENT);
		CHECK(strstr(fail.text, "mano") && strstr(fail.text, "mono"));
		CHECK(fake_holds(&scene.fake, "trace_clock", "[local] global mono\n"));
		scene.wanted->clock = NULL;
		CHECK(setup_add_event(scene.wanted, "sched:sched_swich") != NULL);
		CHECK(apply(&scene, &fail) == -ENOENT);
		CHECK(strstr(fail.text, "sched_swich") != NULL);
	}
	end(&scene);
}
